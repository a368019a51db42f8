//! Format specifiers and messages.

use syntax::{FormatKind, MessagePart, Span, SyntaxError, Watch, dump, parse_message, parse_watch};

fn shown(watch: &Watch) -> String {
    let mut out = dump(&watch.expr);
    for format in &watch.formats {
        match &format.kind {
            FormatKind::Count(count) => out.push_str(&format!(" | [{}]", dump(count))),
            kind => out.push_str(&format!(" | {}", kind.name().expect("a named one"))),
        }
    }
    out
}

fn failed(error: &SyntaxError) -> String {
    format!("{} at {:?}", error.message(), error.span)
}

#[track_caller]
fn check_watch(text: &str, expected: &str) {
    let found = parse_watch(text).map_or_else(|error| failed(&error), |watch| shown(&watch));
    assert_eq!(found, expected, "{text}");
}

#[test]
fn format_specifiers() {
    check_watch("x", "x");
    check_watch("x,h", "x | h");
    check_watch("x + 1, nq", "(+ x 1) | nq");
    check_watch("items,[10]", "items | [10]");
    check_watch("items,[n + 1],raw,d", "items | [(+ n 1)] | raw | d");
    check_watch("f(a, b),ac", "(call f a b) | ac");
    check_watch("task.Result,threads", "(. task Result) | threads");
    check_watch("(a, b),results", "(tuple a b) | results");
    check_watch("x,nse,hidden,dynamic", "x | nse | hidden | dynamic");
    check_watch("a ? b : c,nq", "(?: a b c) | nq");
}

#[test]
fn wrong_format_specifiers() {
    const KNOWN: &str =
        "known are ac, d, dynamic, h, hidden, nq, nse, raw, results, threads and [count]";
    check_watch(
        "x,foo",
        &format!("unknown format specifier `foo`; {KNOWN} at 2..5"),
    );
    check_watch(
        "x,H",
        &format!("unknown format specifier `H`; {KNOWN} at 2..3"),
    );
    let expected = "expected a format specifier such as h, nq, raw or [10], found";
    check_watch("x,", &format!("{expected} the end at 2..2"));
    check_watch("x,1", &format!("{expected} `1` at 2..3"));
    check_watch("x,[]", "expected an expression, found `]` at 3..4");
    check_watch("x,h y", "unexpected `y` after the expression at 4..5");
    check_watch("x y", "unexpected `y` after the expression at 2..3");
}

#[track_caller]
fn check_message(text: &str, expected: &[&str]) {
    let message = parse_message(text).expect("short enough");
    let found: Vec<String> = message
        .parts
        .iter()
        .map(|part| match part {
            MessagePart::Text(text, span) => format!("{text:?} at {span:?}"),
            MessagePart::Hole(Ok(watch), span) => format!("{} at {span:?}", shown(watch)),
            MessagePart::Hole(Err(error), span) => format!("! {} in {span:?}", failed(error)),
        })
        .collect();
    assert_eq!(found, expected, "{text}");
    let n_errors = found.iter().filter(|it| it.starts_with('!')).count();
    assert_eq!(message.error().is_some(), n_errors > 0);
}

#[test]
fn messages() {
    check_message("", &[]);
    check_message("text", &["\"text\" at 0..4"]);
    check_message("x is {x}", &["\"x is \" at 0..5", "x at 5..8"]);
    check_message("{a}{b,nq}", &["a at 0..3", "b | nq at 3..9"]);
    check_message(
        "{ a + b , h }!",
        &["(+ a b) | h at 0..13", "\"!\" at 13..14"],
    );
    check_message("{a ? b : c,nq}", &["(?: a b c) | nq at 0..14"]);
    check_message("{new { A = 1 }}", &["(anon (set A 1)) at 0..15"]);
    check_message("{\"}\"}", &["\"}\" at 0..5"]);
    check_message("{$\"{a}\"}", &["($ (hole a)) at 0..8"]);
    check_message(
        "{x switch { 1 => 2, _ => 3 }}",
        &["(switch x (1 => 2) ((discard) => 3)) at 0..29"],
    );
    check_message("é{a}", &["\"é\" at 0..2", "a at 2..5"]);
}

#[test]
fn braces_in_messages() {
    check_message("{{a}}", &["\"{a}\" at 0..5"]);
    check_message("{{{a}}}", &["\"{\" at 0..2", "a at 2..5", "\"}\" at 5..7"]);
    // As the compiler writes it for an anonymous type.
    check_message(
        "\\{ A = {A}, B = {B} }",
        &[
            "\"{ A = \" at 0..7",
            "A at 7..10",
            "\", B = \" at 10..16",
            "B at 16..19",
            "\" }\" at 19..21",
        ],
    );
    check_message("a } b", &["\"a } b\" at 0..5"]);
    check_message("c:\\dir\\\\x \\}", &["\"c:\\\\dir\\\\x }\" at 0..12"]);
}

#[test]
fn alignment_and_format() {
    let formatted = |text: &str, same: &str| {
        let message = parse_message(text).expect("short enough");
        let [MessagePart::Hole(Ok(watch), _)] = &message.parts[..] else {
            panic!("{text}: {message:?}");
        };
        assert!(watch.formats.is_empty(), "{text}");
        let written = syntax::parse(same).expect("an interpolated string");
        assert_eq!(dump(&watch.expr), dump(&written), "{text}");
    };
    formatted("{x:D3}", "$\"{x:D3}\"");
    formatted("{x,8}", "$\"{x,8}\"");
    formatted("{x.y[1], -8 : F2 }", "$\"{x.y[1], -8 : F2 }\"");
    formatted("{at:yyyy-MM-dd HH:mm:ss}", "$\"{at:yyyy-MM-dd HH:mm:ss}\"");
    formatted("{n:#,##0.00;(#)}", "$\"{n:#,##0.00;(#)}\"");
    formatted("{n:it's 0}", "$\"{n:it's 0}\"");
    formatted("{(a ? b : c):x}", "$\"{(a ? b : c):x}\"");
    // A conditional needs no parentheses here, so its colon is its own.
    check_message("{a ? b : c}", &["(?: a b c) at 0..11"]);
    check_message("{x:D{3}", &["! a format cannot hold `{` at 4..5 in 0..7"]);
    check_message(
        "{x:D3",
        &["! the hole is not closed; expected `}` at 0..1 in 0..5"],
    );
    check_message(
        "{x,h:D3}",
        &["! unexpected `:` after the expression at 4..5 in 0..8"],
    );
}

#[test]
fn wrong_holes() {
    check_message(
        "{a + } and {b}",
        &[
            "! expected an expression, found the end at 4..4 in 0..6",
            "\" and \" at 6..11",
            "b at 11..14",
        ],
    );
    check_message(
        "{}",
        &["! expected an expression, found the end at 1..1 in 0..2"],
    );
    check_message(
        "a {b",
        &[
            "\"a \" at 0..2",
            "! the hole is not closed; expected `}` at 2..3 in 2..4",
        ],
    );
    check_message(
        "{f(}",
        &["! expected an expression, found `}` at 3..4 in 0..4"],
    );
    check_message(
        "{\"a} b",
        &["! the literal is not closed before the end of the line; expected `\"` at 1..2 in 0..6"],
    );
    check_message(
        "{a b}",
        &["! unexpected `b` after the expression at 3..4 in 0..5"],
    );
}

#[test]
fn spans_count_from_the_start_of_the_message() {
    let message = parse_message("ab {x.y,h}").expect("short enough");
    let [_, MessagePart::Hole(Ok(watch), span)] = message.parts.as_slice() else {
        panic!("text and a hole");
    };
    assert_eq!(*span, Span::new(3, 10));
    assert_eq!(watch.expr.span, Span::new(4, 7));
    assert_eq!(watch.formats[0].span, Span::new(8, 9));
}
