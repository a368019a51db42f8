//! Printing a tree and parsing the print gives the tree back: for trees the parser made of random text
//! exactly, for random trees up to the parentheses they needed.

mod trees;

use proptest::collection::vec;
use proptest::prelude::*;

use self::trees::expr;

/// The dump without `(paren …)` around anything.
fn without_parens(dump: &str) -> String {
    let mut out = String::new();
    let mut open = Vec::new();
    let mut rest = dump;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("(paren ") {
            open.push(false);
            rest = after;
            continue;
        }
        let mut length = c.len_utf8();
        match c {
            '(' => open.push(true),
            ')' if open.pop() == Some(false) => {
                rest = &rest[1..];
                continue;
            }
            '"' | '\'' => {
                let mut escaped = false;
                let end = rest[1..].find(|it| {
                    let ends = it == c && !escaped;
                    escaped = it == '\\' && !escaped;
                    ends
                });
                length = end.expect("a closed literal") + 2;
            }
            _ => {}
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Pieces of C#, so that random text gets somewhere.
const PIECES: &[&str] = &[
    "a",
    "b",
    "Foo",
    "_",
    "x",
    "1",
    "2.5",
    "0x1F",
    "\"s\"",
    "'c'",
    "@\"v\"",
    "\"\"\"r\"\"\"",
    "$\"t{a}\"",
    "$\"{a,1:x}\"",
    "$1",
    "$exception",
    "(",
    ")",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "<",
    ">",
    ",",
    ".",
    ":",
    "?",
    "?.",
    "?[",
    "=>",
    "=",
    "==",
    "!=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "!",
    "~",
    "++",
    "--",
    "&&",
    "||",
    "??",
    "??=",
    "+=",
    ">>=",
    "<<",
    "..",
    "->",
    "::",
    " ",
    " is ",
    " as ",
    " new ",
    "new(",
    " switch { ",
    " with { ",
    "when",
    "and",
    "or",
    " not ",
    "null",
    "true",
    "this",
    "default",
    "typeof(",
    "int",
    "string",
    "var",
    "out ",
    "ref ",
    "in ",
    "from x in ",
    " where ",
    " select ",
    " orderby ",
    "async ",
    "static ",
    "stackalloc ",
    "checked(",
    "nameof(",
    "global",
    "dynamic",
    "delegate*<",
    " => ",
    "\n",
    "//c\n",
];

fn check_exact(text: &str) -> Result<(), TestCaseError> {
    let Ok(expr) = syntax::parse(text) else {
        return Ok(());
    };
    let printed = expr.to_string();
    match syntax::parse(&printed) {
        Ok(again) => prop_assert_eq!(syntax::dump(&expr), syntax::dump(&again), "{}", printed),
        Err(error) => prop_assert!(false, "{}", error.render(&printed)),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_trees(expr in expr()) {
        let printed = expr.to_string();
        let again = syntax::parse(&printed);
        match again {
            Ok(again) => prop_assert_eq!(
                without_parens(&syntax::dump(&expr)),
                without_parens(&syntax::dump(&again)),
                "{}", printed
            ),
            Err(error) => prop_assert!(false, "{}", error.render(&printed)),
        }
        check_exact(&printed)?;
    }

    #[test]
    fn random_pieces(pieces in vec(prop::sample::select(PIECES), 1..24)) {
        check_exact(&pieces.concat())?;
        check_exact(&pieces.join(" "))?;
    }

    #[test]
    fn random_text(text in "\\PC{0,40}", cursor in 0..40_usize) {
        check_exact(&text)?;
        let _total = syntax::parse_watch(&text);
        let _total = syntax::parse_message(&text);
        let _total = syntax::complete(&text, cursor);
    }

    #[test]
    fn prefixes_of_trees(expr in expr(), cut in 0.0..1.0_f64) {
        let printed = expr.to_string();
        let mut at = (printed.len() as f64 * cut) as usize;
        while !printed.is_char_boundary(at) {
            at -= 1;
        }
        check_exact(&printed[..at])?;
        let _total = syntax::parse_message(&printed[..at]);
        if let Some(completion) = syntax::complete(&printed, at) {
            prop_assert!(completion.replace.start as usize <= at);
            prop_assert!(completion.replace.end as usize >= at);
        }
    }
}

#[test]
fn every_row_of_the_compiler_table() {
    for row in include_str!("../compiler/accepted.tsv").lines() {
        let (text, _) = row.split_once('\t').expect("two columns");
        let text = text
            .replace('␤', "\n")
            .replace('␍', "\r")
            .replace('␉', "\t");
        check_exact(&text).expect("a round trip");
    }
}

#[test]
fn a_cast_of_an_empty_collection_needs_no_parentheses() {
    check_exact("(a)[](b)").expect("a round trip");
}
