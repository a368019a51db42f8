//! Dumps the image and the type system of one assembly, line by line as fixtures/metadata_oracle/ModuleDump.cs does.

use std::collections::HashMap;
use std::fmt::Write;

use metadata::attributes::{Argument, ArgumentType, Attribute, Value};
use metadata::csharp::{GenericNames, Style};
use metadata::model::{Field, Method, Property, TypeDef};
use metadata::pe::{ClauseKind, DebugKind};
use metadata::signature::{self, Primitive, Standalone};
use metadata::tables::{
    CustomAttributeRow, DeclSecurityRow, ExportedTypeRow, FieldMarshalRow, FileRow,
    ManifestResourceRow, MethodSpecRow, ModuleRefRow, StandAloneSigRow, Table, TypeRefRow,
    TypeSpecRow,
};
use metadata::{Metadata, Module, Result, Token};

use crate::text::{
    constant, hash, hex, list, quote, quote_units, scalar, signature_text, tables, tok, tree_text,
    truth,
};

macro_rules! line {
    ($out:expr, $($args:tt)*) => { writeln!($out, $($args)*).expect("writing to a string") };
}

/// Underlying types of enums, by full name.
pub(crate) type Enums = HashMap<String, Primitive>;

pub(crate) fn dump(out: &mut String, module: &Module, enums: &Enums) -> Result<()> {
    let metadata = module.metadata();
    let mut marshals = HashMap::new();
    for (_, row) in metadata.rows::<FieldMarshalRow>() {
        let row = row?;
        marshals.insert(row.parent, hex(metadata.blob(row.native_type)?));
    }
    let mut security: HashMap<Token, Vec<DeclSecurityRow>> = HashMap::new();
    for (_, row) in metadata.rows::<DeclSecurityRow>() {
        let row = row?;
        security.entry(row.parent).or_default().push(row);
    }
    let mut dump = Dump {
        out,
        module,
        metadata,
        marshals,
        security,
        enums,
    };
    dump.image()?;
    tables(dump.out, metadata);
    dump.manifest()?;
    for ty in metadata.type_defs() {
        dump.ty(&ty?)?;
    }
    dump.references()?;
    dump.attributes()?;
    dump.strings()
}

struct Dump<'d> {
    out: &'d mut String,
    module: &'d Module,
    metadata: Metadata<'d>,
    marshals: HashMap<Token, String>,
    security: HashMap<Token, Vec<DeclSecurityRow>>,
    enums: &'d Enums,
}

impl<'d> Dump<'d> {
    fn image(&mut self) -> Result<()> {
        let image = self.module.image();
        line!(
            self.out,
            "image machine={:04x} flags={:04x} stamp={:08x} pe64={} size={}",
            image.machine(),
            image.characteristics(),
            image.timestamp(),
            truth(image.is_64_bit()),
            image.image_size()
        );
        let range = image.metadata_range();
        line!(
            self.out,
            "cli flags={:x} entry={} metadata={},{} resources={}",
            image.cli_flags(),
            tok(image.entry_point()),
            range.start,
            range.len(),
            image.resources().len()
        );
        let mut checksums = image.pdb_checksums();
        for entry in image.debug_entries() {
            let kind = match entry.kind {
                DebugKind::CodeView => 2,
                DebugKind::Reproducible => 16,
                DebugKind::EmbeddedPortablePdb => 17,
                DebugKind::PdbChecksum => 19,
                DebugKind::PerfMap => 21,
                DebugKind::Other(kind) => kind,
            };
            line!(
                self.out,
                "debug {kind} stamp={:08x} version={}.{} size={} rva={:x} offset={:x}",
                entry.stamp,
                entry.major,
                entry.minor,
                entry.size,
                entry.rva,
                entry.offset
            );
            if entry.kind == DebugKind::CodeView {
                let it = image.code_view_of(entry)?;
                let (guid, age, portable) = (it.id.guid, it.age, truth(it.is_portable));
                line!(
                    self.out,
                    "codeview {guid} age={age} portable={portable} {}",
                    quote(&it.path)
                );
            }
            if entry.kind == DebugKind::PdbChecksum {
                let it = checksums.next().expect("a checksum for each entry")?;
                line!(self.out, "checksum {} {}", it.algorithm, hex(it.hash));
            }
        }
        Ok(())
    }

    fn manifest(&mut self) -> Result<()> {
        let md = self.metadata;
        let module = md.module()?;
        let mvid = md.guid(module.mvid)?.unwrap_or_default();
        line!(
            self.out,
            "module {} {mvid} generation={}",
            quote(&md.string(module.name)?),
            module.generation
        );
        if let Some(assembly) = md.assembly()? {
            let it = assembly.identity;
            line!(
                self.out,
                "assembly {} {} {} flags={:x} hash={:x} key={}",
                quote(&it.name),
                it.version,
                quote(&it.culture),
                it.flags,
                assembly.hash_algorithm,
                hex(it.public_key)
            );
        }
        for token in md.tokens(Table::AssemblyRef) {
            let it = md.assembly_ref(token)?;
            line!(
                self.out,
                "assemblyref {token} {} {} {} flags={:x} key={}",
                quote(&it.name),
                it.version,
                quote(&it.culture),
                it.flags,
                hex(it.public_key)
            );
        }
        for (row, file) in md.rows::<FileRow>() {
            let (token, file) = (Token::new(Table::File, row), file?);
            let (name, has_metadata) = (quote(&md.string(file.name)?), truth(file.flags & 1 == 0));
            line!(
                self.out,
                "file {token} {name} metadata={has_metadata} {}",
                hex(md.blob(file.hash)?)
            );
        }
        for (row, it) in md.rows::<ExportedTypeRow>() {
            let (token, it) = (Token::new(Table::ExportedType, row), it?);
            let name = quote(&md.full_name(token)?);
            let forwarder = it.flags & 0x0020_0000 != 0 && it.implementation.is(Table::AssemblyRef);
            line!(
                self.out,
                "exported {token} {name} flags={:x} forwarder={} in={}",
                it.flags,
                truth(forwarder),
                it.implementation
            );
        }
        for (row, it) in md.rows::<ManifestResourceRow>() {
            let (token, it) = (Token::new(Table::ManifestResource, row), it?);
            let name = quote(&md.string(it.name)?);
            let within = it.implementation;
            line!(
                self.out,
                "resource {token} {name} flags={:x} offset={} in={within}",
                it.flags,
                it.offset
            );
        }
        Ok(())
    }

    fn ty(&mut self, ty: &TypeDef<'d>) -> Result<()> {
        let md = self.metadata;
        let layout = ty.layout()?.map(|it| format!("{},{}", it.packing, it.size));
        let kind = if ty.is_enum() {
            "enum"
        } else if ty.is_value_type() {
            "struct"
        } else if ty.is_delegate() {
            "delegate"
        } else if ty.flags().is_interface() {
            "interface"
        } else {
            "class"
        };
        line!(
            self.out,
            "type {} {} flags={:x} base={} in={} layout={} kind={kind}",
            ty.token(),
            quote(&ty.full_name()?),
            ty.flags().0,
            ty.base()
                .map_or_else(|| "02000000".to_owned(), |it| it.to_string()),
            ty.enclosing()?
                .map_or_else(|| "02000000".to_owned(), |it| it.to_string()),
            layout.as_deref().unwrap_or("-")
        );
        let names = GenericNames::declared(md, Some(ty.token()), None);
        line!(
            self.out,
            "  text {}",
            quote(&md.type_def_text(ty.token(), &names, Style::default()))
        );
        for interface in ty.interfaces() {
            line!(self.out, "  interface {}", interface?);
        }
        self.generics(ty.token())?;
        for field in ty.fields() {
            self.field(&field?, &names, ty.token())?;
        }
        for method in ty.methods() {
            self.method(&method?)?;
        }
        for property in ty.properties() {
            self.property(&property?, &names, ty.token())?;
        }
        for event in ty.events() {
            let it = event?;
            let accessors = it.accessors()?;
            let method = |token: Option<Token>| token.unwrap_or(Token::new(Table::Method, 0));
            line!(
                self.out,
                "  event {} {} flags={:x} in={} type={} add={} remove={} raise={}",
                it.token(),
                quote(&it.name()?),
                it.flags(),
                it.declaring_type()?,
                it.handler_type(),
                method(accessors.adder),
                method(accessors.remover),
                method(accessors.raiser)
            );
        }
        for pair in ty.method_impls() {
            let (body, declaration) = pair?;
            line!(self.out, "  override {body} of {declaration}");
        }
        for nested in ty.nested() {
            line!(self.out, "  nested {}", nested?);
        }
        self.security(ty.token())
    }

    fn security(&mut self, parent: Token) -> Result<()> {
        for it in self.security.get(&parent).into_iter().flatten() {
            let blob = hex(self.metadata.blob(it.permission_set)?);
            line!(self.out, "  security {:x} {} {blob}", it.action, it.parent);
        }
        Ok(())
    }

    fn generics(&mut self, owner: Token) -> Result<()> {
        for param in self.metadata.generic_params(owner) {
            let it = param?;
            let constraints = it
                .constraints()
                .map(|it| Ok(it?.to_string()))
                .collect::<Result<Vec<_>>>()?;
            line!(
                self.out,
                "  generic {} {} {} flags={:x} owner={} constraints={}",
                it.token(),
                it.number(),
                quote(&it.name()?),
                it.flags(),
                it.owner(),
                constraints.join(",")
            );
        }
        Ok(())
    }

    fn field(&mut self, it: &Field<'d>, names: &GenericNames, owner: Token) -> Result<()> {
        let md = self.metadata;
        let ty = it.ty()?;
        let name = it.name()?;
        line!(
            self.out,
            "  field {} {} flags={:x} {} in={} offset={} rva={:x} value={} marshal={}",
            it.token(),
            quote(&name),
            it.flags().0,
            tree_text(&ty),
            it.declaring_type()?,
            it.offset()?
                .map_or_else(|| "-".to_owned(), |it| it.to_string()),
            it.rva()?.unwrap_or_default(),
            constant(it.constant()?),
            self.marshals.get(&it.token()).map_or("", String::as_str)
        );
        let annotations =
            md.annotations(it.token(), md.inherited_nullable_context(None, Some(owner)));
        let text = md.type_text(&ty, names, &annotations, Style::default());
        line!(self.out, "    text {}", quote(&format!("{text} {name}")));
        Ok(())
    }

    fn method(&mut self, it: &Method<'d>) -> Result<()> {
        let md = self.metadata;
        let name = it.name()?;
        line!(
            self.out,
            "  method {} {} flags={:x} impl={:x} rva={:x} in={} {}",
            it.token(),
            quote(&name),
            it.flags().0,
            it.impl_flags().0,
            it.rva(),
            it.declaring_type()?,
            signature_text(&it.signature()?)
        );
        let names = GenericNames::default();
        let ret = md.return_text(it, &names, Style::default())?;
        let parameters = md.parameters_text(it, &names, Style::default())?;
        line!(
            self.out,
            "    text {}",
            quote(&format!("{ret} {name}({parameters})"))
        );
        if let Some(import) = it.native_import()? {
            let (name, library) = (quote(&import.name), quote(&import.library));
            line!(
                self.out,
                "    import {name} from {library} flags={:x}",
                import.flags
            );
        }
        self.generics(it.token())?;
        for row in it.param_rows() {
            let (token, row) = row?;
            line!(
                self.out,
                "    param {token} {} {} flags={:x} value={} marshal={}",
                row.sequence,
                quote(&md.string(row.name)?),
                row.flags,
                constant(md.constant(token)?),
                self.marshals.get(&token).map_or("", String::as_str)
            );
        }
        self.security(it.token())?;
        self.body(it)
    }

    fn body(&mut self, method: &Method<'d>) -> Result<()> {
        let Some(body) = self.module.body(method.token())? else {
            return Ok(());
        };
        line!(
            self.out,
            "    body stack={} init={} locals={:08x} size={} code={}",
            body.max_stack,
            truth(body.init_locals),
            body.local_signature.0,
            body.code.len(),
            hash(body.code)
        );
        for it in &body.clauses {
            let kind = match it.kind {
                ClauseKind::Catch(ty) => format!("catch {ty}"),
                ClauseKind::Filter(offset) => format!("filter {:x}", offset.0),
                ClauseKind::Finally => "finally".to_owned(),
                ClauseKind::Fault => "fault".to_owned(),
            };
            line!(
                self.out,
                "    try {:x}+{:x} handler {:x}+{:x} {kind}",
                it.try_start.0,
                it.try_length,
                it.handler_start.0,
                it.handler_length
            );
        }
        Ok(())
    }

    fn property(&mut self, it: &Property<'d>, names: &GenericNames, owner: Token) -> Result<()> {
        let md = self.metadata;
        let accessors = it.accessors()?;
        let signature = it.signature()?;
        let name = it.name()?;
        let method = |token: Option<Token>| token.unwrap_or(Token::new(Table::Method, 0));
        line!(
            self.out,
            "  property {} {} flags={:x} in={} {} get={} set={} value={}",
            it.token(),
            quote(&name),
            it.flags(),
            it.declaring_type()?,
            signature_text(&signature),
            method(accessors.getter),
            method(accessors.setter),
            constant(md.constant(it.token())?)
        );
        let annotations =
            md.annotations(it.token(), md.inherited_nullable_context(None, Some(owner)));
        let text = md.type_text(
            &signature.return_type,
            names,
            &annotations,
            Style::default(),
        );
        line!(self.out, "    text {}", quote(&format!("{text} {name}")));
        Ok(())
    }

    fn references(&mut self) -> Result<()> {
        let md = self.metadata;
        for (row, it) in md.rows::<TypeRefRow>() {
            let token = Token::new(Table::TypeRef, row);
            line!(
                self.out,
                "typeref {token} {} scope={}",
                quote(&md.full_name(token)?),
                it?.scope
            );
        }
        for token in md.tokens(Table::MemberRef) {
            let it = md.member_ref(token)?;
            let text = if it.signature.first() == Some(&6) {
                format!("field {}", tree_text(&signature::field_type(it.signature)?))
            } else {
                format!(
                    "method {}",
                    signature_text(&signature::method_signature(it.signature)?)
                )
            };
            line!(
                self.out,
                "memberref {token} {} of={} {text}",
                quote(&it.name),
                it.parent
            );
        }
        for (row, it) in md.rows::<ModuleRefRow>() {
            let token = Token::new(Table::ModuleRef, row);
            line!(
                self.out,
                "moduleref {token} {}",
                quote(&md.string(it?.name)?)
            );
        }
        for (row, it) in md.rows::<TypeSpecRow>() {
            let token = Token::new(Table::TypeSpec, row);
            let ty = signature::type_spec(md.blob(it?.signature)?)?;
            let names = GenericNames::default();
            let text = md.type_token_text(token, &names, Style::default());
            line!(
                self.out,
                "typespec {token} {} {}",
                tree_text(&ty),
                quote(&text)
            );
        }
        for (row, it) in md.rows::<MethodSpecRow>() {
            let (token, it) = (Token::new(Table::MethodSpec, row), it?);
            let mut arguments = String::new();
            list(
                &mut arguments,
                &signature::method_spec_arguments(md.blob(it.instantiation)?)?,
            );
            line!(self.out, "methodspec {token} {} <{arguments}>", it.method);
        }
        for (row, it) in md.rows::<StandAloneSigRow>() {
            let token = Token::new(Table::StandAloneSig, row);
            let text = match signature::standalone(md.blob(it?.signature)?)? {
                Standalone::Locals(types) => {
                    let mut text = "locals ".to_owned();
                    list(&mut text, &types);
                    text
                }
                Standalone::Method(method) => format!("method {}", signature_text(&method)),
                Standalone::Field(_) => "field".to_owned(),
            };
            line!(self.out, "standalone {token} {text}");
        }
        Ok(())
    }

    fn attributes(&mut self) -> Result<()> {
        let md = self.metadata;
        for (row, it) in md.rows::<CustomAttributeRow>() {
            let (token, it) = (Token::new(Table::CustomAttribute, row), it?);
            let text = self.arguments(&md.attribute(token)?);
            line!(
                self.out,
                "attribute {token} on={} new={} {text}",
                it.parent,
                it.constructor
            );
        }
        Ok(())
    }

    fn arguments(&self, attribute: &Attribute<'d>) -> String {
        let resolve = |name: &str| self.enums.get(name).copied();
        let Ok(arguments) = attribute.arguments_with(&resolve) else {
            return "error".to_owned();
        };
        let fixed = arguments.fixed.iter().map(argument);
        let named = arguments.named.iter().map(|it| {
            let kind = if it.is_field { "field" } else { "property" };
            format!("{kind} {}={}", quote(&it.name), argument(&it.argument))
        });
        format!("({})", fixed.chain(named).collect::<Vec<_>>().join("; "))
    }

    /// All string literals: entries of the heap follow each other without gaps.
    fn strings(&mut self) -> Result<()> {
        let size = self.metadata.user_string_heap_size();
        let mut offset = 1;
        while offset < size {
            let text = self.metadata.user_string(offset)?;
            line!(self.out, "string {offset:x} {}", quote_units(text.units()));
            // Text, and a byte of flags; entries of length zero only pad the heap.
            let length = self.metadata.user_string_length(offset)?;
            offset += length
                + if length < 0x80 {
                    1
                } else if length < 0x4000 {
                    2
                } else {
                    4
                };
        }
        Ok(())
    }
}

fn argument(argument: &Argument<'_>) -> String {
    let text = |text: &Option<_>| text.as_deref().map_or_else(|| "null".to_owned(), quote);
    match (&argument.ty, &argument.value) {
        (ArgumentType::Type, Value::Text(name)) => format!("type {}", text(name)),
        (_, Value::Text(value)) => format!("string {}", text(value)),
        (_, Value::Array(None)) => "array null".to_owned(),
        (_, Value::Array(Some(elements))) => {
            format!(
                "array [{}]",
                elements
                    .iter()
                    .map(self::argument)
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
        (ArgumentType::Enum { name, .. }, Value::Scalar(value)) => {
            format!("enum {} {}", quote(name), scalar(*value))
        }
        (_, Value::Scalar(value)) => scalar(*value),
    }
}
