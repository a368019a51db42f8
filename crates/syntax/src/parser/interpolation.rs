//! Interpolated strings; the lexer has split them already.

use super::{Parsed, Parser};
use crate::error::Expected;
use crate::lexer::{P, T, Value};
use crate::tree::{Expr, ExprKind, Interpolation, InterpolationPart, Precedence};

impl Parser<'_> {
    pub(super) fn interpolated(&mut self) -> Parsed<Expr> {
        let start = self.start();
        self.bump();
        let mut parts = Vec::new();
        loop {
            match self.kind() {
                T::InterpolationText(index) => {
                    let span = self.bump();
                    if let Some(Value::Text(text)) = self.value(index)
                        && !text.units().is_empty()
                    {
                        parts.push(InterpolationPart::Text(text.clone(), span));
                    }
                }
                T::HoleOpen => parts.push(InterpolationPart::Hole(Box::new(self.hole()?))),
                T::InterpolationEnd => break,
                _ if self.is_cut_off() => break,
                _ => return Err(self.expected(Expected::Token("\""))),
            }
        }
        self.bump();
        Ok(self.expr(ExprKind::Interpolated(parts), start))
    }

    /// `{value,alignment:format}`
    fn hole(&mut self) -> Parsed<Interpolation> {
        let start = self.start();
        self.bump();
        let value = self.any_expression()?;
        let mut alignment = None;
        if self.eat(P::Comma) {
            alignment = Some(self.expression(Precedence::Conditional)?);
        }
        let mut format = None;
        if let T::HoleFormat(index) = self.kind() {
            self.bump();
            if let Some(Value::Text(text)) = self.value(index) {
                format = Some(text.clone());
            }
        }
        if self.kind() != T::HoleClose && !self.is_cut_off() {
            return Err(self.expected(Expected::Token("}")));
        }
        self.bump();
        Ok(Interpolation {
            value,
            alignment,
            format,
            span: self.span_from(start),
        })
    }
}
