//! Letting the program run: from the start, to the end, and by steps.

use std::time::Duration;

use host::api::{Error, Place, Reply, Request, State, StepKind, StopReason};

use super::{breakpoints, nothing};
use crate::failure::{no_program, unexpected, usage};
use crate::place;
use crate::program::Waited;
use crate::repl::Repl;
use crate::{Target, words};

/// Continues that one command makes.
const MAX_TIMES: u32 = 1_000_000;

pub(super) fn run(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let args = (!arguments.is_empty()).then(|| words::arguments(arguments));
    let args = args.transpose()?;
    let begins = args.is_some() || !repl.at_entry || !repl.live.has_program();
    if begins {
        // It does not stay at its entry.
        repl.passes_stop = true;
        let begun = again(repl, args);
        repl.passes_stop = false;
        begun?;
    }
    if !repl.at_entry || repl.quit.is_some() {
        return Ok(());
    }
    // A breakpoint where a thread stands already is not reached when it runs on.
    if let Some(id) = breakpoints::here(repl)? {
        if let Some(status) = repl.status().filter(|_| begins) {
            repl.show_stop(&status);
        }
        repl.at_entry = false;
        repl.say(&format!("The program is at breakpoint {id}."));
        return Ok(());
    }
    repl.resume(Request::Continue).map(drop)
}

pub(super) fn start(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let args = (!arguments.is_empty()).then(|| words::arguments(arguments));
    let args = args.transpose()?;
    if args.is_none() && repl.at_entry && repl.live.has_program() {
        repl.say("The program is at its entry already.");
        return Ok(());
    }
    again(repl, args)
}

/// Starts the program, again if it was started before.
fn again(repl: &mut Repl, args: Option<Vec<String>>) -> Result<(), Error> {
    if let Target::Attach(_) = repl.target {
        return Err(
            usage("the program was attached to, so it cannot be started here")
                .hint("`ndbg debug PROGRAM` starts one"),
        );
    }
    if repl.live.has_program() {
        if !repl.at_entry && !repl.confirm("The program is being run. Start it again?") {
            return Ok(());
        }
        end(repl)?;
    }
    if let (Target::Launch { launch, .. }, Some(args)) = (&mut repl.target, args) {
        launch.args = args;
    }
    repl.start()
}

/// Ends the program, and shows what it wrote last.
fn end(repl: &mut Repl) -> Result<(), Error> {
    repl.disconnect(Some(true));
    repl.show_output();
    repl.renew()
}

pub(super) fn kill(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    if !repl.live.has_program() {
        return Err(no_program());
    }
    end(repl)?;
    repl.say("The program was ended.");
    Ok(())
}

pub(super) fn detach(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    if !repl.live.has_program() {
        return Err(no_program());
    }
    repl.disconnect(Some(false));
    repl.wait(0, Some(Duration::from_secs(10)))?;
    Ok(())
}

pub(super) fn proceed(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    if let Some(rest) = arguments.strip_suffix('&') {
        nothing(rest.trim())?;
        repl.let_go(Request::Continue)?;
        return Ok(());
    }
    let times = words::count(arguments)?.min(MAX_TIMES);
    for left in (0..times).rev() {
        // Only the last stop is of interest, or one that is no breakpoint's.
        repl.passes_stop = left > 0;
        let waited = repl.resume(Request::Continue);
        repl.passes_stop = false;
        if waited? != Waited::Settled {
            break;
        }
        let Some(status) = repl.status() else { break };
        let reasons = status.stop.as_ref().map(|stop| &stop.reasons);
        let is_breakpoint = |it: &StopReason| matches!(it, StopReason::Breakpoint { .. });
        let passes = reasons.is_some_and(|it| it.iter().all(is_breakpoint)) && !repl.interrupted;
        if left > 0 && !passes {
            repl.show_stop(&status);
            break;
        }
    }
    Ok(())
}

pub(super) fn next(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    steps(repl, StepKind::Over, arguments)
}

pub(super) fn step(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    steps(repl, StepKind::Into, arguments)
}

/// Runs to the caller of the frame that is looked at.
pub(super) fn finish(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    steps(repl, StepKind::Out, "")
}

fn steps(repl: &mut Repl, kind: StepKind, arguments: &str) -> Result<(), Error> {
    let request = Request::Step {
        thread: repl.focus().thread,
        kind,
        count: words::count(arguments)?,
    };
    repl.resume(request).map(drop)
}

pub(super) fn until(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    if !arguments.is_empty() {
        return advance(repl, arguments);
    }
    // Past the end of a loop: no step goes backwards.
    let Some(from) = repl.here()? else {
        return next(repl, "");
    };
    loop {
        next(repl, "")?;
        let stepped = repl
            .live
            .session
            .status()
            .stop
            .is_some_and(|stop| stop.reasons == [host::api::StopReason::Step]);
        let backwards = match repl.here()? {
            Some(now) => now.file == from.file && now.line < from.line,
            None => false,
        };
        if !stepped || !backwards || repl.interrupted || repl.quit.is_some() {
            return Ok(());
        }
    }
}

pub(super) fn advance(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    if arguments.is_empty() {
        return Err(usage("say where to: a line, FILE:LINE or a method"));
    }
    let place = place::place(arguments, repl.here()?.as_ref())?;
    repl.resume(Request::RunTo(place)).map(drop)
}

pub(super) fn jump(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    if arguments.is_empty() {
        return Err(usage("say which line runs next"));
    }
    match place::place(arguments, repl.here()?.as_ref())? {
        Place::Line { file, line, column } => {
            let request = Request::Goto {
                thread: repl.focus().thread,
                file: Some(file),
                line,
                column,
            };
            match repl.ask(request)? {
                Reply::Status(status) => repl.show_stop(&status),
                _ => return Err(unexpected()),
            }
            Ok(())
        }
        Place::Function { .. } => Err(usage(
            "only a line of the method that is being run can run next",
        )),
    }
}

pub(super) fn pause(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    nothing(arguments)?;
    if repl.status().is_some_and(|it| it.state == State::Stopped) && repl.caught_up() {
        repl.say("The program is stopped already.");
        return Ok(());
    }
    repl.ask(Request::Pause)?;
    repl.wait(0, None).map(drop)
}

pub(super) fn wait(repl: &mut Repl, arguments: &str) -> Result<(), Error> {
    let limit = match arguments {
        "" => None,
        text => match text.trim_end_matches('s').parse::<f64>() {
            Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => {
                Some(Duration::from_secs_f64(seconds))
            }
            _ => {
                return Err(usage(format!(
                    "{} is not a time in seconds",
                    report::text::quoted(text, 60)
                )));
            }
        },
    };
    match repl.status() {
        None => return Err(no_program()),
        Some(status) if status.state == State::Stopped && repl.caught_up() => {
            repl.say("The program is stopped.");
            return Ok(());
        }
        Some(_) => {}
    }
    if repl.wait(0, limit)? == Waited::StillRunning {
        repl.say("The program is still running.");
    }
    Ok(())
}
