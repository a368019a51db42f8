//! Names that the C# compiler makes up, and what stands behind them.
//!
//! Such a name is `<text>` followed by a letter for its kind and sometimes `__` and a suffix: `<Main>b__0_1` is the lambda with
//! ordinal 0_1 of `Main`. The text may itself be such a name.

use std::borrow::Cow;

/// What a generated name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GeneratedKind {
    /// `<Main>$`, a name that no source can spell, such as the entry point of top-level statements.
    Unspeakable,
    /// `<M>b__0_0`, a lambda or anonymous method.
    Lambda,
    /// `<M>g__Name|0_0`, a local function.
    LocalFunction,
    /// `<>c` or `<>c__DisplayClass0_0`, a class that holds lambdas and captured variables.
    Closure,
    /// `<M>d__0`, a class or struct that runs an async method or iterator.
    StateMachine,
    /// `<>f__AnonymousType0`.
    AnonymousType,
    /// `<File>F<hash>__Name`, a type with the modifier `file`.
    FileLocal,
    /// `<X>k__BackingField`, the field of an automatic property.
    BackingField,
    /// `<x>5__1`, a local that lives in a field of a state machine.
    HoistedLocal,
    /// `<>7__wrap1`, a field of a state machine that was made for a local of the compiler, and that others may have after it.
    ReusableLocal,
    /// `<>4__this`, the `this` of the method behind a closure or state machine.
    This,
    /// `<>3__x`, the first value of an iterator's parameter.
    ParameterProxy,
    /// `<>1__state`, the state of a state machine.
    State,
    /// `<>2__current`, the current element of an iterator.
    Current,
    /// `<>t__builder`, the builder of an async method.
    Builder,
    /// `<>u__1`, an awaiter that lives over an await.
    Awaiter,
    /// `CS$<>8__locals1` or `<>8__1`, a local that refers to a closure.
    ClosureLocal,
    /// `<x>P`, a captured parameter of a primary constructor.
    PrimaryParameter,
    /// Another kind, by its letter.
    Other(char),
}

/// A generated name, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeneratedName<'a> {
    /// What it stands for.
    pub kind: GeneratedKind,
    /// The text between the brackets; often the name of the method or variable that it was made for.
    pub text: &'a str,
    /// What follows `__`; empty if nothing does.
    pub suffix: &'a str,
}

impl<'a> GeneratedName<'a> {
    /// Takes a generated name apart; `None` for names that a person can write.
    #[must_use]
    pub fn parse(name: &'a str) -> Option<Self> {
        let bracketed = name.strip_prefix("CS$").unwrap_or(name).strip_prefix('<')?;
        let close = closing_bracket(bracketed)?;
        let (text, rest) = (bracketed.get(..close)?, bracketed.get(close + 1..)?);
        let mut letters = rest.chars();
        let letter = letters.next()?;
        let tail = letters.as_str();
        if letter == '$' && tail.is_empty() {
            return Some(Self {
                kind: GeneratedKind::Unspeakable,
                text,
                suffix: "",
            });
        }
        if letter == 'F' {
            // A hash of the file's path comes before the separator.
            let (hash, suffix) = tail.split_once("__")?;
            let is_hash = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            return is_hash.then_some(Self {
                kind: GeneratedKind::FileLocal,
                text,
                suffix,
            });
        }
        let suffix = if tail.is_empty() {
            ""
        } else {
            tail.strip_prefix("__")?
        };
        let kind = match letter {
            'b' => GeneratedKind::Lambda,
            'g' => GeneratedKind::LocalFunction,
            'c' => GeneratedKind::Closure,
            'd' => GeneratedKind::StateMachine,
            'f' if text.is_empty() => GeneratedKind::AnonymousType,
            'k' => GeneratedKind::BackingField,
            'P' => GeneratedKind::PrimaryParameter,
            '1' => GeneratedKind::State,
            '2' => GeneratedKind::Current,
            '3' => GeneratedKind::ParameterProxy,
            '4' => GeneratedKind::This,
            '5' => GeneratedKind::HoistedLocal,
            '7' => GeneratedKind::ReusableLocal,
            '8' => GeneratedKind::ClosureLocal,
            't' => GeneratedKind::Builder,
            'u' => GeneratedKind::Awaiter,
            'a'..='z' | 'A'..='Z' | '0'..='9' => GeneratedKind::Other(letter),
            _ => return None,
        };
        Some(Self { kind, text, suffix })
    }

    /// The slot of a hoisted local or closure, which its scope is found by: `<x>5__3` and `<>8__3` have slot 2.
    #[must_use]
    pub fn hoisted_slot(&self) -> Option<usize> {
        if !matches!(
            self.kind,
            GeneratedKind::HoistedLocal | GeneratedKind::ClosureLocal
        ) {
            return None;
        }
        self.suffix.parse::<usize>().ok()?.checked_sub(1)
    }

    /// The name of a local function, without its ordinals.
    #[must_use]
    pub fn local_function(&self) -> Option<&'a str> {
        if self.kind != GeneratedKind::LocalFunction {
            return None;
        }
        self.suffix.split('|').next()
    }
}

/// The offset of the bracket that closes one opened before `text`.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// A type's name without arity mark and without what makes a file-local type's name unique.
#[must_use]
pub fn type_display_name(name: &str) -> Cow<'_, str> {
    let bare = split_arity(name).0;
    match GeneratedName::parse(bare) {
        Some(GeneratedName {
            kind: GeneratedKind::FileLocal,
            suffix,
            ..
        }) => suffix.into(),
        Some(GeneratedName {
            kind: GeneratedKind::Unspeakable,
            text,
            ..
        }) => text.into(),
        _ => bare.into(),
    }
}

/// The name that a person gave what a field stores: the property, local or parameter; `None` for what only the compiler needs.
#[must_use]
pub fn field_display_name(name: &str) -> Option<Cow<'_, str>> {
    let Some(generated) = GeneratedName::parse(name) else {
        return Some(name.into());
    };
    match generated.kind {
        GeneratedKind::BackingField
        | GeneratedKind::HoistedLocal
        | GeneratedKind::PrimaryParameter
            if !generated.text.is_empty() =>
        {
            Some(generated.text.into())
        }
        GeneratedKind::This => Some("this".into()),
        _ => None,
    }
}

/// A name and the number of its own generic parameters: `` List`1 `` has one.
pub(crate) fn split_arity(name: &str) -> (&str, usize) {
    let split = name.rsplit_once('`');
    match split.and_then(|(bare, arity)| Some((bare, arity.parse().ok()?))) {
        Some((bare, arity)) => (bare, arity),
        None => (name, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, kind: GeneratedKind, text: &str, suffix: &str) {
        assert_eq!(
            GeneratedName::parse(name),
            Some(GeneratedName { kind, text, suffix })
        );
    }

    #[test]
    fn generated_names() {
        check("<Main>$", GeneratedKind::Unspeakable, "Main", "");
        check("<Main>b__0_1", GeneratedKind::Lambda, "Main", "0_1");
        check(
            "<<Main>$>g__Add|0_0",
            GeneratedKind::LocalFunction,
            "<Main>$",
            "Add|0_0",
        );
        check("<>c", GeneratedKind::Closure, "", "");
        check(
            "<>c__DisplayClass3_0",
            GeneratedKind::Closure,
            "",
            "DisplayClass3_0",
        );
        check("<Run>d__5", GeneratedKind::StateMachine, "Run", "5");
        check("<<Run>b__0>d", GeneratedKind::StateMachine, "<Run>b__0", "");
        check(
            "<N.I<System.Int32>.M>d__1",
            GeneratedKind::StateMachine,
            "N.I<System.Int32>.M",
            "1",
        );
        check(
            "<Name>k__BackingField",
            GeneratedKind::BackingField,
            "Name",
            "BackingField",
        );
        check("<i>5__2", GeneratedKind::HoistedLocal, "i", "2");
        check("<>4__this", GeneratedKind::This, "", "this");
        check(
            "CS$<>8__locals1",
            GeneratedKind::ClosureLocal,
            "",
            "locals1",
        );
        check(
            "<Util>F0A1B__Helper",
            GeneratedKind::FileLocal,
            "Util",
            "Helper",
        );
        check("<count>P", GeneratedKind::PrimaryParameter, "count", "");
    }

    #[test]
    fn ordinary_names() {
        for name in [
            "Main",
            "op_Addition",
            "<",
            "<>",
            "<a",
            "<Main>b_0",
            "List`1",
            "<Module>",
            "a<b>c",
        ] {
            assert_eq!(GeneratedName::parse(name), None, "{name}");
        }
    }

    #[test]
    fn field_names() {
        assert_eq!(
            field_display_name("<Name>k__BackingField").as_deref(),
            Some("Name")
        );
        assert_eq!(field_display_name("<i>5__2").as_deref(), Some("i"));
        assert_eq!(field_display_name("<>4__this").as_deref(), Some("this"));
        assert_eq!(field_display_name("plain").as_deref(), Some("plain"));
        assert_eq!(field_display_name("<>1__state"), None);
    }
}
