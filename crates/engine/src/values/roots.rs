//! Where paths begin and how they go on: variables of a frame, exceptions, results, kept objects, what calls returned.

use std::rc::Rc;

use cordebug::thread::{Frame, Thread};
use metadata::csharp::GeneratedKind;

use crate::api::{Error, ErrorCode, VariableKind, VariableScope};
use crate::expressions::scalar;
use crate::target::Target;
use crate::types::{Field, Named, Type, TypeNotes};

use super::scope::{self, Scope};
use super::shape::generated_kind;
use super::view::{Child, Viewer};
use super::walk::{self, Step};
use super::{Reader, ReturnedCall, Snapshot, Unreadable};

/// What is said of a field that holds variables which symbols do not name.
const SHARED: &str = "the optimising compiler gave several variables this field: symbols do not say which one is in it, or whether that is still in scope";

/// The same of one that was first made for a variable of the compiler.
const TAKEN_OVER: &str = "the optimising compiler keeps a variable in a field that it had made for one of its own: symbols do not say which variable, or whether that is still in scope";

/// What the names of returned values begin with.
const RETURNED: &str = "$returnvalue";

/// The member whose name has dots in it, as explicit implementations of interfaces have, and how many more steps it takes.
fn explicit(
    viewer: &Viewer<'_, '_>,
    value: &super::Value,
    notes: &TypeNotes,
    first: &str,
    more: impl Iterator<Item = (usize, Step)>,
) -> Option<(usize, Child)> {
    let mut name = first.to_owned();
    for (count, (_, step)) in (1..).zip(more) {
        let Step::Member(next) = step else { break };
        name = format!("{name}.{next}");
        let member = viewer.member_named(value, notes, &name);
        if let Some(member) = member.or_else(|| viewer.asked_member(value, notes, &name)) {
            return Some((count, member));
        }
    }
    None
}

/// Where paths begin: the variables of a frame, the exception, kept objects.
pub(crate) struct Roots<'r, 't> {
    pub(crate) target: &'r Target,
    pub(crate) reader: &'r Reader<'t>,
    pub(crate) thread: &'r Thread,
    /// The frame, if there is one: exceptions and kept objects need none.
    pub(crate) frame: Result<Frame, Error>,
    pub(crate) index: u32,
}

impl Roots<'_, '_> {
    pub(super) fn scope(&self) -> Result<Scope, Error> {
        self.target.scope(self.reader, self.frame.clone()?)
    }

    /// What a path leads to, with the name of its last step.
    pub(crate) fn at_path(&self, viewer: &Viewer<'_, '_>, path: &str) -> Result<Child, Error> {
        let failed = |why: &Unreadable| {
            Error::new(
                ErrorCode::InvalidParameter,
                format!("\"{path}\" cannot be found: {why}"),
            )
        };
        let steps = walk::steps(path).map_err(|why| failed(&why))?;
        let mut steps = steps.into_iter().peekable();
        let Some((_, Step::Member(root))) = steps.next() else {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                format!("\"{path}\" does not begin with a variable"),
            ));
        };
        let mut child = self.root(&root)?;
        while let Some((at, step)) = steps.next() {
            let (of, declared) = (child.ty.clone(), child.notes.clone());
            let of_part = |part: &Type, an_element: bool| {
                declared.of_part(self.reader.types, &of, part, an_element)
            };
            if let (Step::Member(name), Ok(value)) = (&step, &child.value) {
                let mut found = viewer.member_named(value, &child.notes, name);
                if found.is_none()
                    && let Some((count, member)) =
                        explicit(viewer, value, &child.notes, name, steps.clone())
                {
                    found = Some(member);
                    steps.by_ref().take(count).for_each(drop);
                }
                if let Some(member) = found {
                    // An element of a tuple that is asked for by its number has the name that it was given.
                    let is_veiled = member.name != *name
                        && steps.peek().is_some()
                        && viewer.is_secret_variable(&member.name, &member.ty);
                    child = member;
                    if is_veiled {
                        child.value = Err(Unreadable::Masked(child.ty.clone()));
                    }
                    if child.notes.tuple_names.is_empty() {
                        child.notes = of_part(&child.ty, false);
                    }
                    continue;
                }
            }
            // To C# a name in brackets is a variable, if there is one.
            if let Step::Constant(name) = &step
                && self.root(name).is_ok()
            {
                return Err(failed(&walk::no_index(path, at)));
            }
            let value = match &child.value {
                Ok(value) if viewer.is_nullable(value) => viewer.step_into_nullable(value, &step),
                Ok(value) => viewer.step(value, &step),
                Err(why) => Err(why.clone()),
            };
            // A whole value that cannot be reached is an error; one that cannot be read is told as such.
            let value = match value {
                Err(
                    why @ (Unreadable::NoField { .. }
                    | Unreadable::NoElement { .. }
                    | Unreadable::OutOfRange { .. }
                    | Unreadable::Null { .. }
                    | Unreadable::WrongKind { .. }),
                ) => {
                    return Err(Error::new(
                        ErrorCode::InvalidParameter,
                        format!("\"{path}\" cannot be followed at {at}: {why}"),
                    )
                    .hint("ask for the members of what comes before"));
                }
                value => value,
            };
            child.name = match &step {
                Step::Member(name) => name.clone(),
                Step::Index(indexes) => format!("{indexes:?}"),
                Step::Key(key) => {
                    let units: Vec<u16> = key.encode_utf16().collect();
                    format!("[{}]", scalar::quoted(&units))
                }
                Step::Constant(name) => format!("[{name}]"),
                Step::Position(position) => format!("[#{position}]"),
            };
            child.kind = match step {
                Step::Member(_) => VariableKind::Field,
                _ => VariableKind::Element,
            };
            child.ty = match &value {
                Ok(value) => value.ty.clone(),
                Err(Unreadable::Masked(ty)) => ty.clone(),
                Err(_) => match (&child.value, &step) {
                    (Ok(of), Step::Member(name)) => viewer.type_of_property(of, name),
                    _ => None,
                }
                .unwrap_or(Type::OBJECT),
            };
            child.notes = of_part(&child.ty, !matches!(step, Step::Member(_)));
            child.value = value;
            child.display = None;
        }
        child.path = path.to_owned();
        Ok(child)
    }

    pub(super) fn root(&self, name: &str) -> Result<Child, Error> {
        if name == "$exception" {
            return self.exception().ok_or_else(|| {
                Error::new(
                    ErrorCode::InvalidParameter,
                    "there is no exception in flight on this thread",
                )
            });
        }
        if let Some(number) = name.strip_prefix("#e") {
            return self.result(name, number);
        }
        if name.starts_with(RETURNED) {
            return self.returned_named(name);
        }
        if let Some(id) = name.strip_prefix('#') {
            return self.object(name, id);
        }
        if let Some(number) = name.strip_prefix('$') {
            return self.kept(name, number);
        }
        let frame = self.frame.clone()?;
        let scope = self.target.scope_of(self.reader, frame, name)?;
        if let Some(variable) = scope.find(name) {
            return Ok(child(variable));
        }
        if let Some((_, member)) = self.member_of_this(&scope, name) {
            return Ok(member);
        }
        if let Some(found) = self.static_of(&scope, name)? {
            let (named, field) = &found;
            return Ok(Child {
                kind: VariableKind::Static,
                ty: field.ty.clone(),
                ..pseudo(name, self.reader.static_field(named, field, None))
            });
        }
        let scope = self.scope()?;
        let names: Vec<String> = scope.variables.iter().map(|it| it.name.clone()).collect();
        Err(Error::new(
            ErrorCode::InvalidParameter,
            format!("frame {} has no variable {name}", self.index),
        )
        .hint(
            "names are those of arguments, locals, captured variables, and fields of the code's own type",
        )
        .details(crate::api::Details::Candidates(names)))
    }

    fn object(&self, name: &str, id: &str) -> Result<Child, Error> {
        let address = id
            .parse()
            .ok()
            .and_then(|id| self.target.object_ids.address(self.target.runs, id));
        let object = address.map(|address| self.reader.object_at(address));
        let Some(object) = object else {
            return Err(Error::new(
                ErrorCode::StaleReference,
                format!("there is no object {name}: it was never told, or the program or its collector ran since"),
            )
            .hint("ask again for the value; its object id is told with it"));
        };
        let value = object.map(|object| self.reader.reference_to(&object));
        Ok(pseudo(name, value))
    }

    /// The result of an expression.
    fn result(&self, name: &str, number: &str) -> Result<Child, Error> {
        let number = number.parse().ok();
        let found = number.and_then(|it| self.target.result_place(self.reader, it));
        let found = found.map(|(value, notes)| Child {
            notes,
            ..pseudo(name, value)
        });
        found.ok_or_else(|| {
            Error::new(
                ErrorCode::StaleReference,
                format!("there is no result {name}: it is of an earlier stop, or of too long ago"),
            )
            .hint("evaluate the expression again")
        })
    }

    /// A field of `this`, as C# lets one name it.
    pub(super) fn member_of_this(
        &self,
        scope: &Scope,
        name: &str,
    ) -> Option<(super::Value, Child)> {
        let this = scope.this()?.value.clone().ok()?;
        let view = crate::api::View::default();
        let viewer = Viewer::new(self.reader, &view, &self.target.object_ids);
        let mut member = viewer.member_named(&this, &TypeNotes::default(), name)?;
        member.path = name.to_owned();
        Some((this, member))
    }

    /// A static field of the type that the code is in, or of one of its base types.
    pub(super) fn static_of(
        &self,
        scope: &Scope,
        name: &str,
    ) -> Result<Option<(Rc<Named>, Field)>, Error> {
        let types = self.reader.types;
        let told = |why: Unreadable| {
            Error::new(
                ErrorCode::InvalidParameter,
                format!("the static members cannot be told: {why}"),
            )
        };
        let ty = Type::Named(scope.context.user_type(types).map_err(told)?);
        for named in types.ancestry(&ty).map_err(|why| told(why.into()))? {
            let fields = types.fields(&named).map_err(|why| told(why.into()))?;
            let shown = |field: &&Field| {
                field.flags.is_static()
                    && metadata::csharp::field_display_name(&field.name)
                        .is_some_and(|shown| shown == name)
                    && self.reader.tells_property(&named, field)
            };
            if let Some(field) = fields.iter().find(shown) {
                return Ok(Some((named, field.clone())));
            }
        }
        Ok(None)
    }

    fn kept(&self, name: &str, number: &str) -> Result<Child, Error> {
        let held = number.parse().ok();
        let held = held.and_then(|number: u64| self.target.kept.get(&number));
        let Some(held) = held else {
            return Err(super::requests::no_such_kept(self.target, name));
        };
        let object = self.reader.held(held);
        let value = object.map(|object| self.reader.reference_to(&object));
        Ok(pseudo(name, value))
    }

    fn exception(&self) -> Option<Child> {
        let value = self.reader.exception_on(self.thread)?;
        Some(pseudo("$exception", value))
    }

    /// What the calls of the last step returned, if it ended in this frame.
    fn returned(&self) -> Vec<Child> {
        let named = self.returned_calls();
        let told = |(name, call): (String, &ReturnedCall)| {
            let restored = |it: &Snapshot| self.reader.restored(it);
            let value = call.value.as_ref().map_err(Unreadable::clone);
            Child {
                ty: call.ty.clone(),
                notes: call.notes.clone(),
                ..pseudo(&name, value.and_then(restored))
            }
        };
        named.map(told).collect()
    }

    fn returned_calls(&self) -> impl Iterator<Item = (String, &ReturnedCall)> {
        let thread = self.thread.id().unwrap_or(0);
        let here = self.index == 0;
        let named = self.target.returned.named(thread);
        named.filter(move |_| here)
    }

    fn returned_named(&self, name: &str) -> Result<Child, Error> {
        let mut returned = self.returned();
        let known: Vec<String> = returned.iter().map(|it| it.name.clone()).collect();
        let number = name.strip_prefix(RETURNED).unwrap_or_default();
        let at = match number.parse::<usize>() {
            Ok(number) => number.checked_sub(1),
            Err(_) if number.is_empty() => returned.len().checked_sub(1),
            Err(_) => None,
        };
        if let Some(at) = at.filter(|at| *at < returned.len()) {
            return Ok(returned.swap_remove(at));
        }
        Err(Error::new(
            ErrorCode::InvalidParameter,
            format!("there is no {name}: the last step on this thread ended behind no such call that returns a value"),
        )
        .hint("it is there in frame 0 after a step over, or out of, a call that returns something")
        .details(crate::api::Details::Candidates(known)))
    }

    /// Whether a path begins with what a method returned whose name says that it is a secret.
    pub(super) fn returns_secret(&self, path: &str) -> bool {
        let root = path.split(['.', '[', '?']).next().unwrap_or_default();
        if !root.starts_with(RETURNED) {
            return false;
        }
        let last = || self.returned_calls().last();
        let call = self.returned_calls().find(|(name, _)| name == root);
        call.or_else(last).is_some_and(|(_, call)| call.is_secret())
    }

    /// Says of returned values which method they are from, and masks them if its name says so.
    pub(super) fn say_who_returned(
        &self,
        variables: &mut [crate::api::Variable],
        mask_secrets: bool,
    ) {
        let numbered = |name: &str| name.starts_with(RETURNED);
        for variable in variables.iter_mut().filter(|it| numbered(&it.name)) {
            let mut calls = self.returned_calls();
            if let Some((_, call)) = calls.find(|(name, _)| *name == variable.name) {
                if mask_secrets && call.is_secret() {
                    variable.value = super::view::masked(variable.value.type_name.clone());
                }
                let note = format!("returned by {}", call.method);
                variable.value.notes.push(note);
            }
        }
    }

    /// Says of fields that hold a variable without a name what is not known of it.
    pub(super) fn say_what_shares_a_field(variables: &mut [crate::api::Variable]) {
        for variable in variables {
            let note = match generated_kind(&variable.name) {
                Some(GeneratedKind::HoistedLocal) => SHARED,
                Some(GeneratedKind::ReusableLocal) => TAKEN_OVER,
                _ => continue,
            };
            if variable.kind == VariableKind::Local {
                variable.value.notes.push(note.into());
            }
        }
    }

    /// Which declaration each variable of the frame is.
    pub(super) fn declarations(&self) -> Result<Vec<u64>, Error> {
        let scope = self.scope()?;
        Ok(scope.variables.iter().map(|it| it.declaration).collect())
    }

    /// The variables of the frame, and something to know about them.
    pub(super) fn list(
        &self,
        viewer: &Viewer<'_, '_>,
        wanted: VariableScope,
    ) -> Result<(Vec<Child>, Option<String>), Error> {
        let scope = self.scope()?;
        let note = scope.without_symbols.as_ref().map(|why| {
            format!("locals are told by number and without their scopes: no symbols ({why})")
        });
        let is_wanted = |kind: scope::VariableKind| match wanted {
            VariableScope::All => true,
            VariableScope::Arguments => matches!(
                kind,
                scope::VariableKind::This | scope::VariableKind::Argument
            ),
            VariableScope::Locals => !matches!(
                kind,
                scope::VariableKind::This | scope::VariableKind::Argument
            ),
            VariableScope::Statics | VariableScope::TypeArguments => false,
        };
        let variables = scope.variables.iter();
        let mut list: Vec<Child> = variables
            .filter(|it| is_wanted(it.kind))
            .map(child)
            .collect();
        match wanted {
            VariableScope::All | VariableScope::Locals => {
                list.extend(self.exception());
                list.extend(self.returned());
            }
            VariableScope::Statics => {
                let statics = scope
                    .context
                    .user_type(self.reader.types)
                    .and_then(|ty| viewer.static_list(&Type::Named(ty)));
                list = statics.map_err(|why| {
                    Error::new(
                        ErrorCode::InvalidParameter,
                        format!("the static members cannot be told: {why}"),
                    )
                })?;
            }
            VariableScope::TypeArguments => list = self.type_arguments(&scope),
            VariableScope::Arguments => {}
        }
        Ok((list, note))
    }

    fn type_arguments(&self, scope: &Scope) -> Vec<Child> {
        let types = self.reader.types;
        let context = &scope.context;
        let names = match types.metadata(context.module) {
            Ok(module) => metadata::csharp::GenericNames::declared(
                module.metadata(),
                Some(context.declared_in.token),
                Some(context.method),
            ),
            Err(_) => return Vec::new(),
        };
        let of_type = names
            .of_type
            .into_iter()
            .zip(context.generics.of_type.iter());
        let of_method = names
            .of_method
            .into_iter()
            .zip(context.generics.of_method.iter());
        let told = |(name, ty): (String, &Type)| {
            let text: Vec<u16> = types.full_text(ty).encode_utf16().collect();
            Child {
                path: name.clone(),
                name,
                kind: VariableKind::TypeArgument,
                ty: Type::OBJECT,
                notes: TypeNotes::default(),
                value: Ok(self.reader.text(text)),
                shadowed: false,
                display: None,
            }
        };
        of_type.chain(of_method).map(told).collect()
    }
}

fn pseudo(name: &str, value: super::Result<super::Value>) -> Child {
    Child {
        name: name.to_owned(),
        kind: VariableKind::Pseudo,
        path: name.to_owned(),
        ty: match &value {
            Ok(value) => value.ty.clone(),
            Err(_) => Type::OBJECT,
        },
        notes: TypeNotes::default(),
        value,
        shadowed: false,
        display: None,
    }
}

fn child(variable: &scope::Variable) -> Child {
    Child {
        name: variable.name.clone(),
        kind: match variable.kind {
            scope::VariableKind::This => VariableKind::This,
            scope::VariableKind::Argument => VariableKind::Argument,
            scope::VariableKind::Local => VariableKind::Local,
            scope::VariableKind::Constant => VariableKind::Constant,
            scope::VariableKind::Captured => VariableKind::Captured,
        },
        path: variable.name.clone(),
        ty: variable.ty.clone(),
        notes: variable.notes.clone(),
        value: variable.value.clone(),
        shadowed: variable.shadowed,
        display: None,
    }
}
