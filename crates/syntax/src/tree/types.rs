//! Names and the syntax of types.
//!
//! `var`, `dynamic`, `nint`, `nuint` and `_` are ordinary names here: whether they mean something special
//! depends on what the program declares.

use super::{Expr, ExprKind, MemberAccess};
use crate::span::Span;

/// A name as it means: without `@`, escapes decoded, format characters removed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identifier {
    /// The name. Empty only in a tree made for completion, where the name is still to be written.
    pub text: Box<str>,
    /// Written with `@` or an escape, so it is never a contextual keyword (`@var`, `@nameof`).
    pub verbatim: bool,
    /// Where, including the `@`.
    pub span: Span,
}

impl Identifier {
    /// Whether it is the contextual keyword `word`.
    pub fn is_word(&self, word: &str) -> bool {
        !self.verbatim && &*self.text == word
    }
}

/// A name with its type arguments: `List<int>` in `new List<int>()` or `F<int>` in `x.F<int>()`.
#[derive(Debug, Clone, PartialEq)]
pub struct SimpleName {
    /// The name.
    pub identifier: Identifier,
    /// `<…>`, if written.
    pub arguments: Option<Box<TypeArguments>>,
    /// Name and arguments.
    pub span: Span,
}

/// What stands between `<` and `>`.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeArguments {
    /// `<int, string>`, at least one.
    Types(Vec<Type>),
    /// `<>` or `<,>` with this many places, only in `typeof` and `nameof`.
    Unbound(u32),
}

/// A dotted name: `A.B<int>.C` or `global::A.B`.
#[derive(Debug, Clone, PartialEq)]
pub struct QualifiedName {
    /// The name before `::`.
    pub alias: Option<Box<Identifier>>,
    /// The names between the dots, at least one.
    pub parts: Vec<SimpleName>,
    /// From the alias to the last name.
    pub span: Span,
}

impl QualifiedName {
    /// The same name as an expression: the inverse of [`Expr::to_name`].
    pub fn to_expr(&self) -> Option<Expr> {
        let (first, rest) = self.parts.split_first()?;
        let start = self.span.start;
        let kind = match &self.alias {
            Some(alias) => ExprKind::AliasQualified(alias.clone(), Box::new(first.clone())),
            None => ExprKind::Name(first.clone()),
        };
        let span = Span::new(start, first.span.end);
        Some(rest.iter().fold(Expr { kind, span }, |target, name| Expr {
            span: Span::new(start, name.span.end),
            kind: ExprKind::Member {
                target: Box::new(target),
                access: MemberAccess::Dot,
                name: name.clone(),
            },
        }))
    }

    /// The name if it is one word without alias, dots and type arguments.
    pub fn as_word(&self) -> Option<&Identifier> {
        match (&self.alias, self.parts.as_slice()) {
            (
                None,
                [
                    SimpleName {
                        identifier,
                        arguments: None,
                        ..
                    },
                ],
            ) => Some(identifier),
            _ => None,
        }
    }
}

/// The syntax of a type.
#[derive(Debug, Clone, PartialEq)]
pub struct Type {
    /// What kind of type.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

impl Type {
    /// Whether it is the word `var`, which infers the type unless a type of that name is in scope.
    pub fn is_var(&self) -> bool {
        self.is_word("var")
    }

    /// Whether it is the word `dynamic`, a type of its own unless one of that name is in scope.
    pub fn is_dynamic(&self) -> bool {
        self.is_word("dynamic")
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, TypeKind::Name(name) if name.as_word().is_some_and(|it| it.is_word(word)))
    }
}

/// The kinds of type syntax.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// `int`; `void` only in `typeof(void)`, behind pointers and in function pointers.
    Predefined(Predefined),
    /// `A.B<int>`, also `var` and `dynamic`.
    Name(QualifiedName),
    /// `T?`
    Nullable(Box<Type>),
    /// `T*`
    Pointer(Box<Type>),
    /// `T[]`, `T[,]`. `int[][,]` is an array of rank 1 of arrays of rank 2.
    Array {
        /// The type of the elements.
        element: Box<Type>,
        /// The number of dimensions, at least 1.
        rank: u32,
    },
    /// `(int, string name)`, at least two.
    Tuple(Vec<TupleTypeElement>),
    /// `delegate* unmanaged[Cdecl]<int, void>`
    FunctionPointer(Box<FunctionPointer>),
}

/// The type of a pointer to a function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionPointer {
    /// `managed` or `unmanaged`.
    pub convention: Option<Identifier>,
    /// The names in brackets after `unmanaged`.
    pub unmanaged: Vec<Identifier>,
    /// The parameters, and last the return type.
    pub parameters: Vec<FunctionPointerParameter>,
}

/// One type in a tuple type.
#[derive(Debug, Clone, PartialEq)]
pub struct TupleTypeElement {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Option<Identifier>,
}

/// One type in a function pointer type.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionPointerParameter {
    /// `ref`, `out`, `in` or `ref readonly`.
    pub modifier: Option<super::ParameterModifier>,
    /// Its type.
    pub ty: Type,
}

/// The types that are keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the keyword of its name")]
pub enum Predefined {
    Bool,
    Byte,
    SByte,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    Char,
    Float,
    Double,
    Decimal,
    String,
    Object,
    Void,
}

impl Predefined {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Bool,
        Self::Byte,
        Self::SByte,
        Self::Short,
        Self::UShort,
        Self::Int,
        Self::UInt,
        Self::Long,
        Self::ULong,
        Self::Char,
        Self::Float,
        Self::Double,
        Self::Decimal,
        Self::String,
        Self::Object,
        Self::Void,
    ];

    /// The keyword.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Byte => "byte",
            Self::SByte => "sbyte",
            Self::Short => "short",
            Self::UShort => "ushort",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Long => "long",
            Self::ULong => "ulong",
            Self::Char => "char",
            Self::Float => "float",
            Self::Double => "double",
            Self::Decimal => "decimal",
            Self::String => "string",
            Self::Object => "object",
            Self::Void => "void",
        }
    }
}

/// A variable of the debugger, not of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PseudoVariable {
    /// `$exception`: the exception the thread stopped with.
    Exception,
    /// `$returnvalue`: what the method just stepped out of returned, which is 0; those before it have numbers.
    ReturnValue(u32),
    /// `$pid`: the process id.
    ProcessId,
    /// `$tid`: the thread's id.
    ThreadId,
    /// `$hitcount`: how often the breakpoint was hit.
    HitCount,
    /// `$1`: an object the debugger holds a handle to.
    Handle(u32),
}

impl PseudoVariable {
    /// The name without `$`, unless it is a handle.
    pub(crate) const NAMED: [(&str, Self); 5] = [
        ("exception", Self::Exception),
        ("returnvalue", Self::ReturnValue(0)),
        ("pid", Self::ProcessId),
        ("tid", Self::ThreadId),
        ("hitcount", Self::HitCount),
    ];

    /// The variable of that name, which is without `$`; case does not matter.
    pub fn from_name(name: &str) -> Option<Self> {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return name.parse().ok().map(Self::Handle);
        }
        let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if letters.eq_ignore_ascii_case("returnvalue") && letters.len() < name.len() {
            let number = name[letters.len()..].parse().ok();
            return number.filter(|it| *it > 0).map(Self::ReturnValue);
        }
        Self::NAMED
            .into_iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, it)| it)
    }
}

impl std::fmt::Display for PseudoVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Handle(number) => return write!(f, "${number}"),
            Self::ReturnValue(number @ 1..) => return write!(f, "$returnvalue{number}"),
            _ => {}
        }
        let name = Self::NAMED
            .into_iter()
            .find(|(_, it)| it == self)
            .map_or("", |(name, _)| name);
        write!(f, "${name}")
    }
}
