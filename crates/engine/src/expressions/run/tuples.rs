//! Tuples: those that are made here, and the elements that any of them tells of itself.

use std::rc::Rc;

use syntax::Span;

use super::{Made, Result, Runner, Val, integer};
use crate::expressions::error::Fail;
use crate::types::Type;

/// Tuples behind the seventh element of tuples.
const MAX_RESTS: u32 = 32;

impl Runner<'_, '_> {
    /// `ITuple`: how many elements a tuple has, and one of them as an object. Other types that are tuples compute it.
    pub(super) fn tuple_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let Some((value, _)) = target else {
            return Ok(None);
        };
        let mut elements = Vec::new();
        if !self.add_elements(value, &mut elements, MAX_RESTS, span)? {
            return Ok(None);
        }
        Ok(match (name, arguments) {
            ("get_Length", []) => Some(Val::int(elements.len() as i128)),
            ("get_Item", [index]) => {
                let index = integer(index).and_then(|it| usize::try_from(it).ok());
                match index.and_then(|it| elements.into_iter().nth(it)) {
                    Some(element) => Some(element),
                    None => {
                        let ty = "System.IndexOutOfRangeException";
                        let told = "Index was outside the bounds of the array.";
                        return Err(Fail::thrown(span, ty, Some(told.into())).into());
                    }
                }
            }
            _ => None,
        })
    }

    /// Adds the elements of a tuple, as objects; false if it is none of the framework's.
    fn add_elements(
        &mut self,
        value: &Val,
        elements: &mut Vec<Val>,
        rests: u32,
        span: Span,
    ) -> Result<bool> {
        let fields: Vec<(Rc<str>, Val, Type)> = match value {
            Val::Boxed(_, inner) => return self.add_elements(inner, elements, rests, span),
            Val::Object(object) => match self.reader.unboxed(object) {
                Some(inner) => {
                    let inner = Val::Struct(inner);
                    return self.add_elements(&inner, elements, rests, span);
                }
                None if self.is_tuple_class(&object.ty) => {
                    let members = self.reader.members(object);
                    let members = members.map_err(|why| self.unreadable(&why, span))?;
                    let mut fields = Vec::new();
                    for member in members.iter() {
                        let field = self.reader.member(object, member);
                        let value = self.decode(&field, span)?;
                        fields.push((member.field.name.clone(), value, member.field.ty.clone()));
                    }
                    fields
                }
                None => return Ok(false),
            },
            Val::Struct(place) if self.types.tuple_elements(&place.ty).is_some() => {
                let members = self.reader.struct_members(&place.ty);
                let members = members.map_err(|why| self.unreadable(&why, span))?;
                let mut fields = Vec::new();
                for member in members.iter() {
                    let field = self.reader.struct_member(place, member);
                    let field = field.map_err(|why| self.unreadable(&why, span))?;
                    let value = self.decode(&field, span)?;
                    fields.push((member.field.name.clone(), value, member.field.ty.clone()));
                }
                fields
            }
            Val::Made(made) => match &**made {
                Made::Fields(ty, fields) if self.types.tuple_elements(ty).is_some() => {
                    let types = ty.as_named().map(|it| it.arguments.clone());
                    let types = types.unwrap_or_default();
                    let each = fields.iter().zip(types.iter());
                    each.map(|((name, value), ty)| (name.clone(), value.clone(), ty.clone()))
                        .collect()
                }
                _ => return Ok(false),
            },
            _ => return Ok(false),
        };
        for (name, value, ty) in fields {
            if name.ends_with("Rest") && rests > 0 {
                // What is no tuple there is an element as any other.
                if self.add_elements(&value, elements, rests - 1, span)? {
                    continue;
                }
            }
            elements.push(self.boxed(value, &ty));
        }
        Ok(true)
    }

    fn is_tuple_class(&self, ty: &Type) -> bool {
        let Some(named) = ty.as_named() else {
            return false;
        };
        Some(named.module) == self.types.core_module()
            && self
                .types
                .simple_name(named)
                .is_ok_and(|(namespace, name)| namespace == "System" && name.starts_with("Tuple`"))
    }

    /// A value tuple, made here.
    pub(super) fn tuple(&self, ty: &Type, values: Vec<Val>) -> Val {
        let ty = self.types.nullable_of(ty).unwrap_or_else(|| ty.clone());
        let mut values = values;
        let mut fields: Vec<(Rc<str>, Val)> = Vec::new();
        if values.len() > 7 {
            let rest = values.split_off(7);
            let rest_ty = ty
                .as_named()
                .and_then(|it| it.arguments.get(7).cloned())
                .unwrap_or(Type::OBJECT);
            let rest = self.tuple(&rest_ty, rest);
            fields.extend(
                values
                    .into_iter()
                    .enumerate()
                    .map(|(index, it)| (Rc::from(format!("Item{}", index + 1)), it)),
            );
            fields.push(("Rest".into(), rest));
        } else {
            fields.extend(
                values
                    .into_iter()
                    .enumerate()
                    .map(|(index, it)| (Rc::from(format!("Item{}", index + 1)), it)),
            );
        }
        Val::Made(Rc::new(Made::Fields(ty, fields)))
    }
}
