//! Tables: widths, lists, pointer tables, and lookups in tables that are not sorted.

use metadata::csharp::{GenericNames, Style};
use metadata::pdb::{CustomKind, Import};
use metadata::tables::{Coded, ImplMapRow, LocalScopeRow, MemberRefRow, Table, TypeDefRow};
use metadata::{IlOffset, StringHandle, Symbols, Token};
use proptest::prelude::*;

use crate::builder::{Builder, compressed};

/// `<Module>` and types that each own `n_methods` methods, named by their numbers.
fn types_with_methods(builder: &mut Builder, counts: &[u32]) {
    let mut next = 1;
    for (index, count) in counts.iter().enumerate() {
        let name = builder.string(&format!("T{index}"));
        builder.row(Table::TypeDef, &[0, name, 0, 0, 1, next]);
        next += count;
    }
    for index in 1..next {
        let name = builder.string(&format!("M{index}"));
        builder.row(Table::Method, &[0, 0, 0, name, 0, 1]);
    }
}

#[test]
fn cells_widen_with_what_they_point_to() {
    // 0x3fff rows are the last that a coded token with two bits of tag can name in two bytes.
    for n_rows in [0x3fff, 0x4000, 0xffff, 0x1_0000] {
        let mut builder = Builder::default();
        for _ in 0..n_rows {
            builder.row(Table::TypeRef, &[0, 0, 0]);
        }
        let coded = |token| Coded::TypeDefOrRef.encode(token).expect("a type");
        let last = Token::new(Table::TypeRef, n_rows);
        builder.row(Table::TypeDef, &[7, 0, 0, coded(last), 1, 1]);
        let parent = Coded::MemberRefParent.encode(last).expect("a parent");
        builder.row(Table::MemberRef, &[parent, 0, 0]);
        builder.read(|metadata| {
            let row: TypeDefRow = metadata.row(1).expect("a row");
            assert_eq!((row.flags, row.extends), (7, last), "{n_rows:x}");
            assert_eq!(metadata.row::<MemberRefRow>(1).expect("a row").class, last);
            assert_eq!(metadata.row_count(Table::TypeRef), n_rows);
        });
    }
}

#[test]
fn heaps_widen_at_64_kilobytes() {
    for size in [0xfff0, 0x1_0010] {
        let mut builder = Builder::default();
        builder.string(&"x".repeat(size));
        let name = builder.string("late");
        builder.row(Table::ModuleRef, &[name]);
        builder.row(Table::ImplMap, &[3, 2, name, 1]);
        builder.read(|metadata| {
            let row: ImplMapRow = metadata.row(1).expect("a row");
            assert_eq!(row.import_name, StringHandle(name));
            assert_eq!(metadata.string(row.import_name).as_deref(), Ok("late"));
            assert_eq!(row.import_scope, Token::new(Table::ModuleRef, 1));
        });
    }
}

#[test]
fn cells_of_a_pdb_are_as_wide_as_the_assembly_needs() {
    for n_methods in [10, 0x1_0000] {
        let mut builder = Builder::pdb(&[(Table::Method, n_methods)]);
        builder.row(Table::LocalScope, &[n_methods, 0, 1, 1, 4, 6]);
        builder.read(|metadata| {
            let row: LocalScopeRow = metadata.row(1).expect("a row");
            assert_eq!(
                (row.method.row(), row.start_offset, row.length),
                (n_methods, 4, 6)
            );
            assert_eq!(
                metadata.row_count(Table::Method),
                0,
                "the methods are not in the PDB"
            );
        });
        let symbols = Symbols::open(builder.build()).expect("a PDB");
        let method = Token::new(Table::Method, n_methods);
        let at = |offset| {
            symbols
                .pdb()
                .local_scopes_at(method, IlOffset(offset))
                .count()
        };
        assert_eq!([at(3), at(4), at(9), at(10)], [0, 1, 1, 0]);
    }
}

#[test]
fn pointer_tables_reorder_members() {
    let mut builder = Builder {
        stream: "#-",
        ..Builder::default()
    };
    types_with_methods(&mut builder, &[1, 2, 0, 2]);
    for method in [3, 5, 1, 2, 4] {
        builder.row(Table::MethodPtr, &[method]);
    }
    builder.read(|metadata| {
        let methods = |row| {
            let ty = metadata
                .type_def(Token::new(Table::TypeDef, row))
                .expect("a type");
            ty.methods()
                .map(|it| it.expect("a method").token().row())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            [methods(1), methods(2), methods(3), methods(4)],
            [vec![3], vec![5, 1], vec![], vec![2, 4]]
        );
        for (method, owner) in [(3, 1), (5, 2), (1, 2), (2, 4), (4, 4)] {
            let method = metadata
                .method(Token::new(Table::Method, method))
                .expect("a method");
            assert_eq!(
                method.declaring_type(),
                Ok(Token::new(Table::TypeDef, owner))
            );
        }
    });
}

#[test]
fn edit_and_continue_deltas_are_tolerated() {
    for minimal_delta in [false, true] {
        let mut builder = Builder {
            stream: "#-",
            minimal_delta,
            ..Builder::default()
        };
        types_with_methods(&mut builder, &[1]);
        builder.row(Table::EncLog, &[0x0600_0001, 0]);
        builder.row(Table::EncMap, &[0x0600_0001]);
        builder.read(|metadata| {
            assert_eq!(metadata.row_count(Table::EncLog), 1);
            let method = metadata.method(Token(0x0600_0001)).expect("a method");
            assert_eq!(method.name().as_deref(), Ok("M1"));
        });
    }
}

proptest! {
    #[test]
    fn members_know_their_owners(counts in proptest::collection::vec(0_u32..4, 1..20)) {
        let mut builder = Builder::default();
        types_with_methods(&mut builder, &counts);
        builder.read(|metadata| {
            let mut n_methods = 0;
            for ty in metadata.type_defs() {
                let ty = ty.expect("a type");
                for method in ty.methods() {
                    assert_eq!(method.expect("a method").declaring_type(), Ok(ty.token()));
                    n_methods += 1;
                }
            }
            assert_eq!(n_methods, counts.iter().sum::<u32>());
        });
    }

    #[test]
    fn lookups_do_not_depend_on_order(parents in proptest::collection::vec(1_u32..6, 0..40), sorted: bool) {
        let mut parents = parents;
        if sorted {
            parents.sort_unstable();
        }
        let mut builder = Builder { sorted: if sorted { u64::MAX } else { 0 }, ..Builder::default() };
        types_with_methods(&mut builder, &[0; 6]);
        for (parent, interface) in parents.iter().zip(1..) {
            builder.row(Table::InterfaceImpl, &[*parent, interface << 2 | 1]);
        }
        builder.read(|metadata| {
            for parent in 0..7 {
                let ty = metadata.type_def(Token::new(Table::TypeDef, parent));
                let found: Vec<_> = ty.into_iter().flat_map(|it| it.interfaces().flatten().collect::<Vec<_>>()).collect();
                let expected: Vec<_> = parents.iter().zip(1..).filter(|(it, _)| **it == parent && parent > 0)
                    .map(|(_, interface)| Token::new(Table::TypeRef, interface)).collect();
                assert_eq!(found, expected);
            }
        });
    }
}

/// C# 14 writes the members of an `extension` block as static methods, and their declarations into a nested type.
#[test]
fn accessors_of_extension_blocks_are_named_as_such() {
    const STATIC: u32 = 0x0010;
    const SPECIAL_NAME: u32 = 0x0800;
    const NESTED_PUBLIC: u32 = 2;
    let mut builder = Builder::default();
    let names = ["Extensions", "<G>$1F2E", "get_Size", "get_Plain"];
    let [extensions, group, size, plain] = names.map(|it| builder.string(it));
    let signature = builder.blob(&[0, 0, 8]);
    builder.row(Table::TypeDef, &[0, extensions, 0, 0, 1, 1]);
    builder.row(Table::TypeDef, &[NESTED_PUBLIC, group, 0, 0, 1, 3]);
    builder.row(Table::NestedClass, &[2, 1]);
    for (flags, name) in [(STATIC, size), (STATIC, plain), (SPECIAL_NAME, size)] {
        builder.row(Table::Method, &[0, 0, flags, name, signature, 1]);
    }
    builder.read(|metadata| {
        let name = |row| {
            let names = GenericNames::default();
            let name =
                metadata.method_name(Token::new(Table::Method, row), &names, Style::default());
            name.expect("a name").to_string()
        };
        assert_eq!(name(1), "Extensions.Size.get");
        assert_eq!(name(2), "Extensions.get_Plain");
        let declares = |row| metadata.is_extension_declaration(Token::new(Table::Method, row));
        assert_eq!([1, 2, 3].map(declares), [false, false, true]);
    });
}

#[test]
fn all_kinds_of_imports() {
    let mut builder = Builder::pdb(&[]);
    let (a, b) = (builder.blob(b"A"), builder.blob(b"B.C"));
    let mut imports = Vec::new();
    let parts: [&[u32]; 9] = [
        &[1, b],
        &[2, 5, b],
        &[3, 6],
        &[4, a, b],
        &[5, a],
        &[6, a, 5],
        &[7, a, b],
        &[8, a, 5, b],
        &[9, a, 6],
    ];
    for part in parts.iter().flat_map(|it| it.iter()) {
        compressed(&mut imports, *part);
    }
    let imports = builder.blob(&imports);
    builder.row(Table::ImportScope, &[0, imports]);
    let symbols = Symbols::open(builder.build()).expect("a PDB");
    let imports = symbols
        .pdb()
        .imports(Token::new(Table::ImportScope, 1))
        .expect("imports");
    let (alias, namespace) = (|| "A".into(), || "B.C".into());
    let (assembly, ty) = (
        Token::new(Table::AssemblyRef, 5),
        Token::new(Table::TypeSpec, 1),
    );
    assert_eq!(
        imports,
        [
            Import::Namespace(namespace()),
            Import::AssemblyNamespace {
                assembly,
                namespace: namespace()
            },
            Import::Type(ty),
            Import::XmlNamespace {
                alias: alias(),
                namespace: namespace()
            },
            Import::ExternAlias(alias()),
            Import::AliasAssembly {
                alias: alias(),
                assembly
            },
            Import::AliasNamespace {
                alias: alias(),
                namespace: namespace()
            },
            Import::AliasAssemblyNamespace {
                alias: alias(),
                assembly,
                namespace: namespace()
            },
            Import::AliasType { alias: alias(), ty },
        ]
    );
}

#[test]
fn custom_debug_information_is_found_by_parent_and_kind() {
    let mut builder = Builder::pdb(&[(Table::Method, 9)]);
    let kind = builder.guid(CustomKind::AsyncStepping.guid());
    let mut blob = 8_u32.to_le_bytes().to_vec();
    blob.extend([1, 0, 0, 0, 2, 0, 0, 0, 9]);
    let blob = builder.blob(&blob);
    builder.row(Table::CustomDebugInformation, &[9 << 5, kind, blob]);
    let symbols = Symbols::open(builder.build()).expect("a PDB");
    let method = Token::new(Table::Method, 9);
    let stepping = symbols
        .pdb()
        .async_stepping(method)
        .expect("readable")
        .expect("the blob");
    assert_eq!(stepping.catch_handler, Some(IlOffset(7)));
    assert_eq!(
        stepping.awaits.first().map(|it| it.resume_method),
        Some(method)
    );
    assert_eq!(symbols.pdb().hoisted_scopes(method), Ok(Vec::new()));
    assert_eq!(
        symbols.pdb().async_stepping(Token::new(Table::Method, 8)),
        Ok(None)
    );
}
