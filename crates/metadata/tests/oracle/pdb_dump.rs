//! Dumps a portable PDB, line by line as fixtures/metadata_oracle/PdbDump.cs does.

use std::fmt::Write;

use metadata::pdb::{CustomKind, HashAlgorithm, Import, Language, LocalConstant, LocalSlot, Pdb};
use metadata::signature::{Primitive, Type};
use metadata::tables::{DocumentRow, MethodDebugInformationRow, Table};
use metadata::{Error, Result, Token};

use crate::text::{hash, hex, quote, scalar, tables, truth};

macro_rules! line {
    ($out:expr, $($args:tt)*) => { writeln!($out, $($args)*).expect("writing to a string") };
}

const MAX_SOURCE: usize = 64 << 20;

pub(crate) fn dump(out: &mut String, pdb: Pdb<'_>) -> Result<(), Error> {
    let metadata = pdb.metadata();
    let id = pdb.id()?;
    let entry = pdb.entry_point()?.unwrap_or(Token::new(Table::Method, 0));
    line!(
        out,
        "pdb id={}{} entry={entry}",
        hex(&id.guid.0),
        hex(&id.stamp.to_le_bytes())
    );
    tables(out, metadata);
    for document in pdb.documents() {
        let it = document?;
        let row: DocumentRow = metadata.row_of(it.token())?;
        let algorithm = metadata.guid(row.hash_algorithm)?.unwrap_or_default();
        let language = metadata.guid(row.language)?.unwrap_or_default();
        // The names of both must agree with the GUIDs.
        assert_eq!(
            it.language()? == Some(Language::CSharp),
            language.to_string().starts_with("3f5162f8")
        );
        assert_eq!(
            it.hash_algorithm()? == Some(HashAlgorithm::Sha256),
            algorithm.to_string().starts_with("8829d00f")
        );
        line!(
            out,
            "document {} {} {algorithm} {} {language}",
            it.token(),
            quote(&it.path()?),
            hex(it.hash()?)
        );
    }
    methods(out, pdb)?;
    scopes(out, pdb)?;
    for token in metadata.tokens(Table::ImportScope) {
        let parent = pdb
            .import_parent(token)?
            .unwrap_or(Token::new(Table::ImportScope, 0));
        line!(out, "imports {token} parent={parent}");
        for import in pdb.imports(token)? {
            line!(out, "  using {}", import_text(&import));
        }
    }
    custom(out, pdb)
}

fn methods(out: &mut String, pdb: Pdb<'_>) -> Result<()> {
    // The fast way through all points must lead past the same ones.
    let mut all = Vec::new();
    pdb.for_each_point(|method, point| all.push((method, point)))?;
    let mut all = all.into_iter();
    for (row, it) in pdb.metadata().rows::<MethodDebugInformationRow>() {
        let method = Token::new(Table::Method, row);
        let points = pdb.sequence_points(method)?;
        let kickoff = pdb.kickoff_method(method)?;
        if let Some(kickoff) = kickoff {
            assert_eq!(
                pdb.move_next_method(kickoff)?,
                Some(method),
                "both ways lead back"
            );
        }
        line!(
            out,
            "points {method} document={} locals={} kickoff={}",
            it?.document,
            points.local_signature(),
            kickoff.unwrap_or(Token::new(Table::Method, 0))
        );
        for point in points {
            let it = point?;
            assert_eq!(all.next(), Some((method, it)));
            match it.span {
                None => line!(out, "  {:x} {} hidden", it.offset.0, it.document.row()),
                Some(span) => line!(
                    out,
                    "  {:x} {} {}:{}-{}:{}",
                    it.offset.0,
                    it.document.row(),
                    span.start_line,
                    span.start_column,
                    span.end_line,
                    span.end_column
                ),
            }
        }
    }
    assert_eq!(all.next(), None);
    Ok(())
}

fn scopes(out: &mut String, pdb: Pdb<'_>) -> Result<()> {
    for token in pdb.metadata().tokens(Table::LocalScope) {
        let it = pdb.local_scope(token)?;
        assert!(
            pdb.local_scopes(it.method())
                .any(|it| it.is_ok_and(|it| it.token() == token))
        );
        let imports = it
            .import_scope()
            .unwrap_or(Token::new(Table::ImportScope, 0));
        let (start, end) = (it.start().0, it.end().0);
        line!(
            out,
            "scope {token} method={} imports={imports} {start:x}-{end:x}",
            it.method()
        );
        for variable in it.variables() {
            let it = variable?;
            let (name, hidden) = (quote(&it.name), truth(it.is_hidden));
            line!(
                out,
                "  local {} {} {name} hidden={hidden}",
                it.token,
                it.index
            );
        }
        for constant in it.constants() {
            let it = constant?;
            line!(
                out,
                "  const {} {} {}",
                it.token,
                quote(&it.name),
                constant_text(&it)?
            );
        }
    }
    Ok(())
}

fn constant_text(constant: &LocalConstant<'_>) -> Result<String> {
    let decoded = constant.value()?;
    let mut text = String::new();
    for (required, token) in decoded.modifiers {
        write!(
            text,
            "mod{}({token}) ",
            if required { "req" } else { "opt" }
        )
        .expect("writing to a string");
    }
    let value = decoded.value.map(scalar);
    text.push_str(&match (&decoded.ty, value) {
        (Type::Primitive(Primitive::Object), _) => "object null".to_owned(),
        (Type::Primitive(Primitive::String), Some(value)) if value == "null" => {
            "string null".to_owned()
        }
        (Type::Named { token, is_value }, value) => {
            let kind = if *is_value { "valuetype" } else { "class" };
            match value {
                None => format!("{kind} {token} {}", hex(decoded.raw)),
                Some(value) if value == "null" => format!("{kind} {token} null"),
                Some(value) => format!("{value} enum {token}"),
            }
        }
        (_, value) => value.expect("other types have simple values"),
    });
    Ok(text)
}

fn import_text(import: &Import<'_>) -> String {
    match import {
        Import::Namespace(namespace) => format!("namespace {}", quote(namespace)),
        Import::AssemblyNamespace {
            assembly,
            namespace,
        } => {
            format!("assembly-namespace {assembly} {}", quote(namespace))
        }
        Import::Type(ty) => format!("type {ty}"),
        Import::XmlNamespace { alias, namespace } => {
            format!("xml {} {}", quote(alias), quote(namespace))
        }
        Import::ExternAlias(alias) => format!("extern {}", quote(alias)),
        Import::AliasAssembly { alias, assembly } => {
            format!("alias-assembly {} {assembly}", quote(alias))
        }
        Import::AliasNamespace { alias, namespace } => {
            format!("alias-namespace {} {}", quote(alias), quote(namespace))
        }
        Import::AliasAssemblyNamespace {
            alias,
            assembly,
            namespace,
        } => {
            format!(
                "alias-assembly-namespace {} {assembly} {}",
                quote(alias),
                quote(namespace)
            )
        }
        Import::AliasType { alias, ty } => format!("alias-type {} {ty}", quote(alias)),
    }
}

fn custom(out: &mut String, pdb: Pdb<'_>) -> Result<(), Error> {
    let tokens = pdb.metadata().tokens(Table::CustomDebugInformation);
    for (token, information) in tokens.zip(pdb.all_custom()) {
        let it = information?;
        let (size, sum) = (it.blob.len(), hash(it.blob));
        line!(
            out,
            "custom {token} on={} {} size={size} {sum}",
            it.parent,
            it.kind
        );
        if let Some(kind) = CustomKind::from_guid(it.kind) {
            decoded(out, pdb, kind, it.parent)?;
        }
    }
    Ok(())
}

fn decoded(out: &mut String, pdb: Pdb<'_>, kind: CustomKind, parent: Token) -> Result<(), Error> {
    match kind {
        CustomKind::HoistedScopes => {
            for it in pdb.hoisted_scopes(parent)? {
                line!(out, "  hoisted {:x}-{:x}", it.start.0, it.end.0);
            }
        }
        CustomKind::AsyncStepping => {
            let it = pdb.async_stepping(parent)?.expect("the blob is there");
            let handler = it
                .catch_handler
                .map_or_else(|| "-".to_owned(), |it| format!("{:x}", it.0));
            line!(out, "  catch {handler}");
            for it in it.awaits {
                let (start, end) = (it.yield_offset.0, it.resume_offset.0);
                line!(
                    out,
                    "  await yield={start:x} resume={end:x} in={}",
                    it.resume_method
                );
            }
        }
        CustomKind::TupleElementNames => {
            for name in pdb.local_tuple_names(parent)?.expect("the blob is there") {
                line!(
                    out,
                    "  element {}",
                    name.map_or_else(|| "-".to_owned(), |name| quote(&name))
                );
            }
        }
        CustomKind::DynamicFlags => {
            let flags = pdb.local_dynamic_flags(parent)?.expect("the blob is there");
            let bits: String = flags
                .into_iter()
                .map(|flag| if flag { '1' } else { '0' })
                .collect();
            line!(out, "  dynamic {bits}");
        }
        CustomKind::LocalSlotMap => {
            for slot in pdb.local_slot_map(parent)?.expect("the blob is there") {
                match slot {
                    LocalSlot::Temporary => line!(out, "  slot temporary"),
                    LocalSlot::Long {
                        kind,
                        syntax_offset,
                        ordinal,
                    } => {
                        line!(
                            out,
                            "  slot kind={kind} at={syntax_offset} ordinal={ordinal}"
                        );
                    }
                }
            }
        }
        CustomKind::LambdaMap => {
            let it = pdb.lambda_map(parent)?.expect("the blob is there");
            line!(out, "  method ordinal {}", it.method_ordinal);
            for at in it.closures {
                line!(out, "  closure at={at}");
            }
            for (at, closure) in it.lambdas {
                line!(out, "  lambda at={at} closure={closure}");
            }
        }
        CustomKind::StateMap => {
            for (state, at) in pdb.state_map(parent)?.expect("the blob is there").0 {
                line!(out, "  state {state} at={at}");
            }
        }
        CustomKind::EmbeddedSource => {
            let text = pdb
                .embedded_source(parent, MAX_SOURCE)?
                .expect("the blob is there");
            line!(out, "  source size={} {}", text.len(), hash(&text));
        }
        CustomKind::SourceLink => {
            let json = pdb.source_link_json()?.expect("the blob is there");
            line!(
                out,
                "  sourcelink {}",
                quote(&String::from_utf8_lossy(json))
            );
            assert!(
                pdb.source_link()?
                    .is_some_and(|map| !map.entries().is_empty())
            );
        }
        CustomKind::TypeDefinitionDocuments => {
            for document in pdb.type_documents(parent)? {
                line!(out, "  document {document}");
            }
        }
        CustomKind::CompilationOptions => {
            for (name, value) in pdb.compilation_options()? {
                line!(out, "  option {}={}", quote(&name), quote(&value));
            }
        }
        CustomKind::CompilationReferences => {
            for it in pdb.compilation_references()? {
                line!(
                    out,
                    "  reference {} aliases={} flags={} stamp={:x} size={} {}",
                    quote(&it.name),
                    quote(&it.aliases),
                    it.flags,
                    it.timestamp,
                    it.image_size,
                    it.mvid
                );
            }
        }
        CustomKind::PrimaryConstructor | CustomKind::DefaultNamespace => {}
    }
    Ok(())
}
