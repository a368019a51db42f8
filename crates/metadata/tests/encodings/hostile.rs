//! Files made to exhaust time or memory: each asks, in a few kilobytes, for more than a machine has.

use metadata::csharp::{GenericNames, Style};
use metadata::search::{Pattern, SymbolKind};
use metadata::tables::Table;
use metadata::{Error, IlOffset, Symbols, Token, signature};

use crate::builder::{Builder, compressed};

fn pdb() -> Builder {
    Builder::pdb(&[(Table::Method, 0xff_ffff)])
}

#[test]
fn methods_that_share_a_large_blob_do_not_multiply_it() {
    let mut builder = pdb();
    let name = builder.blob(b"x.cs");
    let mut path = vec![b'/'];
    compressed(&mut path, name);
    let path = builder.blob(&path);
    builder.row(Table::Document, &[path, 0, 0, 0]);
    // Half a million points, which 50,000 methods claim.
    let mut blob = vec![0, 0, 0, 1, 1, 1];
    for _ in 0..500_000 {
        blob.extend([1, 0, 1, 0, 0]);
    }
    let points = builder.blob(&blob);
    for _ in 0..50_000 {
        builder.row(Table::MethodDebugInformation, &[1, points]);
    }
    let symbols = Symbols::open(builder.build()).expect("a PDB");
    let document = Token::new(Table::Document, 1);
    assert!(symbols.points(document).len() < 4_000_000);
    assert!(!symbols.candidates(document, 1, None).is_empty());
}

#[test]
fn methods_in_several_documents_that_share_a_blob_do_not_either() {
    let mut builder = pdb();
    builder.row(Table::Document, &[0, 0, 0, 0]);
    let mut blob = vec![0, 1, 0, 0, 1, 1, 1];
    for _ in 0..500_000 {
        blob.extend([1, 0, 1, 0, 0]);
    }
    let points = builder.blob(&blob);
    for _ in 0..50_000 {
        builder.row(Table::MethodDebugInformation, &[0, points]);
    }
    let symbols = Symbols::open(builder.build()).expect("a PDB");
    assert!(symbols.methods_of(Token::new(Table::Document, 1)).len() <= 50_000);
}

#[test]
fn documents_that_share_a_long_name_do_not_multiply_it() {
    let mut builder = pdb();
    let part = builder.blob(&[b'x'; 16_000]);
    let mut path = vec![b'/'];
    compressed(&mut path, part);
    compressed(&mut path, part);
    let path = builder.blob(&path);
    for _ in 0..100_000 {
        builder.row(Table::Document, &[path, 0, 0, 0]);
    }
    let symbols = Symbols::open(builder.build()).expect("a PDB");
    assert!(
        symbols
            .documents()
            .iter()
            .map(|(path, _)| path.len())
            .sum::<usize>()
            <= 64 << 20
    );
}

#[test]
fn a_path_of_endless_parts_is_refused() {
    let mut builder = pdb();
    let part = builder.blob(&[b'x'; 60_000]);
    let mut path = vec![b'/'];
    for _ in 0..10_000 {
        compressed(&mut path, part);
    }
    let path = builder.blob(&path);
    builder.row(Table::Document, &[path, 0, 0, 0]);
    let symbols = Symbols::open(builder.build()).expect("a PDB");
    assert!(
        symbols
            .pdb()
            .document(Token::new(Table::Document, 1))
            .expect("a row")
            .path()
            .is_err()
    );
}

#[test]
fn scopes_that_claim_the_same_variables_are_refused() {
    let mut builder = pdb();
    let name = builder.string("v");
    for index in 0..20_000 {
        builder.row(Table::LocalVariable, &[0, index, name]);
    }
    // Every second scope begins at the first variable and ends behind the last.
    for scope in 0..20_000 {
        let first = if scope % 2 == 0 { 1 } else { 20_001 };
        builder.row(Table::LocalScope, &[1, 0, first, 1, 0, 100]);
    }
    let symbols = Symbols::open(builder.build()).expect("a PDB");
    assert!(
        symbols
            .pdb()
            .variables_at(Token::new(Table::Method, 1), IlOffset(1))
            .is_err()
    );
}

#[test]
fn import_scopes_in_a_circle_end() {
    let mut builder = pdb();
    builder.row(Table::ImportScope, &[2, 0]);
    builder.row(Table::ImportScope, &[1, 0]);
    let symbols = Symbols::open(builder.build()).expect("a PDB");
    assert!(
        symbols
            .pdb()
            .import_chain(Token::new(Table::ImportScope, 1))
            .is_err()
    );
}

#[test]
fn types_that_enclose_each_other_end() {
    let mut builder = Builder::default();
    let name = builder.string("T");
    for _ in 0..3 {
        builder.row(Table::TypeDef, &[2, name, 0, 0, 1, 1]);
    }
    for (nested, enclosing) in [(1, 2), (2, 3), (3, 1)] {
        builder.row(Table::NestedClass, &[nested, enclosing]);
    }
    builder.read(|metadata| {
        let token = Token::new(Table::TypeDef, 1);
        assert!(metadata.full_name(token).is_err());
        assert_eq!(
            metadata.type_def_text(token, &GenericNames::default(), Style::default()),
            "?"
        );
    });
}

#[test]
fn a_type_spec_of_itself_is_cut_off() {
    let mut builder = Builder::default();
    let name = builder.string("G`2");
    builder.row(Table::TypeRef, &[0, name, 0]);
    // G<spec 1, spec 1>: two to the power of its depth, were it written out.
    let blob = builder.blob(&[
        0x15,
        0x12,
        1 << 2 | 1,
        2,
        0x12,
        1 << 2 | 2,
        0x12,
        1 << 2 | 2,
    ]);
    builder.row(Table::TypeSpec, &[blob]);
    builder.read(|metadata| {
        let token = Token::new(Table::TypeSpec, 1);
        let text = metadata.type_token_text(token, &GenericNames::default(), Style::default());
        assert_eq!(text, "G<G<?, ?>, G<?, ?>>");
    });
}

#[test]
fn signatures_are_bounded_in_depth_and_size() {
    assert!(
        signature::type_spec(&[0x1d; 1_000_000]).is_err(),
        "arrays of arrays"
    );
    let mut wide = vec![0x07];
    compressed(&mut wide, 1_000_000);
    wide.extend([0x08; 1_000_000]);
    assert!(signature::local_types(&wide).is_err(), "a million locals");
    // Every level promises as many arguments as there are bytes left.
    let mut nested = Vec::new();
    for level in 0..90_u32 {
        nested.extend([0x15, 0x12, 5]);
        compressed(&mut nested, 2_000_000 - level * 7);
    }
    nested.resize(2_000_000, 0x08);
    assert!(signature::type_spec(&nested).is_err());
}

#[test]
fn names_without_an_end_are_refused() {
    let mut builder = Builder::default();
    let name = builder.string(&"x".repeat(1_000_000));
    builder.row(Table::ModuleRef, &[name]);
    builder.read(|metadata| assert!(metadata.string(metadata::StringHandle(name)).is_err()));
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let mut bytes = Builder::default().build();
    let stream = bytes
        .windows(4)
        .position(|it| it == b"#~\0\0")
        .expect("the stream's name");
    let at = u32::from_le_bytes(
        bytes[stream - 8..stream - 4]
            .try_into()
            .expect("four bytes"),
    ) as usize;
    // One table of sixteen million rows, in a file of a hundred bytes.
    bytes[at + 8] = 1 << 2;
    bytes.truncate(at + 24);
    bytes.extend(0x00ff_ffff_u32.to_le_bytes());
    assert!(metadata::tables::Layout::parse(&bytes).is_err());
}

#[test]
fn a_bomb_of_zeros_is_refused_by_its_declared_size_and_by_the_limit() {
    let mut builder = pdb();
    let kind = builder.guid(metadata::pdb::CustomKind::EmbeddedSource.guid());
    let bomb = miniz_oxide::deflate::compress_to_vec(&vec![0; 10_000_000], 9);
    for declared in [100_u32, 10_000_000, u32::MAX] {
        let mut blob = declared.to_le_bytes().to_vec();
        blob.extend(&bomb);
        let value = builder.blob(&blob);
        let document = builder.row(Table::Document, &[0, 0, 0, 0]);
        builder.row(
            Table::CustomDebugInformation,
            &[document << 5 | 22, kind, value],
        );
    }
    let symbols = Symbols::open(builder.build()).expect("a PDB");
    let source = |row, limit| {
        symbols
            .pdb()
            .embedded_source(Token::new(Table::Document, row), limit)
    };
    assert!(
        matches!(source(1, 1 << 30), Err(Error::Malformed(_))),
        "more than declared"
    );
    assert_eq!(
        source(2, 1 << 30).expect("readable").map(|it| it.len()),
        Some(10_000_000)
    );
    assert!(matches!(source(2, 1 << 20), Err(Error::TooLarge { .. })));
    assert!(matches!(source(3, 1 << 30), Err(Error::TooLarge { .. })));
}

#[test]
fn search_gives_up_on_names_of_absurd_length() {
    let mut builder = Builder::default();
    let long = builder.string(&"a".repeat(8000));
    builder.row(Table::TypeDef, &[0, 0, 0, 0, 1, 1]);
    for row in 0..1000 {
        builder.row(Table::TypeDef, &[0, long + row, 0, 0, 1, 1]);
    }
    builder.read(|metadata| {
        let pattern = Pattern::new("A").expect("a pattern");
        let found = metadata.search(&pattern, &SymbolKind::ALL, 3);
        assert!(!found.is_complete, "8 million letters were looked at");
        assert!(found.symbols.len() == 3 && found.n_fitting < 1000);
    });
}
