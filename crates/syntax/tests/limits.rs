//! Hostile texts: every entry point answers, on a thread with the usual 2 MiB of stack, whatever the
//! nesting; and what it builds can be walked and dropped there.

use std::thread;

use syntax::{ErrorKind, MAX_DEPTH, MAX_HEIGHT, MAX_LENGTH};

/// Runs `test` on a thread with the stack a thread has by default, whatever `RUST_MIN_STACK` says.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(2 << 20).spawn(test);
    thread.expect("a thread starts").join().expect("no panic");
}

/// Does with `text` all that can be done with a text, and with its tree all that a binder might.
fn exercise(text: &str) -> Result<(), ErrorKind> {
    let result = syntax::parse(text);
    if let Ok(expr) = &result {
        let printed = expr.to_string();
        let again = syntax::parse(&printed).expect("a print parses");
        assert_eq!(syntax::dump(expr), syntax::dump(&again));
        assert_eq!(*expr, expr.clone());
        assert!(!format!("{expr:?}").is_empty());
    }
    if let Err(error) = &result {
        assert!(!error.render(text).is_empty());
    }
    let _any = syntax::parse_watch(text);
    let _any = syntax::parse_message(text).map(|message| message.error().is_some());
    let _any = syntax::parse_message(&format!("{{{text}}}"));
    for cursor in [0, text.len() / 2, text.len()] {
        let _any = syntax::complete(text, cursor);
    }
    result.map(drop).map_err(|error| error.kind)
}

/// One level of nesting in many forms: what opens it, what is inside of all, what closes it.
const NESTINGS: &[[&str; 3]] = &[
    ["(", "a", ")"],
    ["[", "a", "]"],
    ["f(", "a", ")"],
    ["a[", "a", "]"],
    ["-", "a", ""],
    ["!", "a", ""],
    ["*", "a", ""],
    ["- -", "a", ""],
    ["(a)", "a", ""],
    ["(int)", "a", ""],
    ["(a, ", "a", ")"],
    ["((a, b))", "a", ""],
    ["a ? ", "a", " : a"],
    ["a ? a : ", "a", ""],
    ["a ?? ", "a", ""],
    ["a = ", "a", ""],
    ["x => ", "a", ""],
    ["(x) => ", "a", ""],
    ["(int x) => ", "a", ""],
    ["async x => ", "a", ""],
    ["a ? () => ", "a", " : b"],
    ["a ? (x) => ", "a", ""],
    ["(x = ", "a", ") => a"],
    ["new A(", "a", ")"],
    ["new A { B = ", "a", "}"],
    ["new A { ", "a", "}"],
    ["new A { B = { ", "a", "} }"],
    ["new int[", "a", "]"],
    ["new[] { ", "a", "}"],
    ["new { A = ", "a", "}"],
    ["a with { A = ", "a", "}"],
    ["a switch { 1 => ", "a", "}"],
    ["a switch { _ when ", "a", " => a }"],
    ["a is (", "1", ")"],
    ["a is { B: ", "1", "}"],
    ["a is A { B: not ", "1", "} c and d"],
    ["$\"{", "a", "}\""],
    ["$\"a{", "a", ",3:x}b\""],
    ["$\"\"\"{", "a", "}\"\"\""],
    ["from x in ", "a", " select x"],
    ["from x in a select ", "a", ""],
    ["from x in a where ", "a", " select x"],
    ["a?.b(", "a", ")"],
    ["checked(", "a", ")"],
    [".. ", "a", ""],
    ["a.. ", "a", ""],
    ["f(x: ", "a", ")"],
    ["a?[", "a", "]"],
    ["a ? [", "a", "] : b"],
];

/// The same for what nests only in a type or a pattern, with what stands around all.
const INNER_NESTINGS: &[[&str; 5]] = &[
    ["typeof(", "A<", "int", ">", ")"],
    ["typeof(", "(int, ", "int", ")", ")"],
    ["typeof(", "delegate*<", "int", ">", ")"],
    ["a is ", "not ", "1", "", ""],
    ["a is ", "[", "1", "]", ""],
    ["a is ", "[.. ", "1", "]", ""],
    ["a is ", "(1, ", "1", ")", ""],
    ["a is ", "{ B: ", "1", "}", ""],
    ["", "var (a, ", "b", ")", " = c"],
    ["new int[] ", "{ ", "a", "}", ""],
    ["a<", "b<", "c", ">", ">(d)"],
];

/// Chains that a loop reads, and that make a tree as high as they are long.
const CHAINS: &[(&str, &str)] = &[
    ("a", " + a"),
    ("a", " < a"),
    ("a", " is a"),
    ("a", " as a"),
    ("a", ".b"),
    ("a", "?.b"),
    ("a", "()"),
    ("a", "[0]"),
    ("a", "!"),
    ("a", "++"),
    ("a", " switch { }"),
    ("a", " with { }"),
    ("a", "..b"),
    ("a is a", " and a"),
    ("a is a", " or a"),
    ("a is a", ".b"),
    ("a as A", "[]"),
    ("typeof(A", "[]"),
    ("(A", "[]"),
    ("a", "?[0]"),
    ("a", "?[0] : a"),
    ("a", "->b"),
    ("a", " && a || a"),
    ("new A", "[]?"),
    ("new int", "[]"),
    ("from x in a select x", " into x select x"),
    ("from x in a select x", " into x where x group x by x"),
];

/// Clauses of a query, each of which is a call on all before it.
const CLAUSES: &[&str] = &[
    " from y in a",
    " where x",
    " let y = x",
    " orderby x",
    " orderby x descending, x",
    " join y in a on x equals y",
    " join y in a on x equals y into z",
];

/// Texts that a careless parser takes quadratic or exponential time for.
const FLOODS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "?",
    ":",
    ".",
    ",",
    "!",
    "$",
    "@",
    "\"",
    "'",
    "\\",
    "a<",
    "a<b,",
    "(a)(",
    "(a<",
    "a<(",
    "(a,",
    "((a,b),",
    "a?(",
    "a ? (",
    "a?[",
    "a ? [",
    "a?[b]:",
    "a?b:",
    "x=>",
    "(x)=>",
    "()=>",
    "a(b=>",
    "async ",
    "static ",
    "from x in ",
    "x is (",
    "x is not ",
    "x is {a:",
    "x is a<",
    "x is [",
    "$\"{",
    "$$\"\"\"{{",
    "$\"{a:",
    "$\"a",
    "@\"",
    "\"\"\"",
    "\"\"\"\n",
    "$\"\"\"\n{a}",
    "$\"\"\"\n{a:b}",
    "/*",
    "//",
    "\\u0061",
    "a\\u0061",
    "1_",
    "1e",
    "0x",
    "new ",
    "new a[",
    "new (a,b)[",
    "delegate*<",
    "a::",
    "global::a.",
    "ref ",
    "out ",
    "var (",
    "(var a,",
    "a switch {",
    "a switch { b=>",
    "..",
    "a..",
    "await ",
    "throw ",
    "é",
    "\u{200d}",
    "😀",
    "\0",
    "\r\n",
    "a ",
    "a\n",
    "T?",
    "T*",
    "T[,]",
    "(T?",
    "{{",
    "}}",
    "\\{",
    "{a}",
    "{",
    "a,",
    ",h",
    "$exception",
    "$1",
    "a.b<c>.",
    "a<b>>",
    "x is a and ",
    "- ",
    "(int)",
];

#[test]
fn deep_nesting_is_refused_or_read() {
    on_small_stack(|| {
        let whole = NESTINGS
            .iter()
            .map(|[open, inner, close]| ["", open, inner, close, ""]);
        for [before, open, inner, close, after] in whole.chain(INNER_NESTINGS.iter().copied()) {
            for n in [1, 10, MAX_DEPTH as usize, 1_000] {
                let start = format!("{before}{}{inner}", open.repeat(n));
                let text = format!("{start}{}{after}", close.repeat(n));
                let result = exercise(&text);
                let _unclosed = exercise(&start);
                match n {
                    1 => assert_eq!(result, Ok(()), "{text}"),
                    1_000 => assert!(result.is_err(), "{open} {n} times"),
                    _ => {}
                }
            }
        }
    });
}

#[test]
fn long_chains_are_refused_or_read() {
    on_small_stack(|| {
        for (start, link) in CHAINS {
            let close = if start.starts_with("typeof(") || start.starts_with('(') {
                ")"
            } else {
                ""
            };
            for n in [
                10,
                100,
                MAX_HEIGHT as usize - 10,
                MAX_HEIGHT as usize + 10,
                3_000,
            ] {
                let text = format!("{start}{}{close}", link.repeat(n));
                let result = exercise(&text);
                if n == 3_000 {
                    assert!(result.is_err(), "{start}{link}…");
                }
            }
        }
        for clause in CLAUSES {
            for n in [10, MAX_HEIGHT as usize / 2 + 1, 3_000] {
                let clauses = clause.repeat(n);
                let result = exercise(&format!("from x in a {clauses} select x"));
                assert_eq!(result.is_err(), n > 10, "{clause} {n} times");
            }
        }
        let sum = format!("a{}", " + a".repeat(MAX_HEIGHT as usize - 1));
        assert_eq!(exercise(&sum), Ok(()));
        let one_more = format!("{sum} + a");
        assert_eq!(exercise(&one_more), Err(ErrorKind::TooDeep));
    });
}

#[test]
fn a_long_chain_deep_inside_is_completed() {
    on_small_stack(|| {
        for [open, ..] in NESTINGS {
            for link in [".b", "?.b()"] {
                let n = MAX_DEPTH as usize - 4;
                let chain = link.repeat((MAX_HEIGHT - MAX_DEPTH) as usize);
                let text = format!("{}a{chain}.", open.repeat(n));
                let _any = syntax::complete(&text, text.len());
            }
        }
    });
}

#[test]
fn a_flood_of_anything_is_answered() {
    on_small_stack(|| {
        for unit in FLOODS {
            let n = 6_000 / unit.len();
            let _any = exercise(&unit.repeat(n));
            let _any = exercise(&format!("a{}", unit.repeat(n)));
            let _any = exercise(&format!("f({}a", unit.repeat(n)));
        }
    });
}

#[test]
fn wide_is_not_deep() {
    on_small_stack(|| {
        let list = vec!["a"; 3_000].join(", ");
        for text in [
            format!("[{list}]"),
            format!("f({list})"),
            format!("({list})"),
            format!("new[] {{ {list} }}"),
            format!("a is [{list}]"),
            format!("$\"{}\"", "{a} ".repeat(10_000)),
        ] {
            assert_eq!(exercise(&text), Ok(()), "{}…", &text[..20]);
        }
    });
}

#[test]
fn a_text_that_is_too_long_is_not_read() {
    let text = "a".repeat(MAX_LENGTH + 1);
    let length = text.len();
    let error = syntax::parse(&text).expect_err("too long");
    assert_eq!(error.kind, ErrorKind::TooLong { length });
    assert!(syntax::parse_watch(&text).is_err());
    assert!(syntax::parse_message(&text).is_err());
    assert!(syntax::complete(&text, 1).is_none());
    assert!(syntax::parse(&"a".repeat(MAX_LENGTH)).is_ok());
}
