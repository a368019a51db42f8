//! Expressions on which the C# compiler was asked, and must be agreed with.
//!
//! `compiler/accepted.tsv` holds texts and the shape of the tree the compiler's parser makes of them;
//! `compiler/rejected.tsv` texts it refuses, the code it gives, and where we see the error. Both were
//! written out with the parser of the .NET 10 SDK set to C# 12. A line break within a text is written
//! `␤`, a carriage return `␍`, a tab `␉`.

use std::fmt::Write as _;

fn decode(text: &str) -> String {
    text.replace('␤', "\n")
        .replace('␍', "\r")
        .replace('␉', "\t")
}

#[test]
fn the_same_trees() {
    let mut wrong = String::new();
    let mut n_rows = 0;
    for row in include_str!("compiler/accepted.tsv").lines() {
        let (text, shape) = row.split_once('\t').expect("two columns");
        let found = match syntax::parse(&decode(text)) {
            Ok(expr) => syntax::dump(&expr),
            Err(error) => error.render(&decode(text)),
        };
        if found != shape {
            writeln!(wrong, "{text}\n  expected {shape}\n  found    {found}").expect("a string");
        }
        n_rows += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_rows > 1_000, "the table is there");
}

#[test]
fn the_same_refusals() {
    let mut wrong = String::new();
    let mut n_rows = 0;
    for row in include_str!("compiler/rejected.tsv").lines() {
        let columns: Vec<&str> = row.split('\t').collect();
        let [text, code, offset] = columns[..] else {
            panic!("three columns: {row}")
        };
        let found = match syntax::parse(&decode(text)) {
            Ok(expr) => syntax::dump(&expr),
            Err(error) => format!("{} at {}", error.code().unwrap_or("-"), error.span.start),
        };
        if found != format!("{code} at {offset}") {
            writeln!(
                wrong,
                "{text}\n  expected {code} at {offset}\n  found    {found}"
            )
            .expect("a string");
        }
        n_rows += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_rows > 200, "the table is there");
}
