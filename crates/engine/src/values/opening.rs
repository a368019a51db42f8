//! Opening one value that only code can tell: the getters on the way to it run, and what they gave is held.
//!
//! Invariant: nothing else of the value runs, neither its `ToString` nor its own getters; who opens one property did not
//! ask for those.

use cordebug::thread::Thread;

use crate::api::{Error, ErrorCode, Reply, Variable, Variables, VariablesQuery};
use crate::engine::Engine;
use crate::stack::frame_at;

use super::answering::{Allowance, no_answers};
use super::questions::{Answers, Inquiry, Question};
use super::roots::Roots;
use super::view::Viewer;
use super::walk;

/// What one look came to.
enum Seen {
    /// The value.
    Value(Box<Variable>),
    /// What code is to tell first.
    Asks(Vec<Question>),
}

impl Engine<'_> {
    /// What a path leads to, through properties that only their getters can tell. What can be opened further is held, and
    /// has a path of its own.
    pub(crate) fn open_value(&mut self, query: &VariablesQuery) -> Result<Reply, Error> {
        self.check_stop(query.stop)?;
        let query = &self.as_its_result_is_shown(query);
        let path = query.path.as_deref().unwrap_or_default();
        let (id, thread) = self.thread_of(query.thread)?;
        let stop = self.stop_id()?;
        self.evaluations.check()?;
        self.evaluations.begin();
        let allowance = Allowance::of(query, &thread);
        let mut answers = no_answers(query);
        loop {
            match self.see(query, &thread, path, &answers)? {
                Seen::Asks(questions) => {
                    self.answer_questions(questions, &mut answers, &allowance)?;
                }
                Seen::Value(value) => {
                    return Ok(Reply::Variables(Box::new(Variables {
                        stop,
                        thread: id,
                        frame: query.frame,
                        parent: Some(value),
                        variables: Vec::new(),
                        omitted: None,
                        notes: Vec::new(),
                        call: None,
                        declarations: Vec::new(),
                        code_runs: u32::try_from(answers.count()).unwrap_or(u32::MAX),
                    })));
                }
            }
        }
    }

    fn see(
        &mut self,
        query: &VariablesQuery,
        thread: &Thread,
        path: &str,
        answers: &Answers,
    ) -> Result<Seen, Error> {
        if path.is_empty() {
            let why = "no value was named that is to be opened";
            return Err(Error::new(ErrorCode::InvalidParameter, why));
        }
        let target = self.stopped_target()?;
        let frame = frame_at(target, thread, query.frame);
        let target = &*target;
        let reader = target.reader().looking_from(frame.as_ref().ok());
        let roots = Roots {
            target,
            reader: &reader,
            thread,
            frame,
            index: query.frame,
        };
        let inquiry = Inquiry::new(&reader, answers);
        let asking = Viewer::new(&reader, &query.view, &target.object_ids);
        let child = roots.at_path(&asking.asking(Some(&inquiry)), path)?;
        let questions = inquiry.into_questions();
        if !questions.is_empty() {
            return Ok(Seen::Asks(questions));
        }
        let viewer = Viewer::new(&reader, &query.view, &target.object_ids);
        let mut told = viewer.variable(&child, 0);
        let is_secret =
            walk::leads_to_secret(path) || viewer.is_secret_variable(&child.name, &child.ty);
        if query.view.mask_secrets && is_secret {
            told.value = super::view::masked(told.value.type_name);
        } else if told.value.children > 0
            && answers.count() > 0
            && let Ok(value) = &child.value
            && let Some(held) = target.keep_result(&reader, value, &query.view)
        {
            told.path = held;
        }
        Ok(Seen::Value(Box::new(told)))
    }
}
