//! Expressions: evaluating, setting, completing.
//!
//! Code of the program may run for it and take its time, so it is done beside the adapter's thread; a `cancel` or a
//! `pause` gives it up. What only looks (`hover`) runs nothing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use host::Session;
use host::api::{
    Complete, Evaluate, EvaluatedValue, NameKind, Reply, Request as EngineRequest, SetVariable,
    ValueKind, Variable as EngineVariable, Variables, VariablesQuery,
};

use crate::adapter::{ANSWER, Adapter, arguments};
use crate::message::{NEEDS_FORCE, Refusal, Request};
use crate::running::FrameOf;
use crate::settings::Shown;
use crate::types::{
    CompletionItem, CompletionItemType, CompletionsArguments, CompletionsResponseBody,
    EvaluateArguments, EvaluateResponseBody, InvalidatedEventBody, SetExpressionArguments,
    SetExpressionResponseBody, ValueFormat, Variable, VariablesArguments,
};
use crate::values::{Inside, LazyProperty, Parent, query, view};

/// Milliseconds that code of the program may run for one expression.
const TIME_LIMIT: u32 = 10_000;
/// Characters of a text that is told to be read.
const TEXT: u32 = 1_024;
/// Characters of a text that is told to be copied.
const WHOLE_TEXT: u32 = 1 << 20;
/// Elements of a sequence that is told to be copied.
const WHOLE_SEQUENCE: u32 = 10_000;

/// What is to be evaluated, and how it is told.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    expression: String,
    /// The new value, if it is to be set.
    value: Option<String>,
    /// Where; in the innermost frame of the thread that stopped if absent.
    frame: Option<FrameOf>,
    /// Whether what is not meant to be set is set all the same.
    force: bool,
    /// Whether code of the program may run and variables may be assigned.
    side_effects: bool,
    /// Whether all of it is wanted, not only what fits in a line.
    whole: bool,
    /// Whether an error is told with the line and a mark under the spot.
    marked: bool,
    /// Whether the expression is a path, which is not looked at as C#.
    is_path: bool,
    /// The expression that leads to it, if that is known; the result is told by it.
    name: Option<String>,
    format: Option<ValueFormat>,
    /// How values are shown in this session.
    shown: Shown,
    given_up: GivenUp,
}

/// Whether a wish was given up. Nothing is asked of the engine afterwards, and what was asked before reached the engine
/// before the request that gives it up.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenUp(Arc<Mutex<bool>>);

impl GivenUp {
    fn ask(&self, session: &Session, request: EngineRequest) -> Result<Reply, Refusal> {
        let limit = Duration::from_millis(TIME_LIMIT.into()) + ANSWER;
        let sent = {
            let given_up = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if *given_up {
                return Err(Refusal::cancelled());
            }
            session.send(request, &[])?
        };
        Ok(sent.wait(Instant::now() + limit)?)
    }

    fn is_given_up(&self) -> bool {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives it up.
    pub(crate) fn give_up(&self, session: &Session) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        if let Err(error) =
            session.request(EngineRequest::CancelEvaluation, Instant::now() + ANSWER)
        {
            tracing::debug!(%error, "giving an evaluation up");
        }
    }
}

impl Wish {
    fn new(expression: &str, frame: Option<FrameOf>, format: Option<&ValueFormat>) -> Self {
        Self {
            expression: expression.trim().to_owned(),
            value: None,
            frame,
            force: false,
            side_effects: true,
            whole: false,
            marked: false,
            is_path: false,
            name: None,
            format: format.cloned(),
            shown: Shown::default(),
            given_up: GivenUp::default(),
        }
    }

    /// The value of a property.
    pub(crate) fn getter(
        property: &LazyProperty,
        frame: FrameOf,
        arguments: &VariablesArguments,
    ) -> Self {
        Self {
            is_path: true,
            name: property.lasting.clone(),
            ..Self::new(&property.path, Some(frame), arguments.format.as_ref())
        }
    }

    /// A value that is to be set.
    pub(crate) fn set(
        expression: &str,
        value: String,
        frame: Option<FrameOf>,
        format: Option<&ValueFormat>,
    ) -> Self {
        Self {
            value: Some(value),
            ..Self::new(expression, frame, format)
        }
    }

    /// What a path leads to, that is to be set.
    pub(crate) fn set_at(
        path: &str,
        name: Option<String>,
        value: String,
        frame: FrameOf,
        format: Option<&ValueFormat>,
    ) -> Self {
        Self {
            is_path: true,
            name,
            ..Self::set(path, value, Some(frame), format)
        }
    }

    /// Does it. A chain of names that is a path is told as such; all else is C#, whose result can be opened as well.
    fn grant(&self, session: &Session) -> Result<Found, Refusal> {
        if let Some(value) = &self.value {
            self.assign(session, value)?;
        }
        if self.is_path {
            return self.opened(session);
        }
        if is_chain_of_names(&self.expression)
            && let Ok(mut found) = self.at_path(session)
        {
            // A line has room for a few elements only.
            if let Found::Variable(_, variable) = &mut found
                && self.whole
                && variable.value.indexed
                && let Ok(all) = self.evaluated(session, self.expression.clone())
                && all.text.starts_with('[')
            {
                variable.value.text = all.text;
            }
            return Ok(found);
        }
        match self.evaluated(session, self.expression.clone()) {
            Ok(mut value) => Ok(match value.variable.take() {
                Some(mut variable) => {
                    if self.shown().run_code
                        && !variable.path.is_empty()
                        && let Ok(Found::Variable(_, told)) = self.look(session, &variable.path)
                    {
                        variable = told;
                    }
                    // What exists only in the debugger has no view of its own.
                    if self.whole || variable.path.is_empty() {
                        variable.value.text = value.text;
                    }
                    let frame = self.place(session)?;
                    Found::Result(frame, variable, Some(self.expression.clone()))
                }
                None => Found::Text(value),
            }),
            // The names that we tell for values are paths, and not all of those are C#.
            Err(refusal) if self.side_effects => self.opened(session).map_err(|_| refusal),
            Err(refusal) => self.at_path(session).map_err(|_| refusal),
        }
    }

    /// What the path leads to, with the getters on the way.
    fn opened(&self, session: &Session) -> Result<Found, Refusal> {
        let looked = self.at_path(session);
        if looked.is_ok() {
            return looked;
        }
        let frame = self.place(session)?;
        let parent = Parent {
            frame,
            inside: Inside::Path(self.expression.clone()),
        };
        let mut asked = query(&parent, self.format.as_ref(), self.shown());
        asked.view.time_limit = TIME_LIMIT;
        let request = EngineRequest::OpenValue(Box::new(asked));
        let Reply::Variables(found) = self.given_up.ask(session, request)? else {
            return Err(Refusal::bug("no value was told"));
        };
        let variable = found
            .parent
            .ok_or_else(|| Refusal::bug("no value was told"))?;
        match variable.value.kind {
            ValueKind::NotRun => Err(Refusal::new("notRun", variable.value.text)),
            _ => Ok(Found::Result(frame, variable, self.name.clone())),
        }
    }

    fn set_to(&self, session: &Session, value: &str) -> Result<(), Refusal> {
        let set = SetVariable {
            stop: self.frame.map(|frame| frame.stop),
            thread: self.frame.map(|frame| frame.thread),
            frame: self.frame.map_or(0, |frame| frame.index),
            path: self.expression.clone(),
            value: value.to_owned(),
            force: self.force,
            mask_secrets: false,
        };
        let request = EngineRequest::SetVariable(Box::new(set));
        self.given_up.ask(session, request).map(drop)
    }

    fn assign(&self, session: &Session, value: &str) -> Result<(), Refusal> {
        let Err(refused) = self.set_to(session, value) else {
            return Ok(());
        };
        if self.is_path && !is_chain_of_names(&self.expression) {
            // The path is no C#, but the value may be: it is computed first.
            let computed = self.evaluated(session, value.to_owned());
            let Ok(computed) = computed else {
                return Err(refused);
            };
            let path = computed.variable.map(|it| it.path);
            let text = path.filter(|it| !it.is_empty()).unwrap_or(computed.text);
            return self.set_to(session, &text).map_err(|_| refused);
        }
        // A setter, an indexer, or a value that is to be computed.
        let assignment = format!("{} = {value}", self.expression);
        match self.evaluated(session, assignment) {
            Ok(_) => Ok(()),
            Err(_) if is_chain_of_names(&self.expression) => Err(refused),
            Err(refusal) => Err(refusal),
        }
    }

    fn evaluated(&self, session: &Session, expression: String) -> Result<EvaluatedValue, Refusal> {
        let request = EngineRequest::Evaluate(Evaluate {
            stop: self.frame.map(|frame| frame.stop),
            thread: self.frame.map(|frame| frame.thread),
            frame: self.frame.map_or(0, |frame| frame.index),
            side_effects: self.side_effects,
            as_variables: !self.whole,
            time_limit_ms: TIME_LIMIT,
            shared_time: false,
            max_elements: if self.whole { WHOLE_SEQUENCE } else { 100 },
            max_text: if self.whole { WHOLE_TEXT } else { TEXT },
            view: view(self.format.as_ref(), self.shown()),
            ..Evaluate::read(expression)
        });
        let Reply::Evaluated(mut all) = self.given_up.ask(session, request)? else {
            return Err(Refusal::bug("nothing was evaluated"));
        };
        let evaluated = all
            .pop()
            .ok_or_else(|| Refusal::bug("nothing was evaluated"))?;
        evaluated.outcome.map_err(|error| {
            let mut error = error.error;
            if !self.marked {
                let end = error.message.find('\n').unwrap_or(error.message.len());
                error.message.truncate(end);
            }
            let is_of_effects = |hint: &String| hint.starts_with("allow side effects");
            if !self.side_effects && error.hint.as_ref().is_some_and(is_of_effects) {
                let hint = "a watch or the console evaluates it";
                error.hint = Some(hint.into());
            }
            error.into()
        })
    }

    /// What only looks runs no code.
    fn shown(&self) -> Shown {
        Shown {
            run_code: self.shown.run_code && self.side_effects,
            ..self.shown
        }
    }

    fn place(&self, session: &Session) -> Result<FrameOf, Refusal> {
        self.frame.map_or_else(|| top_frame(session), Ok)
    }

    fn at_path(&self, session: &Session) -> Result<Found, Refusal> {
        self.look(session, &self.expression)
    }

    fn look(&self, session: &Session, path: &str) -> Result<Found, Refusal> {
        let frame = self.place(session)?;
        let parent = Parent {
            frame,
            inside: Inside::Path(path.to_owned()),
        };
        let mut asked = VariablesQuery {
            count: 0,
            ..query(&parent, self.format.as_ref(), self.shown())
        };
        if self.whole {
            (asked.view.text_length, asked.view.total_text) = (WHOLE_TEXT, 2 * WHOLE_TEXT);
        }
        let request = EngineRequest::Variables(Box::new(asked));
        let Reply::Variables(found) = self.given_up.ask(session, request)? else {
            return Err(Refusal::bug("no value was told"));
        };
        let Variables { parent, .. } = *found;
        let mut variable = parent.ok_or_else(|| Refusal::bug("no value was told"))?;
        if self.whole {
            variable.value.notes.clear();
        }
        // Whose result it is stands in the list of variables; here it would be taken for a part of the value.
        let notes = &mut variable.value.notes;
        notes.retain(|note| !note.starts_with("returned by "));
        match variable.value.kind {
            ValueKind::NotRun => Err(Refusal::new("notRun", variable.value.text)),
            _ => Ok(Found::Variable(frame, variable)),
        }
    }
}

/// Whether `raw` is among the format specifiers of an expression.
fn is_raw(expression: &str) -> bool {
    let mut parts = expression.rsplit(',').map(str::trim);
    let is_format = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphabetic());
    // What stands before the first comma is the expression itself.
    let count = expression.matches(',').count();
    let mut formats = parts.by_ref().take(count).take_while(|it| is_format(it));
    formats.any(|it| it == "raw")
}

/// What came of a wish.
enum Found {
    /// Something that a path leads to.
    Variable(FrameOf, Box<EngineVariable>),
    /// An object or struct that an expression made, and the expression if it has a text.
    Result(FrameOf, Box<EngineVariable>, Option<String>),
    /// A number, a text or nothing.
    Text(EvaluatedValue),
}

impl Adapter {
    pub(crate) fn evaluate(&mut self, request: &Request) {
        let wish = arguments::<EvaluateArguments>(request).and_then(|arguments| {
            let frame = self.frame_of(arguments.frame_id)?;
            let context = arguments.context.as_deref().unwrap_or("repl");
            Ok(Wish {
                side_effects: context != "hover",
                whole: context == "clipboard",
                marked: context == "repl",
                ..Wish::new(&arguments.expression, frame, arguments.format.as_ref())
            })
        });
        let wish = match wish {
            Ok(wish) => wish,
            Err(refusal) => return self.client.answer(request, Err::<(), _>(refusal)),
        };
        self.evaluate_beside(request, wish, |result| {
            let told = result?;
            Ok(EvaluateResponseBody {
                result: told.value,
                r#type: told.r#type,
                variables_reference: told.variables_reference,
                indexed_variables: told.indexed_variables,
                named_variables: told.named_variables,
                memory_reference: told.memory_reference,
                presentation_hint: told.presentation_hint,
                ..EvaluateResponseBody::default()
            })
        });
    }

    pub(crate) fn set_expression(&mut self, request: &Request) {
        let wish = arguments::<SetExpressionArguments>(request).and_then(|arguments| {
            let frame = self.frame_of(arguments.frame_id)?;
            let format = arguments.format.as_ref();
            Ok(Wish::set(
                arguments.expression.trim(),
                arguments.value,
                frame,
                format,
            ))
        });
        self.set_beside(request, wish);
    }

    /// Sets something beside this thread, then answers with what it is now: `setVariable` and `setExpression` alike.
    pub(crate) fn set_beside(&mut self, request: &Request, wish: Result<Wish, Refusal>) {
        let wish = match wish {
            Ok(wish) => wish,
            Err(refusal) => return self.client.answer(request, Err::<(), _>(refusal)),
        };
        self.evaluate_beside(request, wish, |result| {
            let told = result?;
            Ok(SetExpressionResponseBody {
                value: told.value,
                r#type: told.r#type,
                variables_reference: Some(told.variables_reference),
                indexed_variables: told.indexed_variables,
                named_variables: told.named_variables,
                memory_reference: told.memory_reference,
                presentation_hint: told.presentation_hint,
                ..SetExpressionResponseBody::default()
            })
        });
    }

    /// Evaluates beside this thread, then answers with what `tell` makes of the value.
    pub(crate) fn evaluate_beside<T: serde::Serialize>(
        &mut self,
        request: &Request,
        mut wish: Wish,
        tell: impl FnOnce(Result<Variable, Refusal>) -> Result<T, Refusal> + Send + 'static,
    ) {
        let session = match self.session() {
            Ok(session) => session.clone(),
            Err(refusal) => return self.client.answer(request, Err::<(), _>(refusal)),
        };
        let request = request.clone();
        wish.shown = self.shown;
        // Whoever asks twice means it.
        let asked = wish.value.clone().map(|it| (wish.expression.clone(), it));
        let insisted = self.insisted.take();
        let name = (wish.expression.clone(), wish.name.clone());
        wish.force = asked.is_some() && insisted == asked;
        let given_up = wish.given_up.clone();
        self.evaluating = Some((request.clone(), given_up.clone()));
        // What somebody types may change anything.
        let may_change = wish.value.is_some() || (wish.side_effects && wish.marked);
        self.beside(
            move || wish.grant(&session),
            move |adapter, result| {
                adapter.evaluating = None;
                adapter.tell_output();
                let changed = may_change && result.is_ok();
                let needs_force = |it: &Refusal| it.code == NEEDS_FORCE;
                adapter.insisted = asked.filter(|_| result.as_ref().is_err_and(needs_force));
                if result.is_err() && given_up.is_given_up() {
                    let refusal = Err::<(), _>(Refusal::cancelled());
                    return adapter.client.answer(&request, refusal);
                }
                // A path that leads on from a result is a name of our own.
                let result = result.map_err(|refusal| Refusal {
                    text: match &name {
                        (path, Some(name)) => refusal.text.replace(path.as_str(), name),
                        _ => refusal.text,
                    },
                    ..refusal
                });
                let result = tell(result.map(|found| adapter.found(found)));
                adapter.client.answer(&request, result);
                if changed {
                    adapter.values_changed();
                }
            },
        );
    }

    /// Asks the engine beside this thread something for which code of the program may run, then answers with what `tell`
    /// makes of the reply. If it cannot be asked, nothing is answered.
    pub(crate) fn ask_beside<T: serde::Serialize>(
        &mut self,
        request: &Request,
        question: EngineRequest,
        tell: impl FnOnce(&mut Self, Result<Reply, Refusal>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<(), Refusal> {
        let session = self.session()?.clone();
        let request = request.clone();
        let given_up = GivenUp::default();
        self.evaluating = Some((request.clone(), given_up.clone()));
        let asked = given_up.clone();
        self.beside(
            move || asked.ask(&session, question),
            move |adapter, reply| {
                adapter.evaluating = None;
                adapter.tell_output();
                if reply.is_err() && given_up.is_given_up() {
                    let refusal = Err::<(), _>(Refusal::cancelled());
                    return adapter.client.answer(&request, refusal);
                }
                let result = tell(adapter, reply);
                adapter.client.answer(&request, result);
            },
        );
        Ok(())
    }

    /// Values that the client has seen may be others now.
    fn values_changed(&self) {
        if self.about.supports_invalidated_event == Some(true) {
            self.client.tell(&InvalidatedEventBody {
                areas: Some(vec!["variables".into()]),
                ..InvalidatedEventBody::default()
            });
        }
    }

    fn found(&mut self, found: Found) -> Variable {
        match found {
            Found::Variable(frame, variable) => self.variable(frame, &variable),
            Found::Result(frame, variable, expression) => {
                if let Some(expression) = &expression {
                    self.references.came_of(&variable.path, expression);
                }
                let told = self.variable(frame, &variable);
                let raw = expression.is_some_and(|it| is_raw(&it));
                if told.variables_reference == 0 || !raw {
                    return told;
                }
                // Its members are as raw as its line.
                let inside = Inside::Raw(variable.path);
                Variable {
                    variables_reference: self.references.number(frame, inside),
                    indexed_variables: None,
                    named_variables: None,
                    ..told
                }
            }
            Found::Text(value) => Variable {
                value: value.text,
                r#type: Some(value.ty),
                ..Variable::default()
            },
        }
    }

    fn frame_of(&self, number: Option<i32>) -> Result<Option<FrameOf>, Refusal> {
        // Some clients say 0 for no frame.
        let number = number.filter(|number| *number != 0);
        number.map(|number| self.frames.get(number)).transpose()
    }

    pub(crate) fn completions(
        &mut self,
        arguments: CompletionsArguments,
    ) -> Result<CompletionsResponseBody, Refusal> {
        let frame = self.frame_of(arguments.frame_id)?;
        let line = arguments.line.map_or(1, |line| self.engine_line(line));
        let lines = arguments.text.split_inclusive('\n');
        let before: usize = lines
            .take(line.saturating_sub(1) as usize)
            .map(str::len)
            .sum();
        let text = arguments.text.get(before..).unwrap_or_default();
        let text = text.lines().next().unwrap_or_default();
        let units = self.engine_column(arguments.column).saturating_sub(1);
        let position = u32::try_from(byte_of(text, units)).unwrap_or(u32::MAX);
        let reply = self.ask(EngineRequest::Complete(Complete {
            text: text.to_owned(),
            position,
            stop: frame.map(|frame| frame.stop),
            thread: frame.map(|frame| frame.thread),
            frame: frame.map_or(0, |frame| frame.index),
        }))?;
        let Reply::Completions(found) = reply else {
            return Err(Refusal::bug("no names were told"));
        };
        let start = units_before(text, found.start);
        let end = units_before(text, found.end);
        // Editors sort by label, unless they are told another order.
        let targets = found
            .names
            .into_iter()
            .zip(0_u32..)
            .map(|(it, place)| CompletionItem {
                label: it.name,
                sort_text: Some(format!("{place:04}")),
                r#type: Some(completion_type(it.kind)),
                start: i64::try_from(self.client_column(start.saturating_add(1))).ok(),
                length: Some(i64::from(end.saturating_sub(start))),
                ..CompletionItem::default()
            });
        Ok(CompletionsResponseBody {
            targets: targets.collect(),
        })
    }
}

/// What a name is, in the protocol's words.
fn completion_type(kind: NameKind) -> CompletionItemType {
    match kind {
        NameKind::Variable | NameKind::Argument => CompletionItemType::Variable,
        NameKind::EnumMember => CompletionItemType::Value,
        NameKind::Field => CompletionItemType::Field,
        NameKind::Property => CompletionItemType::Property,
        NameKind::Method => CompletionItemType::Method,
        NameKind::Class | NameKind::Struct | NameKind::TypeParameter | NameKind::Alias => {
            CompletionItemType::Class
        }
        NameKind::Interface => CompletionItemType::Interface,
        NameKind::Enum => CompletionItemType::Enum,
        NameKind::Namespace => CompletionItemType::Module,
        NameKind::Keyword => CompletionItemType::Keyword,
    }
}

/// The frame that an expression without one is evaluated in.
fn top_frame(session: &Session) -> Result<FrameOf, Refusal> {
    let stop = session.status().stop;
    let found = stop.and_then(|stop| {
        Some(FrameOf {
            stop: stop.id,
            thread: stop.thread?,
            index: 0,
        })
    });
    found.ok_or_else(|| {
        Refusal::new(
            "noFrame",
            "the program is not stopped in a frame; pause it or choose a frame first",
        )
    })
}

/// Whether a text is `a` or `a.b.c`, which means the same as a path and as C#.
fn is_chain_of_names(text: &str) -> bool {
    text.split('.').all(is_name)
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|first| first == '_' || first == '$' || first.is_alphabetic())
        && letters.all(|letter| letter == '_' || letter.is_alphanumeric())
}

/// The byte behind so many UTF-16 units, which is what clients count in.
fn byte_of(text: &str, units: u32) -> usize {
    let mut left = units as usize;
    for (at, letter) in text.char_indices() {
        if left == 0 {
            return at;
        }
        left = left.saturating_sub(letter.len_utf16());
    }
    text.len()
}

/// How many UTF-16 units lie before a byte.
fn units_before(text: &str, byte: u32) -> u32 {
    let before = text.get(..byte as usize).unwrap_or(text);
    u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_counted_as_clients_do() {
        let text = "a😀é.b";
        for (units, byte) in [(0, 0), (1, 1), (3, 5), (4, 7), (5, 8), (99, 9)] {
            assert_eq!(byte_of(text, units), byte, "{units}");
        }
        assert_eq!(units_before(text, 5), 3);
        assert_eq!(units_before(text, 7), 4);
        assert_eq!(units_before(text, 999), 6);
    }

    #[test]
    fn plain_names_are_known() {
        for name in ["a", "_x1", "$exception", "größe", "a.b", "this._x.y"] {
            assert!(is_chain_of_names(name), "{name}");
        }
        for other in ["", "1a", "a.", ".a", "a..b", "a b", "a,x", "#7", "a[0]"] {
            assert!(!is_chain_of_names(other), "{other}");
        }
    }
}
