//! Whether the texts of numbers are those of the invariant culture, which is the only one known here: where the thread's
//! culture may write them in another way (`1,5`, `1.234,50`, `−3`), the program is asked instead.

use syntax::Span;

use super::journal::Fact;
use super::{Runner, Val};
use crate::expressions::scalar::{Kind, Scalar};

/// Cultures that write numbers as the invariant one does, apart from what is not finite.
const PLAIN: &[&str] = &[
    "", "C", "POSIX", "en", "en-AU", "en-CA", "en-GB", "en-IE", "en-NZ", "en-US", "ja-JP", "ko-KR",
    "zh-CN",
];

/// What the invariant culture writes, by where a `NumberFormatInfo` has it.
const SIGNS: &[(&str, &str)] = &[
    ("_numberDecimalSeparator", "."),
    ("_numberGroupSeparator", ","),
    ("_negativeSign", "-"),
    ("_positiveSign", "+"),
];

impl Runner<'_, '_> {
    /// Whether the program would write a number as it is written here, in a format or in none.
    pub(super) fn is_written_plainly(
        &mut self,
        number: &Scalar,
        format: Option<&str>,
        span: Span,
    ) -> bool {
        if self.for_people {
            return true;
        }
        let is_finite = match number {
            Scalar::String(_) | Scalar::Bool(_) => return true,
            Scalar::Int(Kind::Char, _) => return true,
            Scalar::Int(_, value) if *value >= 0 && format.is_none_or(is_of_digits) => return true,
            Scalar::Float(value) => value.is_finite(),
            Scalar::Double(value) => value.is_finite(),
            Scalar::Half(bits) => bits & 0x7c00 != 0x7c00,
            _ => true,
        };
        // Signs of money and percent differ even where separators do not.
        let has_sign = format.is_some_and(|it| it.starts_with(['C', 'c', 'P', 'p']));
        self.has_plain_numbers(span) && (is_finite && !has_sign || self.has_invariant_culture(span))
    }

    /// Whether the thread's culture writes and reads numbers as the invariant one does.
    pub(super) fn has_plain_numbers(&mut self, span: Span) -> bool {
        self.fact(Fact::PlainNumbers, |this| this.asks_plain_numbers(span))
    }

    /// What is found of the cultures, once between two effects.
    pub(super) fn fact(&mut self, fact: Fact, ask: impl FnOnce(&mut Self) -> bool) -> bool {
        if let Some(known) = self.journal.fact(fact) {
            return known;
        }
        let holds = ask(self);
        self.journal.found(fact, holds);
        holds
    }

    fn asks_plain_numbers(&mut self, span: Span) -> bool {
        let (name, is_plain) = match self.thread_culture() {
            Some(culture) => {
                let name = self.raw(&culture, "_name", span);
                let name = name.and_then(|it| self.string_of(&it, span)).ok().flatten();
                let name = name.map(|it| String::from_utf16_lossy(&it));
                // Made when the first number is written; until then nobody can have changed it.
                let is_plain = match self.raw(&culture, "_numInfo", span) {
                    Ok(Val::Null) => true,
                    Ok(Val::Object(info)) => SIGNS.iter().all(|(field, sign)| {
                        let text = self.raw(&info, field, span);
                        let text = text.and_then(|it| self.string_of(&it, span));
                        matches!(text, Ok(Some(text)) if text.iter().copied().eq(sign.encode_utf16()))
                    }),
                    _ => false,
                };
                (name, is_plain)
            }
            // The runtime will ask the environment that the program was started with.
            None => (super::parsing::started_in(self.around.numbers.0), true),
        };
        let is_known = name.is_some_and(|name| {
            let name = name.split(['.', '@']).next().unwrap_or_default();
            PLAIN.contains(&&*name.replace('_', "-"))
        });
        is_plain && (is_known || self.is_invariant(span).is_ok_and(|it| it))
    }
}

/// Whether a format writes nothing but digits.
fn is_of_digits(format: &str) -> bool {
    let digits = format.strip_prefix(['D', 'd', 'X', 'x', 'B', 'b']);
    digits.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
}
