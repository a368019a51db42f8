//! Numbers out of texts and of each other: `Parse`, `TryParse`, `Convert`, and names of enums.
//!
//! What a culture decides is answered only where it is known to be the invariant one; the rest is left to the program.

use std::rc::Rc;

use syntax::Span;

use super::cultures::Part;
use super::effects::written_name;
use super::journal::Fact;
use super::{Made, Result, Runner, Val, integer, thrown};
use crate::expressions::bind::well_known;
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, Constant, Node};
use crate::expressions::scalar::{self, Decimal, Fault, Kind, Scalar};
use crate::types::{self, Type};
use crate::values::Object;

/// What a text says about a number.
#[derive(Debug, PartialEq)]
pub(super) enum Parsed {
    /// The number.
    Number(Scalar),
    /// None.
    Malformed,
    /// One that the type does not have.
    TooLarge,
}

impl Runner<'_, '_> {
    /// `Parse` of a type of numbers, or of `bool`.
    pub(super) fn parsed(
        &mut self,
        callee: &Callee,
        arguments: &[Val],
        ty: &Type,
        span: Span,
    ) -> Result<Option<Val>> {
        let Val::Scalar(zero) = self.default(ty) else {
            return Ok(None);
        };
        let kind = zero.kind();
        let Some(text) = self.parsed_text(callee, arguments, kind, span)? else {
            return Ok(None);
        };
        match parse(&text, kind) {
            Some(Parsed::Number(number)) => Ok(Some(Val::Scalar(number))),
            Some(Parsed::TooLarge) => Err(thrown(Fault::Unfit(kind), span)),
            Some(Parsed::Malformed) if kind != Kind::Bool => {
                let told = format!("The input string '{text}' was not in a correct format.");
                Err(Fail::thrown(span, "System.FormatException", Some(told)).into())
            }
            _ => Ok(None),
        }
    }

    /// The text that is parsed, if nothing but it and its type decide what comes of it.
    fn parsed_text(
        &mut self,
        callee: &Callee,
        arguments: &[Val],
        kind: Kind,
        span: Span,
    ) -> Result<Option<String>> {
        let first = callee.method.parameters.first();
        if first.is_none_or(|it| it.ty != Type::STRING) {
            return Ok(None);
        }
        let (text, is_invariant) = match arguments {
            [text] => (text, false),
            [text, provider] if self.is_invariant_culture(provider) => (text, true),
            _ => return Ok(None),
        };
        let has_fraction = matches!(kind, Kind::Float | Kind::Double | Kind::Decimal);
        if has_fraction && !is_invariant && !self.has_invariant(Part::NotFinite, span) {
            return Ok(None);
        }
        if !is_invariant && !self.has_plain_numbers(span) {
            return Ok(None);
        }
        let units = self.string_of(text, span)?;
        Ok(units.map(|it| String::from_utf16_lossy(&it)))
    }

    /// What a member that takes references would answer and leave there, if that needs no code.
    pub(super) fn known_by_reference(
        &mut self,
        callee: &Rc<Callee>,
        target: Option<(&Val, &Type)>,
        values: &[Val],
        node: &Node,
    ) -> Result<Option<(Val, Val)>> {
        let Some(intrinsic) = callee.intrinsic else {
            return Ok(None);
        };
        let left = callee.method.parameters.last();
        let left = left.map_or(Type::OBJECT, |it| it.ty.without_ref().clone());
        match (intrinsic.name, values) {
            ("TryGetValue", [key, _]) if target.is_some() => {
                let key = std::slice::from_ref(key);
                let ask = |this: &mut Self, name| {
                    this.noted(node.span, |this| {
                        this.dictionary_member(name, target, key, node)
                    })
                };
                Ok(match ask(self, "ContainsKey")? {
                    Some(Val::Scalar(Scalar::Bool(true))) => {
                        ask(self, "get_Item")?.map(|it| (Val::bool(true), it))
                    }
                    Some(_) => Some((Val::bool(false), self.default(&left))),
                    None => None,
                })
            }
            ("TryGetNonEnumeratedCount", [source, _]) => self.told_count(source, node.span),
            ("TryParse", [given @ .., _]) if intrinsic.ty == "System.Enum" => {
                let [text, more @ ..] = given else {
                    return Ok(None);
                };
                let ty = match callee.arguments.first() {
                    Some(ty) => ty.clone(),
                    None => return Ok(None),
                };
                let Some(text) = self.string_of(text, node.span)? else {
                    return Ok(None);
                };
                let ignores_case = match more {
                    [] => false,
                    [Val::Scalar(Scalar::Bool(it))] => *it,
                    _ => return Ok(None),
                };
                Ok(self.named_value(&text, &ty, ignores_case).map(|found| {
                    let is_found = Val::bool(found.is_some());
                    (is_found, found.unwrap_or_else(|| self.default(&ty)))
                }))
            }
            ("TryParse", [given @ .., _]) => {
                let Val::Scalar(zero) = self.default(&left) else {
                    return Ok(None);
                };
                let kind = zero.kind();
                if let [Val::Null] = given {
                    return Ok(Some((Val::bool(false), Val::Scalar(zero))));
                }
                let Some(text) = self.parsed_text(callee, given, kind, node.span)? else {
                    return Ok(None);
                };
                Ok(parse(&text, kind).map(|parsed| match parsed {
                    Parsed::Number(number) => (Val::bool(true), Val::Scalar(number)),
                    _ => (Val::bool(false), Val::Scalar(zero)),
                }))
            }
            _ => Ok(None),
        }
    }

    /// A member of `Convert`, of primitives and texts.
    pub(super) fn converted(
        &mut self,
        callee: &Callee,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let ([value, ..], Some(parameter)) = (arguments, callee.method.parameters.first()) else {
            return Ok(None);
        };
        let declared = &parameter.ty;
        let is_plain =
            *declared == Type::STRING || well_known::kind(self.types, declared).is_some();
        let provider = arguments.get(1);
        if !is_plain
            || arguments.len() > 2
            || provider.is_some_and(|it| !self.is_invariant_culture(it))
        {
            return Ok(None);
        }
        if callee.method.returns == Type::STRING {
            let is_number = *declared != Type::STRING && written_name(&callee.method) == "ToString";
            return match is_number {
                // With a provider it is the invariant culture that counts, not the thread's.
                true if provider.is_some() => {
                    let before = std::mem::replace(&mut self.for_people, true);
                    let text = self.plain_text(value, declared, span);
                    self.for_people = before;
                    Ok(text?.map(Val::units))
                }
                true => Ok(self.plain_text(value, declared, span)?.map(Val::units)),
                false => Ok(None),
            };
        }
        let Some(to) = well_known::kind(self.types, &callee.method.returns) else {
            return Ok(None);
        };
        // This one parses what is not there, if it is told a culture.
        let parses_null = to == Kind::SByte && provider.is_some();
        if matches!(value, Val::Null) && parses_null {
            return Ok(None);
        }
        if matches!(value, Val::Null) && to != Kind::Char {
            let zero = if to == Kind::Bool {
                Some(Scalar::Bool(false))
            } else {
                Scalar::zero(to)
            };
            return Ok(zero.map(Val::Scalar));
        }
        let value = self.as_scalar(value.clone(), span)?;
        let Val::Scalar(value) = value else {
            return Ok(None);
        };
        if let (Scalar::String(units), Kind::Char) = (&value, to) {
            // Others than of one unit are refused by the program.
            return Ok(match **units {
                [unit] => Some(Val::Scalar(Scalar::Int(Kind::Char, unit.into()))),
                _ => None,
            });
        }
        if to == Kind::Char && value.integer().is_none() {
            return Ok(None);
        }
        if let Scalar::String(_) = value {
            let returns = callee.method.returns.clone();
            return self.parsed(callee, arguments, &returns, span);
        }
        let one = |it: bool| Scalar::Int(Kind::Int, it.into());
        let value = match (value, to) {
            (Scalar::Bool(value), Kind::Bool) => return Ok(Some(Val::bool(value))),
            (Scalar::Bool(value), _) if to != Kind::Char => one(value),
            (value, Kind::Bool) if value.kind() != Kind::Char => {
                let zero = Scalar::zero(value.kind());
                let same = zero.and_then(|zero| super::numbers::compare(&value, &zero));
                return Ok(Some(Val::bool(same != Some(std::cmp::Ordering::Equal))));
            }
            (Scalar::Int(Kind::Char, unit), _) if to.range().is_some() => {
                Scalar::Int(Kind::UShort, unit)
            }
            (Scalar::Double(number), _) if to.range().is_some() => {
                Scalar::Double(number.round_ties_even())
            }
            (Scalar::Float(number), _) if to.range().is_some() => {
                Scalar::Double(f64::from(number).round_ties_even())
            }
            (Scalar::Decimal(number), _) if to.range().is_some() => {
                let whole = number.truncate().and_then(Decimal::from_i128);
                match whole.filter(|it| *it == number) {
                    Some(whole) => Scalar::Decimal(whole),
                    None => return Ok(None),
                }
            }
            (Scalar::Bool(_), _) | (Scalar::Int(Kind::Char, _), _) => return Ok(None),
            (value, _) => value,
        };
        let is_whole = value.integer().is_some();
        match scalar::convert(&value, to, true) {
            Some(Ok(value)) => Ok(Some(Val::Scalar(value))),
            // What it says of others than whole numbers depends on the version.
            Some(Err(_)) if is_whole && to.range().is_some() => Err(thrown(Fault::Unfit(to), span)),
            _ => Ok(None),
        }
    }

    /// A static member of `Enum`.
    pub(super) fn enum_function(
        &mut self,
        name: &str,
        callee: &Callee,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        // By a type argument, or by the first argument.
        let (ty, given, boxes) = match (callee.arguments.first(), arguments) {
            (Some(ty), given) => (ty.clone(), given, false),
            (None, [Val::Made(made), given @ ..]) => match &**made {
                Made::Type(ty) => (ty.clone(), given, true),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let Some(members) = self.enum_members(&ty) else {
            return Ok(None);
        };
        let [value, more @ ..] = given else {
            return Ok(match name {
                "GetNames" => {
                    let mut sorted = members;
                    sorted.sort_by_key(|(_, it)| *it as u64);
                    let names = sorted.iter().map(|(name, _)| Val::text(name)).collect();
                    Some(Val::sequence(Type::SzArray(Rc::new(Type::STRING)), names))
                }
                _ => None,
            });
        };
        let text = self.string_of(value, span)?;
        let number = match value {
            Val::Object(object) => match self.reader.unboxed(object) {
                Some(place) if object.ty == ty => integer(&self.decode(&place, span)?),
                _ => None,
            },
            Val::Boxed(exact, inner) => {
                let same =
                    *exact == ty || ty.underlying().map(Type::Primitive) == Some(exact.clone());
                integer(inner).filter(|_| same)
            }
            Val::Scalar(_) if !boxes => integer(value),
            _ => None,
        };
        Ok(match (name, text, number) {
            ("IsDefined", Some(text), _) => {
                let text = String::from_utf16_lossy(&text);
                Some(Val::bool(members.iter().any(|(name, _)| *name == text)))
            }
            ("IsDefined", None, Some(number)) => {
                Some(Val::bool(members.iter().any(|(_, it)| *it == number)))
            }
            ("GetName", None, Some(number)) => {
                let mut named = members.iter().filter(|(_, it)| *it == number);
                match (named.next(), named.next()) {
                    (Some((name, _)), None) => Some(Val::text(name)),
                    (None, _) => Some(Val::Null),
                    _ => None,
                }
            }
            ("Parse", Some(text), _) => {
                let ignores_case = match more {
                    [] => false,
                    [Val::Scalar(Scalar::Bool(it))] => *it,
                    _ => return Ok(None),
                };
                let found = self.named_value(&text, &ty, ignores_case).flatten();
                match boxes {
                    true => found.map(|it| Val::Boxed(ty, Box::new(it))),
                    false => found,
                }
            }
            _ => None,
        })
    }

    /// The names and numbers of an enum.
    fn enum_members(&self, ty: &Type) -> Option<Vec<(String, i128)>> {
        let Type::Named(named) = ty else { return None };
        let types::Kind::Enum(_) = named.kind else {
            return None;
        };
        let definition = self.types.definition(named).ok()?;
        let members = definition.enum_members().flatten().filter_map(|it| {
            let number = match crate::expressions::bind::constant(it.value) {
                Constant::Scalar(value) => value.integer()?,
                Constant::Null => return None,
            };
            Some((it.name.to_string(), number))
        });
        Some(members.collect())
    }

    /// The value of an enum that a text of names or a number stands for; `Some(None)` if it surely stands for none.
    fn named_value(&self, text: &[u16], ty: &Type, ignores_case: bool) -> Option<Option<Val>> {
        let members = self.enum_members(ty)?;
        let Val::Scalar(Scalar::Int(kind, _)) = self.default(ty) else {
            return None;
        };
        let text = String::from_utf16(text).ok()?;
        if !text.is_ascii() {
            return None;
        }
        let text = text.trim_matches(is_white);
        if text.starts_with(|it: char| it.is_ascii_digit() || matches!(it, '-' | '+')) {
            return match parse(text, kind)? {
                Parsed::Number(number) => Some(Some(Val::Scalar(number))),
                _ => None,
            };
        }
        let mut sum = 0;
        for name in text.split(',').map(|it| it.trim_matches(is_white)) {
            let is_it = |it: &str| match ignores_case {
                true => it.eq_ignore_ascii_case(name),
                false => it == name,
            };
            match members.iter().find(|(it, _)| is_it(it)) {
                Some((_, number)) => sum |= number,
                None => return Some(None),
            }
        }
        Some(Some(Val::Scalar(Scalar::Int(kind, sum))))
    }

    /// Whether a format provider is the invariant culture.
    pub(super) fn is_invariant_culture(&self, provider: &Val) -> bool {
        let Val::Object(provider) = provider else {
            return false;
        };
        match self.culture_field("s_InvariantCultureInfo") {
            Some(Val::Object(invariant)) => invariant.address == provider.address,
            _ => false,
        }
    }

    /// The culture that the thread has, if anything has asked for it.
    pub(super) fn thread_culture(&self) -> Option<Object> {
        let sources = [
            "s_currentThreadCulture",
            "s_DefaultThreadCurrentCulture",
            "s_userDefaultCulture",
        ];
        let mut found = sources.into_iter();
        found.find_map(|name| match self.culture_field(name) {
            Some(Val::Object(culture)) => Some(culture),
            _ => None,
        })
    }

    /// Whether letters, digits and signs of ASCII are compared and changed by the thread's culture as they are in all
    /// languages without rules of their own for them: Danish sorts `aa` as a letter of its own, Turkish has another `i`.
    pub(super) fn has_plain_culture(&mut self, span: Span) -> bool {
        self.fact(Fact::PlainCulture, |this| this.asks_plain_culture(span))
    }

    fn asks_plain_culture(&mut self, span: Span) -> bool {
        let language = match self.thread_culture() {
            Some(culture) if self.is_culture(&culture) => self.culture_name(&culture, span),
            Some(_) => None,
            // The runtime will ask the environment that the program was started with.
            None => started_in(self.around.numbers.0),
        };
        let is_plain = language.is_some_and(|it| {
            let language = it.split(['-', '_', '.', '@']).next().unwrap_or_default();
            PLAIN_LANGUAGES.contains(&language)
        });
        is_plain || self.is_invariant(span).is_ok_and(|it| it)
    }

    pub(super) fn culture_field(&self, name: &str) -> Option<Val> {
        let culture = self
            .types
            .core_named("System.Globalization", "CultureInfo")?;
        let fields = self.types.fields(&culture).ok()?;
        let field = fields.iter().find(|it| *it.name == *name)?;
        let value = self.reader.static_field(&culture, field, self.around.frame);
        self.decode(&value.ok()?, Span::empty(0)).ok()
    }
}

/// Languages that have no rules of their own for letters of ASCII; the first is the invariant one.
const PLAIN_LANGUAGES: &[&str] = &["", "C", "POSIX", "de", "en", "fr", "it", "nl", "pt"];

/// The language that the environment of a process names.
pub(super) fn started_in(pid: u32) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let variables: Vec<&[u8]> = environment.split(|it| *it == 0).collect();
    let value = |name: &str| {
        let found = variables
            .iter()
            .find_map(|it| it.strip_prefix(name.as_bytes()));
        found.filter(|it| !it.is_empty())
    };
    let found = ["LC_ALL=", "LC_MESSAGES=", "LANG="]
        .into_iter()
        .find_map(value);
    Some(String::from_utf8_lossy(found.unwrap_or_default()).into_owned())
}

/// What a text says about a number of a kind, in the invariant culture; `None` if that is not known here.
pub(super) fn parse(text: &str, kind: Kind) -> Option<Parsed> {
    if !text.is_ascii() || text.contains('\0') {
        return None;
    }
    let text = text.trim_matches(is_white);
    if kind == Kind::Bool {
        return Some(if text.eq_ignore_ascii_case("true") {
            Parsed::Number(Scalar::Bool(true))
        } else if text.eq_ignore_ascii_case("false") {
            Parsed::Number(Scalar::Bool(false))
        } else {
            Parsed::Malformed
        });
    }
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if let Some((least, most)) = kind.range().filter(|_| kind != Kind::Char) {
        if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
            return Some(Parsed::Malformed);
        }
        let number = digits.parse::<i128>().ok();
        let number = number.map(|it| if negative { -it } else { it });
        return Some(match number {
            Some(number) if (least..=most).contains(&number) => {
                Parsed::Number(Scalar::Int(kind, number))
            }
            _ => Parsed::TooLarge,
        });
    }
    let named = |it: &str| digits.eq_ignore_ascii_case(it);
    if kind != Kind::Decimal && (named("infinity") || named("nan")) {
        return None;
    }
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) if kind != Kind::Decimal => (&digits[..at], Some(&digits[at + 1..])),
        _ => (digits, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (mantissa, ""),
    };
    let plain = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let ungrouped: String = whole.chars().filter(|it| *it != ',').collect();
    let is_number = plain(&ungrouped)
        && plain(fraction)
        && !whole.starts_with(',')
        && (!ungrouped.is_empty() || !fraction.is_empty());
    let has_exponent = exponent.is_none_or(|it| {
        let it = it.strip_prefix(['-', '+']).unwrap_or(it);
        !it.is_empty() && plain(it)
    });
    if !is_number || !has_exponent {
        // A sign may stand behind a decimal.
        return match kind {
            Kind::Decimal if text.ends_with(['-', '+']) => None,
            _ => Some(Parsed::Malformed),
        };
    }
    let sign = if negative { "-" } else { "" };
    let exponent = exponent.unwrap_or("0");
    let whole = if ungrouped.is_empty() {
        "0"
    } else {
        &ungrouped
    };
    let fraction_or_zero = if fraction.is_empty() { "0" } else { fraction };
    let written = format!("{sign}{whole}.{fraction_or_zero}e{exponent}");
    match kind {
        Kind::Double => written
            .parse()
            .ok()
            .map(|it| Parsed::Number(Scalar::Double(it))),
        Kind::Float => written
            .parse()
            .ok()
            .map(|it| Parsed::Number(Scalar::Float(it))),
        Kind::Decimal => {
            let mantissa = format!("{ungrouped}{fraction}");
            let scale = u8::try_from(fraction.len()).ok().filter(|it| *it <= 28)?;
            let mantissa = mantissa.parse::<u128>().ok()?;
            let number = Decimal::new(negative, mantissa, scale)?;
            Some(Parsed::Number(Scalar::Decimal(number)))
        }
        _ => None,
    }
}

/// What may stand around a number.
fn is_white(unit: char) -> bool {
    matches!(unit, ' ' | '\t'..='\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kind: Kind, expected: &str) {
        let told = match parse(text, kind) {
            Some(Parsed::Number(number)) => scalar::text(&number),
            Some(Parsed::Malformed) => "malformed".into(),
            Some(Parsed::TooLarge) => "too large".into(),
            None => "unknown".into(),
        };
        assert_eq!(told, expected, "{text:?}");
    }

    #[test]
    fn texts_are_numbers_as_the_framework_has_it() {
        check(" 42 ", Kind::Int, "42");
        check("+7", Kind::Int, "7");
        check("-", Kind::Int, "malformed");
        check("", Kind::Int, "malformed");
        check("1,000", Kind::Int, "malformed");
        check("300", Kind::Byte, "too large");
        check("-1", Kind::UInt, "too large");
        check("1e3", Kind::Double, "1000");
        check("1e", Kind::Double, "malformed");
        check("1,234.5", Kind::Double, "1234.5");
        check(",5", Kind::Double, "malformed");
        check(".5", Kind::Double, "0.5");
        check("5.", Kind::Double, "5");
        check(".", Kind::Double, "malformed");
        check("1e400", Kind::Double, "Infinity");
        check("NaN", Kind::Double, "unknown");
        check("0.1", Kind::Float, "0.1");
        check("1.50", Kind::Decimal, "1.50");
        check("1.5-", Kind::Decimal, "unknown");
        check("1e3", Kind::Decimal, "malformed");
        check(" TRUE ", Kind::Bool, "True");
        check("yes", Kind::Bool, "malformed");
    }
}
