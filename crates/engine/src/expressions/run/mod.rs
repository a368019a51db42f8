//! Runs a plan against the stopped program.
//!
//! Running only reads. Where code of the program has to run, or something is to be written, the run ends with an
//! [`Interrupt::Effect`]; the engine has it done and runs the plan again with the outcome known ([`Journal`]). What was
//! read before an effect is taken from the journal then, so that the order of C# is kept although objects may have moved.

mod anonymous;
mod comparing;
mod computed;
mod contained;
mod convert;
mod cultures;
mod cursors;
mod dates;
mod delegates;
mod describe;
mod effects;
mod format;
mod grids;
mod hashes;
mod holders;
mod immediate;
mod journal;
mod keys;
mod known;
mod late;
mod lazy;
mod led;
mod linq;
mod lists;
mod matching;
mod maths;
mod numbers;
mod offsets;
mod operating;
mod ordering;
mod orderings;
mod parsing;
mod places;
mod plain;
mod pulling;
mod reading;
mod secrecy;
mod sequences;
mod small;
mod sorting;
mod strings;
mod text;
mod throwing;
mod times;
mod tuples;
mod value;
mod writes;

use std::rc::Rc;
use std::time::Instant;

use syntax::Span;
use syntax::tree::PseudoVariable;

use self::effects::Wanted;
use super::bind::{LateBinder, well_known};
use super::error::Fail;
use super::plan::{Constant, Node, Op};
use super::scalar::{self, Fault, Scalar};
use crate::types::{Type, Types};
use crate::values::{Reader, Unreadable};

pub(crate) use describe::Limits;
pub(crate) use effects::{Effect, Store};
pub(in crate::expressions) use effects::{exact_shape, written_name};
pub(crate) use journal::Journal;
pub(in crate::expressions) use places::{Home, HomeRoot, HomeStep};
pub(in crate::expressions) use reading::decode;
use reading::unreadable;
pub(crate) use value::{Made, Val};

/// Why a run ended without a value.
#[derive(Debug)]
pub(crate) enum Interrupt {
    /// It failed or threw.
    Fail(Box<Fail>),
    /// Something has to be done in the program first.
    Effect(Box<Effect>),
}

impl From<Box<Fail>> for Interrupt {
    fn from(fail: Box<Fail>) -> Self {
        Interrupt::Fail(fail)
    }
}

/// What running gives.
pub(crate) type Result<T, E = Interrupt> = std::result::Result<T, E>;

/// What a run may do and where it runs.
pub(crate) struct Surroundings<'r> {
    /// The values of the frame's variables, by the numbers that the plan has.
    pub(crate) variables: &'r dyn Fn(usize) -> Result<crate::values::Value, Unreadable>,
    /// Whether code of the program may run.
    pub(crate) calls: bool,
    /// Whether something may be written.
    pub(crate) writes: bool,
    /// Whether that may be a readonly field, too.
    pub(crate) forced: bool,
    /// When to give up.
    pub(crate) deadline: Instant,
    /// Why to give up before that, if somebody wants it.
    pub(crate) given_up: &'r dyn Fn() -> Option<&'static str>,
    /// `$pid`, `$tid`, `$hitcount`.
    pub(crate) numbers: (u32, u32, u64),
    /// `$exception`, `$returnvalue` and kept values.
    pub(crate) special: &'r dyn Fn(PseudoVariable) -> Option<crate::values::Value>,
    /// Binds what is only bound when it runs.
    pub(crate) late: Option<&'r LateBinder<'r>>,
    /// The frame, for static fields that belong to a thread.
    pub(crate) frame: Option<&'r cordebug::thread::Frame>,
}

/// Steps between two looks at the clock.
const STEPS: u32 = 256;
/// Elements of a sequence looked at in one evaluation.
const MAX_ITEMS: usize = 2_000_000;
/// Bytes of texts and sequences that one run makes, whether they are still used or not.
const MAX_MADE: usize = 256 << 20;

/// Runs one plan.
pub(crate) struct Runner<'r, 't> {
    pub(super) reader: &'r Reader<'t>,
    pub(super) types: Types<'t>,
    around: &'r Surroundings<'r>,
    slots: Vec<Option<Val>>,
    journal: &'r mut Journal,
    steps: u32,
    items: usize,
    /// Bytes of what was made.
    made: usize,
    /// Lambdas that run inside each other.
    nesting: u32,
    /// Enumerators of the program that are in use.
    open: Vec<Val>,
    /// Whether sequences are enumerated to their ends by somebody who runs nothing in between.
    whole: bool,
    /// Whether texts are for people to read: those are the same in every culture.
    pub(in crate::expressions) for_people: bool,
    /// Whether it is to be noticed when a secret is read.
    notices_secrets: bool,
    has_read_secret: bool,
    /// Texts that are secrets, of what code of the program was given to work with.
    secrets: Vec<Vec<u16>>,
}

impl<'r, 't> Runner<'r, 't> {
    pub(crate) fn new(
        reader: &'r Reader<'t>,
        around: &'r Surroundings<'r>,
        slots: u32,
        journal: &'r mut Journal,
    ) -> Self {
        journal.rewind();
        Self {
            types: reader.types,
            reader,
            around,
            slots: vec![None; slots as usize],
            journal,
            steps: 0,
            items: 0,
            made: 0,
            nesting: 0,
            open: Vec::new(),
            whole: false,
            for_people: false,
            notices_secrets: false,
            has_read_secret: false,
            secrets: Vec::new(),
        }
    }

    fn set(&mut self, slot: u32, value: Val) {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Some(value);
        }
    }

    /// What a slot holds, if anything was put there.
    fn held(&self, slot: u32) -> Option<Val> {
        self.slots.get(slot as usize).cloned().flatten()
    }

    fn unreadable(&self, why: &Unreadable, span: Span) -> Interrupt {
        unreadable(why, span).into()
    }

    fn tick(&mut self, span: Span) -> Result<()> {
        self.steps = self.steps.wrapping_add(1);
        if !self.steps.is_multiple_of(STEPS) {
            return Ok(());
        }
        if Instant::now() >= self.around.deadline {
            return Err(Fail::late(span).into());
        }
        match (self.around.given_up)() {
            Some(why) => Err(Fail::new(span, format!("the evaluation was given up: {why}")).into()),
            None => Ok(()),
        }
    }

    /// The same, looking at the clock at once: for what takes long by itself.
    fn tick_whole(&mut self, span: Span) -> Result<()> {
        self.steps = self.steps.next_multiple_of(STEPS).wrapping_sub(1);
        self.tick(span)
    }

    /// Counts an element of a sequence.
    fn item(&mut self, span: Span) -> Result<()> {
        self.items += 1;
        if self.items > MAX_ITEMS {
            return Err(Fail::new(
                span,
                format!("the expression looks at more than {MAX_ITEMS} elements"),
            )
            .hint("narrow it with Take(n)")
            .into());
        }
        self.tick(span)
    }

    /// Refuses a text of so many units if there is no room for it.
    pub(super) fn room_for_text(&self, units: usize, span: Span) -> Result<()> {
        self.room(units.saturating_mul(size_of::<u16>()), span)
    }

    fn room(&self, bytes: usize, span: Span) -> Result<()> {
        if self.made.saturating_add(bytes) > MAX_MADE {
            let most = MAX_MADE >> 20;
            return Err(Fail::new(
                span,
                format!("the expression makes texts and sequences of more than {most} MiB"),
            )
            .hint("narrow it with Take(n) or Substring")
            .into());
        }
        Ok(())
    }

    /// A value that was made here, counted.
    fn counted(&mut self, value: Val, span: Span) -> Result<Val> {
        let bytes = match &value {
            Val::Scalar(Scalar::String(units)) => units.len() * size_of::<u16>(),
            Val::Made(made) => match &**made {
                Made::Sequence(_, items, _) => items.len() * size_of::<Val>(),
                Made::Fields(_, fields) => fields.len() * size_of::<(Rc<str>, Val)>(),
                _ => 0,
            },
            _ => 0,
        };
        self.room(bytes, span)?;
        self.made += bytes;
        Ok(value)
    }

    /// The value of a node.
    pub(crate) fn eval(&mut self, node: &Node) -> Result<Val> {
        self.notice_tuple(node);
        let value = self.eval_whole(node)?;
        self.journal.sound(node.span)?;
        Ok(value)
    }

    /// Refuses what the run gives unless it asked for all that the runs before it noted.
    pub(crate) fn ended(&self, span: Span) -> Result<()> {
        self.journal.ended(span)
    }

    /// The value of a node of which only a part is told, as far as is known.
    fn eval_whole(&mut self, node: &Node) -> Result<Val> {
        self.tick(node.span)?;
        let span = node.span;
        Ok(match &node.op {
            Op::Constant(Constant::Null) => Val::Null,
            Op::Constant(Constant::Scalar(value)) => Val::Scalar(value.clone()),
            Op::Default => self.default(&node.ty),
            Op::Variable(number) => {
                let number = *number;
                self.journaled(span, |this| {
                    let value = (this.around.variables)(number);
                    let value = value.map_err(|why| this.unreadable(&why, span))?;
                    this.decode(&value, span)
                })?
            }
            Op::Slot(slot) => match self.held(*slot) {
                Some(value) => value,
                None => return Err(unassigned(span)),
            },
            Op::Pseudo(pseudo) => self.pseudo(*pseudo, span)?,
            Op::Field(target, field) => {
                self.notice_item(target, &field.name);
                let target = self.eval_whole(target)?;
                self.notice_field(&target, field);
                self.journaled(span, |this| this.field(&target, field, span))?
            }
            Op::StaticField(field) => {
                self.notice_static(field);
                self.journaled(span, |this| this.static_field(field, span))?
            }
            Op::Length(array) => {
                let array = self.eval(array)?;
                self.journaled(span, |this| {
                    let length = this.array_length(&array, span)?;
                    Ok(Val::int(length as i128))
                })?
            }
            Op::Element(array, indices) => {
                let array = self.eval(array)?;
                let mut at = Vec::with_capacity(indices.len());
                for index in indices {
                    let index = self.eval(index)?;
                    at.push(integer(&index).unwrap_or(-1));
                }
                self.journaled(span, |this| this.element(&array, &at, span))?
            }
            Op::Unary(op, operand, checked) => match self.eval(operand)? {
                Val::Null => Val::Null,
                Val::Scalar(value) => self.outcome(scalar::unary(*op, &value, *checked), span)?,
                _ => return Err(misfit(span)),
            },
            Op::Binary(op, left, right, checked) => {
                let left = self.eval(left)?;
                let right = self.eval(right)?;
                self.binary(*op, left, right, *checked, span)?
            }
            Op::Logical(and, left, right) => {
                let left = self.truth(left)?;
                if left == *and {
                    Val::bool(self.truth(right)?)
                } else {
                    Val::bool(left)
                }
            }
            Op::Same(equal, left, right) => {
                let (one, other) = (self.eval(left)?, self.eval(right)?);
                let is_same = self.same_as_written((&one, left), (&other, right), span)?;
                Val::bool(is_same == *equal)
            }
            Op::All(equal, parts) => {
                let mut all = true;
                for part in parts {
                    // All are compared until one differs.
                    all = self.truth(part)?;
                    if !all {
                        break;
                    }
                }
                Val::bool(all == *equal)
            }
            Op::Lifted(operands, body, comparison, equality) => {
                let mut nulls = 0;
                for (slot, operand) in operands {
                    let value = self.eval(operand)?;
                    nulls += usize::from(matches!(value, Val::Null));
                    self.set(*slot, value);
                }
                match (nulls, comparison, equality) {
                    (0, ..) => self.eval(body)?,
                    (n, _, Some(equal)) => Val::bool((n == operands.len()) == *equal),
                    (_, true, None) => Val::bool(false),
                    _ => Val::Null,
                }
            }
            Op::Concat(parts) => {
                let mut units = Vec::new();
                for part in parts {
                    let value = self.eval(part)?;
                    units.extend(self.text_of(&value, &part.ty, part.span)?);
                    self.room_for_text(units.len(), span)?;
                }
                self.counted(Val::units(units), span)?
            }
            Op::Interpolate(pieces) => {
                let text = self.interpolate(pieces, span)?;
                self.counted(text, span)?
            }
            Op::Conditional(test, yes, no) | Op::ConditionalRef(test, yes, no) => {
                if self.truth(test)? {
                    self.eval(yes)?
                } else {
                    self.eval(no)?
                }
            }
            Op::Coalesce(left, slot, value, right) => match self.eval(left)? {
                Val::Null => self.eval(right)?,
                left => {
                    self.set(*slot, left);
                    self.eval(value)?
                }
            },
            Op::Access(target, slot, rest) => match self.eval(target)? {
                Val::Null => Val::Null,
                target => {
                    self.set(*slot, target);
                    self.eval(rest)?
                }
            },
            Op::Let(values, body) => {
                for (slot, value) in values {
                    let value = self.eval(value)?;
                    self.set(*slot, value);
                }
                self.eval(body)?
            }
            Op::Convert(conversion, operand) => {
                let value = self.eval(operand)?;
                self.convert(conversion, value, &operand.ty, &node.ty, span)?
            }
            Op::Is(subject, slot, test) => {
                let value = self.eval(subject)?;
                self.set(*slot, value);
                Val::bool(self.test(test, *slot, &subject.ty, span)?)
            }
            Op::Switch(subject, slot, arms) => {
                let value = self.eval(subject)?;
                self.set(*slot, value);
                for arm in arms {
                    if self.test(&arm.test, *slot, &subject.ty, span)?
                        && match &arm.guard {
                            Some(guard) => self.truth(guard)?,
                            None => true,
                        }
                    {
                        return self.eval(&arm.value);
                    }
                }
                return Err(self.no_arm(*slot, &subject.ty, span));
            }
            Op::Tuple(elements) => {
                let mut values = Vec::with_capacity(elements.len());
                for element in elements {
                    values.push(self.eval(element)?);
                }
                let tuple = self.tuple(&node.ty, values);
                self.counted(tuple, span)?
            }
            Op::Call(callee, Some(target), arguments) if self.is_led_to(callee, target) => {
                self.call_where_led(node, callee, target, arguments)?
            }
            Op::Call(callee, target, arguments) => {
                let (target, home) = match target {
                    Some(target) => {
                        if &*callee.method.name == "ToString" {
                            self.notice_tuple(target);
                        }
                        let (value, home) = self.receiver(target)?;
                        self.not_on_a_copy(callee, target, home.as_ref())?;
                        (Some((value, target.ty.clone())), home)
                    }
                    None => (None, None),
                };
                if arguments
                    .iter()
                    .any(|it| matches!(it.op, Op::Reference(..)))
                {
                    let wanted = Wanted::Value;
                    return self.call_by_reference(node, callee, target, home, arguments, wanted);
                }
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.eval(argument)?);
                }
                let value = self.call(node, callee, target, home, values, arguments)?;
                self.counted(value, span)?
            }
            Op::Invoke(target, arguments) => {
                let target = self.eval(target)?;
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.eval(argument)?);
                }
                self.invoke(&target, values, span)?
            }
            Op::New(callee, arguments)
                if arguments
                    .iter()
                    .any(|it| matches!(it.op, Op::Reference(..))) =>
            {
                let wanted = Wanted::Value;
                return self.call_by_reference(node, callee, None, None, arguments, wanted);
            }
            Op::New(callee, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.eval(argument)?);
                }
                let value = self.create(node, callee, values, arguments)?;
                self.counted(value, span)?
            }
            Op::NewArray(length) => {
                let length = self.eval(length)?;
                let length = integer(&length).unwrap_or(-1);
                if length < 0 {
                    return Err(thrown(Fault::Overflow, span));
                }
                if length as usize > MAX_ITEMS {
                    return Err(Fail::new(
                        span,
                        "an array of that size is not made for an evaluation",
                    )
                    .into());
                }
                let element = node.ty.element().cloned().unwrap_or(Type::OBJECT);
                let zero = self.default(&element);
                self.room(length as usize * size_of::<Val>(), span)?;
                let array = Val::sequence(node.ty.clone(), vec![zero; length as usize]);
                self.counted(array, span)?
            }
            Op::Grid(lengths, values) => self.grid(lengths, values, node)?,
            Op::ArrayOf(elements) => {
                let mut values = Vec::with_capacity(elements.len());
                for element in elements {
                    values.push(self.eval(element)?);
                }
                self.counted(Val::sequence(node.ty.clone(), values), span)?
            }
            Op::Collection(items) => {
                let mut values = Vec::new();
                for (each, item) in items {
                    let value = self.eval(item)?;
                    let Some((slot, each)) = each else {
                        values.push(value);
                        continue;
                    };
                    for element in self.items_of(&value, item.span)? {
                        self.set(*slot, element);
                        values.push(self.eval(each)?);
                    }
                }
                self.counted(Val::sequence(node.ty.clone(), values), span)?
            }
            Op::Initialize(made, slot, steps) => self.initialize(made, *slot, steps, node)?,
            Op::Anonymous(members) => {
                let mut fields = Vec::with_capacity(members.len());
                for (name, member) in members {
                    fields.push((name.clone(), self.eval(member)?));
                }
                let made = Val::Made(Rc::new(Made::Fields(node.ty.clone(), fields)));
                self.counted(made, span)?
            }
            Op::TypeOf(ty) => Val::Made(Rc::new(Made::Type(ty.clone()))),
            Op::Late(late, operands) => self.late(late, operands, span)?,
            Op::Lambda(closure) => {
                let captured = closure.captures.iter();
                let captured = captured.filter_map(|slot| Some((*slot, self.held(*slot)?)));
                Val::Made(Rc::new(Made::Closure(closure.clone(), captured.collect())))
            }
            Op::Assign(place, value) => self.assign(place, value, node)?,
            Op::Update(place, slot, value, old) => {
                let (before, after) = self.update(place, *slot, value, node)?;
                if *old { before } else { after }
            }
            Op::Spread(places, slot, value, parts) => {
                self.spread(places, *slot, value, parts, node)?
            }
            Op::Fill(place, slot, held, value) => self.fill(place, *slot, held, value, node)?,
            Op::Slice(target, range) => {
                let target = self.eval(target)?;
                let range = self.eval(range)?;
                let part = self.slice(&target, &range, node)?;
                self.counted(part, span)?
            }
            Op::Index(number, from_end) => {
                let number = self.eval(number)?;
                let number = integer(&number).unwrap_or(0) as i64;
                if number < 0 {
                    let what = "Non-negative number required. (Parameter 'value')";
                    let ty = "System.ArgumentOutOfRangeException";
                    return Err(Fail::thrown(span, ty, Some(what.into())).into());
                }
                Val::Made(Rc::new(Made::Index(node.ty.clone(), number, *from_end)))
            }
            Op::Reference(_, value) => self.eval(value)?,
            Op::Range(start, end) => {
                let start = self.range_end(start.as_deref())?;
                let end = self.range_end(end.as_deref())?;
                Val::Made(Rc::new(Made::Range(node.ty.clone(), start, end)))
            }
        })
    }

    fn range_end(&mut self, node: Option<&Node>) -> Result<Option<(i64, bool)>> {
        let Some(node) = node else { return Ok(None) };
        match self.eval(node)? {
            Val::Made(made) => match &*made {
                Made::Index(_, number, from_end) => Ok(Some((*number, *from_end))),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// A condition's value.
    pub(crate) fn truth(&mut self, node: &Node) -> Result<bool> {
        match self.eval(node)? {
            Val::Scalar(Scalar::Bool(value)) => Ok(value),
            _ => Err(misfit(node.span)),
        }
    }

    /// The default value of a type.
    pub(super) fn default(&self, ty: &Type) -> Val {
        if ty.is_value() != Some(true) || self.types.nullable_of(ty).is_some() {
            return Val::Null;
        }
        let kind = ty
            .underlying()
            .and_then(well_known::primitive_kind)
            .or_else(|| well_known::kind(self.types, ty));
        match kind.and_then(Scalar::zero) {
            Some(zero) => Val::Scalar(zero),
            None => Val::Made(Rc::new(Made::Default(ty.clone()))),
        }
    }
}

/// An integer, of whatever type.
pub(super) fn integer(value: &Val) -> Option<i128> {
    match value {
        Val::Scalar(value) => value.integer(),
        Val::Boxed(_, inner) => integer(inner),
        _ => None,
    }
}

/// The exception that C# throws for a fault.
pub(super) fn thrown(fault: Fault, span: Span) -> Interrupt {
    let (ty, message) = match fault {
        Fault::Overflow => ("System.OverflowException", throwing::OVERFLOW),
        Fault::Unfit(kind) => ("System.OverflowException", throwing::unfit(kind)),
        Fault::DivideByZero => (
            "System.DivideByZeroException",
            "Attempted to divide by zero.",
        ),
    };
    Fail::thrown(span, ty, Some(message.into())).into()
}

pub(super) fn null_reference(span: Span) -> Interrupt {
    Fail::thrown(
        span,
        "System.NullReferenceException",
        Some("Object reference not set to an instance of an object.".into()),
    )
    .into()
}

/// A value of a kind that binding excludes; the program's memory may be damaged.
pub(super) fn misfit(span: Span) -> Interrupt {
    Fail::new(span, "a value is not of the type that it is declared with").into()
}

/// A variable of a pattern that has not matched, or of a call that was not made.
fn unassigned(span: Span) -> Interrupt {
    let told =
        "the variable is not assigned here: its pattern has not matched, or its call was not made";
    Fail::cs("CS0165", span, told).into()
}
