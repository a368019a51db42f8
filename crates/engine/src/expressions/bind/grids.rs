//! Arrays of several dimensions (C# 12.8.17.5): their lengths are written, or told by the rows.

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{ArrayElement, ArrayInitializer, Expr, NewArray};

use super::Binder;
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

impl Binder<'_> {
    /// `new int[2, 3]`, `new[,] { { 1, 2 }, { 3, 4 } }`
    pub(super) fn new_grid(&mut self, new: &NewArray, span: Span) -> Result<Node> {
        let rank = new.rank as usize;
        let mut sizes = Vec::with_capacity(rank);
        for size in &new.sizes {
            let operand = self.bind(size)?;
            let node = self.convert(operand, &Type::INT, size.span)?;
            if matches!(node.scalar().and_then(Scalar::integer), Some(value) if value < 0) {
                let told = "an array cannot have a negative size";
                return Err(Fail::cs("CS0248", node.span, told));
            }
            sizes.push(node);
        }
        let mut operands = Vec::new();
        if let Some(rows) = &new.initializer {
            let mut lengths = vec![None; rank];
            let mut values = Vec::new();
            flatten(rows, &mut lengths, &mut values, span)?;
            let told = lengths.into_iter().map(|it| it.unwrap_or(0) as i128);
            let told: Vec<i128> = told.collect();
            for (size, told) in sizes.iter().zip(&told) {
                match size.scalar().and_then(Scalar::integer) {
                    None => {
                        let told = "the size of an array with values must be a constant";
                        return Err(Fail::cs("CS0150", size.span, told));
                    }
                    Some(size) if size != *told => {
                        let told = format!("an array initialiser of length {size} is expected");
                        return Err(Fail::cs("CS0847", span, told));
                    }
                    Some(_) => {}
                }
            }
            let length = |it| Node::constant(Scalar::Int(Kind::Int, it), Type::INT, span);
            sizes = told.into_iter().map(length).collect();
            for value in values {
                operands.push(self.bind(value)?);
            }
        }
        let element = match &new.element {
            Some(ty) => self.ty(ty)?,
            None => self.common_type(&operands).ok_or_else(|| {
                let told = "no best type was found for the array; write its type: new int[,] { … }";
                Fail::cs("CS0826", span, told)
            })?,
        };
        let mut nodes = Vec::with_capacity(operands.len());
        for operand in operands {
            let at = operand.span();
            nodes.push(self.convert(operand, &element, at)?);
        }
        let array = Type::Array {
            element: Rc::new(element),
            rank: new.rank,
        };
        Ok(Node::new(Op::Grid(sizes, nodes), array, span))
    }
}

/// The values row by row; rows of one dimension have one length.
fn flatten<'e>(
    row: &'e ArrayInitializer,
    lengths: &mut [Option<usize>],
    values: &mut Vec<&'e Expr>,
    span: Span,
) -> Result<()> {
    let Some((length, inner)) = lengths.split_first_mut() else {
        return Ok(());
    };
    let count = row.elements.len();
    if length.is_some_and(|it| it != count) {
        let told = format!(
            "an array initialiser of length {} is expected",
            length.unwrap_or(0)
        );
        return Err(Fail::cs("CS0847", span, told));
    }
    *length = Some(count);
    for element in &row.elements {
        match element {
            ArrayElement::Nested(row) if !inner.is_empty() => {
                flatten(row, inner, values, span)?;
            }
            ArrayElement::Value(value) if inner.is_empty() => values.push(value),
            ArrayElement::Value(value) => {
                let told = "a row in braces is expected";
                return Err(Fail::cs("CS0846", value.span, told));
            }
            ArrayElement::Nested(_) => {
                let told = "a value is expected, not a row in braces";
                return Err(Fail::cs("CS0623", span, told));
            }
        }
    }
    Ok(())
}
