//! Reading values: from places to objects, fields, elements, numbers and text.

use std::rc::Rc;

use cordebug::handle::Handle;
use cordebug::heap::TypeId;
use cordebug::thread::Frame;
use metadata::csharp::field_display_name;
use metadata::model::ConstantValue;
use metadata::signature::Primitive;

use crate::expressions::FieldRef;
use crate::stack::walks::KeptWalks;
use crate::stragglers::layout::KnownLayout;
use crate::target::Target;
use crate::types::{Named, Type, Types};

use super::memory::Memory;
use super::{
    Handles, LayoutCache, Member, Object, Place, Places, Result, Scalar, Unreadable, Value,
};

/// No string or array is longer than this; a longer one is damaged.
const MAX_LENGTH: u64 = i32::MAX as u64;
/// Bytes of one value that are copied at most.
const MAX_VALUE: u32 = 1 << 20;
/// The word before the fields of a boxed value.
const BOX_HEADER: u64 = 8;

/// Reads the memory of the stopped program. Made for one request; what it gives is good until the program runs.
pub(crate) struct Reader<'t> {
    /// The program's types.
    pub(crate) types: Types<'t>,
    pub(super) memory: Memory<'t>,
    pub(super) layouts: &'t LayoutCache,
    handles: &'t Handles,
    pub(crate) places: &'t Places,
    pub(super) run: u64,
    /// Whose thread's own statics are meant where nothing else says so.
    pub(super) looks_from: Option<Frame>,
    pub(super) walks: &'t KeptWalks,
    /// Where the runtime has its threads.
    pub(super) runtime: &'t KnownLayout,
}

/// The shape of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArrayShape {
    /// What it holds.
    pub(crate) element: Type,
    /// The number of elements in all dimensions.
    pub(crate) count: u64,
    /// The length of each dimension.
    pub(crate) lengths: Vec<u32>,
    /// The first index of each dimension.
    pub(crate) bounds: Vec<i32>,
}

/// An object that is kept alive and known over runs of the program.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    handle: Rc<Handle>,
    ty: Type,
}

impl Held {
    /// Its exact type.
    pub(crate) fn ty(&self) -> &Type {
        &self.ty
    }

    /// A reference to it, as calls take it.
    pub(crate) fn runtime_value(&self) -> cordebug::value::Value {
        self.handle.value()
    }

    /// What is in the box, as calls take it; the object itself if it is no box.
    pub(crate) fn inner(&self) -> std::result::Result<cordebug::value::Value, cordebug::Error> {
        match self.handle.object()? {
            Some(object) => object.unboxed(),
            None => Ok(self.handle.value()),
        }
    }
}

impl Held {
    /// The place inside that can be passed by reference: the first element of an array, what is in a box.
    pub(crate) fn place_inside(
        &self,
    ) -> std::result::Result<cordebug::value::Value, cordebug::Error> {
        if self.ty.element().is_none() {
            return self.inner();
        }
        let array = self.handle.object()?.unwrap_or_else(|| self.handle.value());
        let (elements, _) = array.elements(1)?;
        let first = elements.into_iter().next();
        Ok(first.unwrap_or_else(|| self.handle.value()))
    }
}

impl Target {
    /// Reads the program's values, as they are now.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            types: self.types(),
            memory: Memory::new(&self.process),
            layouts: &self.layouts,
            handles: &self.handles,
            places: &self.places,
            run: self.runs,
            looks_from: None,
            walks: &self.walks,
            runtime: &self.beginners.layout,
        }
    }
}

impl Reader<'_> {
    /// Says whose thread's own statics are meant.
    pub(crate) fn looking_from(self, frame: Option<&Frame>) -> Self {
        Self {
            looks_from: frame.cloned(),
            ..self
        }
    }

    /// A value at an address.
    pub(crate) fn at(&self, ty: Type, address: u64) -> Value {
        Value {
            ty,
            place: Place::Memory(address),
            run: self.run,
        }
    }

    /// A value of a type so many bytes behind another.
    pub(crate) fn offset(&self, from: &Value, offset: u64, ty: &Type) -> Result<Value> {
        let place = match &from.place {
            Place::Memory(address) => Place::Memory(address.wrapping_add(offset)),
            Place::Copy(bytes) => {
                let part = usize::try_from(offset).ok().and_then(|at| bytes.get(at..));
                Place::Copy(part.ok_or(Unreadable::OptimizedAway)?.into())
            }
            Place::Text(_) => return Err(Unreadable::OptimizedAway),
        };
        Ok(Value {
            ty: ty.clone(),
            place,
            run: from.run,
        })
    }

    /// A value that is only ours.
    pub(crate) fn copied(&self, ty: Type, bytes: impl Into<Rc<[u8]>>) -> Value {
        Value {
            ty,
            place: Place::Copy(bytes.into()),
            run: self.run,
        }
    }

    /// Text that is no object of the program.
    pub(crate) fn text(&self, units: impl Into<Rc<[u16]>>) -> Value {
        Value {
            ty: Type::STRING,
            place: Place::Text(units.into()),
            run: self.run,
        }
    }

    /// The value of a constant of a type; of a string the text, which is no object of the program.
    pub(crate) fn constant(&self, ty: Type, constant: ConstantValue<'_>) -> Value {
        match constant {
            ConstantValue::String(text) => Value {
                ty,
                place: Place::Text(text.units().collect()),
                run: self.run,
            },
            constant => match Scalar::from_constant(constant) {
                Some(scalar) => self.copied(ty, scalar.to_bytes()),
                None => self.copied(ty, [0; 8]),
            },
        }
    }

    /// A value that the runtime's library gave: of a frame, a static field, a call. `declared` is its type where that is
    /// known; else it is asked for.
    pub(crate) fn of_runtime(
        &self,
        value: &cordebug::value::Value,
        declared: Option<Type>,
    ) -> Result<Value> {
        let ty = match declared.filter(|ty| !ty.is_open()) {
            Some(ty) => ty,
            None => self.types.of_runtime(&value.exact_type()?)?,
        };
        match value.address()? {
            // It lives in a register.
            0 => {}
            address => return Ok(self.at(ty, address)),
        }
        let bytes = match value.reference_address()? {
            Some(address) => address.to_le_bytes().to_vec(),
            None => value.bytes()?,
        };
        Ok(self.copied(ty, bytes))
    }

    /// Refuses what was read before the program ran.
    fn fresh(&self, run: u64) -> Result<()> {
        if run == self.run {
            Ok(())
        } else {
            Err(Unreadable::Stale)
        }
    }

    /// The first `length` bytes of a value.
    pub(crate) fn bytes(&self, value: &Value, length: u32) -> Result<Vec<u8>> {
        self.fresh(value.run)?;
        if length > MAX_VALUE {
            return Err(Unreadable::TooMuch {
                size: length.into(),
            });
        }
        let mut bytes = vec![0; length as usize];
        match &value.place {
            Place::Memory(address) => self.memory.read(*address, &mut bytes)?,
            Place::Copy(copy) => {
                let from = copy.get(..length as usize);
                let from = from.ok_or(Unreadable::OptimizedAway)?;
                bytes.copy_from_slice(from);
            }
            Place::Text(_) => {
                return Err(Unreadable::WrongKind {
                    ty: self.types.text(&value.ty),
                    wanted: "stored in the program: it is a constant",
                });
            }
        }
        Ok(bytes)
    }

    /// Overwrites a value with bytes; references of objects must not be written so, since the collector must hear of them.
    pub(crate) fn write(&self, value: &Value, bytes: &[u8]) -> Result<()> {
        self.fresh(value.run)?;
        let Place::Memory(address) = value.place else {
            return Err(Unreadable::WrongKind {
                ty: self.types.text(&value.ty),
                wanted: "a place in the program's memory",
            });
        };
        let written = self.types.process.write_memory(address, bytes);
        written.map_err(|error| match error.is_target_gone() {
            true => error.into(),
            false => Unreadable::NotWritten { address },
        })?;
        self.memory.forget();
        self.places.forget();
        Ok(())
    }

    /// How many bytes a value of a type takes where it is stored.
    pub(crate) fn size_of(&self, ty: &Type) -> Result<u32> {
        let (size, _) = self.layouts.size_and_alignment(self.types, ty)?;
        Ok(size)
    }

    /// The word at an address.
    pub(super) fn word_at(&self, address: u64) -> Result<u64> {
        self.memory.word(address)
    }

    /// Bytes from an address on.
    pub(super) fn bytes_at(&self, address: u64, length: u64) -> Result<Vec<u8>> {
        if length > MAX_VALUE.into() {
            return Err(Unreadable::TooMuch { size: length });
        }
        let mut bytes = vec![0; length as usize];
        self.memory.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// The 32-bit number at an address.
    pub(super) fn number_at(&self, address: u64) -> Result<u32> {
        self.memory.u32(address)
    }

    /// The word of a reference, pointer, by-ref or function pointer.
    pub(crate) fn word(&self, value: &Value) -> Result<u64> {
        let bytes = self.bytes(value, 8)?;
        let word = bytes.first_chunk().copied();
        Ok(word.map_or(0, u64::from_le_bytes))
    }

    /// A number, truth value, character, enum or pointer; a by-ref is followed.
    pub(crate) fn scalar(&self, value: &Value) -> Result<Scalar> {
        let value = self.behind_ref(value)?;
        let primitive = value.ty.underlying();
        let sized = primitive.and_then(|it| Some((it, Scalar::size(it)?)));
        let Some((primitive, size)) = sized else {
            return Err(Unreadable::WrongKind {
                ty: self.types.text(&value.ty),
                wanted: "a number",
            });
        };
        let bytes = self.bytes(&value, size as u32)?;
        Scalar::from_bytes(primitive, &bytes).ok_or(Unreadable::OptimizedAway)
    }

    /// A value itself, or what it leads to if it is a by-ref.
    pub(crate) fn behind_ref(&self, value: &Value) -> Result<Value> {
        match &value.ty {
            Type::ByRef(inner) => {
                let address = self.word(value)?;
                if address == 0 {
                    return Err(Unreadable::Null {
                        what: "target: the reference leads nowhere".into(),
                    });
                }
                Ok(self.at((**inner).clone(), address))
            }
            _ => Ok(value.clone()),
        }
    }

    /// What a by-ref or pointer leads to; `None` for a null pointer and one to `void`.
    pub(crate) fn target(&self, value: &Value) -> Result<Option<Value>> {
        match &value.ty {
            Type::ByRef(_) => self.behind_ref(value).map(Some),
            Type::Pointer(inner) if **inner != Type::Primitive(Primitive::Void) => {
                let address = self.word(value)?;
                Ok((address != 0).then(|| self.at((**inner).clone(), address)))
            }
            _ => Ok(None),
        }
    }

    /// What a pointer leads to, which must be something. A by-ref is followed.
    pub(super) fn pointed(&self, value: &Value) -> Result<Value> {
        let pointer = self.behind_ref(value)?;
        match self.target(&pointer)? {
            Some(target) => Ok(target),
            None if self.word(&pointer)? == 0 => Err(Unreadable::Null {
                what: "target: the pointer leads nowhere".into(),
            }),
            None => Err(Unreadable::WrongKind {
                ty: self.types.text(&pointer.ty),
                wanted: "a pointer that says what it leads to",
            }),
        }
    }

    /// The object that a value of reference type refers to; `None` for null. A by-ref is followed.
    pub(crate) fn object(&self, value: &Value) -> Result<Option<Object>> {
        let value = self.behind_ref(value)?;
        if value.ty.is_value() == Some(true) {
            return Err(Unreadable::WrongKind {
                ty: self.types.text(&value.ty),
                wanted: "a reference",
            });
        }
        match self.word(&value)? {
            0 => Ok(None),
            address => self.object_at(address).map(Some),
        }
    }

    /// The object at an address.
    pub(crate) fn object_at(&self, address: u64) -> Result<Object> {
        let id = self.type_id(address)?;
        let ty = match self.layouts.types.get(&id.word()) {
            Some(known) => known,
            None => {
                if !self.may_be_object(address) {
                    return Err(Unreadable::NotAnObject { address });
                }
                // The library looks closely at what it has not seen before: a damaged object ends here.
                let damaged = |_| Unreadable::NotAnObject { address };
                let process = self.types.process;
                // It copies an object whole for that. A large one is taken for what it says it is.
                let runtime = if self.is_large_array(address, id) {
                    process.type_of_id(id).map_err(damaged)?
                } else {
                    let object = process.object_at(address).map_err(damaged)?;
                    object.exact_type().map_err(damaged)?
                };
                let ty = self.types.of_runtime(&runtime)?;
                self.layouts.types.insert(id.word(), ty.clone());
                ty
            }
        };
        Ok(Object {
            ty,
            address,
            run: self.run,
        })
    }

    /// Whether an object that has elements (an array, a string) is too large to be copied.
    fn is_large_array(&self, address: u64, id: TypeId) -> bool {
        // A type begins with flags; one of them says that the lower half of the word is the size of an element.
        const HAS_ELEMENTS: u64 = 0x8000_0000;
        const LARGE: u64 = 1 << 20;
        let Ok(flags) = self.memory.word(id.word()) else {
            return false;
        };
        let length = self.memory.word(address + 8).unwrap_or(0) & 0xffff_ffff;
        flags & HAS_ELEMENTS != 0 && (flags & 0xffff).saturating_mul(length) > LARGE
    }

    fn type_id(&self, address: u64) -> Result<TypeId> {
        let id = TypeId::from_object_word(self.memory.word(address)?);
        if id.word() == 0 || !address.is_multiple_of(8) {
            return Err(Unreadable::NotAnObject { address });
        }
        Ok(id)
    }

    /// A reference to an object, as a value.
    pub(crate) fn reference_to(&self, object: &Object) -> Value {
        // A reference to a box is none of the struct's type: that would be the struct itself.
        let boxed = object.ty.is_value() == Some(true);
        Value {
            ty: if boxed {
                Type::OBJECT
            } else {
                object.ty.clone()
            },
            place: Place::Copy(object.address.to_le_bytes().into()),
            run: object.run,
        }
    }

    /// The value inside a boxed one.
    pub(crate) fn unboxed(&self, object: &Object) -> Option<Value> {
        (object.ty.is_value() == Some(true)).then(|| Value {
            ty: object.ty.clone(),
            place: Place::Memory(object.address + BOX_HEADER),
            run: object.run,
        })
    }

    /// The instance fields of an object, with where they lie in it; its own first, then those of its base types. Of a boxed
    /// value there are none: see [`Reader::unboxed`].
    pub(crate) fn members(&self, object: &Object) -> Result<Rc<[Member]>> {
        self.fresh(object.run)?;
        self.layouts
            .members(self.types, &object.ty, || self.type_id(object.address))
    }

    /// Whether the runtime has loaded a type; only then it tells its layout.
    pub(crate) fn is_loaded(&self, ty: &Type) -> bool {
        use cordebug::hresult::CORDBG_E_CLASS_NOT_LOADED;
        let Ok(runtime) = self.types.to_runtime(ty) else {
            return true;
        };
        let id = match runtime.id() {
            Err(why) if why.code() == Some(CORDBG_E_CLASS_NOT_LOADED) => return false,
            id => id,
        };
        // It may be known by name, and no more.
        let members = || self.layouts.members(self.types, ty, || Ok(id?));
        ty.is_value() != Some(true)
            || !matches!(members(), Err(Unreadable::NotInitialized))
            || self.types.shared_id(ty).is_some()
    }

    /// The instance fields of a struct, with where they lie in it.
    pub(crate) fn struct_members(&self, ty: &Type) -> Result<Rc<[Member]>> {
        self.layouts.value_members(self.types, ty)
    }

    /// The value of a field of an object.
    pub(crate) fn member(&self, object: &Object, member: &Member) -> Value {
        Value {
            ty: member.field.ty.clone(),
            place: Place::Memory(object.address + u64::from(member.offset)),
            run: object.run,
        }
    }

    /// The value of a field of a struct.
    pub(crate) fn struct_member(&self, value: &Value, member: &Member) -> Result<Value> {
        self.offset(value, member.offset.into(), &member.field.ty)
    }

    /// An instance field by name, of the object that a reference leads to, of a boxed value or of a struct. By-refs and
    /// pointers are followed. An automatic property is found by its own name.
    pub(crate) fn field(&self, value: &Value, name: &str) -> Result<Value> {
        let value = self.behind_ref(value)?;
        if let Type::Pointer(_) = &value.ty
            && let Some(target) = self.target(&value)?
        {
            return self.field(&target, name);
        }
        if value.ty.is_value() == Some(true) {
            let members = self.struct_members(&value.ty)?;
            let member = self.named_member(&value.ty, &members, name)?;
            return self.struct_member(&value, member);
        }
        let object = self.object(&value)?.ok_or_else(|| Unreadable::Null {
            what: format!("field {name}"),
        })?;
        self.object_field(&object, name)
    }

    /// An instance field of an object by name.
    pub(crate) fn object_field(&self, object: &Object, name: &str) -> Result<Value> {
        if let Some(value) = self.unboxed(object) {
            return self.field(&value, name);
        }
        let members = self.members(object)?;
        let member = self.named_member(&object.ty, &members, name)?;
        Ok(self.member(object, member))
    }

    /// A field of exactly the type that declares it: a base may have one of the same name.
    pub(crate) fn declared_field(&self, object: &Object, field: &FieldRef) -> Result<Value> {
        if let Some(value) = self.unboxed(object) {
            return self.field(&value, &field.name);
        }
        let members = self.members(object)?;
        let found = members.iter().find(|it| {
            it.field.token == field.token
                && it.declared_in.token == field.declared_in.token
                && it.declared_in.module == field.declared_in.module
        });
        match found {
            Some(member) => Ok(self.member(object, member)),
            None => self.object_field(object, &field.name),
        }
    }

    fn named_member<'m>(&self, ty: &Type, members: &'m [Member], name: &str) -> Result<&'m Member> {
        let exact = members.iter().find(|it| *it.field.name == *name);
        let displayed = || {
            let mut members = members.iter();
            members.find(|it| {
                field_display_name(&it.field.name).is_some_and(|shown| shown == name)
                    && self.tells_property(&it.declared_in, &it.field)
                    && !self.is_redeclared(ty, &it.declared_in, name)
            })
        };
        exact.or_else(displayed).ok_or_else(|| Unreadable::NoField {
            ty: self.types.text(ty),
            name: name.to_owned(),
        })
    }

    /// Whether a type between `ty` and its base type `below` declares a property of this name once more: the name then
    /// means that one, and not the field behind the property of `below`.
    pub(super) fn is_redeclared(&self, ty: &Type, below: &Rc<Named>, name: &str) -> bool {
        let is_own = |named: &Rc<Named>| named.token == below.token && named.module == below.module;
        if ty.as_named().is_some_and(is_own) {
            return false;
        }
        let between = self.types.ancestry(ty).unwrap_or_default();
        let mut between = between.iter().take_while(|named| !is_own(named));
        between.any(|named| {
            let definition = self.types.definition(named);
            definition.is_ok_and(|definition| {
                let mut properties = definition.properties().flatten();
                properties.any(|it| it.name().is_ok_and(|it| it == name))
            })
        })
    }

    /// The bytes that an object takes on the heap.
    pub(crate) fn object_size(&self, object: &Object) -> Result<u64> {
        let id = self.type_id(object.address)?;
        let (base, _) = self.types.process.object_size(id)?;
        let parts = if object.ty == Type::STRING {
            let (_, length) = self.string_units(object, 0)?;
            length.saturating_mul(2)
        } else if object.ty.element().is_some() {
            let places = self.array_places(object)?;
            let count = self.array(object)?.count;
            count.saturating_mul(places.element_size.into())
        } else {
            0
        };
        Ok((u64::from(base).saturating_add(parts)).next_multiple_of(8))
    }

    /// The shape of an array.
    pub(crate) fn array(&self, object: &Object) -> Result<ArrayShape> {
        self.fresh(object.run)?;
        let Some(element) = object.ty.element() else {
            return Err(Unreadable::WrongKind {
                ty: self.types.text(&object.ty),
                wanted: "an array",
            });
        };
        let places = self.array_places(object)?;
        let count = u64::from(self.memory.u32(object.address + u64::from(places.count))?);
        if count > MAX_LENGTH {
            return Err(Unreadable::TooLarge { size: count });
        }
        let (mut lengths, mut bounds) = (vec![count as u32], vec![0]);
        if let Type::Array { rank, .. } = object.ty {
            let rank = u64::from(rank.min(32));
            let start = object.address + 2 * BOX_HEADER;
            let numbers = |from: u64| -> Result<Vec<u32>> {
                (0..rank).map(|at| self.memory.u32(from + 4 * at)).collect()
            };
            lengths = numbers(start)?;
            bounds = numbers(start + 4 * rank)?
                .into_iter()
                .map(u32::cast_signed)
                .collect();
        }
        Ok(ArrayShape {
            element: element.clone(),
            count,
            lengths,
            bounds,
        })
    }

    fn array_places(&self, object: &Object) -> Result<cordebug::heap::ArrayPlaces> {
        let id = self.type_id(object.address)?;
        if let Some(known) = self.layouts.arrays.get(&id.word()) {
            return Ok(known);
        }
        let places = self.types.process.array_places(id)?;
        self.layouts.arrays.insert(id.word(), places);
        Ok(places)
    }

    /// An element of an array by its position in memory: of one dimension its index from 0.
    pub(crate) fn element(&self, object: &Object, position: u64) -> Result<Value> {
        let shape = self.array(object)?;
        if position >= shape.count {
            return Err(Unreadable::OutOfRange {
                index: position.into(),
                first: 0,
                length: shape.count,
            });
        }
        let places = self.array_places(object)?;
        let offset = u64::from(places.first) + position * u64::from(places.element_size);
        Ok(Value {
            ty: shape.element,
            place: Place::Memory(object.address.wrapping_add(offset)),
            run: object.run,
        })
    }

    /// Where the characters of a string object lie.
    pub(crate) fn text_start(&self, object: &Object) -> Result<u64> {
        self.fresh(object.run)?;
        let places = self.array_places(object)?;
        Ok(object.address + u64::from(places.first))
    }

    /// At most `limit` units of a string object, and how many it has.
    pub(crate) fn string_units(&self, object: &Object, limit: u32) -> Result<(Vec<u16>, u64)> {
        self.string_part(object, 0, limit)
    }

    /// The same from one of its units on.
    pub(crate) fn string_part(
        &self,
        object: &Object,
        start: u64,
        limit: u32,
    ) -> Result<(Vec<u16>, u64)> {
        self.fresh(object.run)?;
        if object.ty != Type::STRING {
            return Err(Unreadable::WrongKind {
                ty: self.types.text(&object.ty),
                wanted: "a string",
            });
        }
        let places = self.array_places(object)?;
        let length = u64::from(self.memory.u32(object.address + u64::from(places.count))?);
        if length > MAX_LENGTH {
            return Err(Unreadable::TooLarge { size: length });
        }
        let start = start.min(length);
        let wanted = (length - start).min(limit.into()) as usize;
        let mut bytes = vec![0; wanted * 2];
        self.memory.read(
            object.address + u64::from(places.first) + 2 * start,
            &mut bytes,
        )?;
        let (units, _) = bytes.as_chunks();
        Ok((
            units.iter().map(|unit| u16::from_le_bytes(*unit)).collect(),
            length,
        ))
    }

    /// At most `limit` units of a string, as text, and how many it has; `None` for null.
    pub(crate) fn string(&self, value: &Value, limit: u32) -> Result<Option<(String, u64)>> {
        if let Place::Text(units) = &value.place {
            let shown = units.get(..limit as usize).unwrap_or(units);
            return Ok(Some((String::from_utf16_lossy(shown), units.len() as u64)));
        }
        let Some(object) = self.object(value)? else {
            return Ok(None);
        };
        let (units, length) = self.string_units(&object, limit)?;
        Ok(Some((String::from_utf16_lossy(&units), length)))
    }

    /// Keeps an object alive and known, over runs of the program, until what is returned is dropped.
    pub(crate) fn hold(&self, object: &Object) -> Result<Held> {
        self.fresh(object.run)?;
        let process = self.types.process;
        let handle = self.handles.of(object.address, self.run, || {
            process.object_at(object.address)?.hold()
        })?;
        Ok(Held {
            handle,
            ty: object.ty.clone(),
        })
    }

    /// The object that is held, where it lies now.
    pub(crate) fn held(&self, held: &Held) -> Result<Object> {
        let address = held.handle.address()?;
        if address == 0 {
            return Err(Unreadable::NotAnObject { address });
        }
        Ok(Object {
            ty: held.ty.clone(),
            address,
            run: self.run,
        })
    }
}
