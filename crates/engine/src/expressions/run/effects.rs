//! What a run cannot do by reading: calls, new objects, writes. And the journal that lets a run go on behind them.

use std::rc::Rc;

use syntax::Span;

use super::{Interrupt, Made, Result, Runner, Val, null_reference, unreadable};
use crate::expressions::error::Fail;
use crate::expressions::getters::field_behind;
use crate::expressions::plan::{Callee, FieldRef, Node, Op, Referred};
use crate::expressions::scalar::Scalar;
use crate::types::{Kind, Method, Type};
use crate::values::{Held, Snapshot, Unreadable, Value};

/// Parameters of a method that can be called past its override: as many as the framework's own delegates have.
const MAX_EXACT: usize = 16;

/// Something to be done in the program before a run can go on.
#[derive(Debug)]
pub(crate) enum Effect {
    /// A method is to be called.
    Call {
        /// Which.
        callee: Rc<Callee>,
        /// `this` and its static type.
        target: Option<(Val, Type)>,
        /// The arguments and the types of the parameters.
        arguments: Vec<(Val, Type)>,
        /// Which of them are passed by reference, so that what is there afterwards is wanted too.
        references: Vec<usize>,
        /// Whether exactly this method is meant although the object's own type overrides it.
        exact: bool,
        /// Where it stands.
        span: Span,
    },
    /// A type's class constructor is to be run.
    Construct {
        /// The type.
        ty: Type,
        /// Where its static field stands.
        span: Span,
    },
    /// An object is to be created.
    New {
        /// The constructor.
        callee: Rc<Callee>,
        /// The arguments and the types of the parameters.
        arguments: Vec<(Val, Type)>,
        /// Where it stands.
        span: Span,
    },
    /// A place is to be written.
    Write {
        /// The variable of the frame that it is or lies in, if it is one.
        variable: Option<usize>,
        /// Where.
        place: Value,
        /// What.
        value: Val,
        /// Where it stands.
        span: Span,
    },
}

/// What is known of an earlier run of the same plan.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// Whether anything is noted at all: only if the plan may have effects.
    pub(crate) active: bool,
    entries: Vec<Entry>,
    position: usize,
    /// Types whose class constructor was run, and what it threw. They have no entry of their own: a run that is made again
    /// reads the field where it asked for the constructor before.
    constructed: Vec<(Type, Option<Box<Fail>>)>,
}

#[derive(Debug, Clone)]
enum Entry {
    /// A value that stays what it is.
    Plain(Val),
    /// An object, wherever it is now.
    Held(Held),
    /// A struct as it was.
    Taken(Rc<Snapshot>),
    /// To be read again: what exists only here.
    Again,
    /// The effect threw.
    Thrown(Box<Fail>),
    /// What is in an array of one element or in a box, which was made to be passed by reference.
    Element(Held),
}

impl Journal {
    /// Starts from the first entry.
    pub(super) fn rewind(&mut self) {
        self.position = 0;
    }

    fn next(&mut self) -> Option<Entry> {
        let entry = self.entries.get(self.position).cloned();
        if entry.is_some() {
            self.position += 1;
        }
        entry
    }

    fn note(&mut self, entry: Entry) {
        self.entries.push(entry);
        self.position = self.entries.len();
    }

    /// Notes what an effect gave that is no object.
    pub(crate) fn done(&mut self, value: Val) {
        self.note(Entry::Plain(value));
    }

    /// Notes the object that an effect gave.
    pub(crate) fn done_held(&mut self, held: Held) {
        self.note(Entry::Held(held));
    }

    /// Notes the array in which a call left something.
    pub(crate) fn left(&mut self, array: Held) {
        self.note(Entry::Element(array));
    }

    /// Notes that a class constructor was run, and what it threw.
    pub(crate) fn constructed(&mut self, ty: Type, threw: Option<Box<Fail>>) {
        self.constructed.push((ty, threw));
    }

    /// Notes that an effect threw.
    pub(crate) fn threw(&mut self, fail: Box<Fail>) {
        self.note(Entry::Thrown(fail));
    }
}

impl Runner<'_, '_> {
    /// Reads, or takes what was read before an effect.
    pub(super) fn journaled(
        &mut self,
        node: &Node,
        read: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        if !self.journal.active {
            return read(self);
        }
        match self.journal.next() {
            Some(Entry::Plain(value)) => return Ok(value),
            Some(Entry::Held(held)) => {
                let object = self
                    .reader
                    .held(&held)
                    .map_err(|why| self.unreadable(&why, node.span))?;
                return Ok(Val::Object(object));
            }
            Some(Entry::Taken(snapshot)) => {
                let value = self
                    .reader
                    .restored(&snapshot)
                    .map_err(|why| self.unreadable(&why, node.span))?;
                return Ok(Val::Struct(value));
            }
            Some(Entry::Again | Entry::Element(_)) => return read(self),
            Some(Entry::Thrown(fail)) => return Err(Interrupt::Fail(fail)),
            None => {}
        }
        let value = read(self)?;
        let entry = match &value {
            Val::Null | Val::Scalar(_) => Entry::Plain(value.clone()),
            Val::Object(object) => match self.reader.hold(object) {
                Ok(held) => Entry::Held(held),
                Err(_) => Entry::Again,
            },
            Val::Struct(place) => match self.reader.snapshot(place) {
                Ok(snapshot) => Entry::Taken(Rc::new(snapshot)),
                Err(_) => Entry::Again,
            },
            _ => Entry::Again,
        };
        self.journal.note(entry);
        Ok(value)
    }

    /// The outcome of an effect, or the demand that it is brought about.
    pub(super) fn effect(&mut self, span: Span, effect: impl FnOnce() -> Effect) -> Result<Val> {
        match self.journal.next() {
            Some(Entry::Plain(value)) => Ok(value),
            Some(Entry::Held(held)) => {
                let object = self
                    .reader
                    .held(&held)
                    .map_err(|why| self.unreadable(&why, span))?;
                let boxed = object.ty.is_value() == Some(true);
                Ok(if boxed && let Some(value) = self.reader.unboxed(&object) {
                    self.decode(&value, span)?
                } else {
                    Val::Object(object)
                })
            }
            Some(Entry::Thrown(fail)) => {
                let mut fail = fail;
                fail.span = span;
                Err(Interrupt::Fail(fail))
            }
            Some(Entry::Again | Entry::Element(_) | Entry::Taken(_)) | None => {
                Err(Interrupt::Effect(Box::new(effect())))
            }
        }
    }

    /// Refuses a static field whose class constructor threw for this evaluation, whatever it has set before.
    pub(super) fn constructed(&self, field: &FieldRef, span: Span) -> Result<()> {
        let mut all = self.journal.constructed.iter();
        let ours = |ty: &Type| ty.as_named() == Some(&field.declared_in);
        match all.find(|(ty, _)| ours(ty)) {
            Some((_, Some(threw))) => {
                let mut fail = threw.clone();
                fail.span = span;
                Err(Interrupt::Fail(fail))
            }
            _ => Ok(()),
        }
    }

    /// A static field whose class constructor has not run: the demand that it is, where code may run.
    pub(super) fn construct(&self, field: &FieldRef, why: &Unreadable, span: Span) -> Interrupt {
        let ty = Type::Named(field.declared_in.clone());
        let has_run = self.journal.constructed.iter().any(|(it, _)| *it == ty);
        if has_run {
            return unreadable(why, span).into();
        }
        if self.around.calls {
            return Interrupt::Effect(Box::new(Effect::Construct { ty, span }));
        }
        let hint = "allow side effects for this evaluation, which runs the class constructor as the program would";
        unreadable(why, span).hint(hint).into()
    }

    fn refuse(&self, what: &str, span: Span) -> Interrupt {
        Fail::new(
            span,
            format!("{what} would run code in the program, which is not allowed here"),
        )
        .hint("allow side effects for this evaluation")
        .into()
    }

    pub(super) fn call(
        &mut self,
        node: &Node,
        callee: &Rc<Callee>,
        target: Option<(Val, Type)>,
        arguments: Vec<Val>,
        nodes: &[Node],
    ) -> Result<Val> {
        let span = node.span;
        if nodes.iter().any(|it| matches!(it.op, Op::Reference(..))) {
            if let Some((Val::Null, ty)) = &target
                && self.types.nullable_of(ty).is_none()
            {
                return Err(null_reference(span));
            }
            return self.call_by_reference(callee, target, arguments, nodes, span);
        }
        if let Some(intrinsic) = callee.intrinsic {
            let receiver = target.as_ref().map(|(value, ty)| (value, ty));
            if let Some(value) = self.known(intrinsic, callee, receiver, &arguments, nodes, node)? {
                return Ok(value);
            }
        }
        if let Some((value, ty)) = &target {
            if matches!(value, Val::Null) && self.types.nullable_of(ty).is_none() {
                return Err(null_reference(span));
            }
            if let Val::Made(made) = value
                && let Made::Closure(_) = &**made
                && callee.method.name == "Invoke"
            {
                return self.invoke(value, arguments, span);
            }
            if let Some(field) = self.getter_field(value, callee, &arguments) {
                let value = value.clone();
                return self.journaled(node, |this| this.field(&value, &field, span));
            }
        }
        if let Some(value) = self.made_member(callee, target.as_ref(), &arguments)? {
            return Ok(value);
        }
        let exact = self.is_past_override(callee, target.as_ref(), span)?;
        if !self.around.calls {
            let name = written_name(&callee.method);
            return Err(self.refuse(&format!("calling `{name}`"), span));
        }
        let parameters = callee.method.parameters.iter().map(|it| it.ty.clone());
        let arguments: Vec<(Val, Type)> = arguments.into_iter().zip(parameters).collect();
        self.effect(span, || Effect::Call {
            callee: callee.clone(),
            target,
            arguments,
            references: Vec::new(),
            exact,
            span,
        })
    }

    /// Whether exactly the method is meant although the object's own type overrides it: the library always calls the override.
    pub(super) fn is_past_override(
        &self,
        callee: &Callee,
        target: Option<&(Val, Type)>,
        span: Span,
    ) -> Result<bool> {
        let Some((value, _)) = target else {
            return Ok(false);
        };
        if callee.is_virtual || !callee.method.flags.is_virtual() {
            return Ok(false);
        }
        let exact = self.exact_type(value);
        let runs = exact.and_then(|exact| self.implementation(&exact, &callee.method));
        if runs.is_none_or(|runs| runs.token == callee.method.token) {
            return Ok(false);
        }
        if exact_shape(callee).is_none() || !matches!(value, Val::Object(_)) {
            return Err(Fail::new(
                span,
                format!(
                    "`base.{}` cannot be called: the object's own type overrides it, and past an override only methods of classes can be called that are not generic, take no references and at most {MAX_EXACT} arguments",
                    written_name(&callee.method)
                ),
            )
            .into());
        }
        Ok(true)
    }

    /// Calls a method that takes references: what it leaves there goes where they lead.
    fn call_by_reference(
        &mut self,
        callee: &Rc<Callee>,
        target: Option<(Val, Type)>,
        arguments: Vec<Val>,
        nodes: &[Node],
        span: Span,
    ) -> Result<Val> {
        if !self.around.calls {
            let name = written_name(&callee.method);
            return Err(self.refuse(&format!("calling `{name}`"), span));
        }
        let referred: Vec<(usize, &Referred, &Node)> = nodes
            .iter()
            .enumerate()
            .filter_map(|(index, node)| match &node.op {
                Op::Reference(to, _) => Some((index, to, node)),
                _ => None,
            })
            .collect();
        let references = referred.iter().map(|(index, ..)| *index).collect();
        let parameters = callee.method.parameters.iter().map(|it| it.ty.clone());
        let arguments: Vec<(Val, Type)> = arguments.into_iter().zip(parameters).collect();
        let result = self.effect(span, || Effect::Call {
            callee: callee.clone(),
            target,
            arguments,
            references,
            exact: false,
            span,
        })?;
        // They follow the result in the journal.
        let mut left = Vec::with_capacity(referred.len());
        for (_, _, node) in &referred {
            left.push(self.left_behind(node.span)?);
        }
        for ((_, to, node), value) in referred.into_iter().zip(left) {
            match to {
                Referred::Slot(slot) => self.set(*slot, value),
                Referred::Place(place) => {
                    self.write(place, value, node)?;
                }
                Referred::Nothing => {}
            }
        }
        Ok(result)
    }

    /// What a call left in an argument that was passed by reference.
    fn left_behind(&mut self, span: Span) -> Result<Val> {
        let Some(Entry::Element(array)) = self.journal.next() else {
            return Err(
                Fail::new(span, "what the method left in the argument is not known").into(),
            );
        };
        let reader = self.reader;
        let value = reader
            .held(&array)
            .and_then(|home| match reader.unboxed(&home) {
                Some(inner) => Ok(inner),
                None => reader.element(&home, 0),
            })
            .map_err(|why| self.unreadable(&why, span))?;
        self.decode(&value, span)
    }

    /// Members of what exists only here: the length of sequences, the names of types.
    fn made_member(
        &mut self,
        callee: &Callee,
        target: Option<&(Val, Type)>,
        arguments: &[Val],
    ) -> Result<Option<Val>> {
        let types = |value: &Val| match value {
            Val::Made(made) => match &**made {
                Made::Type(ty) => Some(ty.clone()),
                _ => None,
            },
            _ => None,
        };
        let name = &*callee.method.name;
        if let [one, other] = arguments
            && let (Some(one), Some(other)) = (types(one), types(other))
        {
            return Ok(match name {
                "op_Equality" => Some(Val::bool(one == other)),
                "op_Inequality" => Some(Val::bool(one != other)),
                _ => None,
            });
        }
        let Some((target, _)) = target else {
            return Ok(None);
        };
        if let Some(ty) = types(target) {
            let full = self.reflection_name(&ty);
            let bare = full.split('[').next().unwrap_or(&full);
            let short = bare.rsplit(['.', '+']).next().unwrap_or(bare);
            return Ok(match name {
                "get_Name" => Some(Val::text(short)),
                _ => None,
            });
        }
        if let Val::Made(made) = target
            && let Made::Sequence(_, items, _) = &**made
        {
            return Ok(match name {
                "get_Count" | "get_Length" => Some(Val::int(items.len() as i128)),
                _ => None,
            });
        }
        Ok(None)
    }

    pub(super) fn create(
        &mut self,
        node: &Node,
        callee: &Rc<Callee>,
        arguments: Vec<Val>,
        nodes: &[Node],
    ) -> Result<Val> {
        let span = node.span;
        if let Some(intrinsic) = callee.intrinsic
            && let Some(value) = self.known(intrinsic, callee, None, &arguments, nodes, node)?
        {
            return Ok(value);
        }
        if !self.around.calls {
            return Err(self.refuse(&format!("creating a `{}`", self.types.text(&node.ty)), span));
        }
        let parameters = callee.method.parameters.iter().map(|it| it.ty.clone());
        let arguments: Vec<(Val, Type)> = arguments.into_iter().zip(parameters).collect();
        self.effect(span, || Effect::New {
            callee: callee.clone(),
            arguments,
            span,
        })
    }

    /// The field that a getter reads, for the very object.
    fn getter_field(&self, value: &Val, callee: &Callee, arguments: &[Val]) -> Option<FieldRef> {
        if !arguments.is_empty() || !callee.method.name.starts_with("get_") {
            return None;
        }
        let method = if callee.is_virtual {
            self.implementation(&self.exact_type(value)?, &callee.method)?
        } else {
            callee.method.clone()
        };
        field_behind(self.types, &method)
    }

    /// The method that runs when a virtual one is called on an object of a type.
    pub(super) fn implementation(&self, exact: &Type, method: &Method) -> Option<Method> {
        let from_interface = method.declared_in.kind == Kind::Interface;
        let suffix = format!(".{}", method.name);
        for level in self.types.ancestry(exact).ok()? {
            let found = self.types.methods(&level, Some(&method.name)).ok()?;
            let same = found.into_iter().find(|it| {
                it.parameters.len() == method.parameters.len()
                    && !it.flags.is_static()
                    && it.arity == method.arity
            });
            if from_interface {
                let all = self.types.methods(&level, None).ok()?;
                let explicit = all.into_iter().find(|it| it.name.ends_with(&suffix));
                if explicit.is_some() {
                    return explicit;
                }
            }
            if same.is_some() {
                return same;
            }
        }
        None
    }

    /// Calls a lambda.
    pub(super) fn invoke(&mut self, target: &Val, arguments: Vec<Val>, span: Span) -> Result<Val> {
        let Val::Made(made) = target else {
            return Err(match target {
                Val::Null => null_reference(span),
                _ => super::misfit(span),
            });
        };
        let Made::Closure(closure) = &**made else {
            return Err(super::misfit(span));
        };
        let outer: Vec<(u32, Val)> = closure
            .slots
            .iter()
            .map(|slot| {
                (
                    *slot,
                    self.slots.get(*slot as usize).cloned().unwrap_or(Val::Null),
                )
            })
            .collect();
        for (slot, value) in closure.slots.iter().zip(arguments) {
            self.set(*slot, value);
        }
        let result = self.eval(&closure.body);
        for (slot, value) in outer {
            self.set(slot, value);
        }
        result
    }

    /// The text of a value that is a string.
    pub(super) fn string_of(&mut self, value: &Val, span: Span) -> Result<Option<Rc<[u16]>>> {
        match self.as_scalar(value.clone(), span)? {
            Val::Scalar(Scalar::String(units)) => Ok(Some(units)),
            _ => Ok(None),
        }
    }
}

/// The parameters and result of a method that a delegate of the framework can have the shape of.
pub(in crate::expressions) fn exact_shape(callee: &Callee) -> Option<(Vec<Type>, Type)> {
    let method = &callee.method;
    let is_plain = |ty: &Type| !matches!(ty, Type::ByRef(_) | Type::Pointer(_) | Type::Function(_));
    let parameters: Vec<Type> = method.parameters.iter().map(|it| it.ty.clone()).collect();
    let fits = callee.arguments.is_empty()
        && parameters.len() <= MAX_EXACT
        && parameters.iter().chain([&method.returns]).all(is_plain);
    fits.then(|| (parameters, method.returns.clone()))
}

/// The name that C# writes for a call: a property's for its accessors.
fn written_name(method: &Method) -> &str {
    let accessed = ["get_", "set_"]
        .iter()
        .find_map(|it| method.name.strip_prefix(it));
    accessed
        .filter(|_| method.flags.is_special_name())
        .unwrap_or(&method.name)
}
