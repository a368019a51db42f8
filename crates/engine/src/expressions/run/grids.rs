//! Arrays of several dimensions that an expression makes: their values row by row, and their lengths.

use std::rc::Rc;

use syntax::Span;

use super::places::{Home, HomeRoot, HomeStep};
use super::{Effect, Fault, MAX_ITEMS, Made, Result, Runner, Val, integer, thrown};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, Node};
use crate::types::Type;

/// The lengths of an array of several dimensions that was made here.
pub(super) fn lengths_of(made: &Made) -> Option<Vec<i128>> {
    let Made::Sequence(Type::Array { .. }, _, Some(Val::Made(lengths))) = made else {
        return None;
    };
    match &**lengths {
        Made::Sequence(_, lengths, _) => Some(lengths.iter().filter_map(integer).collect()),
        _ => None,
    }
}

/// The position of an element among the values.
pub(super) fn position(lengths: &[i128], at: &[i128]) -> Option<usize> {
    let mut position: i128 = 0;
    for (length, index) in lengths.iter().zip(at) {
        if !(0..*length).contains(index) {
            return None;
        }
        position = position * length + index;
    }
    (lengths.len() == at.len()).then_some(position as usize)
}

impl Runner<'_, '_> {
    /// `new T[a, b]`, with or without values.
    pub(super) fn grid(&mut self, lengths: &[Node], values: &[Node], node: &Node) -> Result<Val> {
        let span = node.span;
        let mut sizes = Vec::with_capacity(lengths.len());
        let mut count: i128 = 1;
        for length in lengths {
            let length = integer(&self.eval(length)?).unwrap_or(-1);
            if length < 0 {
                return Err(thrown(Fault::Overflow, span));
            }
            count = count.saturating_mul(length);
            sizes.push(Val::int(length));
        }
        if count > MAX_ITEMS as i128 {
            let told = "an array of that size is not made for an evaluation";
            return Err(Fail::new(span, told).into());
        }
        let mut items = Vec::new();
        if values.is_empty() {
            let element = node.ty.element().cloned().unwrap_or(Type::OBJECT);
            items = vec![self.default(&element); count as usize];
        }
        for value in values {
            items.push(self.eval(value)?);
        }
        let lengths = Val::sequence(Type::SzArray(Rc::new(Type::INT)), sizes);
        let made = Made::Sequence(node.ty.clone(), items, Some(lengths));
        self.counted(Val::Made(Rc::new(made)), span)
    }

    /// An array of several dimensions in the program: it is created there, and its elements are set.
    pub(super) fn grid_in_program(&mut self, made: &Rc<Made>, span: Span) -> Result<Option<Val>> {
        let (Some(lengths), Made::Sequence(ty, items, _)) = (lengths_of(made), &**made) else {
            return Ok(None);
        };
        if !self.around.calls {
            return Err(self.refuse(&format!("creating a `{}`", self.types.text(ty)), span));
        }
        let element = ty.element().cloned().unwrap_or(Type::OBJECT);
        let array = self.types.core_named("System", "Array");
        let methods = array.and_then(|it| self.types.methods(&it, Some("CreateInstance")).ok());
        let ints = Type::SzArray(Rc::new(Type::INT));
        let method = methods
            .unwrap_or_default()
            .into_iter()
            .find(|it| matches!(it.parameters.as_slice(), [_, lengths] if lengths.ty == ints));
        let Some(method) = method else {
            return Ok(None);
        };
        let of = Val::Made(Rc::new(Made::Type(element.clone())));
        let sizes = Val::sequence(ints, lengths.iter().map(|it| Val::int(*it)).collect());
        let parameters = method.parameters.iter().map(|it| it.ty.clone());
        let arguments = vec![of, sizes].into_iter().zip(parameters).collect();
        let callee = Rc::new(Callee {
            method,
            arguments: Vec::new(),
            intrinsic: None,
            is_virtual: false,
            checked: false,
        });
        let created = self.effect_as(span, || Effect::Call {
            callee,
            target: None,
            home: None,
            arguments,
            references: Vec::new(),
            exact: false,
            span,
        })?;
        let Val::Object(array) = &created else {
            return Ok(None);
        };
        for (position, item) in (0..).zip(items) {
            let item = self.materialised(item.clone(), span)?;
            let place = self.reader.element(array, position);
            let place = place.map_err(|why| self.unreadable(&why, span))?;
            let home = Some(Home {
                root: HomeRoot::Object(array.clone()),
                steps: vec![HomeStep::Element(position)],
            });
            self.effect(span, || Effect::Write {
                home,
                place,
                value: item,
                span,
            })?;
        }
        Ok(Some(created))
    }
}
