//! Exceptions that tasks keep: whether and where they will be caught is told when they are thrown.

use std::fmt::Write as _;

use expect_test::expect;
use host::api::{ExceptionSpec, ExceptionStage, Handler, Stop, StopReason, Then};
use testkit::sandbox::Sandbox;

use crate::stacks_told as told;

const FIXTURE: &str = "exceptions_awaited";
const FRAMEWORK: &str = "exceptions_framework";
const WHICH: &str = "exceptions_awaited_which";

fn lost(caught_by_user: Option<bool>) -> ExceptionSpec {
    ExceptionSpec {
        caught_by_user,
        ..ExceptionSpec::of_type("Lost")
    }
}

/// What becomes of the exception at each stop of a scenario.
fn stops(fixture: &str, scenario: &str, caught_by_user: Option<bool>) -> String {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(fixture)
        .args([scenario])
        .with(|launch| launch.exceptions = vec![lost(caught_by_user)])
        .start();
    let mut told = String::new();
    while let Some(stop) = program.settle().stop {
        // Writing to a String cannot fail.
        let _ = writeln!(told, "{}", in_short(&stop));
        if stop.reasons.contains(&StopReason::UnhandledException) {
            program.disconnect(Some(true), false);
            return told;
        }
        program.cont();
    }
    program.expect_exit(0);
    told
}

fn in_short(stop: &Stop) -> String {
    let exception = stop.exception.as_ref().expect("an exception");
    let flight = exception.flight.as_deref().expect("a flight");
    if flight.stage == ExceptionStage::Unhandled {
        return "unhandled".into();
    }
    let again = if flight.rethrown { "again: " } else { "" };
    let line = |source| told::line(source);
    match &flight.handler {
        Handler::Task { then, .. } => match &**then {
            Then::Caught {
                method,
                source,
                user_code,
                filter,
            } => {
                let whose = if *user_code { "" } else { "not the user's " };
                let decides = if *filter {
                    "a filter decides in"
                } else {
                    "then"
                };
                let line = line(source.as_ref());
                format!("{again}{decides} {whose}{method}: {line}")
            }
            Then::Suppressed { method, source, .. } => {
                let line = line(source.as_ref());
                format!("{again}suppressed in {method}: {line}")
            }
            other => format!("{again}{other:?}"),
        },
        Handler::TypeInitializer { .. } => format!("{again}a static constructor"),
        Handler::FilterFails { .. } => format!("{again}a filter fails"),
        Handler::Catch { frame } => format!("{again}{}", frame.method),
        Handler::Filter { frame } => format!("{again}a filter in {}", frame.method),
        other => format!("{again}{other:?}"),
    }
}

/// Of each scenario all stops, those at what the user's code catches, and those at what it does not.
#[track_caller]
fn check(scenarios: &[&str], expected: &expect_test::Expect) {
    check_of(FIXTURE, scenarios, expected);
}

#[track_caller]
fn check_of(fixture: &str, scenarios: &[&str], expected: &expect_test::Expect) {
    let mut told = String::new();
    for scenario in scenarios {
        for (which, caught_by_user) in [("", None), (" caught", Some(true)), (" not", Some(false))]
        {
            let stops = stops(fixture, scenario, caught_by_user);
            told += &format!("{scenario}{which}\n");
            for stop in stops.lines() {
                told += &format!("    {stop}\n");
            }
        }
    }
    expected.assert_eq(&told);
}

#[test]
fn what_nobody_catches_at_any_await_is_not_caught() {
    let scenarios = ["nobody", "nobody_at_once", "void"];
    check(
        &scenarios,
        &expect![[r#"
        nobody
            NotCaught
            again: NotCaught
            again: NotCaught
            again: NotCaught
            again: Nobody
            unhandled
        nobody caught
            unhandled
        nobody not
            NotCaught
            again: NotCaught
            again: NotCaught
            again: NotCaught
            unhandled
        nobody_at_once
            NotAwaited
            again: NotAwaited
            again: NotAwaited
            again: NotCaught
            again: Nobody
            unhandled
        nobody_at_once caught
            unhandled
        nobody_at_once not
            NotAwaited
            again: NotAwaited
            again: NotAwaited
            again: NotCaught
            unhandled
        void
            NotCaught
            again: Nobody
            unhandled
        void caught
            unhandled
        void not
            NotCaught
            unhandled
    "#]],
    );
}

#[test]
fn what_is_caught_where_the_task_is_awaited_is_caught() {
    let scenarios = ["caught", "caught_at_once", "other", "filter"];
    check(
        &scenarios,
        &expect![[r#"
        caught
            then Program.Catches(bool later): try { await Cleans(later); } catch (Lost) { Console.WriteLine("caught"); }
            again: then Program.Catches(bool later): try { await Cleans(later); } catch (Lost) { Console.WriteLine("caught"); }
            again: Program.Catches(bool later)
        caught caught
            then Program.Catches(bool later): try { await Cleans(later); } catch (Lost) { Console.WriteLine("caught"); }
            again: then Program.Catches(bool later): try { await Cleans(later); } catch (Lost) { Console.WriteLine("caught"); }
            again: Program.Catches(bool later)
        caught not
        caught_at_once
            then Program.Catches(bool later): try { await Cleans(later); } catch (Lost) { Console.WriteLine("caught"); }
            again: then Program.Catches(bool later): try { await Cleans(later); } catch (Lost) { Console.WriteLine("caught"); }
            again: Program.Catches(bool later)
        caught_at_once caught
            then Program.Catches(bool later): try { await Cleans(later); } catch (Lost) { Console.WriteLine("caught"); }
            again: then Program.Catches(bool later): try { await Cleans(later); } catch (Lost) { Console.WriteLine("caught"); }
            again: Program.Catches(bool later)
        caught_at_once not
        other
            then Program.CatchesAnother(): catch (Exception) { Console.WriteLine("other"); }
            again: Program.CatchesAnother()
        other caught
            then Program.CatchesAnother(): catch (Exception) { Console.WriteLine("other"); }
            again: Program.CatchesAnother()
        other not
        filter
            a filter decides in Program.Filters(): try { await Fails(later: true); } catch (Exception error) when (error is Lost) { }
            again: a filter in Program.Filters()
        filter caught
            a filter decides in Program.Filters(): try { await Fails(later: true); } catch (Exception error) when (error is Lost) { }
            again: a filter in Program.Filters()
        filter not
    "#]],
    );
}

#[test]
fn what_is_caught_where_a_thread_waits_for_the_task_is_caught() {
    let scenarios = ["waits", "waits_at_once", "wraps"];
    check(
        &scenarios,
        &expect![[r#"
        waits
            then Program.Waits(): try { watched.GetAwaiter().GetResult(); } catch (Lost) { }
            again: Program.Waits()
        waits caught
            then Program.Waits(): try { watched.GetAwaiter().GetResult(); } catch (Lost) { }
            again: Program.Waits()
        waits not
        waits_at_once
            then Program.WaitsAtOnce(): try { Fails(later: false).GetAwaiter().GetResult(); } catch (Lost) { }
            again: Program.WaitsAtOnce()
        waits_at_once caught
            then Program.WaitsAtOnce(): try { Fails(later: false).GetAwaiter().GetResult(); } catch (Lost) { }
            again: Program.WaitsAtOnce()
        waits_at_once not
        wraps
            then Program.Wraps(): catch (AggregateException) { }
        wraps caught
            then Program.Wraps(): catch (AggregateException) { }
        wraps not
    "#]],
    );
}

#[test]
fn iterators_combinators_and_queued_work_hand_it_on() {
    let scenarios = ["iterator", "all", "run", "handed_on"];
    check(
        &scenarios,
        &expect![[r#"
            iterator
                then Program.Loops(bool later): try { await foreach (int item in Items(later)) Console.WriteLine(item); } catch (Lost) { }
                again: then Program.Loops(bool later): try { await foreach (int item in Items(later)) Console.WriteLine(item); } catch (Lost) { }
                again: Program.Loops(bool later)
                again: Program.Loops(bool later)
                then Program.Loops(bool later): try { await foreach (int item in Items(later)) Console.WriteLine(item); } catch (Lost) { }
                again: then Program.Loops(bool later): try { await foreach (int item in Items(later)) Console.WriteLine(item); } catch (Lost) { }
                again: Program.Loops(bool later)
                again: Program.Loops(bool later)
            iterator caught
                then Program.Loops(bool later): try { await foreach (int item in Items(later)) Console.WriteLine(item); } catch (Lost) { }
                again: then Program.Loops(bool later): try { await foreach (int item in Items(later)) Console.WriteLine(item); } catch (Lost) { }
                again: Program.Loops(bool later)
                again: Program.Loops(bool later)
                then Program.Loops(bool later): try { await foreach (int item in Items(later)) Console.WriteLine(item); } catch (Lost) { }
                again: then Program.Loops(bool later): try { await foreach (int item in Items(later)) Console.WriteLine(item); } catch (Lost) { }
                again: Program.Loops(bool later)
                again: Program.Loops(bool later)
            iterator not
            all
                then Program.All(bool later): try { await Task.WhenAll(Fails(later), Task.Delay(1)); } catch (Lost) { }
                again: Program.All(bool later)
                Unknown
                again: Program.All(bool later)
            all caught
                then Program.All(bool later): try { await Task.WhenAll(Fails(later), Task.Delay(1)); } catch (Lost) { }
                again: Program.All(bool later)
                again: Program.All(bool later)
            all not
            run
                then Program.Runs(): try { await Task.Run(() => { gate.Task.Wait(); throw new Lost(); }); } catch (Lost) { }
                again: then Program.Runs(): try { await Task.Run(() => { gate.Task.Wait(); throw new Lost(); }); } catch (Lost) { }
                again: Program.Runs()
            run caught
                then Program.Runs(): try { await Task.Run(() => { gate.Task.Wait(); throw new Lost(); }); } catch (Lost) { }
                again: then Program.Runs(): try { await Task.Run(() => { gate.Task.Wait(); throw new Lost(); }); } catch (Lost) { }
                again: Program.Runs()
            run not
            handed_on
                then Program.HandedOn(): try { await Through(later: false); } catch (Lost) { }
                again: Program.HandedOn()
            handed_on caught
                then Program.HandedOn(): try { await Through(later: false); } catch (Lost) { }
                again: Program.HandedOn()
            handed_on not
        "#]],
    );
}

/// Where the task is awaited it is thrown again, and caught: it has not left the user's code.
#[test]
fn what_queued_work_throws_is_not_user_unhandled_if_the_user_catches_it() {
    let sandbox = Sandbox::new();
    let wanted = ExceptionSpec {
        thrown: false,
        user_unhandled: true,
        ..ExceptionSpec::of_type("Lost")
    };
    let program = sandbox
        .launch(FIXTURE)
        .args(["run"])
        .with(|launch| launch.exceptions = vec![wanted])
        .start();
    program.expect_exit(0);
}

#[test]
fn what_nobody_awaits_is_told_as_that() {
    let scenarios = ["kept", "dropped"];
    check(
        &scenarios,
        &expect![[r#"
        kept
            NotAwaited
            again: Program.Kept(bool later)
            NotAwaited
            again: Program.Kept(bool later)
        kept caught
            again: Program.Kept(bool later)
            again: Program.Kept(bool later)
        kept not
            NotAwaited
            NotAwaited
        dropped
            NotAwaited
        dropped caught
        dropped not
            NotAwaited
    "#]],
    );
}

#[test]
fn what_a_type_parameter_stands_for_decides_whether_it_is_caught() {
    let scenarios = ["parameter", "parameter_of_type", "parameter_awaited"];
    check_of(
        WHICH,
        &scenarios,
        &expect![[r#"
            parameter
                Program.Takes<Lost>()
                Program.Run(string[] args)
            parameter caught
                Program.Takes<Lost>()
                Program.Run(string[] args)
            parameter not
            parameter_of_type
                Program.Holder<Lost>.Takes()
                Program.Run(string[] args)
            parameter_of_type caught
                Program.Holder<Lost>.Takes()
                Program.Run(string[] args)
            parameter_of_type not
            parameter_awaited
                then Program.Awaits<Lost>(): try { await Fails(later: true); } catch (T) { Console.WriteLine("takes"); }
                again: Program.Awaits<Lost>()
                then Program.Run(string[] args): try { await Awaits<Other>(); } catch (Exception) { }
                again: then Program.Run(string[] args): try { await Awaits<Other>(); } catch (Exception) { }
                again: Program.Run(string[] args)
            parameter_awaited caught
                then Program.Awaits<Lost>(): try { await Fails(later: true); } catch (T) { Console.WriteLine("takes"); }
                again: Program.Awaits<Lost>()
                then Program.Run(string[] args): try { await Awaits<Other>(); } catch (Exception) { }
                again: then Program.Run(string[] args): try { await Awaits<Other>(); } catch (Exception) { }
                again: Program.Run(string[] args)
            parameter_awaited not
        "#]],
    );
}

#[test]
fn an_await_that_throws_nothing_is_told() {
    let scenarios = ["suppressed", "not_suppressed", "perhaps_suppressed"];
    check_of(
        WHICH,
        &scenarios,
        &expect![[r#"
            suppressed
                suppressed in Program.Run(string[] args): await Fails(later: true).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                suppressed in Program.Run(string[] args): await Fails(later: false).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            suppressed caught
                suppressed in Program.Run(string[] args): await Fails(later: true).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                suppressed in Program.Run(string[] args): await Fails(later: false).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            suppressed not
            not_suppressed
                then Program.Run(string[] args): try { await Fails(later: false).ConfigureAwait(ConfigureAwaitOptions.None); } catch (Lost) { }
                again: Program.Run(string[] args)
            not_suppressed caught
                then Program.Run(string[] args): try { await Fails(later: false).ConfigureAwait(ConfigureAwaitOptions.None); } catch (Lost) { }
                again: Program.Run(string[] args)
            not_suppressed not
            perhaps_suppressed
                Unknown
                again: Program.Run(string[] args)
            perhaps_suppressed caught
                again: Program.Run(string[] args)
            perhaps_suppressed not
        "#]],
    );
}

#[test]
fn of_several_tasks_the_first_that_fails_is_thrown() {
    let scenarios = [
        "behind_a_failed",
        "before_others",
        "behind_a_done",
        "of_results_behind_an_open",
        "of_results_behind_a_done",
    ];
    check_of(
        WHICH,
        &scenarios,
        &expect![[r#"
            behind_a_failed
                Unknown
            behind_a_failed caught
            behind_a_failed not
            before_others
                then Program.Behind(TaskCompletionSource open): try { await all; } catch (Lost) { }
                again: Program.Behind(TaskCompletionSource open)
            before_others caught
                then Program.Behind(TaskCompletionSource open): try { await all; } catch (Lost) { }
                again: Program.Behind(TaskCompletionSource open)
            before_others not
            behind_a_done
                then Program.Run(string[] args): case "behind_a_done": try { await Task.WhenAll(Task.CompletedTask, Fails(later: true)); } catch (Lost) { } break;
                again: Program.Run(string[] args)
            behind_a_done caught
                then Program.Run(string[] args): case "behind_a_done": try { await Task.WhenAll(Task.CompletedTask, Fails(later: true)); } catch (Lost) { } break;
                again: Program.Run(string[] args)
            behind_a_done not
            of_results_behind_an_open
                Unknown
                again: Unknown
                again: Program.Behind(TaskCompletionSource<int> open)
            of_results_behind_an_open caught
                again: Program.Behind(TaskCompletionSource<int> open)
            of_results_behind_an_open not
            of_results_behind_a_done
                then Program.Run(string[] args): case "of_results_behind_a_done": try { await Task.WhenAll(Task.FromResult(1), Gets()); } catch (Lost) { } break;
                again: then Program.Run(string[] args): case "of_results_behind_a_done": try { await Task.WhenAll(Task.FromResult(1), Gets()); } catch (Lost) { } break;
                again: Program.Run(string[] args)
            of_results_behind_a_done caught
                then Program.Run(string[] args): case "of_results_behind_a_done": try { await Task.WhenAll(Task.FromResult(1), Gets()); } catch (Lost) { } break;
                again: then Program.Run(string[] args): case "of_results_behind_a_done": try { await Task.WhenAll(Task.FromResult(1), Gets()); } catch (Lost) { } break;
                again: Program.Run(string[] args)
            of_results_behind_a_done not
        "#]],
    );
}

#[test]
fn what_the_runtime_takes_itself_is_not_caught_by_the_user() {
    let scenarios = ["constructor", "filter"];
    check_of(
        WHICH,
        &scenarios,
        &expect![[r#"
        constructor
            a static constructor
        constructor caught
        constructor not
            a static constructor
        filter
            a filter fails
        filter caught
        filter not
            a filter fails
    "#]],
    );
}

/// Code of the framework has no symbols: where it is suspended only its instructions tell.
#[test]
fn what_the_framework_awaits_is_caught_there_or_handed_on() {
    let scenarios = ["http late", "http early", "read late", "read early"];
    check_of(
        FRAMEWORK,
        &scenarios,
        &expect![[r#"
        http late
            then not the user's System.Net.Http.HttpClient.SendAsync.Core(): ?
            again: System.Net.Http.HttpClient.SendAsync.Core()
            again: then Program.All(bool http): catch (Lost)
            again: Program.All(bool http)
        http late caught
            again: then Program.All(bool http): catch (Lost)
            again: Program.All(bool http)
        http late not
            then not the user's System.Net.Http.HttpClient.SendAsync.Core(): ?
            again: System.Net.Http.HttpClient.SendAsync.Core()
        http early
            then not the user's System.Net.Http.HttpClient.SendAsync.Core(): ?
            again: System.Net.Http.HttpClient.SendAsync.Core()
            again: then Program.All(bool http): catch (Lost)
            again: Program.All(bool http)
        http early caught
            again: then Program.All(bool http): catch (Lost)
            again: Program.All(bool http)
        http early not
            then not the user's System.Net.Http.HttpClient.SendAsync.Core(): ?
            again: System.Net.Http.HttpClient.SendAsync.Core()
        read late
            then Program.All(bool http): catch (Lost)
            again: then Program.All(bool http): catch (Lost)
            again: then Program.All(bool http): catch (Lost)
            again: Program.All(bool http)
        read late caught
            then Program.All(bool http): catch (Lost)
            again: then Program.All(bool http): catch (Lost)
            again: then Program.All(bool http): catch (Lost)
            again: Program.All(bool http)
        read late not
        read early
            then Program.All(bool http): catch (Lost)
            again: then Program.All(bool http): catch (Lost)
            again: then Program.All(bool http): catch (Lost)
            again: Program.All(bool http)
        read early caught
            then Program.All(bool http): catch (Lost)
            again: then Program.All(bool http): catch (Lost)
            again: then Program.All(bool http): catch (Lost)
            again: Program.All(bool http)
        read early not
    "#]],
    );
}
