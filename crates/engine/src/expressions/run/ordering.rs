//! LINQ operators that order, group and reduce.

use std::cmp::Ordering;
use std::rc::Rc;

use syntax::Span;
use syntax::tree::BinaryOp;

use super::linq::invalid;
use super::numbers::compare;
use super::{Made, Result, Runner, Val, integer};
use crate::expressions::bind::well_known;
use crate::expressions::plan::Node;
use crate::expressions::scalar::{self, Kind, Scalar};
use crate::types::Type;

impl Runner<'_, '_> {
    /// How two keys compare, where we know it; null comes first.
    pub(super) fn order(&mut self, a: &Val, b: &Val, span: Span) -> Result<Option<Ordering>> {
        let (a, b) = (
            self.as_scalar(a.clone(), span)?,
            self.as_scalar(b.clone(), span)?,
        );
        Ok(match (&a, &b) {
            (Val::Null, Val::Null) => Some(Ordering::Equal),
            (Val::Null, _) => Some(Ordering::Less),
            (_, Val::Null) => Some(Ordering::Greater),
            (Val::Scalar(Scalar::String(a)), Val::Scalar(Scalar::String(b))) => collate(a, b),
            (Val::Scalar(a), Val::Scalar(b)) => compare(a, b),
            _ => None,
        })
    }

    pub(super) fn sorted(
        &mut self,
        name: &str,
        source: &Val,
        items: Vec<Val>,
        lambda: Option<&Val>,
        node: &Node,
        span: Span,
    ) -> Result<Option<Val>> {
        let keys = self.keys(&items, lambda, span)?;
        let descending = name.ends_with("Descending");
        // The ranks that earlier keys gave, kept beside the elements of what was ordered.
        let earlier: Vec<Val> = match source {
            Val::Made(made) => match &**made {
                Made::Sequence(_, _, Some(ranks)) if name.starts_with("Then") => {
                    self.items_of(&ranks.clone(), span)?
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let mut order: Vec<usize> = (0..items.len()).collect();
        let mut failed = None;
        let mut unknown = false;
        let rank = |index: usize| earlier.get(index).and_then(integer).unwrap_or(0);
        order.sort_by(|a, b| {
            let by_rank = rank(*a).cmp(&rank(*b));
            if by_rank != Ordering::Equal {
                return by_rank;
            }
            let (Some(x), Some(y)) = (keys.get(*a), keys.get(*b)) else {
                return Ordering::Equal;
            };
            match self.order(x, y, span) {
                Ok(Some(order)) if descending => order.reverse(),
                Ok(Some(order)) => order,
                Ok(None) => {
                    unknown = true;
                    Ordering::Equal
                }
                Err(error) => {
                    failed = Some(error);
                    Ordering::Equal
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if unknown {
            return Ok(None);
        }
        let mut ranks = Vec::new();
        let mut current = 0;
        let mut last: Option<usize> = None;
        let mut sorted = Vec::new();
        for index in order {
            if let Some(last) = last {
                let same_rank = rank(last) == rank(index);
                let (Some(a), Some(b)) = (keys.get(last), keys.get(index)) else {
                    continue;
                };
                if !same_rank || self.order(a, b, span)? != Some(Ordering::Equal) {
                    current += 1;
                }
            }
            last = Some(index);
            ranks.push(Val::int(current));
            sorted.extend(items.get(index).cloned());
        }
        let ranks = Val::sequence(Type::OBJECT, ranks);
        Ok(Some(Val::Made(Rc::new(Made::Sequence(
            node.ty.clone(),
            sorted,
            Some(ranks),
        )))))
    }

    pub(super) fn grouped(
        &mut self,
        items: Vec<Val>,
        lambda: Option<&Val>,
        more: &[Val],
        node: &Node,
        span: Span,
    ) -> Result<Option<Val>> {
        let keys = self.keys(&items, lambda, span)?;
        let mut groups: Vec<(Val, Vec<Val>)> = Vec::new();
        // `GroupBy(key, element)` and `GroupBy(key, (key, items) => …)` differ by what the lambda takes.
        let slots = |it: &Val| match it {
            Val::Made(made) => match &**made {
                Made::Closure(closure) => closure.slots.len(),
                _ => 0,
            },
            _ => 0,
        };
        let element = more.iter().find(|it| slots(it) == 1).cloned();
        let result = more.iter().find(|it| slots(it) == 2).cloned();
        for (key, item) in keys.into_iter().zip(items) {
            let item = match &element {
                Some(lambda) => self.invoke(lambda, vec![item], span)?,
                None => item,
            };
            let mut at = None;
            for (index, (other, _)) in groups.iter().enumerate() {
                match self.equal(other, &key, span)? {
                    Some(true) => {
                        at = Some(index);
                        break;
                    }
                    Some(false) => {}
                    None => return Ok(None),
                }
            }
            match at.and_then(|at| groups.get_mut(at)) {
                Some((_, members)) => members.push(item),
                None => groups.push((key, vec![item])),
            }
        }
        let group_ty = node
            .ty
            .as_named()
            .and_then(|it| it.arguments.first().cloned())
            .unwrap_or(Type::OBJECT);
        let mut found = Vec::new();
        for (key, members) in groups {
            found.push(match &result {
                Some(lambda) => self.invoke(
                    lambda,
                    vec![key, Val::sequence(Type::OBJECT, members)],
                    span,
                )?,
                None => Val::Made(Rc::new(Made::Sequence(
                    group_ty.clone(),
                    members,
                    Some(key),
                ))),
            });
        }
        Ok(Some(Val::sequence(node.ty.clone(), found)))
    }

    pub(super) fn reduce(
        &mut self,
        name: &str,
        values: Vec<Val>,
        node: &Node,
        span: Span,
    ) -> Result<Option<Val>> {
        let mut scalars = Vec::new();
        for value in values {
            match self.as_scalar(value, span)? {
                Val::Scalar(value) => scalars.push(value),
                // Null is left out of all of these.
                Val::Null => {}
                _ => return Ok(None),
            }
        }
        let inner = self.types.nullable_of(&node.ty);
        let is_nullable = inner.is_some() || node.ty.is_reference();
        let result_kind = well_known::kind(self.types, &inner.unwrap_or_else(|| node.ty.clone()));
        if scalars.is_empty() {
            return match (name, result_kind) {
                ("Sum", Some(kind)) => Ok(Scalar::zero(kind).map(Val::Scalar)),
                _ if is_nullable => Ok(Some(Val::Null)),
                _ => Err(invalid(span, "Sequence contains no elements")),
            };
        }
        let add = |a: &Scalar, b: &Scalar, checked| scalar::binary(BinaryOp::Add, a, b, checked);
        match name {
            "Max" | "Min" => {
                let mut best: Option<Scalar> = None;
                for value in scalars {
                    let better = match &best {
                        None => true,
                        Some(other) => {
                            let (value, other) =
                                (Val::Scalar(value.clone()), Val::Scalar(other.clone()));
                            match self.order(&value, &other, span)? {
                                Some(order) => {
                                    order
                                        == if name == "Max" {
                                            Ordering::Greater
                                        } else {
                                            Ordering::Less
                                        }
                                }
                                None => return Ok(None),
                            }
                        }
                    };
                    if better {
                        best = Some(value);
                    }
                }
                Ok(best.map(Val::Scalar))
            }
            "Sum" => {
                // Floats are summed as doubles.
                let wide = if result_kind == Some(Kind::Float) {
                    Kind::Double
                } else {
                    result_kind.unwrap_or(Kind::Int)
                };
                let mut sum = Scalar::zero(wide);
                for value in &scalars {
                    let value =
                        scalar::convert(value, wide, false).and_then(std::result::Result::ok);
                    let (Some(a), Some(b)) = (&sum, &value) else {
                        return Ok(None);
                    };
                    match add(a, b, true) {
                        Some(Ok(value)) => sum = Some(value),
                        Some(Err(fault)) => return Err(super::thrown(fault, span)),
                        None => return Ok(None),
                    }
                }
                let sum = sum.and_then(|it| scalar::convert(&it, result_kind?, false)?.ok());
                Ok(sum.map(Val::Scalar))
            }
            _ => {
                let wide = match result_kind {
                    Some(Kind::Decimal) => Kind::Decimal,
                    _ if scalars.iter().all(|it| it.integer().is_some()) => Kind::Long,
                    _ => Kind::Double,
                };
                let mut sum = Scalar::zero(wide);
                for value in &scalars {
                    let value =
                        scalar::convert(value, wide, false).and_then(std::result::Result::ok);
                    let (Some(a), Some(b)) = (&sum, &value) else {
                        return Ok(None);
                    };
                    match add(a, b, true) {
                        Some(Ok(value)) => sum = Some(value),
                        Some(Err(fault)) => return Err(super::thrown(fault, span)),
                        None => return Ok(None),
                    }
                }
                let kind = if wide == Kind::Decimal {
                    Kind::Decimal
                } else {
                    Kind::Double
                };
                let to = |it: &Scalar| {
                    scalar::convert(it, kind, false).and_then(std::result::Result::ok)
                };
                let count = to(&Scalar::Int(Kind::Long, scalars.len() as i128));
                let (Some(sum), Some(count)) = (sum.as_ref().and_then(to), count) else {
                    return Ok(None);
                };
                match scalar::binary(BinaryOp::Divide, &sum, &count, false) {
                    Some(Ok(value)) => {
                        let value = result_kind
                            .and_then(|kind| scalar::convert(&value, kind, false))
                            .and_then(std::result::Result::ok);
                        Ok(value.map(Val::Scalar))
                    }
                    Some(Err(fault)) => Err(super::thrown(fault, span)),
                    None => Ok(None),
                }
            }
        }
    }
}

/// How two strings sort in the invariant culture, where plain letters and digits tell it.
fn collate(a: &[u16], b: &[u16]) -> Option<Ordering> {
    let plain = |it: &[u16]| {
        it.iter()
            .all(|it| u8::try_from(*it).is_ok_and(|it| it.is_ascii_alphanumeric()))
    };
    if a == b {
        return Some(Ordering::Equal);
    }
    if !plain(a) || !plain(b) {
        return None;
    }
    // Letters first without regard to case; digits come before letters; lower case before upper case.
    let fold = |it: &u16| (*it as u8).to_ascii_lowercase();
    let folded = a.iter().map(fold).cmp(b.iter().map(fold));
    if folded != Ordering::Equal {
        return Some(folded);
    }
    Some(b.cmp(a))
}
