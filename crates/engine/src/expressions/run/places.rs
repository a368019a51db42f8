//! Places: what can be assigned, found once and then read and set, in the order of C#.
//!
//! What leads to a place (the object of a field, the indices of an element, the arguments of an indexer) is evaluated exactly
//! once, before the value that goes there. A struct's methods and setters get the place of the struct itself, so that what
//! they change is changed in the variable.

use std::rc::Rc;

use syntax::Span;

use super::effects::{Effect, Store, Wanted};
use super::{Result, Runner, Val, integer, null_reference};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, FieldRef, Node, Op};
use crate::types::{Kind, Method, Type};
use crate::values::{Object, Unreadable, Value};

/// A place, with everything that leads to it evaluated.
#[derive(Debug)]
pub(crate) enum Located {
    /// A variable of the frame.
    Variable(usize),
    /// A static field.
    Static(FieldRef),
    /// A field of an object.
    Member(Val, FieldRef),
    /// A field of a struct that lies somewhere.
    Part(Box<Located>, FieldRef),
    /// An element of an array.
    Element(Val, Vec<i128>),
    /// A property or an indexer.
    Property(Box<Accessed>),
    /// Where a call led that returns by reference, and when in the run that was found out.
    Referred(Value, usize),
}

/// A property, with what it belongs to.
#[derive(Debug)]
pub(crate) struct Accessed {
    pub(super) target: Option<(Val, Type)>,
    /// Where the struct lies that it belongs to.
    pub(super) home: Option<Home>,
    pub(super) arguments: Vec<Val>,
}

/// A place in the program by the way that leads there, which goes on leading there when objects are moved.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    /// Where it begins.
    pub(crate) root: HomeRoot,
    /// What leads on from there.
    pub(crate) steps: Vec<HomeStep>,
}

/// Where the way to a place begins.
#[derive(Debug, Clone)]
pub(crate) enum HomeRoot {
    /// A variable of the frame.
    Variable(usize),
    /// A static field.
    Static(FieldRef),
    /// An object.
    Object(Object),
    /// A call that returns by reference.
    Led(Box<Effect>),
}

/// A step on the way to a place.
#[derive(Debug, Clone)]
pub(crate) enum HomeStep {
    /// A field.
    Field(FieldRef),
    /// An element, by its position in memory.
    Element(u64),
}

impl Runner<'_, '_> {
    /// `place = value`
    pub(super) fn assign(&mut self, place: &Node, value: &Node, node: &Node) -> Result<Val> {
        self.may_write(node.span)?;
        if let Some(stored) = self.store_by_reference(place, value)? {
            return Ok(stored);
        }
        let (at, place) = match self.led_property(place)? {
            Some(at) => (at, place),
            None => self.locate(place)?,
        };
        let value = self.eval(value)?;
        self.store(&at, place, value, node.span)
    }

    /// `place += value` and its like.
    pub(super) fn update(
        &mut self,
        place: &Node,
        slot: u32,
        value: &Node,
        node: &Node,
    ) -> Result<(Val, Val)> {
        self.may_write(node.span)?;
        let (at, place) = self.locate(place)?;
        let before = self.read_place(&at, place)?;
        self.set(slot, before.clone());
        let after = self.eval(value)?;
        let after = self.store(&at, place, after, node.span)?;
        Ok((before, after))
    }

    /// `place ??= value`: what is there already is not set again.
    pub(super) fn fill(
        &mut self,
        place: &Node,
        slot: u32,
        held: &Node,
        value: &Node,
        node: &Node,
    ) -> Result<Val> {
        self.may_write(node.span)?;
        let (at, place) = self.locate(place)?;
        match self.read_place(&at, place)? {
            Val::Null => {
                let value = self.eval(value)?;
                self.store(&at, place, value, node.span)
            }
            before => {
                self.set(slot, before);
                self.eval(held)
            }
        }
    }

    /// `(a, b) = value`: what leads to the places is evaluated first, then the value, then they are set one after the other.
    pub(super) fn spread(
        &mut self,
        places: &[Option<Node>],
        slot: u32,
        value: &Node,
        parts: &[Node],
        node: &Node,
    ) -> Result<Val> {
        self.may_write(node.span)?;
        let mut located = Vec::with_capacity(places.len());
        for place in places {
            located.push(match place {
                Some(place) => Some(self.locate(place)?),
                None => None,
            });
        }
        let value = self.eval(value)?;
        self.set(slot, value);
        let mut values = Vec::with_capacity(parts.len());
        for part in parts {
            values.push(self.eval(part)?);
        }
        for (at, value) in located.iter().zip(&values) {
            if let Some((at, place)) = at {
                self.store(at, place, value.clone(), place.span)?;
            }
        }
        Ok(self.tuple(&node.ty, values))
    }

    fn may_write(&self, span: Span) -> Result<()> {
        if self.around.writes {
            return Ok(());
        }
        Err(Fail::new(
            span,
            "an assignment changes the program, which is not allowed here",
        )
        .hint("allow side effects for this evaluation")
        .into())
    }

    /// Evaluates what leads to a place; with it comes the node of the place itself.
    pub(super) fn locate<'n>(&mut self, node: &'n Node) -> Result<(Located, &'n Node)> {
        let at = match &node.op {
            Op::Let(values, body) => {
                for (slot, value) in values {
                    let value = self.eval(value)?;
                    self.set(*slot, value);
                }
                return self.locate(body);
            }
            Op::ConditionalRef(test, yes, no) => {
                return match self.truth(test)? {
                    true => self.locate(yes),
                    false => self.locate(no),
                };
            }
            Op::Variable(number) => Located::Variable(*number),
            Op::StaticField(field) => Located::Static(field.clone()),
            Op::Field(target, field) if target.ty.is_reference() => {
                Located::Member(self.eval(target)?, field.clone())
            }
            Op::Field(target, field) => {
                let (outer, _) = self.locate(target)?;
                Located::Part(Box::new(outer), field.clone())
            }
            Op::Element(array, indices) => {
                let array = self.eval(array)?;
                let mut at = Vec::with_capacity(indices.len());
                for index in indices {
                    let index = self.eval(index)?;
                    at.push(integer(&index).unwrap_or(-1));
                }
                Located::Element(array, at)
            }
            Op::Call(callee, target, arguments)
                if matches!(callee.method.returns, Type::ByRef(_)) =>
            {
                let (target, home) = match target {
                    Some(target) => {
                        let (value, home) = self.receiver(target)?;
                        (Some((value, target.ty.clone())), home)
                    }
                    None => (None, None),
                };
                let led =
                    self.call_by_reference(node, callee, target, home, arguments, Wanted::Place)?;
                let Val::Struct(led) = led else {
                    return Err(super::misfit(node.span));
                };
                Located::Referred(led, self.journal.position())
            }
            Op::Call(_, target, arguments) => {
                let (target, home) = match target {
                    Some(target) => {
                        let (value, home) = self.receiver(target)?;
                        (Some((value, target.ty.clone())), home)
                    }
                    None => (None, None),
                };
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.eval(argument)?);
                }
                Located::Property(Box::new(Accessed {
                    target,
                    home,
                    arguments: values,
                }))
            }
            _ => {
                return Err(Fail::cs(
                    "CS0131",
                    node.span,
                    "the left side of an assignment must be a variable, property or indexer",
                )
                .into());
            }
        };
        Ok((at, node))
    }

    /// What a member is called on, and where it lies if it is a struct that the member may change.
    pub(super) fn receiver(&mut self, node: &Node) -> Result<(Val, Option<Home>)> {
        if !self.around.writes || !is_struct(&node.ty) || !is_variable(node) {
            return Ok((self.eval(node)?, None));
        }
        let (at, place) = self.locate(node)?;
        let value = self.read_place(&at, place)?;
        // What is in the debugger only is a copy already.
        let home = self.home(&at, node.span).ok().flatten();
        Ok((value, home))
    }

    /// What a place holds.
    pub(super) fn read_place(&mut self, at: &Located, node: &Node) -> Result<Val> {
        let span = node.span;
        match (at, &node.op) {
            (Located::Property(accessed), Op::Call(callee, _, nodes)) => {
                let value = self.call(
                    node,
                    callee,
                    accessed.target.clone(),
                    accessed.home.clone(),
                    accessed.arguments.clone(),
                    nodes,
                )?;
                self.counted(value, span)
            }
            (Located::Element(array, at), _) => {
                self.journaled(span, |this| this.element(array, at, span))
            }
            (Located::Member(object, field), _) => {
                self.notice_field(object, field);
                self.journaled(span, |this| this.field(object, field, span))
            }
            (Located::Static(field), _) => {
                self.notice_static(field);
                self.journaled(span, |this| this.static_field(field, span))
            }
            _ => self.journaled(span, |this| {
                if let Located::Part(outer, field) = at {
                    let outer = this.place_of(outer, span)?;
                    this.notice_field(&Val::Struct(outer), field);
                }
                let place = this.place_of(at, span)?;
                this.decode(&place, span)
            }),
        }
    }

    /// Puts a value into a place; the value is what the assignment gives.
    pub(super) fn store(
        &mut self,
        at: &Located,
        place: &Node,
        value: Val,
        span: Span,
    ) -> Result<Val> {
        if let (Located::Property(accessed), Op::Call(getter, ..)) = (at, &place.op) {
            let value = self.materialised(value, span)?;
            return self.set_property(getter, accessed, value, span);
        }
        let value = self.materialised(value, span)?;
        let target = self.place_of(at, place.span)?;
        self.give_own(at, &target, span)?;
        // An array may hold less than its variable says: `object[] a = new string[1]` (C# 17.6).
        if let Op::Element(array, _) = &place.op
            && target.ty.is_reference()
            && array.ty.element() != Some(&target.ty)
            && !matches!(value, Val::Null)
            && !self.is_of(&value, &place.ty, &target.ty)
        {
            let told = "Attempted to access an element as a type incompatible with the array.";
            return Err(
                Fail::thrown(span, "System.ArrayTypeMismatchException", Some(told.into())).into(),
            );
        }
        if let Some(stored) = self.store_in_span(at, place, &value, &target.ty, span)? {
            return Ok(stored);
        }
        let home = self.home(at, span)?;
        if home.is_none() && !is_in_place(at) {
            return Err(Fail::new(span, "it has no place that could be written").into());
        }
        let written = value.clone();
        self.effect(span, || Effect::Write {
            home,
            place: target,
            value,
            span,
        })?;
        Ok(written)
    }

    /// Puts a reference into a span that is a variable: its own indexer tells the runtime where that is.
    fn store_in_span(
        &mut self,
        at: &Located,
        place: &Node,
        value: &Val,
        element: &Type,
        span: Span,
    ) -> Result<Option<Val>> {
        let (Located::Element(Val::Struct(_), position), Op::Element(array, _)) = (at, &place.op)
        else {
            return Ok(None);
        };
        let (Type::Named(named), [position]) = (&array.ty, &**position) else {
            return Ok(None);
        };
        if element.is_value() == Some(true)
            || !self.types.is_named(named, "System", "Span`1")
            || !is_variable(array)
        {
            return Ok(None);
        }
        let Some(call) = self.span_indexer(array, *position, span)? else {
            return Ok(None);
        };
        let store = Some(Store {
            path: Vec::new(),
            value: value.clone(),
            ty: element.clone(),
        });
        self.effect(span, || Effect::Refer {
            call: Box::new(call),
            store,
        })?;
        Ok(Some(value.clone()))
    }

    /// The setter of the property that a getter belongs to.
    pub(super) fn setter_of(&self, getter: &Callee, span: Span) -> Result<Method> {
        let owner = &getter.method.declared_in;
        let properties = self.types.properties(owner).unwrap_or_default();
        let setter = properties
            .iter()
            .find(|it| [it.getter, it.setter].contains(&Some(getter.method.token)))
            .and_then(|it| it.setter)
            .and_then(|token| self.types.method(owner, token).ok());
        setter.ok_or_else(|| Fail::cs("CS0200", span, "the property has no setter").into())
    }

    fn set_property(
        &mut self,
        getter: &Rc<Callee>,
        accessed: &Accessed,
        value: Val,
        span: Span,
    ) -> Result<Val> {
        let setter = self.setter_of(getter, span)?;
        let target = accessed.target.clone();
        if let Some((held, ty)) = &target {
            if matches!(held, Val::Null) && self.types.nullable_of(ty).is_none() {
                return Err(null_reference(span));
            }
            if accessed.home.is_none() && is_struct(ty) {
                return Err(Fail::new(
                    span,
                    "the property belongs to a struct of which the debugger has only a copy, so what is set would be lost",
                )
                .hint("assign the struct to a variable of the program, and set it there; where a member returns it by reference, use = instead")
                .into());
            }
        }
        let mut values = accessed.arguments.clone();
        values.push(value.clone());
        let parameters = setter.parameters.iter().map(|it| it.ty.clone());
        let arguments: Vec<(Val, Type)> = values.into_iter().zip(parameters).collect();
        let callee = Rc::new(Callee {
            is_virtual: getter.is_virtual,
            checked: false,
            arguments: Vec::new(),
            intrinsic: None,
            method: setter,
        });
        let exact = self.is_past_override(&callee, target.as_ref(), span)?;
        let home = accessed.home.clone();
        self.effect(span, || Effect::Call {
            callee,
            target,
            home,
            arguments,
            references: Vec::new(),
            exact,
            span,
        })?;
        Ok(value)
    }

    /// Where a place lies now.
    fn place_of(&mut self, at: &Located, span: Span) -> Result<Value> {
        match at {
            Located::Variable(number) => {
                let value =
                    (self.around.variables)(*number).map_err(|why| self.unreadable(&why, span))?;
                self.reader
                    .behind_ref(&value)
                    .map_err(|why| self.unreadable(&why, span))
            }
            Located::Static(field) => {
                let fields = self.types.fields(&field.declared_in);
                let found = fields
                    .ok()
                    .and_then(|all| all.iter().find(|it| it.token == field.token).cloned());
                let Some(found) = found else {
                    return Err(Fail::new(span, "the static field is gone").into());
                };
                let value = self
                    .reader
                    .static_field(&field.declared_in, &found, self.around.frame);
                value.map_err(|why| match why {
                    Unreadable::NotConstructed { .. }
            | Unreadable::ConstructorThrew { .. }
            | Unreadable::NotInitialized => {
                        self.construct(field, &why, span)
                    }
                    why => self.unreadable(&why, span),
                })
            }
            Located::Member(Val::Null, _) => Err(null_reference(span)),
            Located::Member(Val::Object(object), field) => {
                let value = self.reader.declared_field(object, field);
                value.map_err(|why| self.unreadable(&why, span))
            }
            Located::Part(outer, field) => {
                let outer = self.place_of(outer, span)?;
                let value = self.reader.field(&outer, &field.name);
                // A field that is a reference is what it leads to.
                value
                    .and_then(|it| self.reader.behind_ref(&it))
                    .map_err(|why| self.unreadable(&why, span))
            }
            Located::Element(array @ (Val::Null | Val::Object(_) | Val::Struct(_)), at) => {
                self.element_place(array, at, span)
            }
            Located::Member(..) | Located::Element(..) => Err(Fail::new(
                span,
                "a value that exists only in the debugger cannot be written",
            )
            .into()),
            Located::Property(_) => Err(Fail::new(span, "a property has no place").into()),
            Located::Referred(_, since) if self.journal.has_acted_since(*since) => Err(Fail::new(
                span,
                "where the member led is not known any more: code of the program has run since, which may have moved it",
            )
            .hint("compute the value first, and assign it with =")
            .into()),
            Located::Referred(place, _) => Ok(place.clone()),
        }
    }

    /// The way to a place; `None` if it may not be changed, as a field that is readonly.
    pub(super) fn home(&mut self, at: &Located, span: Span) -> Result<Option<Home>> {
        let root = |root| Home {
            root,
            steps: Vec::new(),
        };
        Ok(match at {
            Located::Variable(number) => Some(root(HomeRoot::Variable(*number))),
            Located::Static(field) => {
                (!self.is_readonly(field)).then(|| root(HomeRoot::Static(field.clone())))
            }
            Located::Member(Val::Object(object), field) => {
                (!self.is_readonly(field)).then(|| Home {
                    root: HomeRoot::Object(object.clone()),
                    steps: vec![HomeStep::Field(field.clone())],
                })
            }
            Located::Part(outer, field) if !self.is_readonly(field) => {
                self.home(outer, span)?.map(|mut home| {
                    home.steps.push(HomeStep::Field(field.clone()));
                    home
                })
            }
            Located::Element(Val::Object(array), at) => {
                let position = self.element_position(array, at, span)?;
                Some(Home {
                    root: HomeRoot::Object(array.clone()),
                    steps: vec![HomeStep::Element(position)],
                })
            }
            _ => None,
        })
    }

    pub(super) fn is_readonly(&self, field: &FieldRef) -> bool {
        if self.around.forced || matches!(field.ty, Type::ByRef(_)) {
            return false;
        }
        let fields = self.types.fields(&field.declared_in);
        fields.is_ok_and(|all| {
            let found = all.iter().find(|it| it.token == field.token);
            found.is_some_and(|it| it.flags.is_init_only())
        })
    }
}

/// Whether a type is a struct of its own, which its methods get by reference.
pub(super) fn is_struct(ty: &Type) -> bool {
    ty.is_value() == Some(true)
        && ty
            .as_named()
            .is_some_and(|it| !matches!(it.kind, Kind::Enum(_)))
}

/// Whether something lies where a span leads to, or in a struct itself: its address is known, but no way that leads there.
fn is_in_place(at: &Located) -> bool {
    match at {
        Located::Element(Val::Struct(_), _) | Located::Referred(..) => true,
        Located::Part(outer, _) => is_in_place(outer),
        _ => false,
    }
}

/// Whether a struct is a variable, or a part of one.
pub(super) fn is_variable(node: &Node) -> bool {
    match &node.op {
        Op::Variable(_) | Op::StaticField(_) | Op::Element(..) => true,
        Op::Field(target, _) => target.ty.is_reference() || is_variable(target),
        Op::Let(_, element) => is_variable(element),
        Op::ConditionalRef(_, yes, no) => is_variable(yes) && is_variable(no),
        _ => false,
    }
}
