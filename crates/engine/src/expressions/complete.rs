//! What could be written at a position of an expression: names in scope, members of what stands before a dot.

use std::time::{Duration, Instant};

use syntax::CompletionKind;

use super::bind::Binder;
use super::error::Result;
use super::frames::{context, held_by_dynamic, open_dynamic};
use super::probing::Looking;
use super::run::Surroundings;
use crate::api::{Complete, CompletedName, Completions, Error, NameKind, Reply};
use crate::engine::Engine;
use crate::stack::frame_at;

/// What is `dynamic` is looked at for so long.
const PATIENCE: Duration = Duration::from_secs(1);
/// Names told at most.
const MAX_NAMES: usize = 500;
/// The debugger's own variables.
const PSEUDO: [&str; 5] = ["$exception", "$hitcount", "$pid", "$returnvalue", "$tid"];

/// Keywords that nothing in an expression begins with: a name that is one of them needs its `@`.
const NEVER_WRITTEN: [&str; 46] = [
    "abstract",
    "as",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "do",
    "else",
    "enum",
    "event",
    "explicit",
    "extern",
    "finally",
    "fixed",
    "for",
    "foreach",
    "goto",
    "if",
    "implicit",
    "in",
    "interface",
    "internal",
    "lock",
    "namespace",
    "operator",
    "out",
    "override",
    "params",
    "private",
    "protected",
    "public",
    "readonly",
    "return",
    "sealed",
    "static",
    "struct",
    "switch",
    "try",
    "unsafe",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
];

impl Engine<'_> {
    /// Answers [`crate::api::Request::Complete`].
    pub(crate) fn complete(&mut self, request: &Complete) -> Result<Reply, Error> {
        self.check_stop(request.stop)?;
        let (_, thread) = self.thread_of(request.thread)?;
        let target = self.stopped_target()?;
        let frame = frame_at(target, &thread, request.frame)?;
        let target = &*target;
        let reader = target.reader();
        let scope = target.frame_variables(&reader, frame)?;
        let at = request.position;
        let Some(found) = syntax::complete(&request.text, at as usize) else {
            return Ok(Reply::Completions(Completions {
                start: at,
                end: at,
                names: Vec::new(),
            }));
        };
        let mut context = context(&reader, &scope, None);
        open_dynamic(&held_by_dynamic(&reader, &scope), &mut context);
        let around = Surroundings {
            variables: &|number| scope.value(&reader, number),
            calls: false,
            writes: false,
            forced: false,
            deadline: Instant::now() + PATIENCE,
            numbers: (0, 0, 0),
            special: &|_| None,
            late: None,
            given_up: &|| None,
            frame: Some(&scope.context.frame),
        };
        let looking = Looking {
            reader: &reader,
            around: &around,
        };
        let mut binder = Binder::new(reader.types, &context).probing(&looking);
        let mut names = match &found.kind {
            CompletionKind::Pseudo => {
                let prefix = found.prefix.to_lowercase();
                let fitting = PSEUDO.into_iter().filter(|it| it.starts_with(&prefix));
                let offered = fitting.map(|it| CompletedName {
                    name: it.to_owned(),
                    kind: NameKind::Variable,
                });
                offered.collect()
            }
            _ => binder.completions(&found),
        };
        // As it was typed first; the order is kept otherwise.
        let is_expected =
            |it: &CompletedName| matches!(it.kind, NameKind::Argument | NameKind::EnumMember);
        names.sort_by_key(|it| !is_expected(it) && !it.name.starts_with(&*found.prefix));
        names.truncate(MAX_NAMES);
        // What would be read as a keyword is written with `@`, and what was begun with it goes on so.
        let start = found.replace.start as usize;
        let is_verbatim = request
            .text
            .get(start..)
            .is_some_and(|it| it.starts_with('@'));
        if found.kind != CompletionKind::Pseudo {
            for it in &mut names {
                let is_taken =
                    it.kind != NameKind::Keyword && NEVER_WRITTEN.contains(&it.name.as_str());
                if is_verbatim || is_taken {
                    it.name.insert(0, '@');
                }
            }
        }
        Ok(Reply::Completions(Completions {
            start: found.replace.start,
            end: found.replace.end,
            names,
        }))
    }
}
