//! Members of the framework computed by us. `None` means that these values are not ones we can do it for.

use std::rc::Rc;

use syntax::Span;
use syntax::tree::BinaryOp;

use super::{Interrupt, Made, Result, Runner, Val, integer, null_reference};
use crate::api::View;
use crate::expressions::error::Fail;
use crate::expressions::intrinsics::{self, Intrinsic};
use crate::expressions::plan::{Callee, Node};
use crate::expressions::scalar::{self, Scalar};
use crate::types::Type;
use crate::values::Object;
use crate::values::view::{ObjectIds, Viewer};

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
            "System.String" if intrinsic.name == "op_Implicit" => match arguments {
                [text] => {
                    let span = Made::Span(node.ty.clone(), text.clone());
                    Ok(Some(Val::Made(Rc::new(span))))
                }
                _ => Ok(None),
            },
            "System.String" if intrinsic.name == "GetHashCode" && arguments.is_empty() => {
                match target {
                    Some((Val::Null, _)) => Err(null_reference(span)),
                    Some((value, ty)) => self.hash_code(value, ty, span),
                    None => Ok(None),
                }
            }
            "System.String" if intrinsic.name == "Format" => self.composed(callee, arguments, span),
            "System.String" if intrinsic.name == "Split" => match target {
                Some((text, _)) => self.split(text, callee, arguments, node),
                None => Ok(None),
            },
            "System.String" => self.string_member(intrinsic.name, target, arguments, callee, span),
            "System.Enum" if target.is_none() => {
                self.enum_function(intrinsic.name, callee, arguments, span)
            }
            "System.Convert" => self.converted(callee, arguments, span),
            "System.Object" | "System.ValueType" | "System.Enum" => {
                self.object_member(intrinsic.name, target, arguments, nodes, span)
            }
            "System.Exception" if intrinsic.name == "GetType" => {
                self.object_member(intrinsic.name, target, arguments, nodes, span)
            }
            "System.Exception" => self.exception_message(callee, target, span),
            "System.DateTimeOffset" => self.offset_member(intrinsic.name, target, arguments, node),
            "System.Threading.CancellationToken" | "System.Threading.CancellationTokenSource" => {
                match target {
                    Some((value, _)) => self.is_cancelled(value, span),
                    None => Ok(None),
                }
            }
            "System.Nullable`1" => self.nullable_member(intrinsic.name, target, arguments, span),
            "System.Math" | "System.MathF" => self.math(intrinsic.name, callee, arguments, span),
            "System.Char" => self.char_member(intrinsic.name, target, arguments, span),
            "System.Boolean" => match (intrinsic.name, target) {
                ("GetHashCode", Some((value, ty))) => self.hash_code(value, ty, span),
                ("ToString", Some((value, ty))) if arguments.is_empty() => {
                    Ok(self.plain_text(value, ty, span)?.map(Val::units))
                }
                ("Parse", None) => self.parsed(callee, arguments, &node.ty, span),
                _ => Ok(None),
            },
            "System.Runtime.CompilerServices.ITuple" => {
                self.tuple_member(intrinsic.name, target, arguments, span)
            }
            "System.DateTime" | "System.TimeSpan" | "System.DateOnly" | "System.TimeOnly" => {
                let (ty, name) = (intrinsic.ty, intrinsic.name);
                if let ("GetHashCode", Some((value, ty))) = (name, target) {
                    return self.hash_code(value, ty, span);
                }
                if name == "ToString" {
                    return self.date_to_string(target, arguments, span);
                }
                // Constructors take kinds and calendars besides numbers.
                let plain = |it: &crate::types::Parameter| {
                    it.ty == Type::INT
                        || it.ty == Type::Primitive(metadata::signature::Primitive::I8)
                };
                if name == ".ctor" && !callee.method.parameters.iter().all(plain) {
                    return Ok(None);
                }
                match self.time_made(ty, name, target, arguments, node)? {
                    Some(made) => Ok(Some(made)),
                    None => self.time_member(ty, name, target, arguments, span),
                }
            }
            "System.Guid"
            | "System.Text.StringBuilder"
            | "System.Threading.Tasks.Task"
            | "System.Threading.Tasks.Task`1"
            | "System.Lazy`1"
            | "System.Collections.Generic.Queue`1"
            | "System.Collections.Generic.Stack`1"
            | "System.Collections.Immutable.ImmutableArray`1"
            | "System.Collections.Generic.KeyValuePair"
            | "System.ValueTuple" => {
                self.looked_up(intrinsic.ty, intrinsic.name, target, arguments, node)
            }
            "System.Array" => self.array_member(intrinsic.name, target, arguments, node),
            "System.Collections.Generic.CollectionExtensions" => {
                self.value_or_default(arguments, node)
            }
            ty if intrinsics::HOLDERS.contains(&ty) => {
                self.held_member((ty, intrinsic.name), target, arguments, node)
            }
            "System.Collections.Generic.List`1" => {
                self.list_member(intrinsic.name, target, arguments, node)
            }
            "System.Collections.Generic.HashSet`1" => {
                self.set_member(intrinsic.name, target, arguments, node)
            }
            "System.Collections.Generic.Comparer`1" => {
                // A lambda that compares is as good as the comparer made of it.
                Ok(arguments.first().filter(|it| is_closure(it)).cloned())
            }
            "System.Linq.ILookup`2" | "System.Linq.Lookup`2" => {
                self.lookup_member(intrinsic.name, target, arguments, node)
            }
            "System.Collections.Generic.Dictionary`2" => {
                self.dictionary_member(intrinsic.name, target, arguments, node)
            }
            "System.Collections.Generic.KeyValuePair`2" if intrinsic.name == ".ctor" => {
                self.looked_up(intrinsic.ty, intrinsic.name, target, arguments, node)
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
            "System.Linq.Enumerable" | "System.Linq.ImmutableArrayExtensions" => {
                self.enumerable(intrinsic.name, callee, arguments, node)
            }
            _ => match (intrinsic.name, arguments) {
                ("Parse", _) => self.parsed(callee, arguments, &node.ty, span),
                ("Max" | "Min" | "Abs" | "Clamp" | "Sign", all) => {
                    let is_whole = |it: &Val| matches!(it, Val::Scalar(Scalar::Int(..)));
                    match all.iter().all(is_whole) {
                        true => self.math(intrinsic.name, callee, arguments, span),
                        false => Ok(None),
                    }
                }
                _ => self.number_member(intrinsic.name, callee, target, arguments, span),
            },
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
        let runs = exact.and_then(|exact| self.types.implementation(&exact, &callee.method));
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
            ("ToString", Some((value @ Val::Scalar(_), ty)), [format])
                if is_enum(&self.types.nullable_of(ty).unwrap_or_else(|| ty.clone())) =>
            {
                let format = match self.string_of(format, span)? {
                    Some(units) => String::from_utf16_lossy(&units),
                    None if matches!(format, Val::Null) => String::new(),
                    None => return Ok(None),
                };
                // What is left is done by the program.
                if !matches!(&*format, "" | "G" | "g" | "D" | "d" | "X" | "x") {
                    return Ok(None);
                }
                let text = self.formatted(value, ty, Some(&format), span)?;
                Ok(Some(Val::units(text)))
            }
            ("GetType", Some((value, ty)), []) => {
                let exact = match value {
                    Val::Null => return Err(null_reference(span)),
                    Val::Scalar(scalar) if !matches!(scalar, Scalar::String(_)) => {
                        self.types.nullable_of(ty).unwrap_or_else(|| ty.clone())
                    }
                    value if super::lazy::as_lazy(value).is_some() => {
                        return Err(Fail::new(
                            span,
                            "the sequence exists only in the debugger, which knows no type of it but the static one",
                        )
                        .into());
                    }
                    value => match self.exact_type(value) {
                        Some(ty) => ty,
                        None => return Ok(None),
                    },
                };
                Ok(Some(Val::Made(Rc::new(Made::Type(exact)))))
            }
            ("ReferenceEquals", _, [a, b]) => {
                let is_text = |it: &Val| matches!(it, Val::Scalar(Scalar::String(_)));
                let by_value =
                    |it: &Val| matches!(it, Val::Boxed(..) | Val::Scalar(_)) && !is_text(it);
                if by_value(a) || by_value(b) {
                    return Ok(match (a, b) {
                        (Val::Null, _) | (_, Val::Null) => Some(Val::bool(false)),
                        _ => None,
                    });
                }
                let [left, right] = nodes else {
                    return Ok(None);
                };
                let (a, b) = (a.clone(), b.clone());
                let is_same = self.same_as_written((&a, left), (&b, right), span)?;
                Ok(Some(Val::bool(is_same)))
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
            ("GetHashCode", Some((value @ Val::Scalar(_), ty)), []) => {
                self.hash_code(value, ty, span)
            }
            ("CompareTo", Some((Val::Scalar(value), ty)), [Val::Boxed(other_ty, other)])
                if ty == other_ty =>
            {
                let Val::Scalar(other) = &**other else {
                    return Ok(None);
                };
                Ok(super::numbers::compare_to(value, other))
            }
            ("HasFlag", Some((value, ty)), [flag @ Val::Boxed(of, _)]) => {
                let ty = match value {
                    Val::Boxed(ty, _) => ty,
                    _ => ty,
                };
                let (Some(value), Some(flag)) = (integer(value), integer(flag)) else {
                    return Ok(None);
                };
                // Flags of another enum are an error.
                if ty != of {
                    return Ok(None);
                }
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
            (Some(a), Some(b)) if one == other => Some(Val::bool(same_value(&a, &b))),
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
            ("GetHashCode", []) => self.hash_code(value, ty, span)?,
            ("Equals", [Val::Null]) => Some(Val::bool(is_null)),
            ("Equals", [_]) if is_null => Some(Val::bool(false)),
            ("Equals", [other]) => self.values_equal(value, &inner, other, &Type::OBJECT, span)?,
            _ => None,
        })
    }

    fn array_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        if target.is_none() {
            return self.array_function(name, arguments, node);
        }
        let Some((array, _)) = target else {
            return Ok(None);
        };
        let object = match array {
            Val::Null => return Err(null_reference(span)),
            Val::Object(object) => object,
            _ => {
                let length = self.array_length(array, span)?;
                if let Val::Made(made) = array
                    && let Some(lengths) = super::grids::lengths_of(made)
                {
                    let of = |it: &Val| lengths.get(usize::try_from(integer(it)?).ok()?);
                    match (name, arguments) {
                        ("get_Rank", _) => return Ok(Some(Val::int(lengths.len() as i128))),
                        ("GetLength", [dimension]) => match of(dimension) {
                            Some(length) => return Ok(Some(Val::int(*length))),
                            None => return Err(no_dimension(span)),
                        },
                        _ => {}
                    }
                }
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
                    None => return Err(no_dimension(span)),
                }
            }
            _ => None,
        })
    }

    /// Whether a dictionary or set compares keys as we do it: by the default comparer of primitives and strings.
    pub(super) fn compares_plainly(
        &mut self,
        table: &Object,
        keys: Option<&Type>,
        span: Span,
    ) -> Result<bool> {
        // One call finds what would be compared one by one here.
        let is_found_faster =
            |it: &Type| self.around.calls && *it != Type::STRING && it.underlying().is_none();
        let is_plain = keys.is_some_and(|it| self.equals_plainly(it) && !is_found_faster(it));
        Ok(is_plain && self.compares_by_default(table, span)?)
    }

    /// Whether a dictionary or set has the comparer that it takes where none is given.
    pub(super) fn compares_by_default(&mut self, table: &Object, span: Span) -> Result<bool> {
        Ok(match self.raw(table, "_comparer", span)? {
            Val::Null => true,
            Val::Object(object) => {
                let module = object.ty.as_named().map(|it| it.module);
                let name = self.types.text(&object.ty);
                // A comparer of the program may have any name.
                module.is_some()
                    && module == self.types.core_module()
                    && (name.contains("Default")
                        || name.contains("OrdinalComparer")
                        || name.contains("GenericEqualityComparer"))
            }
            _ => false,
        })
    }

    /// Whether values of a type are equal without code of the program: texts, numbers, dates, `Guid`s and tuples of these.
    fn equals_plainly(&self, ty: &Type) -> bool {
        const TIMES: [&str; 5] = ["DateTime", "TimeSpan", "DateOnly", "TimeOnly", "Guid"];
        if *ty == Type::STRING || ty.underlying().is_some() && ty.is_value() == Some(true) {
            return true;
        }
        if let Some(elements) = self.types.tuple_elements(ty) {
            return elements.len() < 8 && elements.iter().all(|it| self.equals_plainly(it));
        }
        let named = ty.as_named();
        named.is_some_and(|it| {
            TIMES
                .iter()
                .any(|name| self.types.is_named(it, "System", name))
        })
    }

    /// How many entries a dictionary or set has.
    pub(super) fn count_of_table(&mut self, table: &Object, span: Span) -> Result<Val> {
        let count = self.raw(table, "_count", span)?;
        let free = self.raw(table, "_freeCount", span)?;
        let (count, free) = (integer(&count), integer(&free));
        Ok(Val::int(count.unwrap_or(0) - free.unwrap_or(0)))
    }

    pub(super) fn dictionary_member(
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
        let key_ty = ty.as_named().and_then(|it| it.arguments.first());
        let items = match dictionary {
            Val::Object(object) => {
                let is_ours = self.compares_plainly(object, key_ty, span)?;
                let compares = matches!(name, "get_Item" | "ContainsKey");
                if compares && !is_ours {
                    let [key] = arguments else {
                        return Ok(None);
                    };
                    return match (name, self.by_folded_key(object, key, span)?) {
                        (_, None) => Ok(None),
                        ("ContainsKey", Some(found)) => Ok(Some(Val::bool(found.is_some()))),
                        (_, Some(Some(value))) => Ok(Some(value)),
                        (_, Some(None)) => Err(self.no_such_key(key, span)?),
                    };
                }
                match (name, arguments) {
                    ("get_Count", _) => return self.count_of_table(object, span).map(Some),
                    // They are objects of the program, which makes them when they are asked for first.
                    ("get_Keys" | "get_Values", _) if self.around.calls => {
                        let field = if name == "get_Keys" {
                            "_keys"
                        } else {
                            "_values"
                        };
                        let kept = self.journaled(span, |this| this.raw(object, field, span))?;
                        return Ok(match kept {
                            kept @ Val::Object(_) => Some(kept),
                            _ => None,
                        });
                    }
                    ("get_Keys" | "get_Values", []) => {
                        let half = if name == "get_Keys" { "key" } else { "value" };
                        let half = self.half_of_table(object, half, span)?;
                        return Ok(Some(Val::sequence(node.ty.clone(), half)));
                    }
                    (_, [Val::Scalar(key)]) if compares => {
                        if let Some(found) = self.value_of_key(object, key, span)? {
                            return match (name, found) {
                                ("ContainsKey", found) => Ok(Some(Val::bool(found.is_some()))),
                                (_, Some(value)) => Ok(Some(value)),
                                (_, None) => {
                                    Err(self.no_such_key(&Val::Scalar(key.clone()), span)?)
                                }
                            };
                        }
                    }
                    _ => {}
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
                let comparer = self.comparer_of(dictionary);
                let mut found = None;
                for item in &items {
                    if let Some(it) = part(item, "key")
                        && self.equals(&it, key, &comparer, span)?
                    {
                        found = part(item, "value");
                        break;
                    }
                }
                match (name, found) {
                    ("ContainsKey", found) => Some(Val::bool(found.is_some())),
                    (_, Some(value)) => Some(value),
                    (_, None) => return Err(self.no_such_key(key, span)?),
                }
            }
            _ => None,
        })
    }
}

impl Runner<'_, '_> {
    fn no_such_key(&mut self, key: &Val, span: Span) -> Result<Interrupt> {
        let shown = self.text_of(key, &Type::OBJECT, span)?;
        Ok(Fail::thrown(
            span,
            "System.Collections.Generic.KeyNotFoundException",
            Some(format!(
                "The given key '{}' was not present in the dictionary.",
                String::from_utf16_lossy(&shown)
            )),
        )
        .into())
    }

    /// The value of a key of a dictionary, looked for by what the keys are and not by their hash codes; `None` if keys of
    /// that kind have to be compared otherwise.
    fn value_of_key(
        &mut self,
        dictionary: &Object,
        key: &Scalar,
        span: Span,
    ) -> Result<Option<Option<Val>>> {
        let (view, ids) = (View::default(), ObjectIds::default());
        let viewer = Viewer::new(self.reader, &view, &ids);
        let reader = self.reader;
        let found = match key {
            Scalar::String(units) => {
                let length = units.len() as u64;
                let limit = u32::try_from(length).unwrap_or(u32::MAX);
                viewer.entry_with_key(dictionary, |it| {
                    let object = reader.object(it).ok().flatten();
                    let text = object.and_then(|it| reader.string_units(&it, limit).ok());
                    text.is_some_and(|(text, of)| of == length && *text == **units)
                })
            }
            Scalar::Int(_, number) => viewer.entry_with_key(dictionary, |it| {
                reader.scalar(it).ok().and_then(|it| it.as_i128()) == Some(*number)
            }),
            _ => return Ok(None),
        };
        match found {
            None => Ok(Some(None)),
            Some(Ok(value)) => self.decode(&value, span).map(Some).map(Some),
            Some(Err(why)) => Err(self.unreadable(&why, span)),
        }
    }
}

/// Whether a delegate is a lambda of the expression.
pub(super) fn is_closure(value: &Val) -> bool {
    matches!(value, Val::Made(made) if matches!(**made, Made::Closure(..)))
}

/// `Equals` of two primitives: not a number is itself, and a number of another type is another.
pub(super) fn same_value(a: &Scalar, b: &Scalar) -> bool {
    match (a, b) {
        (Scalar::Double(a), Scalar::Double(b)) => a == b || a.is_nan() && b.is_nan(),
        (Scalar::Float(a), Scalar::Float(b)) => a == b || a.is_nan() && b.is_nan(),
        (Scalar::Half(a), Scalar::Half(b)) if a == b => true,
        (a, b) => {
            a.kind() == b.kind()
                && matches!(
                    scalar::binary(BinaryOp::Equal, a, b, false),
                    Some(Ok(Scalar::Bool(true)))
                )
        }
    }
}

fn no_dimension(span: Span) -> Interrupt {
    let told = "Array does not have that many dimensions.";
    Fail::thrown(span, "System.IndexOutOfRangeException", Some(told.into())).into()
}

fn is_enum(ty: &Type) -> bool {
    let named = ty.as_named();
    named.is_some_and(|it| matches!(it.kind, crate::types::Kind::Enum(_)))
}
