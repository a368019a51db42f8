//! The differential test: `fixtures/expressions_compiler` computes and prints thousands of expressions, each with the
//! type that the compiler gave it; here the same texts are evaluated in the same frames and must agree.
//!
//! The texts were put together by `fixtures/_expressions/Generate.cs`, which asked the compiler about each:
//! `accepted.tsv` has those that are in the program, `rejected.tsv` those that it refused, with its code.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use engine::api::{BreakpointSpec, Evaluate, Evaluated, ExpressionError, Place, Reply, Request};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::evaluate::nameless;

/// Expressions of one method of the fixture, as its generator puts them together.
const PER_METHOD: usize = 400;

/// What is left out, by what the text contains, and why. `docs/expressions.md` lists the same.
const EXCLUDED: &[(&str, &str)] = &[
    (
        "(object)str == ",
        "whether a string is the one that a literal stands for cannot be told by reading",
    ),
    (
        "throw ",
        "`throw` is refused: no code of the program could catch it",
    ),
    (
        "Counter.Told($",
        "handlers of interpolated strings of one's own live on the stack only",
    ),
    (
        "Shapes.Map(5, x =>",
        "lambdas exist only in the debugger: code of the program cannot be given one",
    ),
];

/// The text as it was before it was put into a line.
pub(crate) fn decode(text: &str) -> String {
    text.replace('␤', "\n")
}

fn request(expressions: Vec<String>) -> Request {
    Request::Evaluate(Evaluate {
        expressions,
        frame: 1,
        side_effects: true,
        max_elements: 10_000,
        max_text: 100_000,
        ..Evaluate::read("")
    })
}

fn evaluate(debuggee: &Debuggee<'_>, expressions: Vec<String>) -> Vec<Evaluated> {
    // Many at once take longer than one answer may, without the fast memory layer.
    let some = expressions.chunks(200);
    let answers = some.flat_map(|some| match debuggee.request(request(some.to_vec())) {
        Ok(Reply::Evaluated(all)) => all,
        other => panic!("evaluating gave {other:?}"),
    });
    answers.collect()
}

/// Where the program writes what it computed.
fn values(sandbox: &Sandbox) -> PathBuf {
    sandbox.folder().join("values.tsv")
}

/// The program, stopped below the first method of expressions.
pub(crate) fn start(sandbox: &Sandbox) -> Debuggee<'_> {
    let path = values(sandbox);
    let path = path.to_str().expect("a path of letters");
    let builder = sandbox.launch("expressions_compiler").args([path]);
    let debuggee = builder.stop_at_entry().start();
    debuggee.wait_stop();
    let place = Place::Function {
        name: "Program.Stop".into(),
    };
    debuggee
        .request(Request::SetBreakpoint(BreakpointSpec::at(place)))
        .expect("a breakpoint");
    debuggee.cont();
    debuggee.wait_stop();
    debuggee
}

/// What was evaluated, in a line: `ok`, type and value; `throws` and the exception; or the error.
fn line(evaluated: &Evaluated) -> String {
    match &evaluated.outcome {
        Ok(value) => format!("ok\t{}\t{}", nameless(&value.ty), value.text),
        Err(ExpressionError {
            exception: Some(exception),
            ..
        }) => format!("throws\t{exception}\t"),
        Err(error) => format!("error\t{}", error.error.message.replace('\n', " | ")),
    }
}

#[test]
fn what_the_compiler_accepts_has_its_value_and_type() {
    let sandbox = Sandbox::new();
    let texts: Vec<String> = include_str!("accepted.tsv")
        .lines()
        .filter_map(|row| Some(decode(row.split_once('\t')?.1)))
        .collect();
    assert!(texts.len() > 5_000, "the table is there");
    let debuggee = start(&sandbox);
    let mut found = Vec::new();
    for (index, chunk) in texts.chunks(PER_METHOD).enumerate() {
        if index > 0 {
            debuggee.cont();
            debuggee.wait_stop();
        }
        found.extend(evaluate(&debuggee, chunk.to_vec()).iter().map(line));
    }
    debuggee.cont();
    debuggee.expect_exit(0);
    let output = std::fs::read_to_string(values(&sandbox)).expect("what the program computed");
    let expected: BTreeMap<usize, &str> = output
        .lines()
        .filter_map(|row| {
            let (number, rest) = row.split_once('\t')?;
            Some((number.parse().ok()?, rest))
        })
        .collect();
    assert_eq!(expected.len(), texts.len(), "the program printed all");

    let (mut agreed, mut excluded, mut code) = (0, 0, 0);
    let mut wrong = String::new();
    for (number, (text, found)) in texts.iter().zip(&found).enumerate() {
        let expected = expected.get(&number).copied().unwrap_or_default();
        if expected == found {
            agreed += 1;
        } else if found.contains("would run code") {
            code += 1;
        } else if EXCLUDED.iter().any(|(part, _)| text.contains(part)) {
            excluded += 1;
        } else {
            writeln!(wrong, "{text}\n  compiler: {expected}\n  here:     {found}")
                .expect("a string");
        }
    }
    eprintln!(
        "{} expressions, {agreed} agree, {excluded} excluded, {code} would run code",
        texts.len()
    );
    if let Some(path) = std::env::var_os("NDBG_EXPRESSIONS_REPORT") {
        std::fs::write(path, &wrong).expect("the report is written");
    }
    let shown: String = wrong
        .lines()
        .take(300)
        .map(|it| format!("{it}\n"))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} disagree:\n{shown}",
        texts.len() - agreed - excluded - code
    );
}

/// Codes that must be the compiler's own; of the others only the refusal counts.
const COMMON: &[&str] = &[
    "CS0019", "CS0020", "CS0021", "CS0022", "CS0023", "CS0029", "CS0030", "CS0034", "CS0035",
    "CS0037", "CS0039", "CS0077", "CS0103", "CS0117", "CS0119", "CS0120", "CS0144", "CS0173",
    "CS0200", "CS0220", "CS0221", "CS0246", "CS0266", "CS1061", "CS1501", "CS1503", "CS1729",
    "CS0100", "CS0118", "CS0123", "CS0128", "CS0165", "CS0407", "CS0747", "CS1739", "CS1929",
    "CS1947", "CS1962", "CS7003", "CS7036", "CS8121", "CS8985",
];

/// What the compiler refuses and we answer, by its code, and why.
const ANSWERED: &[(&str, &str)] = &[
    ("CS0122", "members that are not public can be looked at"),
    ("CS0815", "null alone is shown as an object"),
    ("CS8852", "what is set once only can be set by a debugger"),
    ("CS8518", "a pattern that never matches is false"),
    (
        "CS0136",
        "an expression may name its variables as the program does",
    ),
    (
        "CS1931",
        "an expression may name its variables as the program does",
    ),
    ("CS8510", "an arm that is never reached is not chosen"),
    ("CS8639", "a reference type is the same with `?`"),
    ("CS8516", "names in a positional pattern are not compared"),
];

/// What is refused for a reason of the debugger's own, and has no code, by what is said.
const OWN_REASONS: &[&str] = &[
    "cannot be evaluated",
    "an expression declares no variables",
    "unknown pseudo-variable",
    "the program has no anonymous type",
    "a variable of the expression itself cannot be assigned",
    "a lambda alone is a delegate of its own type",
    "the type is open",
];

/// Told with another code than the compiler's.
const TOLD_OTHERWISE: &[(&str, &str)] = &[
    ("circle.radius.Foo", "what is not public can be looked at"),
    ("circle.id.Foo", "what is not public can be looked at"),
    ("Circle.radius", "what is not public can be looked at"),
    (
        "people.Where(p => p.Age = 3)",
        "what is set once only can be set by a debugger",
    ),
    (
        "list.Where(twice)",
        "the compiler tells of a method for immutable arrays, which the program has not loaded",
    ),
    (
        "boxed is int? n",
        "it is read as the beginning of a conditional",
    ),
    ("i,, k", "a format specifier may follow a comma"),
    ("new[] { 1, null }", "CS0826 says what to do"),
    ("i <> 1", "the parser says what it expected"),
    ("1..2.3", "a cast would do"),
    ("list[[0]]", "the argument is told, not the collection"),
    ("i->Foo", "pointers are not evaluated"),
    ("ages[1..2]", "that a range has no meaning there says more"),
    (
        "(string)[\"a\"]",
        "a string is no collection that could be made",
    ),
    ("(int[])[.. i]", "the code of `foreach` is told"),
    ("i<int>()", "the name is looked for as a method"),
    (
        "(from x in list join y in words on y equals x select x)",
        "the name is told as unknown on that side",
    ),
];

/// What people get wrong: every row has all codes that the compiler has for it, and here it is one of them.
#[test]
fn what_people_get_wrong_has_the_compilers_code() {
    let sandbox = Sandbox::new();
    let rows: Vec<(&str, String)> = include_str!("mistakes.tsv")
        .lines()
        .filter_map(|row| row.split_once('\t'))
        .map(|(codes, text)| (codes, decode(text)))
        .collect();
    assert!(rows.len() > 1_000, "the table is there");
    let debuggee = start(&sandbox);
    let texts = rows.iter().map(|(_, text)| text.clone()).collect();
    let found = evaluate(&debuggee, texts);
    let mut wrong = String::new();
    for ((codes, text), found) in rows.iter().zip(&found) {
        let is_answered = |code| ANSWERED.iter().any(|(it, _)| *it == code);
        let here = match &found.outcome {
            Ok(_) if codes.split('+').any(is_answered) => continue,
            Ok(_) => "answered",
            Err(error) => match &error.code {
                Some(code) => code,
                None if OWN_REASONS
                    .iter()
                    .any(|it| error.error.message.contains(it)) =>
                {
                    continue;
                }
                None => "no code",
            },
        };
        if TOLD_OTHERWISE.iter().any(|(it, _)| it == text) {
            continue;
        }
        if !codes.split('+').any(|code| code == here) {
            writeln!(
                wrong,
                "{text}\n  compiler: {codes}\n  here:     {here} {}",
                line(found)
            )
            .expect("a string");
        }
    }
    if let Some(path) = std::env::var_os("NDBG_EXPRESSIONS_REPORT") {
        std::fs::write(path, &wrong).expect("the report is written");
    }
    let shown: String = wrong
        .lines()
        .take(300)
        .map(|it| format!("{it}\n"))
        .collect();
    assert!(wrong.is_empty(), "{shown}");
}

#[test]
fn what_the_compiler_rejects_is_rejected_with_its_code() {
    let sandbox = Sandbox::new();
    let rows: Vec<(&str, String)> = include_str!("rejected.tsv")
        .lines()
        .filter_map(|row| row.split_once('\t'))
        .map(|(code, text)| (code, decode(text)))
        .collect();
    assert!(rows.len() > 2_000, "the table is there");
    let debuggee = start(&sandbox);
    let mut found = Vec::new();
    for chunk in rows.chunks(PER_METHOD) {
        let texts = chunk.iter().map(|(_, text)| text.clone()).collect();
        found.extend(evaluate(&debuggee, texts));
    }
    let (mut same, mut other, mut answered) = (0, 0, 0);
    let mut wrong = String::new();
    for ((code, text), found) in rows.iter().zip(&found) {
        let here = match &found.outcome {
            Err(error) => error.code.as_deref().unwrap_or("an error without a code"),
            Ok(_) if ANSWERED.iter().any(|(it, _)| it == code) => {
                answered += 1;
                continue;
            }
            Ok(_) => "",
        };
        if here == *code {
            same += 1;
        } else if here.is_empty() || COMMON.contains(code) {
            writeln!(
                wrong,
                "{text}\n  compiler: {code}\n  here:     {here} {}",
                line(found)
            )
            .expect("a string");
        } else {
            other += 1;
        }
    }
    eprintln!(
        "{} refusals, {same} with the same code, {other} with another, {answered} answered on purpose",
        rows.len()
    );
    if let Some(path) = std::env::var_os("NDBG_EXPRESSIONS_REPORT") {
        std::fs::write(path, &wrong).expect("the report is written");
    }
    let shown: String = wrong
        .lines()
        .take(300)
        .map(|it| format!("{it}\n"))
        .collect();
    assert!(wrong.is_empty(), "{shown}");
}
