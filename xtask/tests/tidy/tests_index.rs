//! The full names of all test functions: `live::launch::exit_code_is_real` for a test binary,
//! `engine::stops::tests::…` for a crate's own, each also with its package before it.

use std::{
    collections::BTreeSet,
    path::{Component, Path},
};

use super::{
    lexer::{Token, tokens},
    sources::{Source, attribute},
};

/// Every name by which a test may be called.
pub(crate) fn all(sources: &[Source]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for source in sources {
        let Some(home) = Home::of(&source.path) else {
            continue;
        };
        for test in tests_in(&source.text) {
            let mut name = vec![home.target.clone()];
            name.extend(home.modules.iter().cloned());
            name.push(test);
            let name = name.join("::");
            if home.target != home.package {
                names.insert(format!("{}::{name}", home.package));
            }
            names.insert(name);
        }
    }
    names
}

/// Where in cargo's world a file belongs.
#[derive(Debug, PartialEq, Eq)]
struct Home {
    /// The folder of the package.
    package: String,
    /// The test binary, or again the package.
    target: String,
    /// The modules that lead to the file.
    modules: Vec<String>,
}

impl Home {
    /// Of `crates/cli/tests/live/launch.rs`: package `cli`, target `live`, module `launch`.
    fn of(path: &Path) -> Option<Self> {
        let parts: Option<Vec<&str>> = path
            .components()
            .map(|part| match part {
                Component::Normal(part) => part.to_str(),
                _ => None,
            })
            .collect();
        let parts = parts?;
        let (package, kind, rest) = match parts.as_slice() {
            ["crates", package, kind, rest @ ..] | [package, kind, rest @ ..] => {
                (*package, *kind, rest)
            }
            _ => return None,
        };
        let [folders @ .., file] = rest else {
            return None;
        };
        let stem = file.strip_suffix(".rs")?;
        let mut modules: Vec<_> = folders.iter().map(|folder| (*folder).to_owned()).collect();
        let is_root = stem == "main" || (kind == "src" && stem == "lib" && folders.is_empty());
        if stem != "mod" && !is_root {
            modules.push(stem.to_owned());
        }
        let target = match kind {
            "src" => package.to_owned(),
            "tests" if !modules.is_empty() => modules.remove(0),
            _ => return None,
        };
        Some(Self {
            package: package.to_owned(),
            target,
            modules,
        })
    }
}

/// The test functions of a file, with the modules inside it that lead to them.
fn tests_in(text: &str) -> Vec<String> {
    let tokens: Vec<Token> = tokens(text).into_iter().map(|(token, _)| token).collect();
    let mut found = Vec::new();
    // One entry for each open brace: the module's name if it is a module's.
    let mut braces: Vec<Option<&str>> = Vec::new();
    let mut module = None;
    let mut is_test = false;
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        let next = tokens.get(i + 1);
        match (token, next) {
            (Token::Mark('#'), Some(Token::Mark('['))) => {
                let words = attribute(tokens.iter().skip(i + 2));
                is_test |= is_test_attribute(&words);
            }
            (Token::Word(word), Some(Token::Word(name))) if word == "mod" => {
                module = Some(name.as_str())
            }
            (Token::Word(word), Some(Token::Word(name))) if word == "fn" && is_test => {
                let path = braces.iter().copied().flatten().chain([name.as_str()]);
                found.push(path.collect::<Vec<_>>().join("::"));
                is_test = false;
            }
            (Token::Mark('{'), _) => braces.push(module.take()),
            (Token::Mark('}'), _) => {
                braces.pop();
                is_test = false;
            }
            (Token::Mark(';'), _) => module = None,
            _ => {}
        }
        i += 1;
    }
    found
}

/// `#[test]`, `#[tokio::test]`, `#[tokio::test(flavor = …)]`.
fn is_test_attribute(words: &[&str]) -> bool {
    matches!(words, ["test", ..] | ["tokio", "test", ..])
}

#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    let names = all(&[super::sources::example(path, text)]);
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn names_follow_files_and_modules() {
    let text = "#[test]\nfn a() {}";
    check(
        "crates/cli/tests/live/launch.rs",
        text,
        &["cli::live::launch::a", "live::launch::a"],
    );
    check(
        "crates/cli/tests/live/main.rs",
        text,
        &["cli::live::a", "live::a"],
    );
    check(
        "crates/cli/tests/binary.rs",
        text,
        &["binary::a", "cli::binary::a"],
    );
    check(
        "crates/engine/src/values/format.rs",
        text,
        &["engine::values::format::a"],
    );
    check(
        "crates/engine/src/values/mod.rs",
        text,
        &["engine::values::a"],
    );
    check("crates/engine/src/lib.rs", text, &["engine::a"]);
    check("xtask/src/main.rs", text, &["xtask::a"]);
    check("fuzz/main.rs", text, &[]);
}

#[test]
fn modules_inside_a_file_count() {
    let text = "fn f() { if x {} }\n#[cfg(test)]\nmod tests {\n use x::{y};\n mod deep { #[test] fn a() {} }\n\
                #[tokio::test(flavor = \"x\")]\n async fn b() { fn helper() {} } }\n#[test] fn c() {}";
    let expected = [
        "metadata::pe::c",
        "metadata::pe::tests::b",
        "metadata::pe::tests::deep::a",
    ];
    check("crates/metadata/src/pe.rs", text, &expected);
}

#[test]
fn functions_that_are_no_tests_have_no_name() {
    let text =
        "// #[test]\nfn a() {}\n#[test_only]\nfn b() {}\nmod m;\n#[derive(Debug)]\nstruct S;";
    check("crates/metadata/src/pe.rs", text, &[]);
}

#[test]
fn tests_inside_proptest_count() {
    let text = "proptest! {\n #[test]\n fn never_panics(bytes in any()) { f(bytes) } }";
    check(
        "crates/metadata/tests/fuzzed.rs",
        text,
        &["fuzzed::never_panics", "metadata::fuzzed::never_panics"],
    );
}
