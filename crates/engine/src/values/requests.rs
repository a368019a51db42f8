//! Requests about values: looking at them, keeping and letting go of objects.

use cordebug::thread::Thread;

use crate::api::{
    Error, ErrorCode, Evaluate, EvaluatedValue, OmitReason, Omitted, Reply, ValueKind, Variable,
    VariableKind, VariableScope, Variables, VariablesQuery,
};
use crate::engine::Engine;
use crate::stack::frame_at;
use crate::target::Target;

use super::answering::{Allowance, no_answers};
use super::assign_expression::evaluated;
use super::properties::Computed;
use super::questions::{Answers, Inquiry, Question};
use super::roots::Roots;
use super::view::{Viewer, is_like};
use super::walk;

/// Variables of a frame and children of a value told at most.
const MAX_COUNT: u32 = 10_000;
/// Levels of children told at once, at most: each is three of the message that carries them, which may have 128.
const MAX_DEPTH: u32 = 32;
/// Kept objects that are named where another was asked for.
const MAX_SHOWN: usize = 20;
/// Objects kept at most: each keeps memory of the program alive.
const MAX_KEPT: usize = 1000;

fn is_unknown(told: &Result<Reply, Error>) -> bool {
    matches!(told, Err(error) if error.message.contains(" has no variable "))
}

/// Whether a path may lead through a type or namespace to a static field: it consists of names.
fn is_static_path(path: &str) -> bool {
    let is_name = |it: &str| {
        let is_first = |it: char| it == '_' || it.is_alphabetic();
        it.starts_with(is_first) && it.chars().all(|it| it == '_' || it.is_alphanumeric())
    };
    path.contains('.') && path.split('.').all(is_name)
}

impl Engine<'_> {
    /// A query with the format that the expression asked for, if it is about what an expression gave.
    pub(super) fn as_its_result_is_shown(&self, query: &VariablesQuery) -> VariablesQuery {
        let path = query.path.as_deref().unwrap_or_default();
        let target = self.target.as_ref();
        let view = target.and_then(|it| it.view_of_result(path, &query.view));
        VariablesQuery {
            view: view.unwrap_or_else(|| query.view.clone()),
            ..query.clone()
        }
    }

    /// The variables of a frame, or what lies inside one of them. What no path leads to, or what a member is that only
    /// code could tell, an expression may still tell by reading: `prices[Kind.Old]`, `list[^1]`, `task.Result`.
    pub(crate) fn variables(&mut self, query: &VariablesQuery) -> Result<Reply, Error> {
        if let Some(told) = self.variables_of_range(query) {
            return told;
        }
        let told = self.variables_by_path(query);
        let is_open = match &told {
            Ok(Reply::Variables(told)) => {
                let parent = told.parent.as_ref();
                parent.is_some_and(|it| it.value.kind == ValueKind::NotRun)
            }
            Ok(_) => false,
            Err(error) => error.code == ErrorCode::InvalidParameter,
        };
        match query
            .path
            .as_deref()
            .filter(|_| is_open && !query.view.run_code)
        {
            Some(path) => match self.variables_by_expression(query, path) {
                // Of what begins with a variable the path's own reason is the better one.
                Some(Err(_)) if !is_unknown(&told) => told,
                found => found.unwrap_or(told),
            },
            None => told,
        }
    }

    fn variables_by_expression(
        &mut self,
        query: &VariablesQuery,
        path: &str,
    ) -> Option<Result<Reply, Error>> {
        let request = Evaluate {
            thread: query.thread,
            frame: query.frame,
            stop: query.stop,
            view: query.view.clone(),
            mask_secrets: query.view.mask_secrets,
            ..Evaluate::read(path)
        };
        let Ok(Reply::Evaluated(all)) = self.evaluate_expressions(&request) else {
            return None;
        };
        let value = match all.into_iter().next()?.outcome {
            Ok(value) => value,
            Err(why) => {
                // What it begins with is known then: that there is no such variable would not be true.
                let known = !matches!(why.code.as_deref(), Some("CS0103" | "CS0246" | "CS0234"));
                let first = why.error.message.lines().next().unwrap_or_default();
                let told = Error::new(ErrorCode::InvalidParameter, format!("{path}: {first}"));
                return (known && is_static_path(path)).then_some(Err(told));
            }
        };
        let mut told = match value.variable {
            Some(result) if !result.path.is_empty() => {
                let inside = VariablesQuery {
                    path: Some(result.path.clone()),
                    ..query.clone()
                };
                match self.variables_by_path(&inside) {
                    Ok(Reply::Variables(told)) => told,
                    other => return Some(other),
                }
            }
            only_here => {
                let parent = only_here.unwrap_or_else(|| {
                    Box::new(Variable {
                        name: path.to_owned(),
                        kind: VariableKind::Pseudo,
                        path: path.to_owned(),
                        declared_type: None,
                        label: None,
                        shadowed: false,
                        value: evaluated(EvaluatedValue {
                            variable: None,
                            ..value
                        }),
                    })
                });
                let mut told = Box::new(Variables {
                    stop: self.stop_id().ok()?,
                    thread: self.thread_of(query.thread).ok()?.0,
                    frame: query.frame,
                    parent: Some(parent),
                    variables: Vec::new(),
                    omitted: None,
                    notes: Vec::new(),
                    call: None,
                    declarations: Vec::new(),
                    code_runs: 0,
                });
                open_parent(query, &mut told);
                told
            }
        };
        if let Some(parent) = told.parent.as_mut() {
            parent.name = path.to_owned();
            parent.path = path.to_owned();
        }
        Some(Ok(Reply::Variables(told)))
    }

    fn variables_by_path(&mut self, query: &VariablesQuery) -> Result<Reply, Error> {
        self.check_stop(query.stop)?;
        let query = &self.as_its_result_is_shown(query);
        let (id, thread) = self.thread_of(query.thread)?;
        let stop = self.stop_id()?;
        let told = Variables {
            stop,
            thread: id,
            frame: query.frame,
            parent: None,
            variables: Vec::new(),
            omitted: None,
            notes: Vec::new(),
            call: None,
            declarations: Vec::new(),
            code_runs: 0,
        };
        if !query.view.run_code {
            let (told, _) = self.look(query, &thread, &[], told, None)?;
            return Ok(Reply::Variables(Box::new(told)));
        }
        self.evaluations.check()?;
        self.evaluations.begin();
        let allowance = Allowance::of(query, &thread);
        let computed = match &query.path {
            Some(path) if query.view.properties => {
                self.compute_properties(query, &thread, path, &allowance)?
            }
            _ => Vec::new(),
        };
        let mut answers = no_answers(query);
        loop {
            let seen = self.look(query, &thread, &computed, told.clone(), Some(&answers));
            let (mut told, questions) = seen?;
            if questions.is_empty() {
                let answered = u32::try_from(answers.count()).unwrap_or(u32::MAX);
                told.code_runs = Computed::runs(&computed).saturating_add(answered);
                told.notes.extend(self.evaluations.take_notes());
                return Ok(Reply::Variables(Box::new(told)));
            }
            self.answer_questions(questions, &mut answers, &allowance)?;
        }
    }

    /// Looks once; also what only code could have told, if there are answers to that.
    fn look(
        &mut self,
        query: &VariablesQuery,
        thread: &Thread,
        computed: &[Computed],
        mut told: Variables,
        answers: Option<&Answers>,
    ) -> Result<(Variables, Vec<Question>), Error> {
        let stop = self.stop.clone();
        let target = self.stopped_target()?;
        let frame = frame_at(target, thread, query.frame);
        let target = &*target;
        if query.view.to_compare
            && let (Ok(frame), Some(stop)) = (&frame, &stop)
        {
            told.call = target.activations.number(target, stop, thread, frame);
        }
        let reader = target.reader().looking_from(frame.as_ref().ok());
        let inquiry = answers.map(|answers| Inquiry::new(&reader, answers));
        let roots = Roots {
            target,
            reader: &reader,
            thread,
            frame,
            index: query.frame,
        };
        let viewer = Viewer::new(&reader, &query.view, &target.object_ids);
        let viewer = viewer.asking(inquiry.as_ref());
        look_at(query, &roots, &viewer, computed, &mut told)?;
        let questions = inquiry.map(Inquiry::into_questions);
        Ok((told, questions.unwrap_or_default()))
    }
}

/// Opens what exists only in the debugger: what lies inside it has come with it.
fn open_parent(query: &VariablesQuery, told: &mut Variables) {
    let Some(parent) = told.parent.as_mut() else {
        return;
    };
    let all = std::mem::take(&mut parent.value.members);
    parent.value.omitted = None;
    let (known, count) = (all.len() as u64, parent.value.children);
    let is_wanted = |name: &str| {
        let mut names = query.names.iter();
        query.names.is_empty() || names.any(|it| is_like(name, it))
    };
    let page = all.into_iter().skip(query.start as usize);
    let page = page.take(query.count as usize);
    told.variables = page.filter(|it| is_wanted(&it.name)).collect();
    for variable in &mut told.variables {
        cut_below(variable, query.depth);
    }
    let behind = query.start.saturating_add(query.count.into()).min(known);
    if query.count > 0 && behind < count {
        told.omitted = Some(Omitted {
            count: count - behind,
            start: behind,
            reason: if behind < known {
                OmitReason::Count
            } else {
                OmitReason::NotKept
            },
            at_least: false,
        });
    }
    if query.count > 0 && behind == known && known < count {
        told.notes.push(format!(
            "it exists only in the debugger, and only its first {known} elements come with it: `evaluate` a part of it for others, such as `.Skip({known})` behind it"
        ));
    }
}

/// Leaves out what lies deeper inside.
fn cut_below(variable: &mut Variable, depth: u32) {
    let Some(depth) = depth.checked_sub(1) else {
        variable.value.members.clear();
        variable.value.omitted = None;
        return;
    };
    for member in &mut variable.value.members {
        cut_below(member, depth);
    }
}

/// Tells what a query asks for, as far as that can be seen now.
fn look_at(
    query: &VariablesQuery,
    roots: &Roots<'_, '_>,
    viewer: &Viewer<'_, '_>,
    computed: &[Computed],
    told: &mut Variables,
) -> Result<(), Error> {
    let count = u64::from(query.count.min(MAX_COUNT));
    let depth = query.depth.min(MAX_DEPTH);
    if let Some(path) = query.path.as_deref().filter(|path| !path.is_empty()) {
        let child = roots.at_path(viewer, path)?;
        let mut parent = viewer.variable(&child, 0);
        // Not if it is only the last name that sounds like one.
        let is_secret = roots.returns_secret(path)
            || walk::leads_through_secret(path)
            || viewer.is_secret_variable(&child.name, &child.ty);
        if query.view.mask_secrets && is_secret {
            // What lies inside a secret is as secret as all of it.
            parent.value = super::view::masked(parent.value.type_name);
            told.parent = Some(Box::new(parent));
            return Ok(());
        }
        if count > 0
            && parent.value.kind == ValueKind::String
            && let Ok(value) = &child.value
            && let Some((text, end, length)) = viewer.text_from(value, query.start)
            && (query.start > 0 || end < length)
        {
            if query.start > 0 {
                parent.value.text = text;
                parent.value.full_length = Some(length);
            }
            let start = query.start.min(length);
            told.notes.push(match end < length {
                true => format!("characters {start} to {end}; start={end} for the next ones"),
                false => format!("characters {start} to {end}, its end"),
            });
        }
        let parents = std::slice::from_mut(&mut parent);
        roots.say_who_returned(parents, query.view.mask_secrets);
        Roots::say_what_shares_a_field(parents);
        told.parent = Some(Box::new(parent));
        let Ok(value) = &child.value else {
            return Ok(());
        };
        let inside = viewer.subject(value).and_then(|subject| {
            // Who wants no children wants no code to run for them.
            let (children, note) = match count {
                0 => (viewer.children(&subject, &child.notes)?, None),
                _ => viewer.opened(&subject, &child.notes)?,
            };
            Ok((subject, children, note))
        });
        match inside {
            Ok((subject, children, note)) => {
                told.notes.extend(note);
                if let super::view::Children::Members(list) = &children
                    && list.is_empty()
                    && let [first, rest @ ..] = &*viewer.computed_names(&subject)
                {
                    let more = match rest.len() {
                        0 => String::new(),
                        more => format!(" and {more} more"),
                    };
                    told.notes.push(format!(
                        "it has no fields to show; its properties ({first}{more}) are told where code may run"
                    ));
                }
                let elements = viewer.named_elements(&children, &query.names);
                let mut children = match elements {
                    Some((found, note)) => {
                        told.notes.extend(note);
                        found
                    }
                    None => children.named_like(&query.names),
                };
                children.fill_in(viewer, computed);
                viewer.lead(value, &mut children);
                let range = (query.start, count);
                (told.variables, told.omitted) =
                    viewer.page_of(&subject, &children, path, range, depth);
            }
            Err(why) => told.notes.push(why.to_string()),
        }
        return Ok(());
    }
    let (list, note) = roots.list(viewer, query.scope)?;
    told.notes.extend(note);
    if query.view.to_compare && query.scope == VariableScope::All {
        told.declarations = roots.declarations()?;
    }
    let children = super::view::Children::Members(list).named_like(&query.names);
    (told.variables, told.omitted) = viewer.page(&children, "", query.start, count, depth);
    roots.say_who_returned(&mut told.variables, query.view.mask_secrets);
    Roots::say_what_shares_a_field(&mut told.variables);
    Ok(())
}

impl Engine<'_> {
    /// Keeps the object that a path leads to alive and known over continues, as `$1` and so on.
    pub(crate) fn keep_object(&mut self, query: &VariablesQuery) -> Result<Reply, Error> {
        let number = self.keep_as(query, None)?;
        let query = VariablesQuery {
            path: Some(format!("${number}")),
            count: 0,
            ..query.clone()
        };
        self.variables(&query)
    }

    /// Keeps the object that a path leads to under a number, in place of what is kept under it; the next if absent.
    pub(crate) fn keep_as(
        &mut self,
        query: &VariablesQuery,
        number: Option<u64>,
    ) -> Result<u64, Error> {
        self.check_stop(query.stop)?;
        let (_, thread) = self.thread_of(query.thread)?;
        let target = self.stopped_target()?;
        let frame = frame_at(target, &thread, query.frame);
        let path = query.path.as_deref().unwrap_or("this");
        let refused = |why: &dyn std::fmt::Display| {
            Error::new(
                ErrorCode::InvalidParameter,
                format!("\"{path}\" cannot be kept: {why}"),
            )
        };
        if target.kept.len() >= MAX_KEPT {
            return Err(
                refused(&"too many objects are kept already").hint("let go of some of them")
            );
        }
        let held = {
            let target = &*target;
            let reader = target.reader().looking_from(frame.as_ref().ok());
            let viewer = Viewer::new(&reader, &query.view, &target.object_ids);
            let roots = Roots {
                target,
                reader: &reader,
                thread: &thread,
                frame,
                index: query.frame,
            };
            let child = roots.at_path(&viewer, path)?;
            let object = child.value.and_then(|value| reader.object(&value));
            match object.map_err(|why| refused(&why))? {
                Some(object) => reader.hold(&object).map_err(|why| refused(&why))?,
                None => return Err(refused(&"it is null")),
            }
        };
        let next = || {
            target
                .kept
                .keys()
                .next_back()
                .map_or(1, |it| it.saturating_add(1))
        };
        let number = number.unwrap_or_else(next);
        target.kept.insert(number, held);
        Ok(number)
    }

    /// Lets go of a kept object.
    pub(crate) fn release_object(&mut self, number: u64) -> Result<Reply, Error> {
        let target = self.stopped_target()?;
        if target.kept.remove(&number).is_none() {
            return Err(no_such_kept(target, &format!("${number}")));
        }
        Ok(Reply::Status(Box::new(self.status())))
    }
}

/// What is said of a number under which no object is kept.
pub(super) fn no_such_kept(target: &Target, name: &str) -> Error {
    let known: Vec<String> = target.kept.keys().map(|it| format!("${it}")).collect();
    let hint = if known.is_empty() {
        "none is kept: `$1 = expression` keeps one, where side effects are allowed".to_owned()
    } else {
        let shown: Vec<&str> = known.iter().take(MAX_SHOWN).map(String::as_str).collect();
        let more = if known.len() > MAX_SHOWN {
            " and more"
        } else {
            ""
        };
        format!("kept are {}{more}", shown.join(", "))
    };
    Error::new(
        ErrorCode::InvalidParameter,
        format!("no object is kept as {name}"),
    )
    .hint(hint)
    .details(crate::api::Details::Candidates(known))
}
