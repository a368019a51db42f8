//! Static fields: where they are, and whether they have been set up at all.
//!
//! Invariant: a field that holds zeroes only because its class constructor has not run is never told as zero where that can be
//! known.

use std::rc::Rc;

use cordebug::thread::Frame;
use metadata::model::ConstantValue;
use metadata::{Metadata, Token};

use crate::types::{Field, Named, Type};

use super::own_statics::OwnStatic;
use super::{Place, Reader, Result, Unreadable, Value};

impl Reader<'_> {
    /// A static field of a type; one that each thread has its own of is that of the frame's thread.
    pub(crate) fn static_field(
        &self,
        declared_in: &Rc<Named>,
        field: &Field,
        frame: Option<&Frame>,
    ) -> Result<Value> {
        if field.flags.is_literal() {
            let metadata = self.types.metadata(declared_in.module)?.metadata();
            let constant = metadata.field(field.token)?.constant()?;
            return Ok(self.constant(field.ty.clone(), constant.unwrap_or(ConstantValue::Null)));
        }
        let metadata = self.types.metadata(declared_in.module)?.metadata();
        // A `const decimal` is a static field for metadata.
        if field.flags.is_init_only()
            && let Some(bytes) = decimal_constant(metadata, field.token)
        {
            return Ok(self.copied(field.ty.clone(), bytes));
        }
        if self.construction_failed(declared_in) == Some(true) {
            let ty = self.types.text(&Type::Named(declared_in.clone()));
            return Err(Unreadable::ConstructorThrew { ty });
        }
        let ty = self.types.construct(
            declared_in.module,
            declared_in.token,
            declared_in.arguments.clone(),
        )?;
        if field.ty.is_pointer() && !self.is_of_thread(declared_in, field) {
            return self.constructed(declared_in, self.static_pointer(&ty, field)?);
        }
        let frame = frame.or(self.looks_from.as_ref());
        let which = (&**declared_in, field.token);
        let value = self.places.static_field(self.run, which, frame, || {
            self.check_static(&ty, field, frame)?;
            let runtime = self.types.to_runtime(&ty)?;
            let value = runtime.static_field(field.token.0, frame)?;
            self.of_runtime(&value, Some(field.ty.clone()))
        });
        let value = match value {
            Err(Unreadable::NotInitialized) if self.knows_own_statics(declared_in) => {
                match self.own_static(&ty, field, frame) {
                    Some(OwnStatic::At(address, _)) => Ok(self.at(field.ty.clone(), address)),
                    Some(OwnStatic::Unused) => {
                        let size = self.size_of(&field.ty)?;
                        return self.constructed(
                            declared_in,
                            self.copied(field.ty.clone(), vec![0; size as usize]),
                        );
                    }
                    None => value,
                }
            }
            value => value,
        };
        let value = match value {
            // The runtime looks for those of the code that is shared, which has none.
            Err(Unreadable::NotInitialized)
                if self.is_of_thread(declared_in, field) && is_shared(&declared_in.arguments) =>
            {
                return Err(Unreadable::ThreadStaticOfShared);
            }
            // The thread has no fields of its own before it uses one: then they are empty.
            Err(Unreadable::NotInitialized)
                if self.is_of_thread(declared_in, field)
                    && self.never_constructed(declared_in) != Some(true) =>
            {
                let size = self.size_of(&field.ty)?;
                return Ok(self.copied(field.ty.clone(), vec![0; size as usize]));
            }
            value => value?,
        };
        // Structs are kept in boxes; the reference to the box is what has a place.
        if let Place::Memory(address) = value.place
            && field.ty.is_value() == Some(true)
            && field.ty.underlying().is_none()
            && let Ok(reference) = self.memory.word(address)
            && let Ok(boxed) = self.object_at(reference)
            && boxed.ty == field.ty
            && let Some(inner) = self.unboxed(&boxed)
        {
            return self.constructed(declared_in, inner);
        }
        self.constructed(declared_in, value)
    }

    /// Whether each thread has its own of a static field.
    fn is_of_thread(&self, declared_in: &Named, field: &Field) -> bool {
        let metadata = self.types.metadata(declared_in.module);
        metadata.is_ok_and(|it| {
            let attribute = ("System", "ThreadStaticAttribute");
            let metadata = it.metadata();
            metadata
                .find_attribute(field.token, attribute.0, attribute.1)
                .is_some()
        })
    }

    /// A static field's value, unless it is only what the runtime cleared: the class constructor has not run yet.
    fn constructed(&self, declared_in: &Rc<Named>, value: Value) -> Result<Value> {
        let size = self.size_of(&value.ty).ok();
        let bytes = size.and_then(|size| self.bytes(&value, size).ok());
        if bytes.is_some_and(|it| it.iter().all(|byte| *byte == 0))
            && self.never_constructed(declared_in) == Some(true)
        {
            let ty = self.types.text(&Type::Named(declared_in.clone()));
            return Err(Unreadable::NotConstructed { ty });
        }
        Ok(value)
    }

    /// Whether a type's class constructor has not run; `None` if it has none, or if that cannot be told.
    pub(crate) fn never_constructed(&self, ty: &Rc<Named>) -> Option<bool> {
        let constructors = self.types.methods(ty, Some(".cctor")).ok()?;
        let constructor = constructors.first()?.token.0;
        // The code of a generic type's constructor is that of any of its instantiations: it says nothing of this one.
        if !ty.arguments.is_empty() {
            return self.is_initialized(ty).map(|it| !it);
        }
        let module = self.types.module(ty.module).ok()?;
        let function = module.module.function(constructor).ok()?;
        Some(!function.is_compiled()?)
    }

    /// The version of the framework.
    pub(super) fn core_version(&self) -> Option<u16> {
        let core = self.types.metadata(self.types.core_module()?).ok()?;
        let core = core.metadata().assembly().ok()??;
        Some(core.identity.version.major)
    }

    /// Whether the runtime has marked a type as set up, which is after its class constructor. The mark is in the runtime's own
    /// description of the type, whose layout is that of .NET 9 and later: a flag behind a pointer. That the word before the
    /// pointer's is the description of the base type tells that it is still so.
    fn is_initialized(&self, ty: &Rc<Named>) -> Option<bool> {
        const INITIALIZED: u32 = 1;
        Some(self.state_of_class(ty)? & INITIALIZED != 0)
    }

    /// Whether the class constructor of a type has thrown: whoever uses the type from then on is thrown the same.
    fn construction_failed(&self, ty: &Rc<Named>) -> Option<bool> {
        const INITIALIZED: u32 = 1;
        const FAILED: u32 = 0x100;
        let constructors = self.types.methods(ty, Some(".cctor")).ok()?;
        constructors.first()?;
        let state = self.state_of_class(ty)?;
        Some(state & (INITIALIZED | FAILED) == FAILED)
    }

    fn state_of_class(&self, ty: &Rc<Named>) -> Option<u32> {
        const PARENT: u64 = 0x10;
        const STATE: u64 = 0x20;
        if self.core_version()? < 9 {
            return None;
        }
        let exact = Type::Named(ty.clone());
        let description = self.types.to_runtime(&exact).ok()?.id().ok()?.word();
        // The runtime has `object` for the base of an interface too.
        let base = self.types.base(&exact).ok()?.unwrap_or(Type::OBJECT);
        let base = self.types.to_runtime(&base).ok()?.id().ok()?.word();
        if self.memory.word(description.checked_add(PARENT)?).ok()? != base {
            return None;
        }
        let state = self.memory.word(description.checked_add(STATE)?).ok()?;
        self.memory.u32(state).ok()
    }
}

/// The decimal that an attribute of a constant or parameter holds, because metadata has no constants for those. As the decimal
/// lies in memory.
pub(crate) fn decimal_constant(metadata: Metadata<'_>, token: Token) -> Option<[u8; 16]> {
    let attribute = metadata.find_attribute(
        token,
        "System.Runtime.CompilerServices",
        "DecimalConstantAttribute",
    )?;
    let arguments = attribute.arguments().ok()?;
    let parts: Option<Vec<u64>> = arguments.fixed.iter().map(|it| it.bits()).collect();
    let [scale, sign, high, middle, low] = *parts?.as_slice() else {
        return None;
    };
    let flags = u32::from(sign != 0) << 31 | (scale as u32 & 0xff) << 16;
    let words = [flags, high as u32, low as u32, middle as u32];
    let mut bytes = [0; 16];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    Some(bytes)
}

/// Whether code over these types is shared with that over others: there is a reference among them.
fn is_shared(arguments: &[Type]) -> bool {
    arguments.iter().any(|it| match it {
        Type::Named(named) if it.is_value() == Some(true) => is_shared(&named.arguments),
        other => other.is_reference(),
    })
}
