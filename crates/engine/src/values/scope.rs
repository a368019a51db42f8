//! The variables of a frame, as the user wrote them.
//!
//! Which they are and where they lie is a [`Shape`], worked out once for each place in code; here they are read from a
//! frame: one by one as an expression asks for them ([`FrameVariables`]), or all of them ([`Scope`]). Only what is in scope
//! at the frame's IL offset is told. Nothing runs in the program, and a variable that cannot be read is told with its reason.

use std::cell::OnceCell;
use std::rc::Rc;

use cordebug::hresult::{CORDBG_E_IL_VAR_NOT_AVAILABLE, E_INVALIDARG};

use super::assigned::{self, Suspension};
use super::floats;
use super::optimised;
use super::places::Slot;
use super::shape::{Declared, Home, Shape};
use super::sound::FrameHomes;
use super::{Object, Reader, Result, Unreadable, Value};
use crate::types::{Field, Named, Type, TypeNotes};

pub(crate) use super::frames::FrameContext;

/// What a variable is to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableKind {
    /// `this`.
    This,
    /// A parameter.
    Argument,
    /// A local, wherever the compiler put it.
    Local,
    /// A `const` of the method.
    Constant,
    /// A variable that lives in a closure.
    Captured,
}

/// One variable.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    /// Its name, as in the source.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: VariableKind,
    /// Its declared type.
    pub(crate) ty: Type,
    /// What the declaration adds to the type: tuple names, `dynamic`.
    pub(crate) notes: TypeNotes,
    /// Where it is, or why that cannot be told.
    pub(crate) value: Result<Value>,
    /// Tells it from others of its method that have its name.
    pub(crate) declaration: u64,
    /// The argument or local of the frame that it is, unless the compiler moved it.
    pub(crate) slot: Option<Slot>,
    /// The object and field that hold one that the compiler moved.
    pub(crate) holder: Option<(Object, super::Member)>,
    /// Whether another variable of the same name hides it.
    pub(crate) shadowed: bool,
}

/// The variables of a frame, read one by one.
#[derive(Debug)]
pub(crate) struct FrameVariables {
    /// Where the frame is.
    pub(crate) context: FrameContext,
    /// What is in scope there.
    pub(crate) shape: Rc<Shape>,
    /// Where they live, once that was asked for.
    homes: OnceCell<Option<FrameHomes>>,
}

/// Set in the number of a variable it means the closure that the variable lies in.
pub(crate) const CLOSURE: usize = 1 << 31;

impl FrameVariables {
    /// Those of a frame; nothing of them is read yet.
    pub(crate) fn of(reader: &Reader<'_>, context: FrameContext) -> Result<Self> {
        let shapes = &reader.layouts.shapes;
        let key = (context.module, context.method, context.offset.0);
        let known = shapes.get(&key).filter(|(at, _)| *at == context.at);
        let shape = match known {
            Some((_, shape)) => shape,
            None => {
                let shape = Rc::new(Shape::of(reader.types, &context.at)?);
                shapes.insert(key, (context.at.clone(), shape.clone()));
                shape
            }
        };
        Ok(Self {
            context,
            shape,
            homes: OnceCell::new(),
        })
    }

    /// The value of a variable, by its number in the shape.
    pub(crate) fn value(&self, reader: &Reader<'_>, number: usize) -> Result<Value> {
        let declared = self.shape.variables.get(number & !CLOSURE);
        let declared = declared.ok_or(Unreadable::OptimizedAway)?;
        if number & CLOSURE != 0 {
            return match &declared.home {
                Home::Field(holder, of, _) => self.at(reader, holder, of).map(|(value, ..)| value),
                _ => Err(Unreadable::OptimizedAway),
            };
        }
        self.read(reader, declared).map(|(value, ..)| value)
    }

    /// The library's own value of a variable, wherever it lives: one that is captured or hoisted is a field.
    pub(crate) fn runtime_place(
        &self,
        reader: &Reader<'_>,
        number: usize,
    ) -> Option<cordebug::value::Value> {
        let declared = self.shape.variables.get(number & !CLOSURE)?;
        if number & CLOSURE != 0 {
            let Home::Field(holder, of, _) = &declared.home else {
                return None;
            };
            return self.runtime_of(reader, holder, self.at(reader, holder, of).ok()?);
        }
        self.runtime_of(reader, &declared.home, self.read(reader, declared).ok()?)
    }

    /// The library's own value of what was found at a home.
    fn runtime_of(
        &self,
        reader: &Reader<'_>,
        home: &Home,
        (_, slot, holder): Found,
    ) -> Option<cordebug::value::Value> {
        if let Some(slot) = slot {
            return slot.in_frame(&self.context.frame).ok();
        }
        let field_of = |object: &cordebug::value::Value, ty: &Named, field: &Field| {
            let module = reader.types.module(ty.module).ok()?;
            let class = module.module.class(ty.token.0).ok()?;
            object.field(&class, field.token.0).ok()
        };
        if let Some((object, member)) = holder {
            let object = reader.types.process.object_at(object.address).ok()?;
            return field_of(&object, &member.declared_in, &member.field);
        }
        // It lies in a struct, as the state machine of an async method is in an optimised build.
        let Home::Field(outer, of, field) = home else {
            return None;
        };
        let outer = self.runtime_of(reader, outer, self.at(reader, outer, of).ok()?)?;
        let whole = outer.dereference().ok().flatten()?;
        field_of(&whole, of.without_ref().as_named()?, field)
    }

    /// The type of a variable; of one that is open what the value has.
    pub(crate) fn ty(&self, reader: &Reader<'_>, number: usize) -> Type {
        let Some(declared) = self.shape.variables.get(number) else {
            return Type::OBJECT;
        };
        if !declared.ty.is_open() {
            return declared.ty.clone();
        }
        match self.value(reader, number) {
            Ok(value) => value.ty,
            Err(_) => declared.ty.clone(),
        }
    }

    fn read(&self, reader: &Reader<'_>, declared: &Declared) -> Result<Found> {
        if let Some(constant) = declared.constant(reader) {
            return Ok((constant?, None, None));
        }
        if let Home::Local(slot) = declared.home
            && declared.kind == VariableKind::Local
            && self.is_unassigned(reader, slot)
        {
            return Err(Unreadable::NotAssigned);
        }
        let found = match self.at(reader, &declared.home, &declared.ty) {
            Ok((value, ..)) if self.is_untouched(reader, declared, &value) => {
                Err(Unreadable::NotAssigned)
            }
            found => found,
        };
        if let Ok((value, ..)) = &found
            && let Some(over) = self.lost_over(reader, declared, value)
        {
            let over = match over {
                Suspension::Await => "await",
                Suspension::Yield => "yield",
            };
            return Err(Unreadable::NotKept { over });
        }
        match found {
            // A captured parameter is in its own slot until the closure is there.
            Err(Unreadable::NotAssigned) => match &declared.before {
                Some(before) => self.at(reader, before, &declared.ty),
                None => Err(Unreadable::NotAssigned),
            },
            found => found,
        }
    }

    /// Where a local was lost that is empty because the method has gone on behind an await or yield since it was assigned.
    fn lost_over(
        &self,
        reader: &Reader<'_>,
        declared: &Declared,
        value: &Value,
    ) -> Option<Suspension> {
        let (Home::Local(slot), VariableKind::Local) = (&declared.home, declared.kind) else {
            return None;
        };
        let slot = u16::try_from(*slot).ok()?;
        let context = &self.context;
        let lost = self
            .shape
            .lost(|| assigned::lost_in_method(reader.types, &context.at).unwrap_or_default());
        let mut lost = lost.iter().filter(|(it, _)| *it == slot);
        let (_, over) = lost.next()?;
        // What is not empty was assigned since: the method was not suspended then.
        is_empty(reader, value).then_some(*over)
    }

    /// Whether a variable that the compiler moved into a field cannot have been assigned so far, neither by the code nor by
    /// the user. Only the own code of a state machine that is not optimised is known to set its fields and nobody else:
    /// one of these may hold what an earlier round of a loop has left there; any other must be empty.
    fn is_untouched(&self, reader: &Reader<'_>, declared: &Declared, value: &Value) -> bool {
        let (Home::Field(.., field), VariableKind::Local | VariableKind::Captured) =
            (&declared.home, declared.kind)
        else {
            return false;
        };
        let context = &self.context;
        let module = reader.types.module(context.module);
        let is_optimized = module.ok().and_then(|it| it.is_optimized());
        let is_own = is_optimized == Some(false) && assigned::fields::is_own(&declared.home);
        if !(is_own || is_empty(reader, value)) || self.is_given(reader, field.token.0) {
            return false;
        }
        if !context.is_exact && is_optimized == Some(true) {
            return false;
        }
        let key = (context.is_exact, field.token);
        self.shape.untouched(key, || {
            let (types, home) = (reader.types, &declared.home);
            assigned::fields::is_untouched(types, &context.at, context.is_exact, home)
                .unwrap_or(false)
        })
    }

    /// Whether there is a place for a variable, whatever it holds.
    fn has_place(&self, reader: &Reader<'_>, declared: &Declared) -> bool {
        self.at(reader, &declared.home, &declared.ty).is_ok()
    }

    /// Whether a variable in a field has no value yet, and the number that it is remembered by once it is given one.
    pub(super) fn untouched_field(&self, reader: &Reader<'_>, declared: &Declared) -> Option<u32> {
        let Home::Field(.., field) = &declared.home else {
            return None;
        };
        let (value, ..) = self.at(reader, &declared.home, &declared.ty).ok()?;
        // Tokens of fields are larger than any slot.
        self.is_untouched(reader, declared, &value)
            .then_some(field.token.0)
    }

    /// Whether the code cannot have assigned the local in a slot so far, nor has the user.
    pub(super) fn is_unassigned(&self, reader: &Reader<'_>, slot: u32) -> bool {
        if self.is_given(reader, slot) {
            return false;
        }
        let context = &self.context;
        let module = reader.types.module(context.module);
        if !context.is_exact && module.is_ok_and(|it| it.is_optimized() == Some(true)) {
            // The offset may be of code far before, as where a loop was replaced while it ran; and the compiler tells no
            // value of a variable that has none.
            return false;
        }
        let known = self.shape.unassigned(context.is_exact, || {
            assigned::in_method(reader.types, &context.at, context.is_exact).unwrap_or_default()
        });
        u16::try_from(slot).is_ok_and(|slot| known.contains(&slot))
    }

    fn at(&self, reader: &Reader<'_>, home: &Home, ty: &Type) -> Result<Found> {
        let slot = match home {
            Home::Argument(index) => Slot::Argument(*index),
            Home::Local(index) => Slot::Local(*index),
            Home::Field(holder, of, field) => {
                let (holder, ..) = self.at(reader, holder, of)?;
                let (value, holder) = field_in(reader, &holder, field)?;
                return Ok((value, None, holder));
            }
            Home::Constant(_) => return Err(Unreadable::OptimizedAway),
            Home::Unused => return Err(Unreadable::Unused),
        };
        let frame = &self.context.frame;
        let value = reader.places.variable(reader.run, frame, (slot, ty), || {
            self.variable(reader, slot, ty)
        })?;
        // The library can neither tell nor set what is in a floating-point register.
        let is_told = self
            .optimised_homes(reader)
            .is_none_or(|homes| homes.may_be_asked_for(reader, slot, ty));
        Ok((value, is_told.then_some(slot), None))
    }
}

impl FrameVariables {
    fn homes(&self, reader: &Reader<'_>) -> Option<&FrameHomes> {
        let homes = || FrameHomes::of(reader, &self.context.frame);
        self.homes.get_or_init(homes).as_ref()
    }

    /// Where the variables live, if some may be in registers: only optimised code keeps them there.
    fn optimised_homes(&self, reader: &Reader<'_>) -> Option<&FrameHomes> {
        self.is_optimised(reader).then(|| self.homes(reader))?
    }

    /// Whether its code may be optimised.
    pub(super) fn is_optimised(&self, reader: &Reader<'_>) -> bool {
        let module = reader.types.module(self.context.module);
        module.is_ok_and(|it| it.is_optimized() != Some(false))
    }

    /// The number that was passed in a floating-point register, where nothing of the method has run yet.
    fn passed_float(
        &self,
        reader: &Reader<'_>,
        homes: &FrameHomes,
        slot: Slot,
        ty: &Type,
    ) -> Option<Vec<u8>> {
        let Slot::Argument(index) = slot else {
            return None;
        };
        let size = floats::size(ty)?;
        let number = floats::register_of(reader, &self.context.at, &self.shape, index)?;
        let bytes = homes.passed_float(reader, number)?.to_le_bytes();
        bytes.get(..size).map(<[u8]>::to_vec)
    }

    /// Whether something that was passed may not be where it will be: code for debugging stores it at its very beginning, before
    /// the first statement.
    fn is_on_its_way(&self, reader: &Reader<'_>, slot: Slot) -> bool {
        matches!(slot, Slot::Argument(_))
            && self.context.offset.0 == 0
            && !self.is_optimised(reader)
    }

    /// A variable of the method itself. What the library would crash on or does not find is not asked from it: references
    /// that lead to no object, and places that it knows only half.
    fn variable(&self, reader: &Reader<'_>, slot: Slot, ty: &Type) -> Result<Value> {
        let frame = &self.context.frame;
        let asked = || {
            slot.in_frame(frame).map_err(|error| match error.code() {
                Some(E_INVALIDARG) if !ty.is_reference() && self.is_optimised(reader) => {
                    Unreadable::InFloatingRegister
                }
                Some(CORDBG_E_IL_VAR_NOT_AVAILABLE) if self.is_on_its_way(reader, slot) => {
                    Unreadable::NotStored
                }
                _ => error.into(),
            })
        };
        let homes = match ty.is_reference() {
            true => self.homes(reader),
            false => self.optimised_homes(reader),
        };
        let Some(homes) = homes else {
            return reader.of_runtime(&asked()?, Some(ty.clone()));
        };
        if !homes.may_be_asked_for(reader, slot, ty) {
            let passed = self.passed_float(reader, homes, slot, ty);
            let bytes = passed.ok_or(Unreadable::InFloatingRegister)?;
            return Ok(reader.copied(ty.clone(), bytes));
        }
        if homes.is_overwritten(reader, slot) {
            return Err(match self.is_on_its_way(reader, slot) {
                true => Unreadable::NotStored,
                false => Unreadable::Overwritten,
            });
        }
        if let Slot::Argument(index) = slot
            && optimised::may_be_changed(reader, &self.context.at, index, ty)
        {
            return Err(Unreadable::MayBeOld);
        }
        if let Some(address) = homes.unknown_address(slot) {
            return Ok(reader.at(ty.clone(), address));
        }
        if ty.is_reference()
            && let Some(address) = homes.word(reader, slot)
            && address != 0
            && !reader.may_be_object(address)
        {
            return Err(Unreadable::NotAnObject { address });
        }
        reader.of_runtime(&asked()?, Some(ty.clone()))
    }
}

/// Whether a value has no bits that are set.
fn is_empty(reader: &Reader<'_>, value: &Value) -> bool {
    let bytes = reader
        .size_of(&value.ty)
        .and_then(|size| reader.bytes(value, size));
    bytes.is_ok_and(|bytes| bytes.iter().all(|byte| *byte == 0))
}

/// A value, and where the frame has it or the object that holds it.
type Found = (Value, Option<Slot>, Option<(Object, super::Member)>);

/// A field of a closure or state machine, and the object that holds it unless that is a struct.
fn field_in(
    reader: &Reader<'_>,
    holder: &Value,
    field: &Field,
) -> Result<(Value, Option<(Object, super::Member)>)> {
    let holder = reader.behind_ref(holder)?;
    let missing = || Unreadable::NoField {
        ty: reader.types.text(&holder.ty),
        name: field.name.to_string(),
    };
    if holder.ty.is_value() == Some(true) {
        let members = reader.struct_members(&holder.ty)?;
        let member = members.iter().find(|it| it.field.token == field.token);
        let value = reader.struct_member(&holder, member.ok_or_else(missing)?)?;
        return Ok((value, None));
    }
    let object = reader.object(&holder)?.ok_or(Unreadable::NotAssigned)?;
    let members = reader.members(&object)?;
    let member = members.iter().find(|it| it.field.token == field.token);
    let member = member.ok_or_else(missing)?.clone();
    Ok((reader.member(&object, &member), Some((object, member))))
}

/// The variables of a frame, all read.
#[derive(Debug)]
pub(crate) struct Scope {
    /// Where the frame is.
    pub(crate) context: FrameContext,
    /// `this` first, then arguments, then locals, outer ones before inner ones.
    pub(crate) variables: Vec<Variable>,
    /// Why names and scopes of locals are not known, if they are not.
    pub(crate) without_symbols: Option<String>,
}

impl Scope {
    /// Reads the variables of a frame.
    pub(crate) fn read(reader: &Reader<'_>, context: FrameContext) -> Result<Self> {
        Self::read_those(reader, context, |_| true)
    }

    /// Reads some variables of a frame.
    pub(crate) fn read_those(
        reader: &Reader<'_>,
        context: FrameContext,
        is_wanted: impl Fn(&Declared) -> bool,
    ) -> Result<Self> {
        let frame = FrameVariables::of(reader, context)?;
        let mut variables = Vec::new();
        let all = frame.shape.variables.iter().chain(&frame.shape.unnamed);
        for declared in all.filter(|it| is_wanted(it)) {
            let (value, slot, holder) = match frame.read(reader, declared) {
                Ok((value, slot, holder)) => (Ok(value), slot, holder),
                // Its closure does not exist yet, and so neither does it.
                Err(Unreadable::NotAssigned)
                    if declared.kind == VariableKind::Captured
                        && !frame.has_place(reader, declared) =>
                {
                    continue;
                }
                Err(why) => (Err(why), None, None),
            };
            let ty = match &value {
                // The runtime knows better where the method's type parameters are not known.
                Ok(value) if declared.ty.is_open() => value.ty.clone(),
                _ => declared.ty.clone(),
            };
            variables.push(Variable {
                name: declared.name.to_string(),
                kind: declared.kind,
                ty,
                notes: declared.notes.clone(),
                declaration: declared.number(),
                value,
                slot,
                holder,
                shadowed: declared.shadowed,
            });
        }
        Ok(Self {
            variables,
            without_symbols: frame.shape.without_symbols.clone(),
            context: frame.context,
        })
    }

    /// The variable that a name means.
    pub(crate) fn find(&self, name: &str) -> Option<&Variable> {
        let mut named = self.variables.iter().filter(|it| it.name == name);
        named.find(|it| !it.shadowed)
    }

    /// The library's own value of a variable that is an argument or local, which alone can be written when it lives in a
    /// register.
    pub(crate) fn runtime_value(&self, variable: &Variable) -> Option<cordebug::value::Value> {
        variable.slot?.in_frame(&self.context.frame).ok()
    }

    /// The user's `this`: that of the method around a lambda or state machine, if there is one.
    pub(crate) fn this(&self) -> Option<&Variable> {
        let this = |it: &&Variable| it.kind == VariableKind::This;
        self.variables.iter().find(this)
    }
}
