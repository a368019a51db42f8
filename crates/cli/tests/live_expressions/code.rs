//! What evaluated code may do: not end, throw, set up classes, be overridden, be repeated for each element.

use engine::api::{BreakpointSpec, Evaluate, EvaluatedValue, ExpressionError, Line, Place};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;
use crate::hits::traces;

const FIXTURE: &str = "expressions_code";

fn line(marker: &str) -> u32 {
    Fixture::named(FIXTURE).marker(marker).line
}

fn at(marker: &str) -> BreakpointSpec {
    let marker = Fixture::named(FIXTURE).marker(marker);
    BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    })
}

fn launched<'s>(sandbox: &'s Sandbox, markers: &[&str]) -> Debuggee<'s> {
    let breakpoints = markers.iter().map(|it| at(it)).collect();
    sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = breakpoints)
        .start()
}

fn run(program: &Debuggee<'_>, text: &str) -> Result<EvaluatedValue, ExpressionError> {
    let evaluate = Evaluate {
        side_effects: true,
        time_limit_ms: if text.contains("oops") { 300 } else { 3_000 },
        ..Evaluate::read(text)
    };
    ask(program, evaluate).outcome
}

#[track_caller]
fn is(program: &Debuggee<'_>, text: &str, expected: &str) {
    match run(program, text) {
        Ok(value) => assert_eq!(value.text, expected, "{text}"),
        Err(error) => panic!("{text}: {}", error.error.message),
    }
}

fn fails(program: &Debuggee<'_>, text: &str) -> ExpressionError {
    match run(program, text) {
        Ok(value) => panic!("{text} is {value:?}"),
        Err(error) => error,
    }
}

#[test]
fn any_number_of_evaluations_that_do_not_end_are_given_up() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, &["main", "collected"]);
    program.wait_stop();
    // Each is another loop on the same thread; the last goes on looping while it gives up.
    for endless in ["Plain", "Other", "Inside"] {
        let told = fails(&program, &format!("loops.{endless}")).error.message;
        assert!(told.contains("and was given up"), "{told}");
    }
    is(&program, "loops.Turns = 3", "3");
    program.cont();
    // The collector can still suspend the thread.
    program.wait_stop();
    let told = fails(&program, "new Loops().Other").error.message;
    assert!(told.contains("and was given up"), "{told}");
    is(&program, "loops.Fine", "5");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn code_throws_constructs_and_overrides_as_in_the_program() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, &["main", "base"]);
    program.wait_stop();

    // An exception has its message, where it was thrown, and what is inside it.
    let told = fails(&program, "1 + deep.Wraps()");
    assert_eq!(
        told.exception.as_deref(),
        Some("System.ApplicationException")
    );
    let thrown = told.thrown.expect("the exception");
    let methods = |trace: &[engine::api::TraceFrame]| -> Vec<(String, u32)> {
        let entries = trace.iter();
        let place = |it: &engine::api::TraceFrame| it.source.as_ref().map_or(0, |it| it.line.0);
        entries.map(|it| (it.method.clone(), place(it))).collect()
    };
    assert_eq!(
        methods(&thrown.trace),
        [("Code.Deep.Wraps()".to_owned(), line("wraps"))]
    );
    let fails_at = ("Code.Deep.Fails(int depth)".to_owned(), line("fails"));
    assert_eq!(
        methods(&thrown.inner[0].trace),
        [
            fails_at.clone(),
            fails_at,
            ("Code.Deep.Wraps()".to_owned(), line("inner"))
        ]
    );
    let lines: Vec<&str> = told.error.message.lines().map(str::trim).collect();
    assert_eq!(
        lines[0],
        "evaluating it throws System.ApplicationException: outside"
    );
    assert!(
        lines[3].starts_with("at Code.Deep.Wraps() in "),
        "{lines:?}"
    );
    assert_eq!(
        lines[4],
        "inside it: System.InvalidOperationException: at the bottom"
    );
    assert!(
        lines[5].starts_with("at Code.Deep.Fails(int depth) in "),
        "{lines:?}"
    );
    // One that the expression itself throws has its place in the text.
    let told = fails(&program, "numbers[7]");
    assert_eq!(told.thrown.map(|it| it.trace.len()), Some(0));

    // A class is set up as the program would do it, once, and only where code may run.
    let read = |text: &str| ask(&program, Evaluate::read(text)).outcome;
    for text in ["Never.Value", "Cache<string>.Name", "Broken.Value"] {
        let told = read(text).expect_err("nothing has run").error;
        assert!(
            told.message.contains("has not run yet") || told.message.contains("no place yet"),
            "{text}: {}",
            told.message
        );
        assert!(
            told.hint.is_some_and(|it| it.contains("side effects")),
            "{text}"
        );
    }
    is(&program, "Never.Value + Never.Text.Length", "45");
    is(
        &program,
        "Cache<string>.Name + Cache<DateTime>.Name",
        "\"StringDateTime\"",
    );
    is(&program, "Cache<string>.Nothing", "null");
    is(&program, "Cache<int>.Nothing", "0");
    is(&program, "Ran.FindAll(it => it == \"never\").Count", "1");
    assert_eq!(
        read("Cache<string>.Name").map(|it| it.text),
        Ok("\"String\"".into())
    );
    let told = fails(&program, "Broken.Value");
    assert_eq!(
        told.exception.as_deref(),
        Some("System.TypeInitializationException")
    );
    assert!(
        told.error.message.contains("no statics"),
        "{}",
        told.error.message
    );

    // Sequences that only their enumerator can tell are run, where code may run, and cut if they have no end.
    is(&program, "lazy.Count() * 10 + lazy.Max()", "23");
    is(&program, "lazy.Select(it => it * 2).ToList()", "[6, 4]");
    is(
        &program,
        "deep.Forever.Skip(5).Take(4).First(it => it > 7)",
        "8",
    );
    is(&program, "new List<int>(lazy).Count", "2");
    let told = fails(&program, "deep.Forever.Select(it => it + 1).Sum()").error;
    let cut = ["more than 100000 elements", "time limit"];
    assert!(
        cut.iter().any(|it| told.message.contains(it)),
        "{}",
        told.message
    );
    let told = read("lazy.Count()").expect_err("code").error;
    assert!(told.hint.is_some_and(|it| it.contains("side effects")));
    is(
        &program,
        "(from n in numbers join m in array on n equals m - 6 into ms orderby n select n * 10 + ms.Count()).ToList()",
        "[11, 21, 31]",
    );
    // Variables that hold an index or a range; names without an object; what is dynamic.
    is(&program, "array[back] + numbers[back] + word[back]", "109");
    is(&program, "array[part]", "[8, 9]");
    is(&program, "word[part]", "\"b\"");
    is(
        &program,
        "nameof(Deep.Forever) + nameof(Loops.Turns)",
        "\"ForeverTurns\"",
    );
    is(&program, "any.Length", "3");
    is(&program, "any + 1 + any.ToUpper()", "\"any1ANY\"");
    is(
        &program,
        "any == \"any\" && string.IsNullOrEmpty(any) == false",
        "true",
    );
    let told = fails(&program, "((object)word).Length").error;
    assert!(
        told.hint
            .is_some_and(|it| it.contains("((string)x).Length"))
    );

    // A variable that a lambda has captured is a field of an object, and is assigned all the same.
    is(&program, "captured = word + 1", "\"ab1\"");
    is(&program, "captured + tells()", "\"ab1ab1\"");

    // Types can be passed on and asked.
    is(&program, "Enum.GetNames(typeof(DayOfWeek)).Length", "7");
    is(
        &program,
        "typeof(List<string>).GetGenericArguments()[0].FullName",
        "\"System.String\"",
    );
    is(
        &program,
        "((Deep)Activator.CreateInstance(typeof(Deep))) != null",
        "true",
    );

    // Actions run for each element.
    is(&program, "Ran.Clear()", "(returned nothing)");
    is(
        &program,
        "numbers.ForEach(it => Seen(\"n\" + it, it))",
        "(returned nothing)",
    );
    is(&program, "string.Join(\",\", Ran)", "\"n3,n1,n2\"");
    is(
        &program,
        "Array.ForEach(numbers.ToArray(), it => Ran.Add(word + it))",
        "(returned nothing)",
    );
    is(&program, "Ran.Count", "6");
    is(
        &program,
        "numbers.Sort((a, b) => a - b)",
        "(returned nothing)",
    );
    is(&program, "string.Join(\",\", numbers)", "\"1,2,3\"");
    let told = fails(&program, "new System.Lazy<int>(() => 5)").error;
    assert!(
        told.message.contains("exists only in the debugger"),
        "{}",
        told.message
    );
    assert!(told.hint.is_some_and(|it| it.contains("LINQ")));

    program.cont();
    program.wait_stop();
    // What the object's own type overrides.
    is(&program, "base.Sound(2)", "\"animal2x\"");
    is(&program, "base.Sound(of: \"y\", times: 3)", "\"animal3y\"");
    is(&program, "base.Kind + Kind", "\"animaldog\"");
    is(&program, "base.Tell(1)", "\"7/1\"");
    is(&program, "base.ToString()", "\"an dog\"");
    is(&program, "base.Count()", "(returned nothing)");
    is(&program, "Program.Ran.Contains(\"counted\")", "true");
    let told = ask(&program, Evaluate::read("base.Kind"))
        .outcome
        .expect_err("code")
        .error;
    assert!(told.message.contains("would run code"), "{}", told.message);
    program.cont();
    program.expect_exit(0);
}

#[test]
fn messages_align_and_format_as_interpolated_strings_do() {
    let sandbox = Sandbox::new();
    let message = "{price,8:F2}|{numbers[0]:D3}|{word,-4}|{day:yyyy-MM-dd HH:mm}|{price > 2 ? word : \"no\"}|{(price > 2 ? 26 : 0):x4}";
    let trace = BreakpointSpec {
        log_message: Some(message.into()),
        ..at("main")
    };
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = vec![trace])
        .start();
    program.expect_exit(0);
    assert_eq!(
        traces(&program),
        ["    2.50|003|ab  |2024-02-29 00:00|ab|001a"]
    );
}
