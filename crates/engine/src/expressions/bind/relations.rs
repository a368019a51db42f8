//! How types relate: base types, interfaces with variance, arrays.

use std::rc::Rc;

use metadata::signature::Primitive;

use super::Binder;
use crate::types::{Kind, Named, Type};

/// The variance of a type parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variance {
    None,
    Out,
    In,
}

impl Binder<'_> {
    /// Whether methods on sequences could be meant.
    pub(super) fn is_sequence(&self, ty: &Type) -> bool {
        let Some(named) = ty.as_named() else {
            // Arrays, and text.
            return !matches!(ty, Type::Primitive(it) if *it != Primitive::String);
        };
        let is_it = |it: &Named| {
            let definition = self.types.definition(it);
            definition.is_ok_and(|it| it.name().is_ok_and(|name| name.starts_with("IEnumerable")))
        };
        let interfaces = self.types.interfaces(ty);
        // What cannot be told may be one.
        is_it(named) || interfaces.map_or(true, |all| all.iter().any(|it| is_it(it)))
    }

    /// The type inside a nullable.
    pub(super) fn nullable_of(&self, ty: &Type) -> Option<Type> {
        self.types.nullable_of(ty)
    }

    /// The type itself, or what is inside if it is a nullable.
    pub(super) fn without_nullable(&self, ty: &Type) -> Type {
        self.nullable_of(ty).unwrap_or_else(|| ty.clone())
    }

    /// `T?`; a reference or nullable type is itself.
    pub(super) fn nullable(&self, of: &Type) -> Type {
        if of.is_value() != Some(true) || self.nullable_of(of).is_some() {
            return of.clone();
        }
        self.known
            .nullable(self.types, of)
            .unwrap_or_else(|| of.clone())
    }

    /// Whether null is a value of the type. Of pointers it is the address 0, which only conversions and comparisons mean.
    pub(super) fn admits_null(&self, ty: &Type) -> bool {
        ty.is_reference() || self.nullable_of(ty).is_some()
    }

    /// Whether it is a named type of that kind.
    pub(super) fn is_interface(ty: &Type) -> bool {
        matches!(ty, Type::Named(named) if named.kind == Kind::Interface)
    }

    /// Whether it is an enum.
    pub(super) fn enum_of(ty: &Type) -> Option<Primitive> {
        match ty {
            Type::Named(named) => match named.kind {
                Kind::Enum(underlying) => Some(underlying),
                _ => None,
            },
            _ => None,
        }
    }

    /// The variance of a definition's parameters.
    pub(super) fn variances(&self, named: &Named) -> Vec<Variance> {
        let Ok(definition) = self.types.definition(named) else {
            return Vec::new();
        };
        definition
            .generic_params()
            .map(|it| match it.map(|it| it.flags() & 3) {
                Ok(1) => Variance::Out,
                Ok(2) => Variance::In,
                _ => Variance::None,
            })
            .collect()
    }

    /// Whether a reference of one type is one of another without a check, as for identity, bases, interfaces, variance.
    pub(super) fn reference_converts(&self, from: &Type, to: &Type) -> bool {
        self.reference_at(from, to, 0)
    }

    fn reference_at(&self, from: &Type, to: &Type, depth: u32) -> bool {
        if from == to {
            return true;
        }
        if depth > 16 || !from.is_reference() || !to.is_reference() {
            return false;
        }
        if *to == Type::OBJECT {
            return true;
        }
        match (from, to) {
            (Type::SzArray(from), Type::SzArray(to)) => {
                return from.is_reference() && self.reference_at(from, to, depth + 1);
            }
            (
                Type::Array {
                    element: from,
                    rank,
                },
                Type::Array {
                    element: to,
                    rank: other,
                },
            ) => {
                return rank == other
                    && from.is_reference()
                    && self.reference_at(from, to, depth + 1);
            }
            _ => {}
        }
        let Type::Named(target) = to else {
            return false;
        };
        if let Type::SzArray(element) = from
            && let [argument] = &*target.arguments
            && target.kind == Kind::Interface
            && self.is_array_interface(target)
        {
            return **element == *argument
                || element.is_reference() && self.reference_at(element, argument, depth + 1);
        }
        if self.types.derives_from(from, target).unwrap_or(false) {
            return true;
        }
        if !matches!(target.kind, Kind::Interface | Kind::Delegate) || target.arguments.is_empty() {
            return false;
        }
        self.constructions(from, target)
            .iter()
            .any(|it| self.varies(it, target, depth))
    }

    /// The constructions of a definition among a type, its bases and its interfaces.
    pub(super) fn constructions(&self, ty: &Type, definition: &Named) -> Vec<Rc<Named>> {
        let mut all = self.types.ancestry(ty).unwrap_or_default();
        all.extend(self.types.interfaces(ty).unwrap_or_default());
        all.retain(|it| it.module == definition.module && it.token == definition.token);
        all
    }

    fn varies(&self, from: &Named, to: &Named, depth: u32) -> bool {
        let variances = self.variances(to);
        from.arguments
            .iter()
            .zip(&*to.arguments)
            .zip(variances)
            .all(|((from, to), variance)| {
                from == to
                    || match variance {
                        Variance::None => false,
                        Variance::Out => self.reference_at(from, to, depth + 1),
                        Variance::In => self.reference_at(to, from, depth + 1),
                    }
            })
    }

    /// Whether arrays of one dimension implement the generic interface.
    pub(super) fn is_array_interface(&self, named: &Named) -> bool {
        Some(named.module) == self.types.core_module()
            && self
                .types
                .simple_name(named)
                .is_ok_and(|(namespace, name)| {
                    namespace == "System.Collections.Generic"
                        && matches!(
                            &*name,
                            "IEnumerable`1"
                                | "ICollection`1"
                                | "IList`1"
                                | "IReadOnlyCollection`1"
                                | "IReadOnlyList`1"
                        )
                })
    }

    /// Whether a value type can be boxed as a reference type.
    pub(super) fn boxes_to(&self, from: &Type, to: &Type) -> bool {
        if from.is_value() != Some(true) || !to.is_reference() {
            return false;
        }
        if *to == Type::OBJECT {
            return true;
        }
        let from = self.without_nullable(from);
        let Type::Named(target) = to else {
            return false;
        };
        self.types.derives_from(&from, target).unwrap_or(false)
            || self
                .constructions(&from, target)
                .iter()
                .any(|it| self.varies(it, target, 0))
    }

    /// Whether an object of an exact type is of another type at run time.
    pub(crate) fn is_instance(&self, exact: &Type, wanted: &Type) -> bool {
        exact == wanted
            || self.reference_converts(exact, wanted)
            || self.boxes_to(exact, wanted)
            || self.is_alike_array(exact, wanted)
            || self.is_alike_list(exact, wanted)
    }

    /// What arrays implement they implement for all numbers that are stored alike.
    fn is_alike_list(&self, exact: &Type, wanted: &Type) -> bool {
        let Type::Named(interface) = wanted else {
            return false;
        };
        let [element] = &*interface.arguments else {
            return false;
        };
        let array = Type::SzArray(element.clone().into());
        interface.kind == Kind::Interface
            && self.is_alike_array(exact, &array)
            && self.reference_converts(&array, wanted)
    }

    /// Arrays of numbers that are stored alike are of each other's type to the runtime: `int[]` is `uint[]` (ECMA-335 I.8.7.1).
    fn is_alike_array(&self, exact: &Type, wanted: &Type) -> bool {
        let elements = match (exact, wanted) {
            (Type::SzArray(one), Type::SzArray(other)) => (one, other),
            (
                Type::Array { element, rank },
                Type::Array {
                    element: other,
                    rank: other_rank,
                },
            ) if rank == other_rank => (element, other),
            _ => return false,
        };
        let reduced = |ty: &Type| {
            use metadata::signature::Primitive;
            let primitive = ty.underlying().filter(|_| ty.is_value() == Some(true))?;
            Some(match primitive {
                Primitive::U1 => Primitive::I1,
                Primitive::U2 => Primitive::I2,
                Primitive::U4 => Primitive::I4,
                Primitive::U8 => Primitive::I8,
                Primitive::UIntPtr => Primitive::IntPtr,
                other => other,
            })
        };
        let (one, other) = (reduced(elements.0), reduced(elements.1));
        one.is_some() && one == other
    }

    /// The signature of a delegate type.
    pub(super) fn invoke(&self, ty: &Type) -> Option<crate::types::Method> {
        let Type::Named(named) = ty else { return None };
        if named.kind != Kind::Delegate {
            return None;
        }
        let methods = self.types.methods(named, Some("Invoke")).ok()?;
        methods.into_iter().next()
    }

    /// The elements of a tuple type of two or more.
    pub(super) fn tuple_elements(&self, ty: &Type) -> Option<Vec<Type>> {
        self.types
            .tuple_elements(ty)
            .filter(|elements| elements.len() >= 2)
    }

    /// The type of a tuple of these elements.
    pub(super) fn tuple_type(&self, elements: &[Type]) -> Option<Type> {
        if elements.len() >= 8 {
            let (first, rest) = elements.split_at(7);
            let rest = if let [one] = rest {
                let open = self.types.core("System", "ValueTuple`1")?;
                self.types
                    .close(open.as_named()?, std::slice::from_ref(one))
                    .ok()?
            } else {
                self.tuple_type(rest)?
            };
            let mut all = first.to_vec();
            all.push(rest);
            let open = self.types.core("System", "ValueTuple`8")?;
            return self.types.close(open.as_named()?, &all).ok();
        }
        let open = self
            .types
            .core("System", &format!("ValueTuple`{}", elements.len()))?;
        self.types.close(open.as_named()?, elements).ok()
    }
}
