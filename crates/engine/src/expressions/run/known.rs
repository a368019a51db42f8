//! Members of the framework computed by us. `None` means that these values are not ones we can do it for.

use std::rc::Rc;

use syntax::Span;
use syntax::tree::BinaryOp;

use super::{Made, Result, Runner, Val, integer, null_reference};
use crate::expressions::error::Fail;
use crate::expressions::intrinsics::Intrinsic;
use crate::expressions::plan::{Callee, Node};
use crate::expressions::scalar::{self, Scalar};
use crate::types::Type;

impl Runner<'_, '_> {
    pub(super) fn known(
        &mut self,
        intrinsic: Intrinsic,
        callee: &Rc<Callee>,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        nodes: &[Node],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        match intrinsic.ty {
            "System.String" => self.string_member(intrinsic.name, target, arguments, callee, span),
            "System.Object" | "System.ValueType" | "System.Enum" => {
                self.object_member(intrinsic.name, target, arguments, nodes, span)
            }
            "System.Exception" => self.exception_message(callee, target, span),
            "System.Nullable`1" => self.nullable_member(intrinsic.name, target, arguments, span),
            "System.Math" => self.math(intrinsic.name, arguments, span),
            "System.Char" => self.char_member(intrinsic.name, target, arguments, span),
            "System.Boolean" => match (intrinsic.name, target) {
                ("ToString", Some((value, ty))) if arguments.is_empty() => {
                    Ok(self.plain_text(value, ty, span)?.map(Val::units))
                }
                _ => Ok(None),
            },
            "System.Array" => self.array_member(intrinsic.name, target, arguments, span),
            "System.Collections.Generic.List`1" => {
                self.list_member(intrinsic.name, target, arguments, node)
            }
            "System.Collections.Generic.Dictionary`2" => {
                self.dictionary_member(intrinsic.name, target, arguments, node)
            }
            "System.Collections.Generic.KeyValuePair`2" => match target {
                Some((Val::Made(made), _)) => match &**made {
                    Made::Fields(_, fields) => {
                        let wanted = if intrinsic.name == "get_Key" {
                            "key"
                        } else {
                            "value"
                        };
                        Ok(fields
                            .iter()
                            .find(|(name, _)| &**name == wanted)
                            .map(|(_, it)| it.clone()))
                    }
                    _ => Ok(None),
                },
                Some((Val::Struct(value), _)) => {
                    let wanted = if intrinsic.name == "get_Key" {
                        "key"
                    } else {
                        "value"
                    };
                    let field = self
                        .reader
                        .field(value, wanted)
                        .map_err(|why| self.unreadable(&why, span))?;
                    self.decode(&field, span).map(Some)
                }
                _ => Ok(None),
            },
            "System.Linq.IGrouping`2" => match target {
                Some((Val::Made(made), _)) => match &**made {
                    Made::Sequence(_, _, Some(key)) => Ok(Some(key.clone())),
                    _ => Ok(None),
                },
                _ => Ok(None),
            },
            "System.Linq.Enumerable" => {
                self.enumerable(intrinsic.name, callee, arguments, nodes, node)
            }
            _ => self.number_member(intrinsic.name, callee, target, arguments, span),
        }
    }

    /// The message that an exception was made with, unless its type computes another one.
    fn exception_message(
        &mut self,
        callee: &Callee,
        target: Option<(&Val, &Type)>,
        span: Span,
    ) -> Result<Option<Val>> {
        let Some((Val::Object(object), _)) = target else {
            return Ok(None);
        };
        let exact = self.exact_type(&Val::Object(object.clone()));
        let runs = exact.and_then(|exact| self.implementation(&exact, &callee.method));
        if runs.is_none_or(|it| it.declared_in != callee.method.declared_in) {
            return Ok(None);
        }
        let field = self.reader.object_field(object, "_message");
        let field = field.map_err(|why| self.unreadable(&why, span))?;
        // Without one the framework makes up a text.
        let message = self.decode(&field, span)?;
        Ok(Some(message).filter(|it| !matches!(it, Val::Null)))
    }

    fn object_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        nodes: &[Node],
        span: Span,
    ) -> Result<Option<Val>> {
        match (name, target, arguments) {
            ("ToString", Some((Val::Null, ty)), []) if self.types.nullable_of(ty).is_none() => {
                Err(null_reference(span))
            }
            ("ToString", Some((value, ty)), []) => {
                Ok(self.plain_text(value, ty, span)?.map(Val::units))
            }
            ("GetType", Some((value, ty)), []) => {
                let exact = match value {
                    Val::Null => return Err(null_reference(span)),
                    Val::Scalar(scalar) if !matches!(scalar, Scalar::String(_)) => {
                        self.types.nullable_of(ty).unwrap_or_else(|| ty.clone())
                    }
                    value => match self.exact_type(value) {
                        Some(ty) => ty,
                        None => return Ok(None),
                    },
                };
                Ok(Some(Val::Made(Rc::new(Made::Type(exact)))))
            }
            ("ReferenceEquals", _, [a, b]) => {
                let by_value = |it: &Val| matches!(it, Val::Boxed(..) | Val::Scalar(_));
                if by_value(a) || by_value(b) {
                    return Ok(match (a, b) {
                        (Val::Null, _) | (_, Val::Null) => Some(Val::bool(false)),
                        _ => None,
                    });
                }
                let (a, b) = (a.clone(), b.clone());
                Ok(Some(Val::bool(self.same(&a, &b))))
            }
            ("Equals", Some((value, ty)), [other]) => {
                let other_ty = nodes.first().map_or(Type::OBJECT, |it| it.ty.clone());
                self.values_equal(value, ty, other, &other_ty, span)
            }
            ("Equals", None, [a, b]) => match (a, b) {
                (Val::Null, Val::Null) => Ok(Some(Val::bool(true))),
                (Val::Null, _) | (_, Val::Null) => Ok(Some(Val::bool(false))),
                _ => self.values_equal(a, &Type::OBJECT, b, &Type::OBJECT, span),
            },
            ("HasFlag", Some((value, _)), [flag]) => {
                let (Some(value), Some(flag)) = (integer(value), integer(flag)) else {
                    return Ok(None);
                };
                Ok(Some(Val::bool(value & flag == flag)))
            }
            _ => Ok(None),
        }
    }

    /// `Equals` of primitives and strings; other types decide themselves.
    fn values_equal(
        &mut self,
        a: &Val,
        a_ty: &Type,
        b: &Val,
        b_ty: &Type,
        span: Span,
    ) -> Result<Option<Val>> {
        if matches!(a, Val::Null) && self.types.nullable_of(a_ty).is_none() {
            return Err(null_reference(span));
        }
        let exact = |this: &Self, value: &Val, declared: &Type| match value {
            Val::Scalar(scalar)
                if !matches!(scalar, Scalar::String(_)) && declared.is_value() == Some(true) =>
            {
                Some(
                    this.types
                        .nullable_of(declared)
                        .unwrap_or_else(|| declared.clone()),
                )
            }
            value => this.exact_type(value),
        };
        let (one, other) = (exact(self, a, a_ty), exact(self, b, b_ty));
        let scalar_of = |this: &mut Self, value: &Val| -> Result<Option<Scalar>> {
            Ok(match this.as_scalar(value.clone(), span)? {
                Val::Scalar(value) => Some(value),
                Val::Object(object) => match this.reader.unboxed(&object) {
                    Some(place) => match this.decode(&place, span)? {
                        Val::Scalar(value) => Some(value),
                        _ => None,
                    },
                    None => None,
                },
                _ => None,
            })
        };
        let left = scalar_of(self, a)?;
        let right = scalar_of(self, b)?;
        Ok(match (left, right) {
            (Some(a), Some(b)) if one == other => Some(Val::bool(match (&a, &b) {
                (Scalar::Double(a), Scalar::Double(b)) if a.is_nan() => b.is_nan(),
                (Scalar::Float(a), Scalar::Float(b)) if a.is_nan() => b.is_nan(),
                _ => matches!(
                    scalar::binary(BinaryOp::Equal, &a, &b, false),
                    Some(Ok(Scalar::Bool(true)))
                ),
            })),
            (Some(_), _) if one != other => Some(Val::bool(false)),
            (Some(_), None) => Some(Val::bool(false)),
            _ => None,
        })
    }

    fn nullable_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let Some((value, ty)) = target else {
            return Ok(None);
        };
        let inner = self.types.nullable_of(ty).unwrap_or_else(|| ty.clone());
        let is_null = matches!(value, Val::Null);
        Ok(match (name, arguments) {
            ("get_HasValue", _) => Some(Val::bool(!is_null)),
            ("get_Value", _) if is_null => {
                return Err(Fail::thrown(
                    span,
                    "System.InvalidOperationException",
                    Some("Nullable object must have a value.".into()),
                )
                .into());
            }
            ("get_Value", _) => Some(value.clone()),
            ("GetValueOrDefault", []) if is_null => Some(self.default(&inner)),
            ("GetValueOrDefault", [other]) if is_null => Some(other.clone()),
            ("GetValueOrDefault", _) => Some(value.clone()),
            ("ToString", []) => self.plain_text(value, ty, span)?.map(Val::units),
            _ => None,
        })
    }

    fn array_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        if target.is_none() {
            return match (name, arguments) {
                ("Find" | "Exists", [array, lambda]) => {
                    let items = self.items_of(array, span)?;
                    let found = self.first_match(&items, lambda, span)?;
                    let element = self
                        .exact_type(array)
                        .and_then(|it| it.element().cloned())
                        .unwrap_or(Type::OBJECT);
                    Ok(Some(match name {
                        "Exists" => Val::bool(found.is_some()),
                        _ => found
                            .and_then(|it| items.get(it).cloned())
                            .unwrap_or_else(|| self.default(&element)),
                    }))
                }
                ("ForEach", [array, lambda]) if is_closure(lambda) => {
                    self.for_each(array, lambda, span).map(Some)
                }
                ("IndexOf", [array, wanted]) => {
                    let items = self.items_of(array, span)?;
                    self.index_of(&items, wanted, span)
                }
                _ => Ok(None),
            };
        }
        let Some((array, _)) = target else {
            return Ok(None);
        };
        let object = match array {
            Val::Null => return Err(null_reference(span)),
            Val::Object(object) => object,
            _ => {
                let length = self.array_length(array, span)?;
                return Ok(match (name, arguments) {
                    ("get_Rank", _) => Some(Val::int(1)),
                    ("get_Length", _) => Some(Val::int(length.into())),
                    ("get_LongLength", _) => {
                        Some(Val::Scalar(Scalar::Int(scalar::Kind::Long, length.into())))
                    }
                    ("GetLength", [_]) => Some(Val::int(length.into())),
                    _ => None,
                });
            }
        };
        let shape = self
            .reader
            .array(object)
            .map_err(|why| self.unreadable(&why, span))?;
        Ok(match (name, arguments) {
            ("get_Rank", _) => Some(Val::int(shape.lengths.len() as i128)),
            ("get_Length", _) => Some(Val::int(shape.count.into())),
            ("get_LongLength", _) => Some(Val::Scalar(Scalar::Int(
                scalar::Kind::Long,
                shape.count.into(),
            ))),
            ("GetLength", [dimension]) => {
                let index = integer(dimension).and_then(|it| usize::try_from(it).ok());
                match index.and_then(|it| shape.lengths.get(it)) {
                    Some(length) => Some(Val::int((*length).into())),
                    None => {
                        return Err(Fail::thrown(
                            span,
                            "System.IndexOutOfRangeException",
                            Some("Index was outside the bounds of the array.".into()),
                        )
                        .into());
                    }
                }
            }
            _ => None,
        })
    }

    /// The number of the first element for which a lambda is true.
    pub(super) fn first_match(
        &mut self,
        items: &[Val],
        lambda: &Val,
        span: Span,
    ) -> Result<Option<usize>> {
        for (index, item) in items.iter().enumerate() {
            if self.is_true(lambda, vec![item.clone()], span)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    pub(super) fn is_true(
        &mut self,
        lambda: &Val,
        arguments: Vec<Val>,
        span: Span,
    ) -> Result<bool> {
        self.item(span)?;
        match self.invoke(lambda, arguments, span)? {
            Val::Scalar(Scalar::Bool(value)) => Ok(value),
            _ => Err(super::misfit(span)),
        }
    }

    fn index_of(&mut self, items: &[Val], wanted: &Val, span: Span) -> Result<Option<Val>> {
        for (index, item) in items.iter().enumerate() {
            match self.equal(item, wanted, span)? {
                Some(true) => return Ok(Some(Val::int(index as i128))),
                Some(false) => {}
                None => return Ok(None),
            }
        }
        Ok(Some(Val::int(-1)))
    }

    /// Equality of elements where we know it: primitives, strings, nulls.
    pub(super) fn equal(&mut self, a: &Val, b: &Val, span: Span) -> Result<Option<bool>> {
        // Sequences are compared each with each: the time must be looked at.
        self.tick(span)?;
        let (a, b) = (
            self.as_scalar(a.clone(), span)?,
            self.as_scalar(b.clone(), span)?,
        );
        Ok(match (&a, &b) {
            (Val::Null, Val::Null) => Some(true),
            (Val::Null, _) | (_, Val::Null) => Some(false),
            (Val::Scalar(a), Val::Scalar(b)) => Some(matches!(
                scalar::binary(BinaryOp::Equal, a, b, false),
                Some(Ok(Scalar::Bool(true)))
            )),
            (Val::Object(a), Val::Object(b)) if a.address == b.address => Some(true),
            (Val::Made(x), Val::Made(y)) => match (&**x, &**y) {
                (Made::Fields(_, a), Made::Fields(_, b)) => {
                    let mut all = true;
                    for ((_, a), (_, b)) in a.iter().zip(b) {
                        match self.equal(a, b, span)? {
                            Some(same) => all &= same,
                            None => return Ok(None),
                        }
                    }
                    Some(all)
                }
                _ => None,
            },
            _ => None,
        })
    }

    fn list_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let Some((list, _)) = target else {
            return Ok(None);
        };
        if matches!(list, Val::Null) {
            return Err(null_reference(span));
        }
        match (name, arguments) {
            ("get_Count", _) => {
                let list = list.clone();
                self.journaled(node, |this| match &list {
                    Val::Object(object) => this.raw(object, "_size", span),
                    other => Ok(Val::int(this.items_of(other, span)?.len() as i128)),
                })
                .map(Some)
            }
            ("get_Item", [index]) => {
                let index = integer(index).unwrap_or(-1);
                let list = list.clone();
                self.journaled(node, |this| this.list_item(&list, index, span))
                    .map(Some)
            }
            ("Find" | "Exists" | "FindIndex", [lambda]) if is_closure(lambda) => {
                let items = self.items_of(list, span)?;
                let found = self.first_match(&items, lambda, span)?;
                Ok(Some(match name {
                    "Exists" => Val::bool(found.is_some()),
                    "FindIndex" => Val::int(found.map_or(-1, |it| it as i128)),
                    _ => found
                        .and_then(|it| items.get(it).cloned())
                        .unwrap_or_else(|| self.default(&node.ty)),
                }))
            }
            ("ForEach", [lambda]) if is_closure(lambda) => {
                self.for_each(list, lambda, span).map(Some)
            }
            ("TrueForAll", [lambda]) if is_closure(lambda) => {
                for item in self.items_of(list, span)? {
                    if !self.is_true(lambda, vec![item], span)? {
                        return Ok(Some(Val::bool(false)));
                    }
                }
                Ok(Some(Val::bool(true)))
            }
            ("ConvertAll" | "FindAll", [lambda]) if is_closure(lambda) => {
                let mut found = Vec::new();
                for item in self.items_of(list, span)? {
                    if name == "FindAll" {
                        if self.is_true(lambda, vec![item.clone()], span)? {
                            found.push(item);
                        }
                    } else {
                        self.item(span)?;
                        found.push(self.invoke(lambda, vec![item], span)?);
                    }
                }
                Ok(Some(Val::sequence(node.ty.clone(), found)))
            }
            _ => Ok(None),
        }
    }

    fn for_each(&mut self, sequence: &Val, action: &Val, span: Span) -> Result<Val> {
        for item in self.items_of(sequence, span)? {
            self.item(span)?;
            self.invoke(action, vec![item], span)?;
        }
        Ok(Val::Null)
    }

    fn list_item(&mut self, list: &Val, index: i128, span: Span) -> Result<Val> {
        let out_of_range = || {
            Fail::thrown(
                span,
                "System.ArgumentOutOfRangeException",
                Some("Index was out of range. Must be non-negative and less than the size of the collection. (Parameter 'index')".into()),
            )
        };
        match list {
            Val::Object(object) => {
                let size = self.raw(object, "_size", span)?;
                if index < 0 || index >= integer(&size).unwrap_or(0) {
                    return Err(out_of_range().into());
                }
                let items = self.raw(object, "_items", span)?;
                self.element(&items, &[index], span)
            }
            other => {
                let items = self.items_of(other, span)?;
                let item = usize::try_from(index)
                    .ok()
                    .and_then(|it| items.get(it).cloned());
                item.ok_or_else(|| out_of_range().into())
            }
        }
    }

    fn dictionary_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let Some((dictionary, ty)) = target else {
            return Ok(None);
        };
        if matches!(dictionary, Val::Null) {
            return Err(null_reference(span));
        }
        // Only where keys are compared as we do it: by the default comparer of primitives and strings.
        let key_ty = ty.as_named().and_then(|it| it.arguments.first().cloned());
        let plain = key_ty.is_some_and(|it| {
            it == Type::STRING || it.underlying().is_some() && it.is_value() == Some(true)
        });
        let items = match dictionary {
            Val::Object(object) => {
                let comparer = self.raw(object, "_comparer", span)?;
                let is_default = match &comparer {
                    Val::Null => true,
                    Val::Object(object) => {
                        let name = self.types.text(&object.ty);
                        name.contains("Default")
                            || name.contains("OrdinalComparer")
                            || name.contains("GenericEqualityComparer")
                    }
                    _ => false,
                };
                let compares = matches!(name, "get_Item" | "ContainsKey");
                if compares && (!plain || !is_default) {
                    return Ok(None);
                }
                self.items_of(dictionary, span)?
            }
            other => self.items_of(other, span)?,
        };
        let part = |item: &Val, wanted: &str| match item {
            Val::Made(made) => match &**made {
                Made::Fields(_, fields) => fields
                    .iter()
                    .find(|(name, _)| &**name == wanted)
                    .map(|(_, it)| it.clone()),
                _ => None,
            },
            _ => None,
        };
        Ok(match (name, arguments) {
            ("get_Count", _) => Some(Val::int(items.len() as i128)),
            ("get_Keys" | "get_Values", _) => {
                let wanted = if name == "get_Keys" { "key" } else { "value" };
                let parts = items.iter().filter_map(|it| part(it, wanted)).collect();
                Some(Val::sequence(node.ty.clone(), parts))
            }
            ("ContainsKey" | "get_Item", [key]) => {
                if matches!(key, Val::Null) {
                    return Err(Fail::thrown(
                        span,
                        "System.ArgumentNullException",
                        Some("Value cannot be null. (Parameter 'key')".into()),
                    )
                    .into());
                }
                let mut found = None;
                for item in &items {
                    if let Some(it) = part(item, "key")
                        && self.equal(&it, key, span)? == Some(true)
                    {
                        found = part(item, "value");
                        break;
                    }
                }
                match (name, found) {
                    ("ContainsKey", found) => Some(Val::bool(found.is_some())),
                    (_, Some(value)) => Some(value),
                    (_, None) => {
                        let shown = self.text_of(key, &Type::OBJECT, span)?;
                        return Err(Fail::thrown(
                            span,
                            "System.Collections.Generic.KeyNotFoundException",
                            Some(format!(
                                "The given key '{}' was not present in the dictionary.",
                                String::from_utf16_lossy(&shown)
                            )),
                        )
                        .into());
                    }
                }
            }
            _ => None,
        })
    }
}

/// Whether a delegate is a lambda of the expression.
pub(super) fn is_closure(value: &Val) -> bool {
    matches!(value, Val::Made(made) if matches!(**made, Made::Closure(_)))
}
