//! Exceptions that tasks keep: whether and where they will be caught is told when they are thrown.

use std::fmt::Write as _;

use expect_test::expect;
use host::api::{ExceptionSpec, ExceptionStage, Handler, Stop, StopReason, Then};
use testkit::sandbox::Sandbox;

use crate::stacks_told as told;

const FIXTURE: &str = "exceptions_awaited";

fn lost(caught_by_user: Option<bool>) -> ExceptionSpec {
    ExceptionSpec {
        caught_by_user,
        ..ExceptionSpec::of_type("Lost")
    }
}

/// What becomes of the exception at each stop of a scenario.
fn stops(scenario: &str, caught_by_user: Option<bool>) -> String {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(FIXTURE)
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
            other => format!("{again}{other:?}"),
        },
        Handler::Catch { frame } => format!("{again}{}", frame.method),
        Handler::Filter { frame } => format!("{again}a filter in {}", frame.method),
        other => format!("{again}{other:?}"),
    }
}

/// Of each scenario all stops, those at what the user's code catches, and those at what it does not.
#[track_caller]
fn check(scenarios: &[&str], expected: &expect_test::Expect) {
    let mut told = String::new();
    for scenario in scenarios {
        for (which, caught_by_user) in [("", None), (" caught", Some(true)), (" not", Some(false))]
        {
            let stops = stops(scenario, caught_by_user);
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
            then Program.All(bool later): try { await Task.WhenAll(Fails(later), Task.Delay(1)); } catch (Lost) { }
            again: Program.All(bool later)
        all caught
            then Program.All(bool later): try { await Task.WhenAll(Fails(later), Task.Delay(1)); } catch (Lost) { }
            again: Program.All(bool later)
            then Program.All(bool later): try { await Task.WhenAll(Fails(later), Task.Delay(1)); } catch (Lost) { }
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
