//! What a run cannot do by reading: calls, new objects, writes.

use std::rc::Rc;

use syntax::Span;

use super::known::is_closure;
use super::lazy::as_lazy;
use super::places::{Home, Located};
use super::{Interrupt, Made, Result, Runner, Val, null_reference, unreadable};
use crate::expressions::bind::is_in;
use crate::expressions::error::Fail;
use crate::expressions::getters::{Behind, field_behind};
use crate::expressions::intrinsics::Intrinsic;
use crate::expressions::plan::{Callee, FieldRef, Node, Op, Referred};
use crate::expressions::scalar::Scalar;
use crate::types::{Method, Type};
use crate::values::{Place, Unreadable, Value};

/// Parameters of a method that can be called past its override: as many as the framework's own delegates have.
const MAX_EXACT: usize = 16;
/// Lambdas that may run inside each other.
const MAX_NESTING: u32 = 100;

/// What is put where a call leads that returns by reference.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    /// The fields that lead on from there.
    pub(crate) path: Vec<FieldRef>,
    /// What.
    pub(crate) value: Val,
    /// The type of the place.
    pub(crate) ty: Type,
}

/// Something to be done in the program before a run can go on.
#[derive(Debug, Clone)]
pub(crate) enum Effect {
    /// A method is to be called.
    Call {
        /// Which.
        callee: Rc<Callee>,
        /// `this` and its static type.
        target: Option<(Val, Type)>,
        /// Where `this` lies, if it is a struct that the method may change.
        home: Option<Home>,
        /// The arguments and the types of the parameters.
        arguments: Vec<(Val, Type)>,
        /// Which of them are passed by reference, and the way to their places: where there is none, a copy is passed, and
        /// what is there afterwards is wanted too.
        references: Vec<(usize, Option<Home>)>,
        /// Whether exactly this method is meant although the object's own type overrides it.
        exact: bool,
        /// Where it stands.
        span: Span,
    },
    /// A method that returns by reference is to be called: where that leads is wanted, or something is to be put there.
    Refer {
        /// The call.
        call: Box<Effect>,
        /// What is put there.
        store: Option<Store>,
    },
    /// A type's class constructor is to be run.
    Construct {
        /// The type.
        ty: Type,
        /// The field that each thread has its own of, if this thread is to have its own.
        own: Option<metadata::Token>,
        /// Where its static field stands.
        span: Span,
    },
    /// A delegate of a method is to be made.
    Delegate {
        /// The method.
        method: Method,
        /// What it is called on, or its first argument.
        target: Val,
        /// The type of the delegate.
        ty: Type,
        /// Where it stands.
        span: Span,
    },
    /// A box, an array or a text that exists only in the debugger is to be made in the program.
    Make {
        /// What.
        value: Val,
        /// Where it stands.
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
        /// The way there; `None` for elements of spans, of which only the address is known.
        home: Option<Home>,
        /// Where it is now.
        place: Value,
        /// What.
        value: Val,
        /// Where it stands.
        span: Span,
    },
}

/// Where an argument that is passed by reference leads.
enum Leads<'n> {
    Slot(u32),
    Place(Located, &'n Node),
    /// To what a member returns by reference.
    Led,
    Nowhere,
}

/// What is passed to a call.
struct GivenArguments<'n> {
    values: Vec<Val>,
    /// Which are passed by reference, where those lead, and the way there.
    referred: Vec<(usize, Leads<'n>, Option<Home>)>,
}

/// What is wanted of a call that returns by reference.
pub(super) enum Wanted {
    /// What is there.
    Value,
    /// Where that is.
    Place,
    /// That this is put there, which has this type.
    Store(Val, Type),
}

impl Runner<'_, '_> {
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
            let own = None;
            return Interrupt::Effect(Box::new(Effect::Construct { ty, own, span }));
        }
        if let Unreadable::ConstructorThrew { .. } = why {
            return unreadable(why, span).into();
        }
        let hint = "allow side effects for this evaluation, which runs the class constructor as the program would";
        unreadable(why, span).hint(hint).into()
    }

    /// A static field that is to be written, of which the thread has no own yet: the demand that it has.
    pub(super) fn give_own(&self, at: &Located, place: &Value, span: Span) -> Result<()> {
        let mut root = at;
        while let Located::Part(outer, _) = root {
            root = outer;
        }
        let (Located::Static(field), Place::Copy(_)) = (root, &place.place) else {
            return Ok(());
        };
        if self.journal.given.contains(&field.token) {
            return Ok(());
        }
        let ty = Type::Named(field.declared_in.clone());
        let own = Some(field.token);
        Err(Interrupt::Effect(Box::new(Effect::Construct {
            ty,
            own,
            span,
        })))
    }

    pub(super) fn refuse(&self, what: &str, span: Span) -> Interrupt {
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
        home: Option<Home>,
        arguments: Vec<Val>,
        nodes: &[Node],
    ) -> Result<Val> {
        self.notice_call(callee, target.as_ref(), &arguments);
        let value = self.called(node, callee, target, home, arguments, nodes)?;
        self.notice_result(&value);
        Ok(value)
    }

    fn called(
        &mut self,
        node: &Node,
        callee: &Rc<Callee>,
        target: Option<(Val, Type)>,
        home: Option<Home>,
        arguments: Vec<Val>,
        nodes: &[Node],
    ) -> Result<Val> {
        let span = node.span;
        if let Some(intrinsic) = callee.intrinsic {
            let receiver = target.as_ref().map(|(value, ty)| (value, ty));
            let known = self.noted(span, |this| {
                this.known(intrinsic, callee, receiver, &arguments, nodes, node)
            })?;
            if let Some(value) = known {
                return Ok(value);
            }
        }
        if let Some((value, ty)) = &target {
            if matches!(value, Val::Null) && self.types.nullable_of(ty).is_none() {
                return Err(null_reference(span));
            }
            if let Val::Made(made) = value
                && let Made::Closure(..) = &**made
                && callee.method.name == "Invoke"
            {
                return self.invoke(value, arguments, span);
            }
            if let Some(field) = self.getter_field(value, callee, &arguments) {
                return self.behind(value, &field, span);
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
        let target = match (target, &node.op) {
            (Some((value, ty)), Op::Call(_, Some(from), _)) => {
                Some((self.lasting(value, from)?, ty))
            }
            (target, _) => target,
        };
        let arguments = self.passed(callee, arguments, nodes)?;
        self.effect_of(&node.ty, span, || Effect::Call {
            callee: callee.clone(),
            target,
            home,
            arguments,
            references: Vec::new(),
            exact,
            span,
        })
    }

    /// The arguments of a call with the types of their parameters; lists that were made here are made in the program.
    pub(super) fn passed(
        &mut self,
        callee: &Callee,
        arguments: Vec<Val>,
        nodes: &[Node],
    ) -> Result<Vec<(Val, Type)>> {
        let parameters = callee.method.parameters.iter().map(|it| it.ty.clone());
        let mut passed = Vec::with_capacity(arguments.len());
        for (index, (value, ty)) in arguments.into_iter().zip(parameters).enumerate() {
            let value = match nodes.get(index) {
                Some(node) => {
                    let lasting = self.lasting(value, node)?;
                    if is_closure(&lasting) {
                        return Err(lambda_for(&callee.method, node.span));
                    }
                    lasting
                }
                None => value,
            };
            passed.push((value, ty));
        }
        Ok(passed)
    }

    /// A list that was made here as one of the program. A variable refers to that from then on, so that what the program does
    /// to it is seen.
    pub(super) fn lasting(&mut self, value: Val, from: &Node) -> Result<Val> {
        let is_made = matches!(value, Val::Made(_));
        let mut inner = from;
        while let Op::Convert(_, operand) = &inner.op {
            inner = operand;
        }
        let lasting = self.materialised(value, from.span)?;
        if is_made
            && matches!(lasting, Val::Object(_))
            && let Op::Slot(slot) = inner.op
        {
            self.set(slot, lasting.clone());
        }
        Ok(lasting)
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
        let runs = exact.and_then(|exact| self.types.implementation(&exact, &callee.method));
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
    pub(super) fn call_by_reference(
        &mut self,
        node: &Node,
        callee: &Rc<Callee>,
        target: Option<(Val, Type)>,
        home: Option<Home>,
        nodes: &[Node],
        wanted: Wanted,
    ) -> Result<Val> {
        let span = node.span;
        let given = self.referred_arguments(callee, nodes)?;
        self.notice_call(callee, target.as_ref(), &given.values);
        if let Some((Val::Null, ty)) = &target
            && self.types.nullable_of(ty).is_none()
        {
            return Err(null_reference(span));
        }
        if let [(index, leads, _)] = given.referred.as_slice()
            && index + 1 == given.values.len()
            && (self.around.writes || !matches!(leads, Leads::Place(..)))
            && !matches!(leads, Leads::Led)
        {
            let receiver = target.as_ref().map(|(value, ty)| (value, ty));
            let known = self.known_by_reference(callee, receiver, &given.values, node)?;
            if let Some((answer, left)) = known {
                if let Some((_, leads, _)) = given.referred.into_iter().next() {
                    self.leave(leads, left)?;
                }
                return Ok(answer);
            }
        }
        if !self.around.calls {
            let name = written_name(&callee.method);
            return Err(self.refuse(&format!("calling `{name}`"), span));
        }
        let target = match (target, &node.op) {
            (Some((value, ty)), Op::Call(_, Some(from), _)) => {
                Some((self.lasting(value, from)?, ty))
            }
            (target, _) => target,
        };
        let (references, leads): (Vec<_>, Vec<_>) = given
            .referred
            .into_iter()
            .map(|(index, leads, home)| ((index, home), leads))
            .unzip();
        let parameters = callee.method.parameters.iter().map(|it| it.ty.clone());
        let arguments: Vec<(Val, Type)> = given.values.into_iter().zip(parameters).collect();
        let result = self.effect_of(&node.ty, span, || {
            let call = Effect::Call {
                callee: callee.clone(),
                target,
                home,
                arguments,
                references,
                exact: false,
                span,
            };
            let call = Box::new(call);
            match wanted {
                Wanted::Value => *call,
                Wanted::Place => Effect::Refer { call, store: None },
                Wanted::Store(value, ty) => Effect::Refer {
                    call,
                    store: Some(Store {
                        path: Vec::new(),
                        value,
                        ty,
                    }),
                },
            }
        });
        if let Err(interrupt @ Interrupt::Effect(_)) = result {
            return Err(interrupt);
        }
        // They follow the result in the journal, also where that is an exception.
        let mut left = Vec::with_capacity(leads.len());
        for _ in &leads {
            left.push(self.left_behind(span)?);
        }
        for (leads, value) in leads.into_iter().zip(left) {
            if let Some(value) = value {
                self.leave(leads, value)?;
            }
        }
        self.counted(result?, span)
    }

    /// Puts what a call left in a reference where that leads.
    fn leave(&mut self, leads: Leads<'_>, value: Val) -> Result<()> {
        match leads {
            Leads::Slot(slot) => self.set(slot, value),
            Leads::Place(at, place) => {
                self.store(&at, place, value, place.span)?;
            }
            Leads::Led | Leads::Nowhere => {}
        }
        Ok(())
    }

    /// The arguments of a call, and where those lead that are passed by reference: that is found once, before the call.
    fn referred_arguments<'n>(
        &mut self,
        callee: &Callee,
        nodes: &'n [Node],
    ) -> Result<GivenArguments<'n>> {
        let mut values = Vec::with_capacity(nodes.len());
        let mut referred = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let parameter = callee.method.parameters.get(index);
            let (value, leads) = match &node.op {
                Op::Reference(Referred::Place(place), _) if self.is_led_by_call(place) => {
                    // What leads there is called last: nothing may move the place before it is passed.
                    let home = self.led_home(place)?;
                    if referred
                        .iter()
                        .any(|(_, leads, _)| matches!(leads, Leads::Led))
                    {
                        let told = "two arguments are what a member returns by reference, of which the second call could move the first place";
                        return Err(Fail::new(node.span, told).into());
                    }
                    (Val::Null, Some((Leads::Led, home)))
                }
                Op::Reference(Referred::Place(place), _) => {
                    let (at, place) = self.locate(place)?;
                    let value = self.read_place(&at, place)?;
                    let home = self.home(&at, node.span)?;
                    let leads = match parameter {
                        // What is only read needs no copy back.
                        Some(parameter) if is_in(parameter) => Leads::Nowhere,
                        _ => Leads::Place(at, place),
                    };
                    (value, Some((leads, home)))
                }
                Op::Reference(Referred::Slot(slot), value) => {
                    (self.eval(value)?, Some((Leads::Slot(*slot), None)))
                }
                Op::Reference(Referred::Nothing, value) => {
                    (self.eval(value)?, Some((Leads::Nowhere, None)))
                }
                _ => {
                    let value = self.eval(node)?;
                    // Whether a sequence can be counted is told by what it is before its elements are there.
                    let counts = |it: Intrinsic| it.name == "TryGetNonEnumeratedCount";
                    match callee.intrinsic.is_some_and(counts) && as_lazy(&value).is_some() {
                        true => (value, None),
                        false => (self.lasting(value, node)?, None),
                    }
                }
            };
            values.push(value);
            referred.extend(leads.map(|(leads, home)| (index, leads, home)));
        }
        Ok(GivenArguments { values, referred })
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
            return Ok(match name {
                "get_Name" => Some(Val::text(&self.short_name(&ty))),
                _ => None,
            });
        }
        let span = Span::empty(0);
        if let Some(value) = self.anonymous_member(name, target, arguments, span)? {
            return Ok(Some(value));
        }
        if let Val::Made(made) = target
            && let Made::Sequence(ty, items, _) = &**made
        {
            let of_span = |name: &str| self.is_core(ty, "System", name);
            return Ok(match name {
                "ToArray" if of_span("Span`1") || of_span("ReadOnlySpan`1") => {
                    let element = ty.as_named().and_then(|it| it.arguments.first());
                    let array = element.map(|it| Type::SzArray(Rc::new(it.clone())));
                    array.map(|array| Val::sequence(array, items.clone()))
                }
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
        let arguments = self.passed(callee, arguments, nodes)?;
        self.effect(span, || Effect::New {
            callee: callee.clone(),
            arguments,
            span,
        })
    }

    /// What is to be kept, as an object of the program; what is none of those that can be made stays as it is.
    pub(in crate::expressions) fn made_object(&mut self, value: Val, span: Span) -> Result<Val> {
        let is_made = match &value {
            Val::Boxed(..) | Val::Scalar(Scalar::String(_)) => true,
            Val::Made(made) => matches!(&**made, Made::Sequence(Type::SzArray(_), ..)),
            _ => false,
        };
        match is_made {
            true => self.effect_as(span, || Effect::Make { value, span }),
            false => Ok(value),
        }
    }

    /// The field that a getter reads, for the very object.
    pub(super) fn getter_field(
        &self,
        value: &Val,
        callee: &Callee,
        arguments: &[Val],
    ) -> Option<Behind> {
        if !arguments.is_empty() || !callee.method.name.starts_with("get_") {
            return None;
        }
        if callee.is_virtual {
            let exact = self.exact_type(value)?;
            let runs = self.types.implementation(&exact, &callee.method)?;
            return field_behind(self.types, &runs);
        }
        field_behind(self.types, &callee.method)
    }

    /// What the field behind a getter holds.
    pub(super) fn behind(&mut self, target: &Val, behind: &Behind, span: Span) -> Result<Val> {
        match behind {
            Behind::Own(field) => self.notice_field(target, field),
            Behind::Static(field) => self.notice_static(field),
        }
        self.journaled(span, |this| match behind {
            Behind::Own(field) => this.field(target, field, span),
            Behind::Static(field) => this.static_field(field, span),
        })
    }

    /// Calls a lambda, or a delegate of the program.
    pub(super) fn invoke(&mut self, target: &Val, arguments: Vec<Val>, span: Span) -> Result<Val> {
        let made = match target {
            Val::Made(made) => made,
            Val::Object(object) => {
                let delegate = object.ty.as_named().cloned();
                return match delegate {
                    Some(delegate) => {
                        self.call_interface(target, &delegate, "Invoke", arguments, span)
                    }
                    None => Err(super::misfit(span)),
                };
            }
            Val::Null => return Err(null_reference(span)),
            _ => return Err(super::misfit(span)),
        };
        let Made::Closure(closure, captured) = &**made else {
            return Err(super::misfit(span));
        };
        if self.nesting >= MAX_NESTING {
            return Err(Fail::new(
                span,
                format!("more than {MAX_NESTING} lambdas run inside each other"),
            )
            .hint("enumerate sequences in between with ToList()")
            .into());
        }
        let arguments = closure.slots.iter().copied().zip(arguments);
        let inside: Vec<(u32, Val)> = captured.iter().cloned().chain(arguments).collect();
        let mut outer = Vec::with_capacity(inside.len());
        for (slot, value) in inside {
            outer.push((slot, self.held(slot)));
            self.set(slot, value);
        }
        self.nesting += 1;
        let result = self.eval(&closure.body);
        self.nesting -= 1;
        for (slot, value) in outer.into_iter().rev() {
            if let Some(place) = self.slots.get_mut(slot as usize) {
                *place = value;
            }
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

/// A lambda as an argument of code of the program.
fn lambda_for(method: &Method, span: Span) -> Interrupt {
    let name = match written_name(method) {
        ".ctor" => "the constructor".to_owned(),
        name => format!("`{name}`"),
    };
    let told = format!(
        "a lambda cannot be passed to {name}, which runs in the program: it exists only in the debugger"
    );
    let hint = "pass a delegate that the program has, or compute it here: LINQ and the methods of List<T> and Array take lambdas";
    Fail::new(span, told).hint(hint).into()
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
pub(in crate::expressions) fn written_name(method: &Method) -> &str {
    let accessed = ["get_", "set_"]
        .iter()
        .find_map(|it| method.name.strip_prefix(it));
    accessed
        .filter(|_| method.flags.is_special_name())
        .unwrap_or(&method.name)
}
