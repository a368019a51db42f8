//! What only code of the program can tell about a value, asked and answered.
//!
//! A [`Viewer`](super::view::Viewer) runs nothing. Where code may run it has an [`Inquiry`]: what it cannot read it asks
//! for there, and shows what there is. The engine has the questions answered (`values::answering`) and looks again, until
//! a look asks nothing new. Answers outlive the runs of the program in between: they are [`Snapshot`]s.
//!
//! Invariant: a question is asked once in a request, and there is a last one ([`Answers::close`]), so looking ends.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::types::{Named, Type};

use super::answering::MAX_ELEMENTS;
use super::{Reader, Result, Snapshot, Unreadable, Value};

/// What is asked about a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// What its own `ToString` returns.
    Text,
    /// What the getter of a property returns.
    Getter(String),
    /// What an expression of its `DebuggerDisplay` gives, as a member of the type that has the attribute.
    Display(String, Rc<Named>),
    /// The object that its `DebuggerTypeProxy` shows in its place.
    Proxy,
    /// What it gives when it is enumerated.
    Elements,
}

impl What {
    /// What is run for it.
    pub(super) const fn run(&self) -> &'static str {
        match self {
            Self::Text => "its ToString",
            Self::Getter(_) => "its getter",
            Self::Display(..) => "its DebuggerDisplay",
            Self::Proxy => "its DebuggerTypeProxy",
            Self::Elements => "its enumerator",
        }
    }
}

/// A question about a value, which is held.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(super) subject: Snapshot,
    pub(super) what: What,
}

/// What came of a question.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A value.
    Value(Snapshot),
    /// Text as it is to be shown.
    Text(String),
    /// Elements, and why there may be more.
    Elements(Vec<Snapshot>, Option<String>),
    /// None, and why.
    Failed(String),
}

/// The answers of one request.
#[derive(Debug)]
pub(crate) struct Answers {
    known: Vec<(Question, Answer)>,
    /// Why nothing more is asked.
    closed: Option<String>,
    /// How many elements an enumeration tells at most.
    pub(super) elements: usize,
}

impl Answers {
    /// None yet.
    pub(super) fn new(elements: usize) -> Self {
        Self {
            known: Vec::new(),
            closed: None,
            elements,
        }
    }

    pub(super) fn add(&mut self, question: Question, answer: Answer) {
        self.known.push((question, answer));
    }

    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// Nothing more is run, and why.
    pub(super) fn close(&mut self, why: String) {
        self.closed.get_or_insert(why);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }
}

/// Tells values apart: a type with its bytes, which for an object are its address.
type Key = (Type, Vec<u8>, What);

/// The questions and answers of one look.
pub(crate) struct Inquiry<'a> {
    answers: &'a Answers,
    by_key: HashMap<Key, usize>,
    noted: RefCell<Vec<Question>>,
    asked: RefCell<HashSet<Key>>,
}

impl<'a> Inquiry<'a> {
    /// With what was answered so far, where its values lie now.
    pub(super) fn new(reader: &Reader<'_>, answers: &'a Answers) -> Self {
        let mut by_key = HashMap::new();
        for (at, (question, _)) in answers.known.iter().enumerate() {
            let value = reader.restored(&question.subject);
            if let Ok(key) = value.and_then(|value| key(reader, &value, &question.what)) {
                by_key.insert(key, at);
            }
        }
        Self {
            answers,
            by_key,
            noted: RefCell::default(),
            asked: RefCell::default(),
        }
    }

    /// Whether an enumeration that gave so many was to give no more, and another request can ask for more.
    pub(super) fn can_give_more(&self, given: u64) -> bool {
        let limit = self.answers.elements as u64;
        given >= limit && limit < MAX_ELEMENTS
    }

    /// The questions that came up.
    pub(super) fn into_questions(self) -> Vec<Question> {
        self.noted.into_inner()
    }

    /// The answer, if there is one by now.
    pub(super) fn ask(&self, reader: &Reader<'_>, value: &Value, what: What) -> Result<&'a Answer> {
        let key = key(reader, value, &what)?;
        if let Some((_, answer)) = self
            .by_key
            .get(&key)
            .and_then(|at| self.answers.known.get(*at))
        {
            return match answer {
                Answer::Failed(why) => Err(Unreadable::Failed { why: why.clone() }),
                answer => Ok(answer),
            };
        }
        if let Some(why) = &self.answers.closed {
            let run = what.run();
            return Err(Unreadable::Failed {
                why: format!("{run} was not run: {why}"),
            });
        }
        if self.asked.borrow_mut().insert(key) {
            let subject = reader.snapshot(value)?;
            self.noted.borrow_mut().push(Question { subject, what });
        }
        Err(Unreadable::WouldRunCode)
    }
}

fn key(reader: &Reader<'_>, value: &Value, what: &What) -> Result<Key> {
    let bytes = reader.bytes(value, reader.size_of(&value.ty)?)?;
    Ok((value.ty.clone(), bytes, what.clone()))
}
