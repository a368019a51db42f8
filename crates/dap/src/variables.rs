//! Scopes and variables: what an editor's tree of variables is made of, page by page.

use host::api::{
    BY_PROXY, Reply, Request as EngineRequest, VariableScope, Variables, VariablesQuery,
};

use crate::adapter::{Adapter, arguments};
use crate::evaluating::Wish;
use crate::message::{Refusal, Request};
use crate::running::FrameOf;
use crate::types::{
    Scope, ScopesArguments, ScopesResponseBody, SetVariableArguments, Variable, VariablesArguments,
    VariablesResponseBody,
};
use crate::values::{Inside, LazyProperty, MadeValue, Parent, note_of, query, raw_view};

/// Children told at once if the client does not say how many it wants.
const PAGE: u32 = 1_000;

/// Which children the client wants.
#[derive(Debug, Clone, Copy)]
struct Page {
    start: u64,
    /// All that can be told if absent.
    count: Option<u32>,
}

impl Page {
    fn of(arguments: &VariablesArguments) -> Self {
        let count = arguments.count.and_then(|count| u32::try_from(count).ok());
        let start = arguments.start.and_then(|it| u64::try_from(it).ok());
        Self {
            start: start.unwrap_or(0),
            count: count.filter(|count| *count > 0),
        }
    }
}

impl Adapter {
    pub(crate) fn scopes(
        &mut self,
        arguments: ScopesArguments,
    ) -> Result<ScopesResponseBody, Refusal> {
        let frame = self.frames.get(arguments.frame_id)?;
        let scopes = [
            ("Arguments", VariableScope::Arguments, Some("arguments")),
            ("Locals", VariableScope::Locals, Some("locals")),
            ("Statics", VariableScope::Statics, None),
        ];
        let scopes = scopes.map(|(name, scope, hint)| Scope {
            name: name.into(),
            presentation_hint: hint.map(str::to_owned),
            variables_reference: self.references.number(frame, Inside::Scope(scope)),
            // Static members are of interest now and then only.
            expensive: scope == VariableScope::Statics,
            ..Scope::default()
        });
        Ok(ScopesResponseBody {
            scopes: scopes.into(),
        })
    }

    pub(crate) fn variables(&mut self, request: &Request) {
        let wanted = arguments::<VariablesArguments>(request).and_then(|arguments| {
            let parent = self.references.get(arguments.variables_reference)?;
            Ok((parent, arguments))
        });
        let (parent, arguments) = match wanted {
            Ok(wanted) => wanted,
            Err(refusal) => return self.client.answer(request, Err::<(), _>(refusal)),
        };
        match &parent.inside {
            Inside::Lazy(property) => {
                let wish = Wish::getter(&property.expression, parent.frame, &arguments);
                self.open_property(request, (**property).clone(), wish);
            }
            Inside::Made(made) => {
                let page = Page::of(&arguments);
                let variables = self.page_of_made(parent.frame, made, &page);
                let body = VariablesResponseBody { variables };
                self.client.answer(request, Ok(body));
            }
            // Getters may run for it, and take their time.
            _ if self.shown.run_code => self.page_beside(request, parent, &arguments),
            _ => {
                let page = Page::of(&arguments);
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
    fn page_beside(&mut self, request: &Request, parent: Parent, arguments: &VariablesArguments) {
        let page = Page::of(arguments);
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
        let mut variables: Vec<_> = found
            .variables
            .iter()
            .map(|variable| self.variable(parent.frame, variable))
            .collect();
        // What could not be told is told where it would have been.
        for note in found.notes {
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
            if let Inside::Made(_) = parent.inside {
                let text = "this value exists only in the debugger: there is nothing to set";
                return Err(Refusal::new("notSettable", text));
            }
            let found = self.ask_variables(VariablesQuery {
                names: vec![arguments.name.clone()],
                count: PAGE,
                ..query(&parent, None, self.shown)
            })?;
            let mut named = found.variables.into_iter();
            let variable =
                named.find(|variable| variable.name == arguments.name && !variable.shadowed);
            let variable = variable.ok_or_else(|| {
                Refusal::new("noVariable", format!("there is no {} here", arguments.name))
            })?;
            let format = arguments.format.as_ref();
            Ok(Wish::set(
                &variable.path,
                arguments.value,
                Some(parent.frame),
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
