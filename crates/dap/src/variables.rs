//! Scopes and variables: what an editor's tree of variables is made of, page by page.

use host::api::{
    BY_PROXY, Reply, Request as EngineRequest, Variable as EngineVariable, VariableScope,
    Variables, VariablesQuery,
};

use crate::adapter::{Adapter, arguments};
use crate::evaluating::Wish;
use crate::message::{Refusal, Request};
use crate::running::{FrameOf, SUSPENDED};
use crate::settings::Shown;
use crate::types::{
    Scope, ScopesArguments, ScopesResponseBody, SetVariableArguments, Variable, VariablesArguments,
    VariablesArgumentsFilter, VariablesResponseBody,
};
use crate::values::{Inside, LazyProperty, MadeValue, Parent, label_of, note_of, query, raw_view};

/// Children told at once if the client does not say how many it wants.
const PAGE: u32 = 1_000;

/// Which children the client wants.
#[derive(Debug, Clone, Copy)]
struct Page {
    start: u64,
    /// All that can be told if absent.
    count: Option<u32>,
    /// Only elements, or only what has a name of its own; both if absent.
    indexed: Option<bool>,
}

impl Page {
    fn of(arguments: &VariablesArguments) -> Result<Self, Refusal> {
        let bad = |text: String| Refusal::new("badArguments", format!("variables: {text}"));
        let negative = |name: &str| bad(format!("{name} is negative"));
        let start = u64::try_from(arguments.start.unwrap_or(0)).map_err(|_| negative("start"))?;
        let count = arguments.count.unwrap_or(0);
        let count = match count < 0 {
            true => return Err(negative("count")),
            false => u32::try_from(count).unwrap_or(u32::MAX),
        };
        Ok(Self {
            start,
            count: (count > 0).then_some(count),
            indexed: match &arguments.filter {
                None => None,
                Some(VariablesArgumentsFilter::Indexed) => Some(true),
                Some(VariablesArgumentsFilter::Named) => Some(false),
                Some(VariablesArgumentsFilter::Other(other)) => {
                    let text = format!("filter is {other:?}, which is neither indexed nor named");
                    return Err(bad(text));
                }
            },
        })
    }
}

impl Adapter {
    pub(crate) fn scopes(
        &mut self,
        arguments: ScopesArguments,
    ) -> Result<ScopesResponseBody, Refusal> {
        if let Some(near) = self.frames.suspended(arguments.frame_id) {
            let locals = Scope {
                name: "Locals".into(),
                presentation_hint: Some("locals".into()),
                variables_reference: self.references.number(near, Inside::Nothing(SUSPENDED)),
                ..Scope::default()
            };
            return Ok(ScopesResponseBody {
                scopes: vec![locals],
            });
        }
        let frame = self.frames.get(arguments.frame_id)?;
        let scopes = [
            ("Arguments", VariableScope::Arguments, Some("arguments")),
            ("Locals", VariableScope::Locals, Some("locals")),
            ("Statics", VariableScope::Statics, None),
        ];
        let mut told = Vec::new();
        for (name, scope, hint) in scopes {
            if scope != VariableScope::Locals && self.is_empty(frame, scope) {
                continue;
            }
            told.push(Scope {
                name: name.into(),
                presentation_hint: hint.map(str::to_owned),
                variables_reference: self.references.number(frame, Inside::Scope(scope)),
                // Static members are of interest now and then only.
                expensive: scope == VariableScope::Statics,
                ..Scope::default()
            });
        }
        Ok(ScopesResponseBody { scopes: told })
    }

    /// Whether there is nothing to tell of a scope, not even why.
    fn is_empty(&self, frame: FrameOf, scope: VariableScope) -> bool {
        let parent = Parent {
            frame,
            inside: Inside::Scope(scope),
        };
        let shown = Shown {
            run_code: false,
            ..self.shown
        };
        let found = self.ask_variables(VariablesQuery {
            count: 1,
            ..query(&parent, None, shown)
        });
        found.is_ok_and(|it| it.variables.is_empty() && it.notes.iter().all(|it| is_of_locals(it)))
    }

    pub(crate) fn variables(&mut self, request: &Request) {
        let wanted = arguments::<VariablesArguments>(request).and_then(|arguments| {
            let parent = self.references.get(arguments.variables_reference)?;
            let page = Page::of(&arguments)?;
            Ok((parent, arguments, page))
        });
        let (parent, arguments, page) = match wanted {
            Ok(wanted) => wanted,
            Err(refusal) => return self.client.answer(request, Err::<(), _>(refusal)),
        };
        match &parent.inside {
            Inside::Lazy(property) => {
                let wish = Wish::getter(property, parent.frame, &arguments);
                self.open_property(request, (**property).clone(), wish);
            }
            Inside::Nothing(why) => {
                let variables = vec![note_of(why)];
                let body = VariablesResponseBody { variables };
                self.client.answer(request, Ok(body));
            }
            Inside::Made(made) => {
                let variables = self.page_of_made(parent.frame, made, &page);
                let body = VariablesResponseBody { variables };
                self.client.answer(request, Ok(body));
            }
            // Getters may run for it, and take their time.
            _ if self.shown.run_code => self.page_beside(request, parent, &arguments, page),
            _ => {
                let found = self.ask_variables(self.query_of(&parent, &arguments, &page));
                let body = found.map(|found| self.page(&parent, found, &page));
                self.client.answer(request, body);
            }
        }
    }

    fn query_of(
        &self,
        parent: &Parent,
        arguments: &VariablesArguments,
        page: &Page,
    ) -> VariablesQuery {
        VariablesQuery {
            start: page.start,
            count: page.count.unwrap_or(PAGE),
            ..query(parent, arguments.format.as_ref(), self.shown)
        }
    }

    /// Asks beside this thread, so that a `pause` or a `cancel` gets through to getters that do not end.
    fn page_beside(
        &mut self,
        request: &Request,
        parent: Parent,
        arguments: &VariablesArguments,
        page: Page,
    ) {
        let query = self.query_of(&parent, arguments, &page);
        let asked = self.ask_beside(
            request,
            EngineRequest::Variables(Box::new(query)),
            move |adapter, reply| match reply? {
                Reply::Variables(found) => Ok(adapter.page(&parent, *found, &page)),
                _ => Err(Refusal::bug("no variables were told")),
            },
        );
        if let Err(refusal) = asked {
            self.client.answer(request, Err::<(), _>(refusal));
        }
    }

    /// Runs a getter and tells its one value, as clients expect of a lazy variable.
    fn open_property(&mut self, request: &Request, property: LazyProperty, wish: Wish) {
        self.evaluate_beside(request, wish, move |result| {
            let found = match result {
                Ok(found) => found,
                Err(refusal) => note_of(&format!("<{}>", refusal.text)),
            };
            Ok(VariablesResponseBody {
                variables: vec![Variable {
                    name: property.name,
                    ..found
                }],
            })
        });
    }

    fn page(&mut self, parent: &Parent, found: Variables, page: &Page) -> VariablesResponseBody {
        let is_indexed = found.parent.as_ref().is_some_and(|it| it.value.indexed);
        if page.indexed.is_some_and(|wanted| wanted != is_indexed) {
            return VariablesResponseBody::default();
        }
        let mut variables: Vec<_> = found
            .variables
            .iter()
            .map(|variable| self.variable(parent.frame, variable))
            .collect();
        // What could not be told is told where it would have been.
        let no_locals =
            matches!(parent.inside, Inside::Scope(scope) if scope != VariableScope::Locals);
        for note in found.notes {
            if no_locals && is_of_locals(&note) {
                continue;
            }
            variables.push(match &parent.inside {
                Inside::Path(path) if note == BY_PROXY => {
                    let inside = Inside::Raw(path.clone());
                    raw_view(self.references.number(parent.frame, inside))
                }
                _ => note_of(&note),
            });
        }
        if let Some(omitted) = found.omitted
            && page.count.is_none()
        {
            variables.push(note_of(&format!("{} more", omitted.count)));
        }
        VariablesResponseBody { variables }
    }

    /// Members of what exists only in the debugger.
    fn page_of_made(&mut self, frame: FrameOf, made: &MadeValue, page: &Page) -> Vec<Variable> {
        let start = usize::try_from(page.start).unwrap_or(usize::MAX);
        let members = made.members.iter().skip(start);
        let members = members.take(page.count.map_or(usize::MAX, |it| it as usize));
        let mut told: Vec<_> = members.map(|member| self.variable(frame, member)).collect();
        if made.left > 0 && page.count.is_none() {
            let (left, known) = (made.left, made.members.len());
            told.push(note_of(&format!("{left} more; .Skip({known}) tells them")));
        }
        told
    }

    pub(crate) fn set_variable(&mut self, request: &Request) {
        let wanted = arguments::<SetVariableArguments>(request).and_then(|arguments| {
            let parent = self.references.get(arguments.variables_reference)?;
            if let Inside::Nothing(why) = parent.inside {
                return Err(Refusal::new("suspendedFrame", why));
            }
            if let Inside::Made(_) = parent.inside {
                let text = "this value exists only in the debugger: there is nothing to set";
                return Err(Refusal::new("notSettable", text));
            }
            let format = arguments.format.as_ref();
            if let Inside::Lazy(property) = &parent.inside {
                // The one variable inside it is the property itself.
                return Ok(Wish::set_at(
                    &property.path,
                    property.lasting.clone(),
                    arguments.value,
                    parent.frame,
                    format,
                ));
            }
            let found = self.ask_variables(VariablesQuery {
                names: vec![arguments.name.clone()],
                count: PAGE,
                ..query(&parent, None, self.shown)
            })?;
            let mut named = found.variables.into_iter();
            let mut variable =
                named.find(|variable| variable.name == arguments.name && !variable.shadowed);
            if variable.is_none() {
                // The client knows it by what it was told to call it.
                let all = self.ask_variables(VariablesQuery {
                    count: PAGE,
                    ..query(&parent, None, self.shown)
                })?;
                let is_meant = |it: &EngineVariable| label_of(it) == Some(&arguments.name);
                variable = all.variables.into_iter().find(is_meant);
            }
            let variable = variable.ok_or_else(|| {
                Refusal::new("noVariable", format!("there is no {} here", arguments.name))
            })?;
            Ok(Wish::set_at(
                &variable.path,
                self.references.lasting(&variable.path),
                arguments.value,
                parent.frame,
                format,
            ))
        });
        self.set_beside(request, wanted);
    }

    fn ask_variables(&self, query: VariablesQuery) -> Result<Variables, Refusal> {
        match self.ask(EngineRequest::Variables(Box::new(query)))? {
            Reply::Variables(found) => Ok(*found),
            _ => Err(Refusal::bug("no variables were told")),
        }
    }
}

/// Whether a note is about local variables, and says nothing of a frame's other variables.
fn is_of_locals(note: &str) -> bool {
    note.starts_with("locals are told by number")
}
