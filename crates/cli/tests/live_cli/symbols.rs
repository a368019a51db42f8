//! `ndbg symbols` on compiled fixtures.

use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::ndbg;

/// Standard output, standard error and the exit code.
fn symbols(sandbox: &Sandbox, file: &Path, options: &[&str]) -> (String, String, i32) {
    let output = ndbg(sandbox, ["symbols"])
        .arg(file)
        .args(options)
        .output()
        .expect("ndbg runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap_or(-1),
    )
}

#[test]
fn assembly_with_its_pdb_and_sources_is_described() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("demo_shop");
    for file in [fixture.dll(), fixture.pdb().expect("a PDB beside it")] {
        let (text, error, code) = symbols(&sandbox, &file, &[]);
        assert_eq!(code, 0, "{error}");
        for part in [
            "demo_shop, Version=",
            "matches",
            "not optimised",
            "demo_shop.cs: source found",
            "with lines",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    let (text, _, _) = symbols(&sandbox, &fixture.dll(), &["--json"]);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["documents"][0]["source"], "found", "{text}");
    assert_eq!(value["pdb"], value["expectedPdb"], "{text}");
}

#[test]
fn line_shows_what_a_breakpoint_would_bind_to() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("demo_shop");
    let line = fixture.marker("discount").line;
    let (text, _, code) = symbols(
        &sandbox,
        &fixture.dll(),
        &["--line", &format!("demo_shop.cs:{line}")],
    );
    assert!(code == 0 && text.contains("Order.Total"), "{text}");
    let (text, _, _) = symbols(
        &sandbox,
        &fixture.dll(),
        &["--line", "demo_shop.cs:2", "--json"],
    );
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["result"]["outcome"], "no code", "{text}");
    let (text, _, _) = symbols(&sandbox, &fixture.dll(), &["--line", "nowhere.cs:2"]);
    assert!(
        text.contains("demo_shop.cs"),
        "the documents there are: {text}"
    );
    let (_, error, code) = symbols(&sandbox, &fixture.dll(), &["--line", "demo_shop.cs"]);
    assert!(code == 2 && error.contains("FILE:LINE"), "{error}");
}

#[test]
fn file_that_is_no_assembly_is_refused_with_the_reason() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("demo_shop");
    let folder = sandbox.folder().join("bad");
    fs::create_dir_all(&folder).expect("a folder");
    let dll = fs::read(fixture.dll()).expect("the dll");
    let pdb = fs::read(fixture.pdb().expect("a PDB beside it")).expect("the PDB");
    let cases: [(&str, &[u8], &str); 5] = [
        ("elf.dll", b"\x7fELF and more", "in the .dll beside it"),
        ("cut.dll", &dll[..600], "truncated"),
        ("cut.pdb", &pdb[..600], "truncated"),
        (
            "old.pdb",
            b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0",
            "Windows PDB",
        ),
        ("text.pdb", b"hello", "not a portable PDB"),
    ];
    for (name, bytes, words) in cases {
        let file = folder.join(name);
        fs::write(&file, bytes).expect("a file");
        let (text, error, code) = symbols(&sandbox, &file, &[]);
        assert!(code == 125 && text.is_empty(), "{name}: {code} {text}");
        assert!(
            error.to_lowercase().contains(&words.to_lowercase()),
            "{name}: {error}"
        );
    }
    let (_, error, code) = symbols(&sandbox, &folder.join("none.dll"), &[]);
    assert!(code == 125 && error.contains("No such file"), "{error}");
}

#[test]
fn pdb_of_another_build_is_told() {
    let sandbox = Sandbox::new();
    let folder = sandbox.folder().join("mixed");
    fs::create_dir_all(&folder).expect("a folder");
    fs::copy(Fixture::named("hello").dll(), folder.join("hello.dll")).expect("a copy");
    let other = Fixture::named("throws").pdb().expect("a PDB");
    fs::copy(other, folder.join("hello.pdb")).expect("a copy");
    let (text, _, code) = symbols(&sandbox, &folder.join("hello.dll"), &[]);
    assert!(code == 0 && text.contains("differs"), "{text}");
}
