//! Stacks: names, kinds, blocks and pages of frames.

use expect_test::{Expect, expect};
use host::api::{BreakpointSpec, Frame, FrameKind, Line, Place, Reply, Request, State, StepKind};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::stacks_told as told;

/// The stacks of all stops of a scenario.
#[track_caller]
fn check(fixture: &str, args: &[&str], markers: &[&str], expected: &Expect) {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named(fixture);
    let breakpoints = markers.iter().map(|marker| {
        let marker = fixture.marker(marker);
        BreakpointSpec::at(Place::Line {
            file: marker.file.display().to_string(),
            line: Line(marker.line),
            column: None,
        })
    });
    let breakpoints = breakpoints.collect();
    let program = sandbox
        .launch_fixture(&fixture)
        .args(args.iter().copied())
        .with(|launch| launch.breakpoints = breakpoints)
        .start();
    let mut text = String::new();
    while program.settle().state == State::Stopped {
        text += "--\n";
        text += &told::stack(&program);
        program.cont();
    }
    expected.assert_eq(&text);
}

#[test]
fn generic_types_and_methods_have_the_arguments_they_run_with() {
    check(
        "stack_kinds",
        &["generic"],
        &[],
        &expect![[r#"
        --
        Program.Main.AnonymousMethod(string item): Console.WriteLine(cart.Convert<Dictionary<int, string[]>>("x", item => { Debugger.Break(); return new(); }));
        Cart<string>.Convert<Dictionary<int, string[]>>(string item, Func<string, Dictionary<int, string[]>> with): public TOther Convert<TOther>(TItem item, Func<TItem, TOther> with) => with(item);
        Program.Main(string[] args): Console.WriteLine(cart.Convert<Dictionary<int, string[]>>("x", item => { Debugger.Break(); return new(); }));
        --
        Cart<string>.Item.get(int index): public int this[int index] { get { Debugger.Break(); return index; } }
        Program.Main(string[] args): _ = cart[3];
        --
        Cart<string>.operator +(Cart<string> a, Cart<string> b): public static Cart<TItem> operator +(Cart<TItem> a, Cart<TItem> b) { Debugger.Break(); return a; }
        Program.Main(string[] args): _ = cart + cart;
    "#]],
    );
}

#[test]
fn local_functions_are_named_by_the_way_to_them() {
    check(
        "stack_kinds",
        &["local"],
        &[],
        &expect![[r#"
        --
        Program.Main.Twice.Inner(ref int m): int Inner(ref int m) { Debugger.Break(); return m * 2; }
        Program.Main.Twice(int n): return Inner(ref n);
        Program.Main(string[] args): Console.WriteLine(Twice(4));
    "#]],
    );
}

#[test]
fn local_functions_inside_others_are_named_by_all_of_them() {
    check(
        "nested_functions",
        &[],
        &[],
        &expect![[r#"
        --
        Program.Main.Outer.Inner.AnonymousMethod(): Func<int> add = () => { Debugger.Break(); return Leaf(); };
        Program.Main.Outer.Inner(int m): return add();
        Program.Main.Outer(int n): Later(held(n)).Wait();
        Program.Main(): Outer(3);
        --
        async Program.Main.Outer.Later.Note(int noted): async Task Note(int noted) { await Task.Yield(); Debugger.Break(); }
        --
        Program.Shape<int>.Pair<string>.Print<double>(double third): void Print<V>(V third) { Debugger.Break(); Console.WriteLine($"{first} {second} {third}"); }
        Program.Shape<int>.Pair<string>(string second): Print(2.5);
        Program.Shape<int>(int first): Pair("x");
        Program.Main(): Shape<int>(4);
    "#]],
    );
}

#[test]
fn iterators_have_the_name_of_their_method() {
    check(
        "stack_kinds",
        &["iterator"],
        &[],
        &expect![[r#"
        --
        Program.Numbers<long>(int count): Debugger.Break();
        Program.Main(string[] args): case "iterator": Console.WriteLine(Numbers<long>(2).Sum()); break;
    "#]],
    );
}

#[test]
fn emitted_functions_are_dynamic() {
    check(
        "stack_kinds",
        &["dynamic"],
        &[],
        &expect![[r#"
            --
            Program.Stop(): static void Stop() => Debugger.Break();
            Dynamic [lightweight function]: ?
            Program.Dynamic(): method.CreateDelegate<Action>()();
            Program.Main(string[] args): case "dynamic": Dynamic(); break;
        "#]],
    );
}

#[test]
fn what_the_runtime_emits_for_itself_is_told_from_functions_of_the_program() {
    check(
        "stack_native",
        &["both"],
        &[],
        &expect![[r#"
        --
        Program.Stop(): Debugger.Break();
        Program.Main.AnonymousMethod(ref int a, ref int b): case "native": Sort(items, 2, 4, (ref int a, ref int b) => { Stop(); return a - b; }); break;
        Program.Main(string[] args): case "native": Sort(items, 2, 4, (ref int a, ref int b) => { Stop(); return a - b; }); break;
        Program.Again(): static void Again() => Main(["native"]);
        Dynamic [lightweight function]: ?
        Program.Main(string[] args): case "both": Emitted("Again")(); break;
    "#]],
    );
    check(
        "stack_native",
        &["several"],
        &[],
        &expect![[r#"
        --
        Program.Stop(): Debugger.Break();
        Program.Several(): several();
        Program.Main(string[] args): case "several": Several(); break;
    "#]],
    );
}

#[test]
fn calls_into_native_code_name_what_was_called() {
    let sandbox = Sandbox::new();
    let called = |program: &Debuggee<'_>| {
        let frames = told::frames(program, None).into_iter();
        let calls = frames.filter(|it| it.method.starts_with("[managed to native"));
        calls.map(|it| it.method).collect::<Vec<_>>()
    };
    let program = sandbox.launch("stack_native").args(["native"]).start();
    program.wait_stop();
    let sort =
        "Program.Sort(int[] items, nint count, nint size, Program.Comparer compare)".to_owned();
    assert_eq!(
        called(&program),
        [format!("[managed to native transition: {sort}]")]
    );
    program.disconnect(Some(true), false);
    let program = sandbox.launch("stack_native").args(["rest"]).start();
    program.wait_output("resting");
    let name = "[managed to native transition: Program.Rest(uint seconds)]";
    testkit::eventually(|| {
        program.pause();
        let calls = called(&program);
        if calls.iter().any(|it| it == name) {
            return Ok(());
        }
        program.cont();
        Err(format!("{calls:?}"))
    })
    .expect("named");
    program.disconnect(Some(true), false);
}

#[test]
fn attributes_hide_and_disown_frames() {
    check(
        "stack_kinds",
        &["hidden"],
        &[],
        &expect![[r#"
        --
        Program.Stop(): static void Stop() => Debugger.Break();
        External Program.NotMine(): static void NotMine() => Stop();
        Hidden Program.Hidden(): static void Hidden() => NotMine();
        Program.Main(string[] args): case "hidden": Hidden(); break;
    "#]],
    );
}

#[test]
fn below_a_filter_the_frames_that_threw_are_alive() {
    check(
        "exception_kinds",
        &["filter"],
        &["in_filter"],
        &expect![[r#"
            --
            Program.Accepts(Exception error, bool answer): Console.WriteLine($"filter {error.Message}");
            Filter Program.Filter(): catch (StockException error) when (Accepts(error, false))
            Program.Throw(string message): throw new StockException(message);
            Program.Filter(): Throw("filtered");
            Program.Main(string[] args): case "filter": Filter(); break;
            --
            Program.Accepts(Exception error, bool answer): Console.WriteLine($"filter {error.Message}");
            Filter Program.Filter(): catch (StockException error) when (Accepts(error, true))
            Program.Throw(string message): throw new StockException(message);
            Program.Filter(): Throw("filtered");
            Program.Main(string[] args): case "filter": Filter(); break;
        "#]],
    );
}

#[test]
fn in_finally_and_catch_the_frames_that_threw_are_gone() {
    check(
        "exception_kinds",
        &["finally"],
        &["in_finally", "in_catch"],
        &expect![[r#"
            --
            Finally Program.Finally(): Console.WriteLine("in finally");
            Program.Main(string[] args): case "finally": Finally(); break;
            --
            Catch Program.Finally(): Console.WriteLine("after finally");
            Program.Main(string[] args): case "finally": Finally(); break;
        "#]],
    );
}

#[test]
fn code_of_the_framework_is_external_and_optimised() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("stack_kinds").args(["framework"]).start();
    program.wait_stop();
    let frames = told::frames(&program, None);
    let for_each = "System.Collections.Generic.List<int>.ForEach(Action<int> action)";
    let frame = frames
        .iter()
        .find(|frame| frame.method == for_each)
        .unwrap_or_else(|| panic!("no ForEach in {frames:#?}"));
    assert_eq!(frame.kind, FrameKind::External);
    assert!(frame.optimized && !frame.user_code && frame.source.is_none());
    assert_eq!(frame.module.as_deref(), Some("System.Private.CoreLib.dll"));
    let main = frames.last().expect("frames");
    assert_eq!(main.method, "Program.Main(string[] args)");
    assert!(main.user_code && !main.optimized && main.il_offset.is_some());
    program.disconnect(Some(true), false);
}

#[track_caller]
fn page(program: &Debuggee<'_>, start: u32, count: u32) -> (Vec<Frame>, u32, bool) {
    match program.request(Request::Stack {
        thread: None,
        start,
        count,
    }) {
        Ok(Reply::Stack {
            frames,
            total,
            more,
            ..
        }) => (frames, total, more),
        other => panic!("no stack: {other:?}"),
    }
}

#[test]
fn ten_thousand_frames_are_read_in_pages() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("stack_kinds")
        .args(["deep", "10000"])
        .start();
    program.wait_stop();
    let (first, _, more) = page(&program, 0, 50);
    assert!(more && first.len() == 50);
    let (all, total, more) = page(&program, 0, u32::MAX);
    assert!(!more);
    assert_eq!(total as usize, all.len());
    let down = all
        .iter()
        .filter(|it| it.method == "Program.Down(int depth)");
    assert_eq!(down.count(), 10_001);
    // A page is what the whole has there.
    let (middle, _, _) = page(&program, 4_990, 20);
    assert_eq!(middle, all[4_990..5_010]);
    let (last, _, more) = page(&program, total - 1, 10);
    assert_eq!(last.len(), 1);
    assert_eq!(last[0].method, "Program.Main(string[] args)");
    assert!(!more);
    let (beyond, _, more) = page(&program, total + 5, 10);
    assert!(beyond.is_empty() && !more);
    program.disconnect(Some(true), false);
}

#[test]
fn code_of_an_emitted_module_is_dynamic() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch("module_kinds").args(["memory"]).start();
    program.wait_stop();
    let frames = told::frames(&program, None);
    let emitted = frames.first().expect("frames");
    assert_eq!(emitted.kind, FrameKind::Dynamic);
    assert_eq!(emitted.method, "Emitted.Stop()");
    program.disconnect(Some(true), false);
}

#[test]
fn emitted_methods_have_their_names_also_those_of_types_that_came_later() {
    check(
        "stack_emitted",
        &[],
        &[],
        &expect![[r#"
            --
            Program.Reached(): Debugger.Break();
            Dynamic First.Shape.Run(string name, List<int> numbers, int[,]): ?
            Program.Call(Type type, string name, List<int> numbers): type.GetMethod("Run")!.CreateDelegate<Action<string, List<int>, int[,]>>()(name, numbers, new int[2, 2]);
            Program.Main(): Call(Made(module, "First.Shape", 0), "text", new List<int>());
            --
            Program.Reached(): Debugger.Break();
            Dynamic Second.Box<string>.Run(string name, List<int> numbers, int[,]): ?
            Program.Call(Type type, string name, List<int> numbers): type.GetMethod("Run")!.CreateDelegate<Action<string, List<int>, int[,]>>()(name, numbers, new int[2, 2]);
            Program.Main(): Call(Made(module, "Second.Box`1", 1).MakeGenericType(typeof(string)), "more", new List<int>());
            --
            Program.Reached(): Debugger.Break();
            Dynamic [lightweight function]: ?
            Program.Main(): method.CreateDelegate<Action>()();
        "#]],
    );
}

#[test]
fn callers_are_at_the_statement_that_calls() {
    for keep in [false, true] {
        let sandbox = Sandbox::new();
        let program = sandbox
            .launch("stack_release")
            .with(|launch| launch.keep_optimized = keep)
            .start();
        program.wait_stop();
        let stack = told::stack(&program);
        let frames: Vec<_> = stack.lines().collect();
        assert_eq!(
            frames,
            [
                "Program.Inner(): Debugger.Break();",
                "Program.Outer(): Inner();",
                "Program.Main(): Outer();"
            ],
            "optimised code: {keep}"
        );
        program.disconnect(Some(true), false);
    }
}

#[test]
fn frames_of_an_exception_that_ends_a_step_are_told_once() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("stack_memory");
    let marker = fixture.marker("parse");
    let program = sandbox
        .launch_fixture(&fixture)
        .with(|launch| {
            launch.breakpoints = vec![BreakpointSpec::at(Place::Line {
                file: marker.file.display().to_string(),
                line: Line(marker.line),
                column: None,
            })];
        })
        .start();
    program.wait_stop();
    let over = Request::Step {
        thread: None,
        kind: StepKind::Over,
        count: 1,
    };
    program.request(over).expect("stepping");
    program.wait_stop();
    let told = told::stack(&program);
    let times = |method: &str| told.matches(method).count();
    assert_eq!(
        (times("int.Parse("), times("Program.Takes(")),
        (1, 1),
        "{told}"
    );
    assert_eq!(times("Program.Main("), 1, "{told}");
}

/// The compiler makes a method of its own of such a block, without parameters.
#[test]
fn the_finally_of_an_iterator_is_told_as_the_iterator() {
    let sandbox = Sandbox::new();
    let left = crate::breakpoints_support::at_marker("values_yields", "left");
    let program = sandbox
        .launch("values_yields")
        .with(|launch| launch.breakpoints = vec![left])
        .start();
    program.wait_stop();
    let (method, _) = crate::breakpoints_support::here(&program);
    assert_eq!(method, "Program.Numbers(int given)");
    program.disconnect(Some(true), false);
}
