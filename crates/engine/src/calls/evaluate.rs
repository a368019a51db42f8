//! The mechanism: the program runs one evaluation and is stopped again.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use cordebug::callback::Callback;
use cordebug::eval::Eval;
use cordebug::hresult as hr;
use cordebug::thread::{Step, Thread};

use crate::api::{Event, Reply, Request, State, ThreadId};
use crate::engine::{Engine, Input};
use crate::output::Notice;

use super::collections::Collections;
use super::others::{ALONE, Others};
use super::suspending::is_safe_to_abort;
use super::{CallError, CallSite, Kept, Outcome};

/// How long a thread may take to give up after it was asked, and after it was made to.
const ABORT_LIMIT: Duration = Duration::from_secs(2);

/// How long a thread gets to reach the code that it shall give up.
const BEGIN_STEP: Duration = Duration::from_millis(10);

/// How long a thread that was asked to give up is left alone before it is looked at again.
const WAIT_STEP: Duration = Duration::from_millis(250);

/// How often it may be found waiting before it is left there.
const MAX_WAITS: u32 = 2;

/// How long the library may take to hand over what it has queued.
const QUEUE_LIMIT: Duration = Duration::from_secs(5);

/// How long what it hands over may be on its way before the program is looked at.
const QUEUE_STEP: Duration = Duration::from_millis(50);

/// How much longer an evaluation at a hit may take once somebody wants the program paused.
const PAUSE_GRACE: Duration = Duration::from_millis(300);

/// What is known of evaluations that did not end as they should.
#[derive(Debug, Default)]
pub(crate) struct Evaluations {
    /// Why none can be made until the program continues.
    disabled: Option<String>,
    /// Those that still run on their threads; their ends are to be passed over.
    stray: Vec<(u32, Eval)>,
    /// Set while one runs.
    is_running: bool,
    /// Set when somebody gave up the request that it belongs to.
    cancelled: bool,
    /// Set while one may run although the program is not told to be stopped: a breakpoint was hit, and its condition or
    /// message needs it.
    at_hit: bool,
    /// Whether none may run in this session.
    forbidden: bool,
    /// Set when one has ended the program, of which the end is not known yet.
    ended_program: bool,
    /// What the other threads do while one runs.
    pub(super) others: Others,
    /// What whoever asked for them should know.
    notes: Vec<String>,
    top: Option<StackTop>,
}

/// Where the stack of a thread ends, in one run of the program.
#[derive(Debug)]
struct StackTop {
    run: Option<u64>,
    thread: Option<u32>,
    top: Option<u64>,
}

impl Evaluations {
    /// The program continues: what was stuck may go on.
    pub(crate) fn continued(&mut self) {
        self.disabled = None;
    }

    /// A request begins that may evaluate.
    pub(crate) fn begin(&mut self) {
        self.cancelled = false;
        self.notes.clear();
    }

    /// Whether one runs.
    pub(crate) fn is_running(&self) -> bool {
        self.is_running
    }

    /// Adds something that whoever asked should know.
    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// What there is to know of those that ran since this was asked last.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Whether one has ended the program.
    pub(crate) fn has_ended_program(&self) -> bool {
        self.ended_program
    }

    /// Whether somebody gave the request up.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    /// Somebody gives the request up.
    pub(crate) fn cancel(&mut self) {
        self.cancelled = true;
    }

    /// Whether the program is held at a hit, so that code can be run.
    pub(crate) fn at_hit(&mut self, held: bool) {
        self.at_hit = held;
    }

    /// Whether the program is held at a hit.
    pub(crate) fn is_at_hit(&self) -> bool {
        self.at_hit
    }

    /// Nothing runs any more, whatever was under way.
    pub(crate) fn after_panic(&mut self) {
        self.is_running = false;
        self.at_hit = false;
    }

    /// None runs from now on.
    pub(crate) fn forbid(&mut self) {
        self.forbidden = true;
    }

    /// Whether none may run in this session.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.forbidden
    }

    /// Refuses where none may run, and while an earlier one could not be ended.
    pub(crate) fn check(&self) -> Result<(), CallError> {
        if self.forbidden {
            return Err(CallError::Forbidden);
        }
        match &self.disabled {
            Some(earlier) => Err(CallError::Disabled {
                earlier: earlier.clone(),
            }),
            None => Ok(()),
        }
    }

    /// The threads on which one still runs that could not be ended.
    pub(crate) fn stuck(&self) -> Vec<ThreadId> {
        self.stray.iter().map(|(id, _)| ThreadId(*id)).collect()
    }

    /// Whether one that could not be ended still runs on a thread.
    pub(crate) fn is_stray_on(&self, thread: u32) -> bool {
        self.stray.iter().any(|(id, _)| *id == thread)
    }

    /// Whether one could not be ended, so that frames are not where they were.
    pub(crate) fn is_disabled(&self) -> bool {
        self.disabled.is_some()
    }
}

/// What ended the wait for an evaluation.
pub(super) enum Ended {
    /// It returned or threw.
    Done { threw: bool },
    /// The program is gone.
    Program,
    /// It takes too long.
    Late,
    /// Somebody wants the program.
    Wanted(&'static str),
    /// It is about to wait for other threads, which it may not let go.
    NeedsOthers,
}

/// Why an evaluation is given up.
#[derive(Clone, Copy)]
enum Why {
    Late,
    Wanted(&'static str),
    NeedsOthers,
}

impl Engine<'_> {
    /// Sets something up with `start`, lets the program do it, and gives what came out.
    pub(crate) fn evaluate(
        &mut self,
        site: &CallSite,
        start: impl FnOnce(&Eval) -> Result<(), CallError>,
    ) -> Result<Outcome, CallError> {
        self.stopped_target()
            .map_err(|error| CallError::Refused(error.message))?;
        if self.evaluations.is_running {
            return Err(CallError::Refused("another evaluation is running".into()));
        }
        self.evaluations.check()?;
        let noted = self.note_objects();
        self.take_queued()?;
        let thread = site.thread.id().unwrap_or(0);
        let is_stray = self.evaluations.is_stray_on(thread);
        let said = |error| match error {
            CallError::Unsafe { .. } if is_stray => CallError::StillRunning { thread },
            error => error,
        };
        let eval = site.thread.eval().map_err(|error| said(refused(&error)))?;
        let top = self.top_of(&site.thread);
        start(&eval).map_err(said)?;
        self.freeze_others(site)?;
        // Whoever froze this one does not want it to go on; the call it makes all the same, or nobody would.
        let is_frozen = site.thread.is_frozen().unwrap_or(false);
        if is_frozen {
            site.thread.freeze(false).map_err(|error| refused(&error))?;
        }
        self.evaluations.is_running = true;
        self.send_away(site.thread.id().ok());
        self.hear_of_dependencies(true);
        let outcome = self.run_evaluation(site, &eval, top);
        self.evaluations.is_running = false;
        self.send_away(None);
        if matches!(outcome, Err(CallError::ProgramEnded)) {
            self.evaluations.ended_program = true;
            self.no_longer_stopped();
        } else {
            // At a hit the program goes on at once, and otherwise more may be evaluated.
            if self.evaluations.at_hit {
                self.hear_of_dependencies(false);
            }
            // Other threads may have ended, and what is read of such a one is not true.
            let is_alone = !self.evaluations.others.were_let_go();
            self.thaw_others(site);
            self.keep_top();
            if let Some((before, noted)) = noted {
                self.find_objects_again(before, noted.filter(|_| is_alone));
            }
            if is_frozen && let Err(error) = site.thread.freeze(true) {
                tracing::warn!(%error, "freezing a thread again");
            }
        }
        outcome
    }

    /// Code is about to run: what was told must be known by its numbers afterwards.
    fn note_objects(&self) -> Option<(u64, Option<Collections>)> {
        let target = self.target.as_ref()?;
        if target.object_ids.is_empty(target.runs) {
            return Some((target.runs, None));
        }
        target.object_ids.follow(&target.process, target.runs);
        let noted = Collections::note(&target.beginners.layout, self.pid?);
        Some((target.runs, noted))
    }

    fn find_objects_again(&self, before: u64, noted: Option<Collections>) {
        if let Some(target) = &self.target {
            let stayed = noted.is_some_and(|it| it.were_none());
            target.object_ids.ran(before, target.runs, !stayed);
        }
    }

    /// What was evaluated is over, and the thread where it was.
    fn keep_top(&mut self) {
        let run = self.target.as_ref().map(|it| it.runs);
        match &mut self.evaluations {
            it if it.is_disabled() => it.top = None,
            it => it.top.iter_mut().for_each(|top| top.run = run),
        }
    }

    /// Where the stack of a thread ends: the same for all that is evaluated on it during a stop.
    fn top_of(&mut self, thread: &Thread) -> Option<u64> {
        let run = self.target.as_ref().map(|it| it.runs);
        let id = thread.id().ok();
        match &self.evaluations.top {
            Some(known) if (known.run, known.thread) == (run, id) && !self.evaluations.at_hit => {
                known.top
            }
            _ => {
                let top = thread.stack().ok().and_then(|it| it.stack_pointer());
                let thread = id;
                self.evaluations.top = Some(StackTop { run, thread, top });
                top
            }
        }
    }

    fn run_evaluation(
        &mut self,
        site: &CallSite,
        eval: &Eval,
        top: Option<u64>,
    ) -> Result<Outcome, CallError> {
        let refused_to_run = |error: crate::api::Error| CallError::Refused(error.message);
        let target = self.stopped_target().map_err(refused_to_run)?;
        target.resume_all().map_err(refused_to_run)?;
        let deadline = Instant::now() + site.limit;
        let mut ended = if site.others {
            self.pump(site, eval, deadline.min(Instant::now() + ALONE))
        } else {
            self.pump_with_locks(site, eval, deadline)?
        };
        // What waits for a lock does not say so.
        if matches!(ended, Ended::Late) && site.others {
            self.let_others_go(site)?;
            ended = self.pump(site, eval, deadline);
        }
        let why = match ended {
            Ended::Done { threw } => return outcome(eval, threw),
            Ended::Program => return Err(CallError::ProgramEnded),
            Ended::Late => Why::Late,
            Ended::Wanted(why) => Why::Wanted(why),
            Ended::NeedsOthers => Why::NeedsOthers,
        };
        // Asked first, then made to. One that says that it is about to wait looks for that before it goes on.
        let mut asked_before = false;
        let mut said_so = matches!(why, Why::NeedsOthers);
        for abort in [Eval::abort, Eval::rude_abort] {
            let deadline = Instant::now() + ABORT_LIMIT;
            let mut asked = false;
            // Nothing but what it waits for gets a thread out of the runtime's own waiting.
            let mut waits = 0;
            while Instant::now() < deadline && waits < MAX_WAITS {
                asked = asked || self.abort(site, eval, top, (asked_before, said_so), abort);
                said_so = false;
                let until = if asked {
                    deadline.min(Instant::now() + WAIT_STEP)
                } else {
                    Instant::now() + BEGIN_STEP
                };
                match self.pump(site, eval, until) {
                    Ended::Done { .. } => {
                        match self.make_suspendable(site) {
                            Err(CallError::ProgramEnded) => return Err(CallError::ProgramEnded),
                            Err(error) => tracing::warn!(%error, "after giving up an evaluation"),
                            Ok(()) => {}
                        }
                        return Err(self.given_up(site, why, ""));
                    }
                    Ended::Program => return Err(CallError::ProgramEnded),
                    Ended::Late if asked && self.is_waiting(site) => waits += 1,
                    Ended::Late | Ended::Wanted(_) | Ended::NeedsOthers => {}
                }
            }
            asked_before |= asked;
        }
        self.leave_stuck(site, eval);
        let thread = site.thread.id().unwrap_or(0);
        if let (Some(target), Some(top)) = (&self.target, top) {
            target.walks.borrow_mut().hide(Some((thread, top)));
        }
        let more = format!(
            "; it cannot be ended and thread {thread} is still in it, so nothing more can be run until the program continues; values can be read"
        );
        Err(self.given_up(site, why, &more))
    }

    fn given_up(&self, site: &CallSite, why: Why, more: &str) -> CallError {
        match why {
            Why::Wanted(why) => CallError::GivenUp { why },
            Why::NeedsOthers => CallError::NeedsOthers {
                more: more.to_owned(),
            },
            Why::Late => CallError::TimedOut {
                limit: site.limit,
                more: format!("{}{more}", self.evaluations.others.told()),
                others: site.others,
                stuck: !more.is_empty(),
            },
        }
    }

    /// Whether a thread sleeps or waits, as the kernel sees it: the program need not be stopped for that.
    fn is_waiting(&self, site: &CallSite) -> bool {
        let (Some(pid), Ok(thread)) = (self.pid, site.thread.id()) else {
            return false;
        };
        cordebug::procfs::is_thread_asleep(pid, thread)
    }

    /// The program ended by what was run: it is stopped no more, and how it ended is told as soon as that is known.
    fn no_longer_stopped(&mut self) {
        if self.state != State::Stopped {
            return;
        }
        self.state = State::Running;
        self.stop = None;
        self.resumes += 1;
        let status = Box::new(self.status());
        self.tell(Event::Running(status));
    }

    /// Asks the thread to give up, for which the program must be stopped for a moment; whether it has been asked, or cannot
    /// be. A thread that has not reached the code yet has nothing around it that would catch the runtime's abort, nor has one
    /// that stands at some places: the program would end.
    fn abort(
        &mut self,
        site: &CallSite,
        eval: &Eval,
        top: Option<u64>,
        (asked_before, said_so): (bool, bool),
        abort: fn(&Eval) -> Result<(), cordebug::Error>,
    ) -> bool {
        // What was asked before may be looping on its way out.
        if let Err(error) = self.keep_suspendable(site, asked_before) {
            tracing::warn!(%error, "giving up an evaluation");
            return true;
        }
        let is_before_10 = self.is_before_10();
        let held = self.hold(site);
        let Some(target) = &mut self.target else {
            return true;
        };
        let stopped = target.stop();
        drop(held);
        if let Err(error) = stopped {
            tracing::debug!(%error, "stopping to give up an evaluation");
            return true;
        }
        let is_safe = has_reached_code(&site.thread, top)
            && (is_before_10
                || asked_before
                || said_so
                || is_safe_to_abort(self.pid, &site.thread));
        if is_safe && let Err(error) = abort(eval) {
            tracing::debug!(%error, "giving up an evaluation");
        }
        if let Err(error) = target.resume_all() {
            tracing::debug!(%error, "going on to give up an evaluation");
        }
        is_safe
    }

    /// Stops the program around an evaluation that goes on as soon as the program does.
    pub(super) fn leave_stuck(&mut self, site: &CallSite, eval: &Eval) {
        let thread = site.thread.id().unwrap_or(0);
        self.evaluations.disabled = Some(format!("it still runs on thread {thread}"));
        self.evaluations.stray.push((thread, eval.clone()));
        if let Err(error) = self.keep_suspendable(site, true) {
            tracing::warn!(%error, "stopping around an evaluation");
        }
        let is_stopped = self.target.as_ref().is_none_or(|it| it.is_stopped());
        let held = (!is_stopped).then(|| self.hold(site)).flatten();
        if let Some(target) = &mut self.target
            && !is_stopped
            && let Err(error) = target.stop()
        {
            tracing::warn!(%error, "stopping around an evaluation");
        }
        drop(held);
    }

    /// Takes over what the library has queued, so that an evaluation meets nothing but its own: hits of other threads, and
    /// what else happened to this one at the same instruction. It is handled when the program goes on.
    pub(crate) fn take_queued(&mut self) -> Result<(), CallError> {
        // What is passed by would leave the program running.
        cordebug::callback::tell_all(true);
        let taken = self.take_all_queued();
        cordebug::callback::tell_all(false);
        taken
    }

    fn take_all_queued(&mut self) -> Result<(), CallError> {
        let deadline = Instant::now() + QUEUE_LIMIT;
        let mut cancelled = false;
        loop {
            let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
            // Once everything is answered the next one is on its way, whatever else comes in before it: a second answer
            // would let the program run.
            if target.is_stopped() && !target.has_undelivered() {
                if cancelled {
                    return Err(CallError::GivenUp {
                        why: "it was cancelled",
                    });
                }
                if !target.process.has_queued_callbacks().unwrap_or(false) {
                    return Ok(());
                }
                let told = target.answer();
                told.map_err(|error| CallError::Refused(error.message))?;
                continue;
            }
            match self.inputs.recv_timeout(QUEUE_STEP) {
                Ok(Input::Callback(delivered)) => {
                    let Some(callback) = self.receive(delivered) else {
                        continue;
                    };
                    if let Callback::ExitProcess = callback {
                        self.runtime_ended();
                        return Err(CallError::ProgramEnded);
                    }
                    if let Some(target) = &mut self.target {
                        target.delivered();
                    }
                    self.put_aside(callback);
                }
                Ok(Input::Command {
                    id,
                    request: Request::CancelEvaluation,
                    ..
                }) if !self.evaluations.at_hit => {
                    self.answer_status(id);
                    self.evaluations.cancelled = true;
                    cancelled = true;
                }
                Ok(other) => self.deferred.push_back(other),
                Err(_) => {
                    let late = Instant::now() > deadline;
                    let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
                    // What the library finds to be of no interest after all is not told, and the program runs.
                    if !target.is_stopped()
                        && !target.has_undelivered()
                        && (late || target.process.is_running().unwrap_or(false))
                    {
                        let stopped = target.stop();
                        stopped.map_err(|error| CallError::Refused(error.message))?;
                    }
                    if late {
                        return Err(CallError::Refused(
                            "the runtime does not tell what it has queued".into(),
                        ));
                    }
                }
            }
        }
    }

    /// Keeps what may stop the program for later; the rest is handled now.
    pub(crate) fn put_aside(&mut self, callback: Callback) {
        match callback {
            Callback::Breakpoint { .. }
            | Callback::StepComplete { .. }
            | Callback::Break { .. }
            | Callback::Exception2 { .. }
            | Callback::ExceptionUnwind { .. }
            | Callback::LogMessage { .. } => self.postponed.push_back(callback),
            other => {
                self.wants_to_stop(other);
            }
        }
    }

    /// Handles what comes in until the evaluation ends or the time is over.
    pub(super) fn pump(&mut self, site: &CallSite, eval: &Eval, mut deadline: Instant) -> Ended {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let input = match self.inputs.recv_timeout(left) {
                Ok(input) => input,
                Err(RecvTimeoutError::Timeout) => return Ended::Late,
                Err(RecvTimeoutError::Disconnected) => {
                    return Ended::Wanted("nobody listens any more");
                }
            };
            match input {
                Input::Callback(delivered) => {
                    if let Some(callback) = self.receive(delivered)
                        && let Some(ended) = self.callback_while_evaluating(site, eval, callback)
                    {
                        return ended;
                    }
                }
                Input::Command {
                    id,
                    request: Request::Status,
                    ..
                } => {
                    let status = Box::new(self.status());
                    self.answer(id, Ok(Reply::Status(status)));
                }
                Input::Command {
                    id,
                    request: Request::CancelEvaluation,
                    ..
                } => {
                    self.answer_status(id);
                    // What a condition runs is nobody's to give up.
                    if !self.evaluations.at_hit {
                        self.evaluations.cancelled = true;
                        return Ended::Wanted("it was cancelled");
                    }
                }
                Input::Console(Notice::New) => {
                    let end = self.capture.end();
                    self.tell(Event::Output { end });
                }
                Input::Command {
                    request: Request::Pause,
                    ..
                } => {
                    self.deferred.push_back(input);
                    if !self.evaluations.at_hit {
                        return Ended::Wanted("the program was to be paused");
                    }
                    // What a hit runs is short as a rule, and then there is nothing to give up.
                    deadline = deadline.min(Instant::now() + PAUSE_GRACE);
                }
                Input::Command {
                    request: Request::Disconnect { .. },
                    ..
                } => {
                    self.deferred.push_back(input);
                    return Ended::Wanted("the session ends");
                }
                Input::FrontEndGone | Input::ToldToEnd(_) => {
                    self.deferred.push_back(input);
                    return Ended::Wanted("nobody listens any more");
                }
                Input::ProcessEnded(_) => {
                    self.deferred.push_back(input);
                    return Ended::Program;
                }
                other => self.deferred.push_back(other),
            }
        }
    }

    fn callback_while_evaluating(
        &mut self,
        site: &CallSite,
        eval: &Eval,
        callback: Callback,
    ) -> Option<Ended> {
        if let Callback::ExitProcess = callback {
            self.runtime_ended();
            return Some(Ended::Program);
        }
        let target = self.target.as_mut()?;
        target.delivered();
        match callback {
            Callback::EvalComplete {
                eval: Some(told), ..
            } if eval.is(&told) => return Some(Ended::Done { threw: false }),
            Callback::EvalException {
                eval: Some(told), ..
            } if eval.is(&told) => return Some(Ended::Done { threw: true }),
            Callback::CustomNotification { thread }
                if is_same(&Thread::new(thread.clone()), &site.thread) =>
            {
                if site.others {
                    self.thaw_for(site);
                } else if !std::mem::replace(&mut self.evaluations.others.needed, true) {
                    // It can be made to give up here, and no more where it waits.
                    return Some(Ended::NeedsOthers);
                }
            }
            Callback::CreateThread { ref thread } => {
                let thread = Thread::new(thread.clone());
                self.evaluations.others.begins(&thread);
                self.wants_to_stop(callback);
            }
            told if is_of_another(&told, site) && !self.is_inside(&told) => {
                self.told_of_another(told);
            }
            // What happens inside is nobody's stop.
            Callback::Breakpoint {
                thread,
                breakpoint: Some(breakpoint),
            } => {
                let thread = Thread::new(thread);
                self.keep_statics_fresh(&breakpoint, &thread);
                self.take_turn(&thread);
            }
            Callback::Breakpoint { .. }
            | Callback::StepComplete { .. }
            | Callback::Break { .. }
            | Callback::Exception2 { .. }
            | Callback::ExceptionUnwind { .. }
            | Callback::EvalComplete { .. }
            | Callback::EvalException { .. } => {}
            other => {
                self.wants_to_stop(other);
            }
        }
        if let Some(target) = &mut self.target
            && let Err(error) = target.answer()
        {
            tracing::debug!(%error, "answering a callback inside an evaluation");
        }
        None
    }

    /// Whether a callback tells of a thread that what is evaluated has begun.
    fn is_inside(&self, callback: &Callback) -> bool {
        let others = &self.evaluations.others;
        callback.thread().is_some_and(|it| others.has_begun(&it))
    }

    /// The end of an evaluation that nobody waits for any more. Its thread is where it was before: a step that was asked
    /// for meanwhile begins there.
    pub(crate) fn stray_evaluation_ended(
        &mut self,
        thread: &Thread,
        told: &cordebug::com::Com<cordebug::bindings::ICorDebugEval>,
    ) {
        let before = self.evaluations.stray.len();
        self.evaluations.stray.retain(|(_, it)| !it.is(told));
        if self.evaluations.stray.len() < before {
            self.notes
                .push("the evaluation that could not be ended has ended".into());
            self.begin_waiting_steps(thread);
        }
    }
}

/// Whether the innermost managed frame lies above `top`, where the thread stood before the evaluation.
fn has_reached_code(thread: &Thread, top: Option<u64>) -> bool {
    let (Some(top), Ok(walk)) = (top, thread.stack()) else {
        return true;
    };
    let innermost = walk.filter_map(Result::ok).find_map(|step| match step {
        Step::Frame(frame) if frame.internal_kind().is_none() => frame.stack_range(),
        _ => None,
    });
    innermost.is_some_and(|(_, end)| end < top)
}

/// Whether a callback tells of another thread than the one that evaluates.
fn is_of_another(callback: &Callback, site: &CallSite) -> bool {
    callback
        .thread()
        .is_some_and(|told| !is_same(&told, &site.thread))
}

fn is_same(one: &Thread, other: &Thread) -> bool {
    matches!((one.id(), other.id()), (Ok(one), Ok(other)) if one == other)
}

fn outcome(eval: &Eval, threw: bool) -> Result<Outcome, CallError> {
    let result = eval.result().map_err(|error| refused(&error))?;
    let kept = result.map(|runtime| Kept {
        runtime,
        address: None,
    });
    match (threw, kept) {
        (false, kept) => Ok(Outcome::Returned(kept)),
        (true, Some(exception)) => Ok(Outcome::Threw(exception)),
        (true, None) => Err(CallError::Refused(
            "it threw something that cannot be read".into(),
        )),
    }
}

/// Why the library does not want to run code, in words.
pub(super) fn refused(error: &cordebug::Error) -> CallError {
    let why = match error.code() {
        Some(hr::CORDBG_E_ILLEGAL_AT_GC_UNSAFE_POINT) => {
            "the thread is where the garbage collector could not run"
        }
        Some(hr::CORDBG_E_ILLEGAL_IN_PROLOG) => "the thread is at the very start of a method",
        Some(hr::CORDBG_E_ILLEGAL_IN_NATIVE_CODE) => "the thread is in native code",
        Some(hr::CORDBG_E_ILLEGAL_IN_OPTIMIZED_CODE) => {
            "the thread is at a place of optimised code where the runtime runs none"
        }
        Some(hr::CORDBG_E_ILLEGAL_IN_STACK_OVERFLOW) => "the thread has used up its stack",
        Some(hr::CORDBG_E_FUNC_EVAL_BAD_START_POINT) => {
            "the thread did not stop where code can be run, as it does at a breakpoint"
        }
        _ => return CallError::Refused(error.to_string()),
    };
    CallError::Unsafe {
        why: why.to_owned(),
    }
}
