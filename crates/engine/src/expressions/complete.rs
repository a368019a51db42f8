//! What could be written at a position of an expression: names in scope, members of what stands before a dot.

use syntax::CompletionKind;

use super::bind::Binder;
use super::error::Result;
use super::frames::context;
use crate::api::{Complete, Completions, Error, Reply};
use crate::engine::Engine;
use crate::stack::frame_at;

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
        let context = context(&reader, &scope, None);
        let mut binder = Binder::new(reader.types, &context);
        let mut names = match &found.kind {
            CompletionKind::Pseudo => {
                let all = PSEUDO.map(str::to_owned).into_iter();
                all.filter(|it| it.starts_with(&found.prefix.to_lowercase()))
                    .collect()
            }
            _ => binder.completions(&found),
        };
        // As it was typed first; the order is kept otherwise.
        names.sort_by_key(|it| !it.starts_with(&*found.prefix));
        names.truncate(MAX_NAMES);
        // What would be read as a keyword is written with `@`, and what was begun with it goes on so.
        let start = found.replace.start as usize;
        let is_verbatim = request
            .text
            .get(start..)
            .is_some_and(|it| it.starts_with('@'));
        if found.kind != CompletionKind::Pseudo {
            for name in &mut names {
                if is_verbatim || NEVER_WRITTEN.contains(&name.as_str()) {
                    name.insert(0, '@');
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
