//! Numbers (C# 6.4.5.3 and 6.4.5.4).

use super::{Lexer, decimal};
use crate::error::ErrorKind;
use crate::tree::{IntegerForm, IntegerLiteral, IntegerSuffix, Literal};

impl Lexer<'_> {
    /// Reads a number, which starts with a digit or with `.` and a digit.
    pub(super) fn number(&mut self) -> bool {
        let start = self.pos;
        match self.number_value() {
            Ok(literal) => self.push_literal(literal, start),
            Err(kind) => self.error_at(kind, start, self.pos),
        }
        true
    }

    fn number_value(&mut self) -> Result<Literal, ErrorKind> {
        let form = match (self.byte_at(0), self.byte_at(1)) {
            (Some(b'0'), Some(b'x' | b'X')) => IntegerForm::Hex,
            (Some(b'0'), Some(b'b' | b'B')) => IntegerForm::Binary,
            _ => return self.decimal_number(),
        };
        self.pos += 2;
        let (digit, radix): (fn(&u8) -> bool, _) = match form {
            IntegerForm::Hex => (u8::is_ascii_hexdigit, 16),
            _ => (|b| matches!(b, b'0' | b'1'), 2),
        };
        // The first digit may follow a `_`, the last may not be followed by one.
        while self.byte_at(0) == Some(b'_') {
            self.pos += 1;
        }
        let digits = self.digits(digit);
        let suffix = self.integer_suffix();
        let digits = digits?;
        let digits = digits.trim_start_matches('0');
        let value = if digits.is_empty() {
            Ok(0)
        } else {
            u64::from_str_radix(digits, radix)
        };
        let value = value.map_err(|_| ErrorKind::IntegerTooLarge)?;
        Ok(Literal::Integer(IntegerLiteral {
            value,
            form,
            suffix,
        }))
    }

    fn decimal_number(&mut self) -> Result<Literal, ErrorKind> {
        let mut error = None;
        let mut part = |digits: Result<String, ErrorKind>| {
            digits.unwrap_or_else(|kind| {
                error.get_or_insert(kind);
                String::new()
            })
        };
        let mut whole = String::new();
        if self.byte_at(0) != Some(b'.') {
            whole = part(self.digits(u8::is_ascii_digit));
        }
        let mut fraction = String::new();
        let mut is_real = false;
        if self.byte_at(0) == Some(b'.') && self.byte_at(1).is_some_and(|b| b.is_ascii_digit()) {
            self.pos += 1;
            is_real = true;
            fraction = part(self.digits(u8::is_ascii_digit));
        }
        let mut exponent = String::new();
        if let Some(b'e' | b'E') = self.byte_at(0) {
            self.pos += 1;
            is_real = true;
            if let Some(sign @ (b'+' | b'-')) = self.byte_at(0) {
                self.pos += 1;
                exponent.push(char::from(sign));
            }
            match self.byte_at(0) {
                Some(b) if b.is_ascii_digit() || b == b'_' => {
                    exponent.push_str(&part(self.digits(u8::is_ascii_digit)));
                }
                _ => {
                    part(Err(ErrorKind::Real));
                }
            }
        }
        let suffix = self.byte_at(0).map(|b| b.to_ascii_lowercase());
        if let Some(b'f' | b'd' | b'm') = suffix {
            self.pos += 1;
        } else if !is_real {
            let suffix = self.integer_suffix();
            if let Some(kind) = error {
                return Err(kind);
            }
            let digits = whole.trim_start_matches('0');
            let value = if digits.is_empty() {
                Ok(0)
            } else {
                digits.parse()
            };
            let value = value.map_err(|_| ErrorKind::IntegerTooLarge)?;
            let form = IntegerForm::Decimal;
            return Ok(Literal::Integer(IntegerLiteral {
                value,
                form,
                suffix,
            }));
        }
        if let Some(kind) = error {
            return Err(kind);
        }
        if suffix == Some(b'm') {
            return decimal::parse(&whole, &fraction, &exponent)
                .map(Literal::Decimal)
                .ok_or(ErrorKind::RealOutOfRange("decimal"));
        }
        let mut text = format!("{whole}.{fraction}");
        if !exponent.is_empty() {
            text = format!("{text}e{exponent}");
        }
        real(&text, suffix == Some(b'f'))
    }

    /// Digits with `_` between them; an error if they start or end with `_` or there is none.
    fn digits(&mut self, digit: fn(&u8) -> bool) -> Result<String, ErrorKind> {
        let start = self.pos;
        while self.byte_at(0).is_some_and(|b| digit(&b) || b == b'_') {
            self.pos += 1;
        }
        let text = self.text.get(start..self.pos).unwrap_or("");
        if text.is_empty() || text.starts_with('_') || text.ends_with('_') {
            return Err(ErrorKind::Number);
        }
        Ok(text.replace('_', ""))
    }

    fn integer_suffix(&mut self) -> IntegerSuffix {
        let lower = |b: Option<u8>| b.map(|b| b.to_ascii_lowercase());
        let (suffix, length) = match (lower(self.byte_at(0)), lower(self.byte_at(1))) {
            (Some(b'u'), Some(b'l')) | (Some(b'l'), Some(b'u')) => (IntegerSuffix::UnsignedLong, 2),
            (Some(b'u'), _) => (IntegerSuffix::Unsigned, 1),
            (Some(b'l'), _) => (IntegerSuffix::Long, 1),
            _ => (IntegerSuffix::None, 0),
        };
        self.pos += length;
        suffix
    }
}

/// The nearest `float` or `double` to `text`.
fn real(text: &str, float: bool) -> Result<Literal, ErrorKind> {
    if float {
        match text.parse::<f32>() {
            Ok(value) if value.is_finite() => Ok(Literal::Float(value)),
            _ => Err(ErrorKind::RealOutOfRange("float")),
        }
    } else {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Literal::Double(value)),
            _ => Err(ErrorKind::RealOutOfRange("double")),
        }
    }
}
