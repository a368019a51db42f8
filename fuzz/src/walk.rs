//! Walks that ask a reader for everything it can tell.
//!
//! Nothing is checked but that it ends without a panic: results go through `black_box`, so that no call is optimised away.
//! Rows are capped, because a corpus of small files finds the same bugs faster.

use std::hint::black_box;

use metadata::csharp::{Annotations, GenericNames, Style};
use metadata::model::ConstantValue;
use metadata::pdb::Pdb;
use metadata::search::{Pattern, SymbolKind};
use metadata::tables::Table;
use metadata::{Metadata, Module, Symbols, Token, signature};

/// How many rows of a table are looked at.
const MAX_ROWS: usize = 100;

fn tokens(metadata: Metadata<'_>, table: Table) -> impl Iterator<Item = Token> + use<> {
    // One more than there are: a token of no row must be refused as well.
    let n_rows = metadata.row_count(table) + 1;
    (1..=n_rows)
        .take(MAX_ROWS)
        .map(move |row| Token::new(table, row))
}

/// Everything about an assembly.
pub fn module(module: &Module) {
    let image = module.image();
    for entry in image.debug_entries() {
        let _ = black_box(image.code_view_of(entry));
        black_box(image.debug_data(entry));
    }
    let _ = black_box((
        image.code_view(),
        image.pdb_checksums().count(),
        image.resources().len(),
    ));
    let _ = black_box((
        module.user_entry_point(),
        module.pdb_locations(None),
        module.pdb_id(),
    ));
    for token in tokens(module.metadata(), Table::Method) {
        let _ = black_box(module.body(token));
    }
    metadata(module.metadata());
    let nobody = |_: &metadata::model::AssemblyIdentity<'_>| None;
    for name in ["System.String", "A+B", "Program", "Outer`1.Inner", ""] {
        let _ = black_box(module.find_type(name, &nobody));
    }
    let itself = |_: &metadata::model::AssemblyIdentity<'_>| Some(module.clone());
    for table in [
        Table::TypeDef,
        Table::TypeRef,
        Table::TypeSpec,
        Table::ExportedType,
    ] {
        for token in tokens(module.metadata(), table).take(30) {
            if let Ok(Some(resolved)) = module.resolve_type(token, &itself) {
                let _ = black_box(resolved.find_members("Main", &itself));
            }
        }
    }
}

/// Everything about the type system.
pub fn metadata(md: Metadata<'_>) {
    let style = Style { namespaces: true };
    let no_names = GenericNames::default();
    let _ = black_box((
        md.version(),
        md.module(),
        md.assembly(),
        md.target_framework(),
        md.is_optimized(),
    ));
    for token in tokens(md, Table::TypeDef) {
        let Ok(ty) = md.type_def(token) else { continue };
        let names = GenericNames::declared(md, Some(token), None);
        black_box(md.type_def_text(token, &names, style));
        let _ = black_box((
            ty.full_name(),
            ty.enclosing(),
            ty.layout(),
            ty.enum_underlying(),
        ));
        let _ = black_box((
            ty.is_value_type(),
            ty.is_delegate(),
            ty.enum_text(ConstantValue::I4(3)),
        ));
        black_box((
            ty.interfaces().count(),
            ty.nested().count(),
            ty.method_impls().count(),
        ));
        for field in ty.fields().flatten().take(MAX_ROWS) {
            let context = md.inherited_nullable_context(None, Some(token));
            let annotations = md.annotations(field.token(), context);
            if let Ok(ty) = field.ty() {
                black_box(md.type_text(&ty, &names, &annotations, style));
            }
            let _ = black_box((
                field.constant(),
                field.offset(),
                field.rva(),
                field.declaring_type(),
            ));
        }
        for property in ty.properties().flatten().take(MAX_ROWS) {
            let _ = black_box((
                property.signature(),
                property.accessors(),
                property.declaring_type(),
            ));
        }
        for event in ty.events().flatten().take(MAX_ROWS) {
            let _ = black_box((event.accessors(), event.declaring_type()));
        }
        black_box((
            md.debugger_displays(token).count(),
            md.debugger_type_proxies(token).count(),
        ));
        let _ = black_box((md.default_member(token), ty.members_named("Item")));
    }
    for token in tokens(md, Table::Method) {
        let _ = black_box(md.method_name(token, &no_names, style));
        let _ = black_box(md.method_text(token, style));
        let Ok(method) = md.method(token) else {
            continue;
        };
        let _ = black_box((
            method.parameters(),
            method.semantics(),
            method.native_import(),
        ));
        black_box(md.state_machine_type(token));
        for param in method.generic_params().flatten().take(MAX_ROWS) {
            let _ = black_box((param.name(), param.constraints().count()));
        }
    }
    for table in [Table::TypeRef, Table::TypeSpec, Table::ExportedType] {
        for token in tokens(md, table) {
            let _ = black_box(md.full_name(token));
            black_box(md.type_token_text(token, &no_names, style));
        }
    }
    for token in tokens(md, Table::MemberRef) {
        if let Ok(member) = md.member_ref(token) {
            let _ = black_box((
                signature::field_type(member.signature),
                signature::method_signature(member.signature),
            ));
        }
    }
    for text in ["a", "Ma*n", "X.get_", "PC", "<*"] {
        if let Ok(pattern) = Pattern::new(text) {
            black_box(md.search(&pattern, &SymbolKind::ALL, 5));
        }
    }
    attributes(md);
    let mut offset = 1;
    while let Ok(length) = md.user_string_length(offset) {
        let _ = black_box(md.user_string(offset).map(|it| it.to_string()));
        offset = offset.saturating_add(length).saturating_add(1);
    }
}

/// Every attribute, with and without knowledge of enums.
pub fn attributes(md: Metadata<'_>) {
    for token in tokens(md, Table::CustomAttribute) {
        let Ok(attribute) = md.attribute(token) else {
            continue;
        };
        let _ = black_box((attribute.arguments(), attribute.type_token()));
        let _ = black_box(attribute.arguments_with(&|_| Some(signature::Primitive::U1)));
    }
}

/// Everything about a PDB.
pub fn symbols(symbols: &Symbols) {
    let pdb = symbols.pdb();
    let _ = black_box((
        pdb.id(),
        pdb.entry_point(),
        pdb.source_link(),
        pdb.compilation_options(),
    ));
    let _ = black_box((pdb.compilation_references(), pdb.default_namespace()));
    for document in tokens(pdb.metadata(), Table::Document) {
        if let Ok(it) = pdb.document(document) {
            let _ = black_box((it.path(), it.hash(), it.language(), it.hash_algorithm()));
        }
        let _ = black_box(pdb.embedded_source(document, 1 << 16));
        for line in [0, 1, 7, 20, u32::MAX] {
            black_box((
                symbols.candidates(document, line, None),
                symbols.candidates(document, line, Some(9)),
            ));
        }
    }
    black_box((
        symbols.documents().find("Program.cs"),
        symbols.documents().iter().count(),
    ));
    for method in tokens(pdb.metadata(), Table::MethodDebugInformation) {
        method_symbols(pdb, Token::new(Table::Method, method.row()));
    }
    for scope in tokens(pdb.metadata(), Table::ImportScope) {
        let _ = black_box((pdb.imports(scope), pdb.import_chain(scope)));
    }
    for information in pdb.all_custom().take(MAX_ROWS).flatten() {
        let parent = information.parent;
        let _ = black_box((
            pdb.hoisted_scopes(parent),
            pdb.async_stepping(parent),
            pdb.local_tuple_names(parent),
        ));
        let _ = black_box((
            pdb.local_dynamic_flags(parent),
            pdb.type_documents(parent),
            pdb.local_slot_map(parent),
        ));
        let _ = black_box((
            pdb.lambda_map(parent),
            pdb.state_map(parent),
            pdb.is_primary_constructor(parent),
        ));
    }
}

fn method_symbols(pdb: Pdb<'_>, method: Token) {
    let _ = black_box(pdb.sequence_points(method).map(Iterator::count));
    let _ = black_box((pdb.kickoff_method(method), pdb.move_next_method(method)));
    let _ = black_box(pdb.variables_at(method, metadata::IlOffset(1)));
    for scope in pdb.local_scopes(method).flatten().take(MAX_ROWS) {
        black_box(scope.variables().take(MAX_ROWS).count());
        for constant in scope.constants().flatten().take(MAX_ROWS) {
            let _ = black_box(constant.value());
        }
    }
}

/// Every decoder of signatures on the same blob, and the text of what it holds.
pub fn signatures(md: Metadata<'_>, blob: &[u8]) {
    let text = |ty: &signature::Type| {
        black_box(md.type_text(
            ty,
            &GenericNames::default(),
            &Annotations::default(),
            Style::default(),
        ));
    };
    for ty in [signature::field_type(blob), signature::type_spec(blob)]
        .into_iter()
        .flatten()
    {
        text(&ty);
    }
    for types in [
        signature::local_types(blob),
        signature::method_spec_arguments(blob),
    ]
    .into_iter()
    .flatten()
    {
        types.iter().for_each(text);
    }
    for method in [
        signature::method_signature(blob),
        signature::property_signature(blob),
    ]
    .into_iter()
    .flatten()
    {
        text(&method.return_type);
        method.parameters.iter().for_each(text);
    }
    let _ = black_box(signature::standalone(blob));
}
