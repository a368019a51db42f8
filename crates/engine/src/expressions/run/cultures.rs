//! Whether texts of numbers and dates are those of the invariant culture, which is the only one known here: where the
//! thread's culture may write them in another way (`1,5`, `1.234,50`, `−3`, `31.12.2024`), the program is asked instead.
//!
//! A culture that can be changed has what it was given: its format of numbers is read, field by field; one of dates, which
//! is filled in bit by bit, is taken for nothing.

use syntax::Span;

use super::journal::Fact;
use super::{Runner, Val, integer};
use crate::expressions::scalar::{Kind, Scalar};
use crate::values::Object;

/// Cultures that write numbers as the invariant one does, apart from how many digits, what is not finite, money and percent.
const PLAIN: &[&str] = &[
    "", "C", "POSIX", "en", "en-AU", "en-CA", "en-GB", "en-IE", "en-NZ", "en-US", "ja-JP", "ko-KR",
    "zh-CN",
];

/// What a text of a number needs to be as in the invariant culture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Signs and separators.
    Signs,
    /// How digits are put into groups, and where the sign stands then.
    Groups,
    /// How many digits are told where a format does not say it.
    Digits,
    Percent,
    Money,
    NotFinite,
}

/// What a field of a `NumberFormatInfo` holds.
enum Holds {
    Text(&'static str),
    Number(i128),
    /// The sizes of groups: of three digits each.
    Threes,
}

impl Part {
    /// What the invariant culture has there, by field.
    fn fields(self) -> &'static [(&'static str, Holds)] {
        use Holds::{Number, Text, Threes};
        match self {
            Self::Signs => &[
                ("_numberDecimalSeparator", Text(".")),
                ("_numberGroupSeparator", Text(",")),
                ("_negativeSign", Text("-")),
                ("_positiveSign", Text("+")),
            ],
            Self::Groups => &[
                ("_numberGroupSizes", Threes),
                ("_numberNegativePattern", Number(1)),
            ],
            Self::Digits => &[("_numberDecimalDigits", Number(2))],
            Self::Percent => &[
                ("_percentDecimalSeparator", Text(".")),
                ("_percentGroupSeparator", Text(",")),
                ("_percentSymbol", Text("%")),
                ("_percentGroupSizes", Threes),
                ("_percentDecimalDigits", Number(2)),
                ("_percentPositivePattern", Number(0)),
                ("_percentNegativePattern", Number(0)),
            ],
            Self::Money => &[
                ("_currencyDecimalSeparator", Text(".")),
                ("_currencyGroupSeparator", Text(",")),
                ("_currencySymbol", Text("¤")),
                ("_currencyGroupSizes", Threes),
                ("_currencyDecimalDigits", Number(2)),
                ("_currencyPositivePattern", Number(0)),
                ("_currencyNegativePattern", Number(0)),
            ],
            Self::NotFinite => &[
                ("_nanSymbol", Text("NaN")),
                ("_positiveInfinitySymbol", Text("Infinity")),
                ("_negativeInfinitySymbol", Text("-Infinity")),
            ],
        }
    }

    /// What a format asks a culture for besides its signs.
    fn of_format(format: &str) -> &'static [Self] {
        let is_bare = format.len() == 1;
        match format.as_bytes().first() {
            Some(b'N' | b'n') if is_bare => &[Self::Groups, Self::Digits],
            Some(b'N' | b'n') => &[Self::Groups],
            Some(b'F' | b'f') if is_bare => &[Self::Digits],
            Some(b'P' | b'p') => &[Self::Percent],
            Some(b'C' | b'c') => &[Self::Money],
            _ if format.contains(',') => &[Self::Groups],
            _ => &[],
        }
    }
}

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
        let asked = format.map_or(&[][..], Part::of_format);
        self.has_plain_numbers(span)
            && (is_finite || self.has_invariant(Part::NotFinite, span))
            && asked.iter().all(|part| self.has_invariant(*part, span))
    }

    /// Whether the thread's culture has the signs of numbers that the invariant one has.
    pub(super) fn has_plain_numbers(&mut self, span: Span) -> bool {
        self.has_invariant(Part::Signs, span)
    }

    /// Whether the thread's culture has a part of what numbers are written with as the invariant one has it.
    pub(super) fn has_invariant(&mut self, part: Part, span: Span) -> bool {
        self.fact(Fact::Numbers(part), |this| this.asks_numbers(part, span))
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

    fn asks_numbers(&mut self, part: Part, span: Span) -> bool {
        let name = match self.thread_culture() {
            Some(culture) => match self.raw(&culture, "_numInfo", span) {
                // A class of the program's own has what it wants.
                _ if !self.is_culture(&culture) => return false,
                Ok(Val::Object(info)) => {
                    let mut fields = part.fields().iter();
                    return fields.all(|(field, holds)| self.has(&info, field, holds, span));
                }
                // Made when the first number is written; until then nobody can have changed it.
                Ok(Val::Null) => self.culture_name(&culture, span),
                _ => return false,
            },
            // The runtime will ask the environment that the program was started with.
            None => super::parsing::started_in(self.around.numbers.0),
        };
        let is_common = matches!(part, Part::Signs | Part::Groups);
        let is_known = name.is_some_and(|name| {
            let name = name.split(['.', '@']).next().unwrap_or_default();
            match is_common {
                true => PLAIN.contains(&&*name.replace('_', "-")),
                false => name.is_empty() && self.thread_culture().is_some(),
            }
        });
        is_known || self.is_invariant(span).is_ok_and(|it| it)
    }

    fn has(&mut self, info: &Object, field: &str, expected: &Holds, span: Span) -> bool {
        let Ok(value) = self.raw(info, field, span) else {
            return false;
        };
        match expected {
            Holds::Number(number) => integer(&value) == Some(*number),
            Holds::Text(text) => matches!(
                self.string_of(&value, span),
                Ok(Some(units)) if units.iter().copied().eq(text.encode_utf16())
            ),
            Holds::Threes => match &value {
                Val::Object(sizes) => {
                    let first = self.array_element(sizes, 0, span);
                    self.array_length(&value, span).is_ok_and(|it| it == 1)
                        && first.is_ok_and(|it| integer(&it) == Some(3))
                }
                _ => false,
            },
        }
    }

    /// Whether the thread is known to write dates as the invariant culture does.
    pub(super) fn has_invariant_dates(&mut self, span: Span) -> bool {
        self.fact(Fact::InvariantDates, |this| this.asks_dates(span))
    }

    fn asks_dates(&mut self, span: Span) -> bool {
        let without_cultures = self.is_invariant(span).is_ok_and(|it| it);
        let Some(culture) = self.thread_culture() else {
            return without_cultures;
        };
        let name = self.culture_name(&culture, span);
        if !without_cultures && name.is_none_or(|it| !it.is_empty()) {
            return false;
        }
        // Those two nobody can change; all others only if they have made nothing yet that could have been.
        let is_fixed = ["s_InvariantCultureInfo", "s_userDefaultCulture"]
            .into_iter()
            .any(|it| matches!(self.culture_field(it), Some(Val::Object(it)) if it.address == culture.address));
        let has_own = !matches!(self.raw(&culture, "_dateTimeInfo", span), Ok(Val::Null));
        is_fixed || !has_own && self.is_culture(&culture)
    }

    /// Whether a culture is of the framework's own class, and so what its fields say.
    pub(super) fn is_culture(&self, culture: &Object) -> bool {
        self.is_core(&culture.ty, "System.Globalization", "CultureInfo")
    }

    pub(super) fn culture_name(&mut self, culture: &Object, span: Span) -> Option<String> {
        let name = self.raw(culture, "_name", span);
        let name = name.and_then(|it| self.string_of(&it, span)).ok().flatten();
        name.map(|it| String::from_utf16_lossy(&it))
    }
}

/// Whether a format writes nothing but digits.
fn is_of_digits(format: &str) -> bool {
    let digits = format.strip_prefix(['D', 'd', 'X', 'x', 'B', 'b']);
    digits.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
}
