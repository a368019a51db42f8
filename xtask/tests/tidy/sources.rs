//! What may stand in a Rust file of this repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    crates::UNSAFE_CRATE,
    lexer::{Token, tokens},
};

/// From here on a file is to be split, by noun.
const LONGEST: usize = 800;

/// A Rust file, its path relative to the root.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// All Rust files below `root`, but for build results.
pub(crate) fn read(root: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository can be listed") {
            let entry = entry.expect("a folder of the repository can be listed");
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let kind = entry
                .file_type()
                .expect("a file of the repository has a type");
            if kind.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    open.push(path);
                }
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(&path).expect("Rust files are UTF-8");
                let path = path.strip_prefix(root).expect("below the root").to_owned();
                sources.push(Source { path, text });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

/// `unsafe` in files of other crates than the one that may have it.
pub(crate) fn check_unsafe(sources: &[Source]) -> Vec<String> {
    let allowed = Path::new("crates").join(UNSAFE_CRATE);
    let others = sources
        .iter()
        .filter(|source| !source.path.starts_with(&allowed));
    let findings = others.flat_map(|source| {
        let tokens = tokens(&source.text).into_iter();
        let found = tokens.filter(|(token, _)| token.is_word("unsafe"));
        found.map(|(_, line)| format!("{}:{line}: unsafe code", source.path.display()))
    });
    findings.collect()
}

/// Files that are too long, say nothing about themselves, or hold what we do not keep.
pub(crate) fn check_rules(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources {
        let path = source.path.display();
        let generated = source
            .text
            .lines()
            .take(10)
            .any(|line| line.starts_with("// @generated"));
        let n_lines = source.text.lines().count();
        if n_lines > LONGEST && !generated {
            findings.push(format!(
                "{path}: {n_lines} lines, at most {LONGEST}: split it"
            ));
        }
        let first = source.text.lines().next().unwrap_or_default();
        if !first.starts_with("//!") && !generated {
            findings.push(format!("{path}: does not open with //! and what it is for"));
        }
        let found = forbidden(&source.text);
        findings.extend(found.map(|(what, line)| format!("{path}:{line}: {what}")));
    }
    findings
}

/// Attributes and macros that hide work left undone.
fn forbidden(text: &str) -> impl Iterator<Item = (String, usize)> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (i, (token, line)) in tokens.iter().enumerate() {
        let next = |n| tokens.get(i + n).map(|(token, _)| token);
        if token.is_mark('#') && next(1).is_some_and(|next| next.is_mark('[')) {
            let words = attribute(tokens.iter().skip(i + 2).map(|(token, _)| token));
            for name in ["ignore", "should_panic"] {
                if words.contains(&name) {
                    found.push((format!("#[{name}]"), *line));
                }
            }
        }
        for name in ["todo", "unimplemented"] {
            if token.is_word(name) && next(1).is_some_and(|next| next.is_mark('!')) {
                found.push((format!("{name}!"), *line));
            }
        }
    }
    found.into_iter()
}

/// The words of an attribute, whose opening bracket was just read.
pub(crate) fn attribute<'a>(tokens: impl Iterator<Item = &'a Token>) -> Vec<&'a str> {
    let mut depth = 1_u32;
    let mut words = Vec::new();
    for token in tokens {
        match token {
            Token::Mark('[') => depth += 1,
            Token::Mark(']') => depth -= 1,
            Token::Word(word) => words.push(word.as_str()),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    words
}

/// A source for tests.
pub(crate) fn example(path: &str, text: &str) -> Source {
    Source {
        path: path.into(),
        text: text.to_owned(),
    }
}

#[test]
fn unsafe_is_found_outside_its_crate_only() {
    let text =
        "//! unsafe\nfn f() { unsafe { g() } }\n#[unsafe(no_mangle)]\n#![forbid(unsafe_code)]";
    let inside = example("crates/cordebug/src/lib.rs", text);
    let outside = example("crates/engine/src/lib.rs", text);
    assert_eq!(
        check_unsafe(&[inside, outside]),
        [
            "crates/engine/src/lib.rs:2: unsafe code",
            "crates/engine/src/lib.rs:3: unsafe code",
        ]
    );
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(check_rules(&[example("a.rs", text)]), expected);
}

#[test]
fn long_files_are_found_unless_generated() {
    let long = "\n".repeat(LONGEST);
    let found = "a.rs: 801 lines, at most 800: split it";
    check(&format!("//! Long.{long}"), &[]);
    check(&format!("//! Long.{long}\n"), &[found]);
    check(&format!("// @generated by xtask codegen\n{long}"), &[]);
}

#[test]
fn file_must_say_what_it_is_for() {
    check(
        "fn f() {}",
        &["a.rs: does not open with //! and what it is for"],
    );
}

#[test]
fn undone_work_is_found() {
    check(
        "//!\n#[test]\n#[ignore = \"later\"]\nfn t() {}",
        &["a.rs:3: #[ignore]"],
    );
    check(
        "//!\n#[cfg_attr(x, ignore)]\nfn t() {}",
        &["a.rs:2: #[ignore]"],
    );
    check(
        "//!\n#[should_panic(expected = \"x\")]",
        &["a.rs:2: #[should_panic]"],
    );
    check(
        "//!\nfn f() { todo!(); unimplemented!(\"x\") }",
        &["a.rs:2: todo!", "a.rs:2: unimplemented!"],
    );
    check(
        "//!\n// todo!()\nfn todo() { let ignore = \"#[ignore]\"; }",
        &[],
    );
}
