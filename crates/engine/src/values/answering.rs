//! Runs code of the program to answer what a look asked ([`super::questions`]).
//!
//! Everything is bounded: each call by the view's time limit, all of a request by [`TOTAL`] times that, their number by
//! [`MAX_QUESTIONS`], an enumeration by the elements that are asked for. What was not run to its end says why.

use std::time::{Duration, Instant};

use cordebug::thread::Thread;

use crate::api::{Error, VariablesQuery, View};
use crate::calls::{Argument, Call, CallError, CallSite, Kept, Outcome};
use crate::engine::Engine;
use crate::types::Method;

use super::questions::{Answer, Answers, Question, What};
use super::view::Viewer;
use super::walk::{self, Step};
use super::{Scalar, Snapshot};

/// Questions of one request.
const MAX_QUESTIONS: usize = 500;
/// Elements that one enumeration tells at most.
pub(super) const MAX_ELEMENTS: u64 = 1000;
/// How many times the limit of one call all calls of a request may take.
const TOTAL: u32 = 4;
/// Milliseconds that one call, and all of a request, may take: front ends give up on a request at some time.
const MAX_LIMIT: u32 = 15_000;

/// Where and how long code runs for one request.
pub(super) struct Allowance {
    site: CallSite,
    limit: Duration,
    total: Duration,
    deadline: Instant,
    is_free_of_frames: bool,
}

impl Allowance {
    /// What a query allows, from now on.
    pub(super) fn of(query: &VariablesQuery, thread: &Thread) -> Self {
        let limit = query.view.time_limit.min(MAX_LIMIT);
        let total = limit.saturating_mul(TOTAL).min(MAX_LIMIT);
        let total = Duration::from_millis(total.into());
        Self {
            site: CallSite {
                others: query.view.other_threads,
                ..CallSite::on(thread.clone())
            },
            limit: Duration::from_millis(limit.into()),
            total,
            deadline: Instant::now() + total,
            is_free_of_frames: query.path.as_deref().is_some_and(is_held),
        }
    }

    /// Whether what is looked at can be found again when an evaluation could not be ended: its frames are on the thread then.
    pub(super) fn is_free_of_frames(&self) -> bool {
        self.is_free_of_frames
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Why nothing more is run, if nothing is.
    pub(super) fn is_used_up(&self, is_cancelled: bool) -> Option<String> {
        if self.is_over() {
            let total = self.total.as_millis();
            return Some(format!(
                "the {total} ms for code in this request are used up"
            ));
        }
        is_cancelled.then(|| "the request was cancelled".into())
    }

    /// The site, with what one call may still take.
    pub(super) fn site(&self) -> CallSite {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let mut site = self.site.clone();
        site.limit = self.limit.min(left).max(Duration::from_millis(1));
        site
    }

    /// Until when what makes several calls may go on.
    fn one(&self) -> Instant {
        self.deadline.min(Instant::now() + self.limit)
    }
}

/// No answers yet, with room for the elements that a query is about.
pub(super) fn no_answers(query: &VariablesQuery) -> Answers {
    let steps = query.path.as_deref().map(walk::steps);
    let steps = steps.and_then(Result::ok).unwrap_or_default();
    let in_path = steps.iter().filter_map(|(_, step)| match step {
        Step::Index(indexes) => u64::try_from(*indexes.first()?).ok(),
        Step::Position(position) => Some(*position),
        _ => None,
    });
    let in_path = in_path.max().map_or(0, |it| it.saturating_add(1));
    let wanted = query.start.saturating_add(query.count.into()).max(in_path);
    Answers::new(wanted.min(MAX_ELEMENTS) as usize)
}

impl Engine<'_> {
    /// Answers what a look asked. An error if the program cannot be looked at any more.
    pub(super) fn answer_questions(
        &mut self,
        questions: Vec<Question>,
        answers: &mut Answers,
        allowance: &Allowance,
    ) -> Result<(), Error> {
        for question in questions {
            if answers.count() >= MAX_QUESTIONS {
                answers.close(format!(
                    "code was run {MAX_QUESTIONS} times for this request"
                ));
            } else if let Some(why) = allowance.is_used_up(self.evaluations.is_cancelled()) {
                answers.close(why);
            }
            if answers.is_closed() {
                return Ok(());
            }
            let answer = match self.answer_one(&question, answers.elements, allowance) {
                Ok(answer) => answer,
                Err(why) => {
                    // The frames that paths begin in are not where they were.
                    let is_lost = self.evaluations.is_disabled() && !allowance.is_free_of_frames();
                    if is_lost || matches!(why, CallError::ProgramEnded) {
                        return Err(Error::from(why));
                    }
                    if let Err(why) = self.evaluations.check() {
                        answers.close(why.to_string());
                    } else if let CallError::Unsafe { .. } = &why {
                        answers.close(why.to_string());
                    }
                    failed(&question.what, &why)
                }
            };
            answers.add(question, answer);
        }
        Ok(())
    }

    fn answer_one(
        &mut self,
        question: &Question,
        elements: usize,
        allowance: &Allowance,
    ) -> Result<Answer, CallError> {
        let what = &question.what;
        let subject = &question.subject;
        match what {
            What::Display(text, named) => {
                let (site, deadline) = (allowance.site(), allowance.one());
                return self.display_by_code(&site, deadline, subject, named, text);
            }
            What::Elements => return self.enumerate(subject, elements, allowance),
            What::Text | What::Getter(_) | What::Proxy => {}
        }
        let (this, method) = {
            let target = self.target_now()?;
            let reader = target.reader();
            let value = reader.restored(subject)?;
            let method = match what {
                What::Text => reader.own_to_string(&value.ty)?,
                What::Getter(name) => {
                    let view = View::default();
                    Viewer::new(&reader, &view, &target.object_ids).getter(&value.ty, name)?
                }
                _ => Some(
                    reader
                        .proxy_constructor(&value.ty)
                        .map_err(CallError::Refused)?,
                ),
            };
            let method = method.ok_or_else(|| CallError::Refused("there is none".into()))?;
            (reader.argument(&value)?, method)
        };
        let is_proxy = *what == What::Proxy;
        let site = allowance.site();
        let (this, arguments) = match (is_proxy, this) {
            // A struct is shown to its proxy as a copy; `object` takes it in a box.
            (true, Argument::Bytes { ty, bytes }) => {
                let boxed = self.box_value(&site, &ty, &bytes)?;
                let by_value = method
                    .parameters
                    .first()
                    .is_some_and(|it| it.ty.is_value() == Some(true));
                match (by_value, boxed) {
                    (true, Argument::Object(held)) => (None, vec![Argument::Boxed(held)]),
                    (_, boxed) => (None, vec![boxed]),
                }
            }
            (true, object) => (None, vec![object]),
            (false, this) => (Some(this), Vec::new()),
        };
        let call = Call {
            method: &method,
            type_arguments: &[],
            this,
            arguments,
        };
        let outcome = self.call(&site, &call)?;
        match self.settled(outcome, what)? {
            Ok(Some(kept)) => {
                let reader = self.target_now()?.reader();
                Ok(Answer::Value(reader.snapshot(&reader.kept(&kept)?)?))
            }
            Ok(None) => Ok(failed(what, &"it returned nothing")),
            Err(threw) => Ok(Answer::Failed(threw)),
        }
    }

    /// What a call returned, or what it threw as text.
    fn settled(
        &mut self,
        outcome: Outcome,
        what: &What,
    ) -> Result<Result<Option<Kept>, String>, CallError> {
        Ok(match outcome {
            Outcome::Returned(kept) => Ok(kept),
            Outcome::Threw(exception) => {
                let target = self.target_now()?;
                let reader = target.reader();
                let view = View::default();
                let viewer = Viewer::new(&reader, &view, &target.object_ids);
                Err(format!(
                    "{} threw {}",
                    what.run(),
                    viewer.brief_kept(&exception)
                ))
            }
        })
    }

    /// Enumerates as `foreach` does, up to a number of elements.
    fn enumerate(
        &mut self,
        subject: &Snapshot,
        wanted: usize,
        allowance: &Allowance,
    ) -> Result<Answer, CallError> {
        let what = What::Elements;
        let [get, next, current, dispose] = self.enumeration()?;
        let this = {
            let reader = self.target_now()?.reader();
            reader.argument(&reader.restored(subject)?)?
        };
        let this = match this {
            Argument::Bytes { ty, bytes } => self.box_value(&allowance.site(), &ty, &bytes)?,
            object => object,
        };
        let made = self.call_on(&allowance.site(), &get, &this)?;
        let enumerator = match self.settled(made, &what)? {
            Ok(Some(kept)) => kept,
            Ok(None) => return Ok(failed(&what, &"there is none")),
            Err(threw) => return Ok(Answer::Failed(threw)),
        };
        let (enumerator, is_disposable) = {
            let reader = self.target_now()?.reader();
            let Some(object) = reader.kept_object(&enumerator)? else {
                return Ok(failed(&what, &"GetEnumerator returned null"));
            };
            let derives = reader.types.derives_from(&object.ty, &dispose.declared_in);
            (
                Argument::Object(reader.hold(&object)?),
                derives.unwrap_or(false),
            )
        };
        let mut elements = Vec::new();
        let mut note = self.take_elements(
            &enumerator,
            &next,
            &current,
            wanted,
            allowance,
            &mut elements,
        )?;
        if is_disposable {
            // As the program would: whatever ended it. Some time is left for that.
            let mut site = allowance.site();
            site.limit = site.limit.max(Duration::from_millis(100));
            let disposed = self.call_on(&site, &dispose, &enumerator);
            let told = match disposed {
                Ok(outcome) => self.settled(outcome, &what)?.err(),
                Err(why) if self.evaluations.is_disabled() => return Err(why),
                Err(why) => Some(format!("its enumerator was not disposed: {why}")),
            };
            note = note.or(told);
        }
        Ok(Answer::Elements(elements, note))
    }

    /// Takes elements one by one; why there may be more, if there may.
    fn take_elements(
        &mut self,
        enumerator: &Argument,
        next: &Method,
        current: &Method,
        wanted: usize,
        allowance: &Allowance,
        elements: &mut Vec<Snapshot>,
    ) -> Result<Option<String>, CallError> {
        let what = What::Elements;
        loop {
            let count = elements.len();
            if allowance.is_over() {
                let total = allowance.total.as_millis();
                return Ok(Some(format!(
                    "enumerating was ended after {count} elements, when the {total} ms for code in this request were used up"
                )));
            }
            for step in [next, current] {
                let outcome = match self.call_on(&allowance.site(), step, enumerator) {
                    Ok(outcome) => outcome,
                    Err(why) if self.evaluations.is_disabled() => return Err(why),
                    Err(CallError::ProgramEnded) => return Err(CallError::ProgramEnded),
                    Err(why) => {
                        return Ok(Some(format!(
                            "enumerating was ended after {count} elements: {why}"
                        )));
                    }
                };
                let kept = match self.settled(outcome, &what)? {
                    Ok(Some(kept)) => kept,
                    Ok(None) => {
                        return Ok(Some(format!(
                            "enumerating was ended after {count} elements"
                        )));
                    }
                    Err(threw) => return Ok(Some(format!("after {count} elements {threw}"))),
                };
                let reader = self.target_now()?.reader();
                let value = reader.kept(&kept)?;
                if std::ptr::eq(step, next) {
                    if reader.scalar(&value)? != Scalar::Bool(true) {
                        return Ok(None);
                    }
                    if count >= wanted {
                        return Ok(Some(format!(
                            "enumerating was ended after {count} elements, and there are more; {MAX_ELEMENTS} can be asked for"
                        )));
                    }
                } else {
                    elements.push(reader.snapshot(&value)?);
                }
            }
        }
    }

    fn call_on(
        &mut self,
        site: &CallSite,
        method: &Method,
        this: &Argument,
    ) -> Result<Outcome, CallError> {
        let call = Call {
            method,
            type_arguments: &[],
            this: Some(this.clone()),
            arguments: Vec::new(),
        };
        self.call(site, &call)
    }

    /// `GetEnumerator`, `MoveNext`, `Current`, `Dispose`.
    fn enumeration(&mut self) -> Result<[Method; 4], CallError> {
        let types = self.target_now()?.types();
        let method = |namespace: &str, ty: &str, name: &str| -> Result<Method, CallError> {
            let missing = || CallError::Refused(format!("the runtime has no {ty}.{name}"));
            let named = types.core_named(namespace, ty).ok_or_else(missing)?;
            let found = types.methods(&named, Some(name))?;
            found.into_iter().next().ok_or_else(missing)
        };
        Ok([
            method("System.Collections", "IEnumerable", "GetEnumerator")?,
            method("System.Collections", "IEnumerator", "MoveNext")?,
            method("System.Collections", "IEnumerator", "get_Current")?,
            method("System", "IDisposable", "Dispose")?,
        ])
    }

    fn target_now(&mut self) -> Result<&crate::target::Target, CallError> {
        match self.stopped_target() {
            Ok(target) => Ok(target),
            Err(error) => Err(CallError::Refused(error.message)),
        }
    }
}

/// Whether a path begins with a result or an object that is kept.
fn is_held(path: &str) -> bool {
    let number = path.strip_prefix('$').or_else(|| path.strip_prefix("#e"));
    number.is_some_and(|it| it.starts_with(|digit: char| digit.is_ascii_digit()))
}

fn failed(what: &What, why: &dyn std::fmt::Display) -> Answer {
    Answer::Failed(format!("{} was not run to its end: {why}", what.run()))
}
