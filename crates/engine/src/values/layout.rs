//! Where the fields of objects and structs lie, as the runtime says, asked once for each type.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use cordebug::heap::{ArrayPlaces, TypeId};
use cordebug::homes::VariableHome;
use metadata::Token;
use metadata::csharp::{GeneratedKind, GeneratedName};

use crate::types::{Field, ModuleId, Named, Type, TypeCacheMap, Types};

use super::shape::{CodePlace, Shape};
use super::view::structures::Structures;
use super::view::targeted::Targeted;
use super::{Result, Unreadable};

/// Structs nest less deeply.
const MAX_DEPTH: u32 = 32;
/// What a box has beside the struct in it.
const BOX: u32 = 16;
/// The runtime aligns no vector further.
const MAX_VECTOR_ALIGNMENT: u32 = 64;

/// An instance field and where it lies: from the start of the object, or of the value in a value type.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// The field.
    pub(crate) field: Field,
    /// The type that declares it.
    pub(crate) declared_in: Rc<Named>,
    /// Its offset.
    pub(crate) offset: u32,
}

/// The methods of delegates.
type Functions = HashMap<u64, Option<(ModuleId, Token)>>;

/// Layouts, kept until a module is unloaded.
#[derive(Debug, Default)]
pub(crate) struct LayoutCache {
    /// By the word that objects begin with.
    pub(super) types: TypeCacheMap<u64, Type>,
    pub(super) arrays: TypeCacheMap<u64, ArrayPlacesEntry>,
    members: TypeCacheMap<Type, Rc<[Member]>>,
    pub(super) known: TypeCacheMap<Type, super::view::known::Known>,
    /// The methods of delegates, by their addresses in one run of the program.
    pub(super) methods: RefCell<(u64, Functions)>,
    pub(super) views: TypeCacheMap<Type, Rc<[super::view::MemberView]>>,
    /// Whether the fields behind properties tell them, by module and field.
    pub(super) backing: TypeCacheMap<(ModuleId, Token), bool>,
    /// What is in scope at places in code, by module, method and offset; of the instantiation that was there last.
    pub(super) shapes: TypeCacheMap<(ModuleId, Token, u32), (CodePlace, Rc<Shape>)>,
    /// Locals that the user has set before the program did.
    pub(crate) given: super::given::Given,
    /// Where the variables of compiled methods live, by where their code begins.
    pub(super) homes: TypeCacheMap<u64, Rc<[VariableHome]>>,
    /// The word that types are derived from in the end, once it was looked for.
    pub(super) root: Cell<Option<Option<u64>>>,
    /// What assemblies say about how types are shown.
    pub(super) targeted: RefCell<Option<Targeted>>,
    /// What the runtime tells of its own structures: the same for as long as it runs.
    pub(super) structures: OnceCell<Option<Structures>>,
}

/// An entry of [`LayoutCache`].
pub(super) type ArrayPlacesEntry = ArrayPlaces;

impl LayoutCache {
    /// Forgets everything.
    pub(crate) fn module_unloaded(&self) {
        self.types.clear();
        self.arrays.clear();
        self.members.clear();
        self.known.clear();
        self.views.clear();
        self.backing.clear();
        self.shapes.clear();
        self.homes.clear();
        self.targeted.take();
    }

    /// Forgets what is in scope where: a module or its symbols have come.
    pub(crate) fn module_loaded(&self) {
        self.shapes.clear();
        self.targeted.take();
    }

    /// The instance fields of a class or struct: its own in declaration order, then those of its base types.
    pub(super) fn members(
        &self,
        types: Types<'_>,
        ty: &Type,
        id: impl FnOnce() -> Result<TypeId>,
    ) -> Result<Rc<[Member]>> {
        if let Some(known) = self.members.get(ty) {
            return Ok(known);
        }
        let mut members = Vec::new();
        let mut id = Some(id()?);
        for declared_in in types.ancestry(ty)? {
            let Some(this) = id else { break };
            let (_, base) = types.process.object_size(this)?;
            let places: HashMap<u32, u32> = types
                .process
                .field_places(this)?
                .into_iter()
                .map(|it| (it.token, it.offset))
                .collect();
            for field in types.fields(&declared_in)?.iter() {
                if let Some(&offset) = places.get(&field.token.0)
                    && !field.flags.is_static()
                {
                    members.push(Member {
                        field: field.clone(),
                        declared_in: declared_in.clone(),
                        offset,
                    });
                }
            }
            // A value type has no inherited fields, and its base types are classes with another base offset.
            id = base.filter(|_| ty.is_value() != Some(true));
        }
        let members: Rc<[Member]> = members.into();
        self.members.insert(ty.clone(), members.clone());
        Ok(members)
    }

    /// The instance fields of a struct.
    pub(super) fn value_members(&self, types: Types<'_>, ty: &Type) -> Result<Rc<[Member]>> {
        use cordebug::hresult::CORDBG_E_CLASS_NOT_LOADED;
        if let Some(known) = self.members.get(ty) {
            return Ok(known);
        }
        match types.to_runtime(ty)?.id() {
            Err(why) if why.code() == Some(CORDBG_E_CLASS_NOT_LOADED) => {
                if let Some(id) = types.shared_id(ty) {
                    return self.members(types, ty, || Ok(id));
                }
                let members = self.sequential(types, ty)?;
                let members =
                    members.ok_or_else(|| Unreadable::NotLoaded { ty: types.text(ty) })?;
                self.members.insert(ty.clone(), members.clone());
                Ok(members)
            }
            id => match self.members(types, ty, || Ok(id?)) {
                // It is known by name, and no more.
                Err(Unreadable::NotInitialized) => match types.shared_id(ty) {
                    Some(id) => self.members(types, ty, || Ok(id)),
                    // Not kept: whether it is loaded is asked by its fields.
                    None => self
                        .sequential(types, ty)?
                        .ok_or_else(|| Unreadable::NotLoaded { ty: types.text(ty) }),
                },
                members => members,
            },
        }
    }

    /// The fields of a struct over references that lies only inside others: the runtime then has just the one that stands
    /// for all of these, and leads nobody there. Numbers (and padding) that are declared to lie one behind another do so.
    fn sequential(&self, types: Types<'_>, ty: &Type) -> Result<Option<Rc<[Member]>>> {
        let Some(named) = ty.as_named() else {
            return Ok(None);
        };
        let definition = types.definition(named)?;
        let is_packed = definition.layout()?.is_some_and(|it| it.packing != 0);
        let instance = |it: &&crate::types::Field| !it.flags.is_static();
        // Only one can lie nowhere but at the beginning: a `DateTime`, which is declared to be laid out as the runtime likes.
        let flags = definition.flags();
        let is_lonely =
            flags.is_auto_layout() && types.fields(named)?.iter().filter(instance).count() == 1;
        if !(flags.is_sequential() || is_lonely) || is_packed {
            return Ok(None);
        }
        // Its flag comes first whatever the value holds: the runtime moves references before numbers, but not structs.
        let is_nullable = types.nullable_of(ty).is_some();
        let mut members = Vec::new();
        let mut end = 0_u32;
        for field in types.fields(named)?.iter().filter(instance) {
            let of_inner = field.ty.as_named().map(|inner| types.fields(inner));
            let is_padding = of_inner.transpose()?.is_some_and(|it| it.is_empty());
            if field
                .ty
                .underlying()
                .and_then(super::Scalar::size)
                .is_none()
                && !is_padding
                && !is_nullable
            {
                return Ok(None);
            }
            let (size, alignment) = self.size_at(types, &field.ty, 1)?;
            let offset = end.next_multiple_of(alignment);
            end = offset.saturating_add(size);
            members.push(Member {
                field: field.clone(),
                declared_in: named.clone(),
                offset,
            });
        }
        Ok(Some(members.into()))
    }

    /// The size of a value of a type where it is stored, and what its address is a multiple of.
    pub(super) fn size_and_alignment(&self, types: Types<'_>, ty: &Type) -> Result<(u32, u32)> {
        self.size_at(types, ty, 0)
    }

    fn size_at(&self, types: Types<'_>, ty: &Type, depth: u32) -> Result<(u32, u32)> {
        if depth > MAX_DEPTH {
            return Err(Unreadable::Type(crate::types::TypeError::TooDeep));
        }
        if let Some(size) = ty.underlying().and_then(super::Scalar::size) {
            let size = size as u32;
            return Ok((size, size));
        }
        if ty.is_value() != Some(true) {
            return Ok((8, 8));
        }
        if let Some(size) = vector_size(types, ty) {
            return Ok((size, size.min(MAX_VECTOR_ALIGNMENT)));
        }
        let members = self.value_members(types, ty)?;
        let (mut end, mut alignment) = (0_u32, 1_u32);
        for member in members.iter() {
            let (size, of_member) = self.size_at(types, &member.field.ty, depth + 1)?;
            end = end.max(member.offset.saturating_add(size));
            alignment = alignment.max(of_member);
        }
        let mut size = end.next_multiple_of(alignment).max(1);
        if let Some(named) = ty.as_named() {
            if let Some(length) = inline_array_length(types, named) {
                size = size.saturating_mul(length);
            }
            if let Some(layout) = types.definition(named)?.layout()? {
                if layout.packing != 0 {
                    alignment = alignment.min(layout.packing.into());
                    size = end.next_multiple_of(alignment).max(1);
                }
                size = size.max(layout.size);
            }
        }
        Ok((size, alignment))
    }
}

/// How large a vector of numbers is: its fields need not be loaded, and do not tell it where its size is the processor's.
fn vector_size(types: Types<'_>, ty: &Type) -> Option<u32> {
    let named = ty.as_named().filter(|it| it.arguments.len() == 1)?;
    let definition = types.definition(named).ok()?;
    let name = definition.name().ok()?;
    let length = name.strip_prefix("Vector")?.strip_suffix("`1")?;
    let namespace = definition.namespace().ok()?;
    if length.is_empty() && namespace == "System.Numerics" {
        let id = types.to_runtime(ty).ok()?.id().ok()?;
        let (boxed, _) = types.process.object_size(id).ok()?;
        return boxed.checked_sub(BOX).filter(|it| *it > 0);
    }
    if namespace != "System.Runtime.Intrinsics" {
        return None;
    }
    matches!(length, "64" | "128" | "256" | "512")
        .then(|| length.parse::<u32>().ok()?.checked_div(8))?
}

/// How many elements a struct has whose only field stands for many: one with the attribute `InlineArray`, or what the
/// compiler makes of a `fixed` field, `<Name>e__FixedBuffer`.
pub(crate) fn buffer_length(types: Types<'_>, named: &Rc<Named>) -> Option<u32> {
    inline_array_length(types, named).or_else(|| {
        let definition = types.definition(named).ok()?;
        let name = definition.name().ok()?;
        let generated = GeneratedName::parse(&name)?;
        if generated.kind != GeneratedKind::Other('e') || generated.suffix != "FixedBuffer" {
            return None;
        }
        let fields = types.fields(named).ok()?;
        let element = fields.iter().find(|it| !it.flags.is_static())?;
        let of_element = super::Scalar::size(element.ty.underlying()?)? as u32;
        definition.layout().ok()??.size.checked_div(of_element)
    })
}

/// How many elements a struct with the attribute `InlineArray` has.
fn inline_array_length(types: Types<'_>, named: &Named) -> Option<u32> {
    let metadata = types.metadata(named.module).ok()?.metadata();
    let attribute = metadata.find_attribute(
        named.token,
        "System.Runtime.CompilerServices",
        "InlineArrayAttribute",
    )?;
    let length = attribute.arguments().ok()?.fixed.first()?.bits()?;
    u32::try_from(length).ok()
}
