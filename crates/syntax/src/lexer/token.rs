//! Tokens: what the lexer hands to the parser.
//!
//! A token is small and copyable; decoded names, numbers and texts are kept beside, in [`Tokens::values`].
//! `>` is always a token of its own unless `=` follows: only the parser knows whether `>>` is a shift or
//! two closing brackets.

use crate::error::SyntaxError;
use crate::span::Span;
use crate::tree::{Literal, Predefined, PseudoVariable, Utf16String};

/// A token and where it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: T,
    pub(crate) span: Span,
    /// For an opening bracket the index of its closing one; 0 if there is none.
    pub(crate) matching: u32,
    /// The number of brackets open around it.
    pub(crate) depth: u32,
}

/// The kinds of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum T {
    /// An identifier; its decoded text is in the values if it is not simply the source text.
    Identifier(Word),
    Keyword(Keyword),
    Predefined(Predefined),
    Pseudo(PseudoVariable),
    /// Index of a [`Value::Literal`].
    Literal(u32),
    Punct(P),
    /// `$"`, `$@"`, `$"""`, …
    InterpolationStart,
    /// Index of a [`Value::Text`].
    InterpolationText(u32),
    /// The brace that opens a hole.
    HoleOpen,
    /// The colon and what is after it: index of a [`Value::Text`].
    HoleFormat(u32),
    /// The brace that closes a hole.
    HoleClose,
    InterpolationEnd,
    /// Not a token: index of a [`Value::Error`].
    Error(u32),
    /// Nothing more.
    End,
}

/// What belongs to a token and does not fit in it.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Literal(Literal),
    Text(Utf16String),
    Error(Box<SyntaxError>),
}

/// All tokens of a text, the last one [`T::End`].
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) tokens: Vec<Token>,
    pub(crate) values: Vec<Value>,
    /// Where lexing stopped: the end of the text, or the brace that ends a hole of a message.
    pub(crate) end: usize,
    /// Whether the text ends within a comment, or a string or format inside of a hole.
    pub(crate) ends_outside_code: bool,
}

/// An identifier that means something in some places (C# 6.4.4), or [`Word::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Other,
    /// With `@`, escapes or format characters, so never a contextual keyword.
    Verbatim,
    And,
    Ascending,
    Async,
    Await,
    By,
    Descending,
    Equals,
    From,
    Global,
    Group,
    Into,
    Join,
    Let,
    Managed,
    NameOf,
    Not,
    On,
    Or,
    OrderBy,
    Scoped,
    Select,
    Underscore,
    Unmanaged,
    Var,
    When,
    Where,
    With,
}

impl Word {
    pub(crate) fn of(text: &str) -> Self {
        match text {
            "and" => Self::And,
            "ascending" => Self::Ascending,
            "async" => Self::Async,
            "await" => Self::Await,
            "by" => Self::By,
            "descending" => Self::Descending,
            "equals" => Self::Equals,
            "from" => Self::From,
            "global" => Self::Global,
            "group" => Self::Group,
            "into" => Self::Into,
            "join" => Self::Join,
            "let" => Self::Let,
            "managed" => Self::Managed,
            "nameof" => Self::NameOf,
            "not" => Self::Not,
            "on" => Self::On,
            "or" => Self::Or,
            "orderby" => Self::OrderBy,
            "scoped" => Self::Scoped,
            "select" => Self::Select,
            "_" => Self::Underscore,
            "unmanaged" => Self::Unmanaged,
            "var" => Self::Var,
            "when" => Self::When,
            "where" => Self::Where,
            "with" => Self::With,
            _ => Self::Other,
        }
    }

    /// Whether it is a keyword inside a query, where it cannot be a name.
    pub(crate) fn is_query_keyword(self) -> bool {
        matches!(
            self,
            Self::From
                | Self::Join
                | Self::Into
                | Self::Where
                | Self::OrderBy
                | Self::Group
                | Self::Select
                | Self::Let
                | Self::On
                | Self::Equals
                | Self::Ascending
                | Self::Descending
                | Self::By
        )
    }
}

/// The keywords an expression can hold; all others are [`Keyword::Statement`] and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    As,
    Base,
    Checked,
    Default,
    Delegate,
    False,
    In,
    Is,
    New,
    Null,
    Out,
    Params,
    Readonly,
    Ref,
    SizeOf,
    StackAlloc,
    Static,
    Switch,
    This,
    Throw,
    True,
    TypeOf,
    Unchecked,
    /// `__makeref`, `__reftype`, `__refvalue`, `__arglist`
    TypedReference,
    /// One that starts a statement, such as `if`.
    Statement,
    /// Any other reserved word.
    Reserved,
}

/// What a word is if it is reserved (C# 6.4.4).
pub(crate) fn reserved(text: &str) -> Option<T> {
    if let Some(predefined) = Predefined::ALL.into_iter().find(|it| it.text() == text) {
        return Some(T::Predefined(predefined));
    }
    Some(T::Keyword(match text {
        "as" => Keyword::As,
        "base" => Keyword::Base,
        "checked" => Keyword::Checked,
        "default" => Keyword::Default,
        "delegate" => Keyword::Delegate,
        "false" => Keyword::False,
        "in" => Keyword::In,
        "is" => Keyword::Is,
        "new" => Keyword::New,
        "null" => Keyword::Null,
        "out" => Keyword::Out,
        "params" => Keyword::Params,
        "readonly" => Keyword::Readonly,
        "ref" => Keyword::Ref,
        "sizeof" => Keyword::SizeOf,
        "stackalloc" => Keyword::StackAlloc,
        "static" => Keyword::Static,
        "switch" => Keyword::Switch,
        "this" => Keyword::This,
        "throw" => Keyword::Throw,
        "true" => Keyword::True,
        "typeof" => Keyword::TypeOf,
        "unchecked" => Keyword::Unchecked,
        "__makeref" | "__reftype" | "__refvalue" | "__arglist" => Keyword::TypedReference,
        "break" | "case" | "catch" | "const" | "continue" | "do" | "else" | "finally" | "fixed"
        | "for" | "foreach" | "goto" | "if" | "lock" | "return" | "try" | "using" | "while" => {
            Keyword::Statement
        }
        "abstract" | "class" | "enum" | "event" | "explicit" | "extern" | "implicit"
        | "interface" | "internal" | "namespace" | "operator" | "override" | "private"
        | "protected" | "public" | "sealed" | "struct" | "unsafe" | "virtual" | "volatile" => {
            Keyword::Reserved
        }
        _ => return None,
    }))
}

/// Operators and punctuation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum P {
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Dot,
    DotDot,
    Comma,
    Colon,
    ColonColon,
    Semicolon,
    Question,
    QuestionQuestion,
    QuestionQuestionEqual,
    Plus,
    PlusPlus,
    PlusEqual,
    Minus,
    MinusMinus,
    MinusEqual,
    Arrow,
    Star,
    StarEqual,
    Slash,
    SlashEqual,
    Percent,
    PercentEqual,
    Amp,
    AmpAmp,
    AmpEqual,
    Bar,
    BarBar,
    BarEqual,
    Caret,
    CaretEqual,
    Tilde,
    Bang,
    BangEqual,
    Equal,
    EqualEqual,
    FatArrow,
    Less,
    LessEqual,
    LessLess,
    LessLessEqual,
    Greater,
    GreaterEqual,
}

impl P {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::OpenParen => "(",
            Self::CloseParen => ")",
            Self::OpenBracket => "[",
            Self::CloseBracket => "]",
            Self::OpenBrace => "{",
            Self::CloseBrace => "}",
            Self::Dot => ".",
            Self::DotDot => "..",
            Self::Comma => ",",
            Self::Colon => ":",
            Self::ColonColon => "::",
            Self::Semicolon => ";",
            Self::Question => "?",
            Self::QuestionQuestion => "??",
            Self::QuestionQuestionEqual => "??=",
            Self::Plus => "+",
            Self::PlusPlus => "++",
            Self::PlusEqual => "+=",
            Self::Minus => "-",
            Self::MinusMinus => "--",
            Self::MinusEqual => "-=",
            Self::Arrow => "->",
            Self::Star => "*",
            Self::StarEqual => "*=",
            Self::Slash => "/",
            Self::SlashEqual => "/=",
            Self::Percent => "%",
            Self::PercentEqual => "%=",
            Self::Amp => "&",
            Self::AmpAmp => "&&",
            Self::AmpEqual => "&=",
            Self::Bar => "|",
            Self::BarBar => "||",
            Self::BarEqual => "|=",
            Self::Caret => "^",
            Self::CaretEqual => "^=",
            Self::Tilde => "~",
            Self::Bang => "!",
            Self::BangEqual => "!=",
            Self::Equal => "=",
            Self::EqualEqual => "==",
            Self::FatArrow => "=>",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::LessLess => "<<",
            Self::LessLessEqual => "<<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }

    /// The longest operator that `text` starts with.
    pub(crate) fn at_start(text: &[u8]) -> Option<Self> {
        Some(match text {
            [b'(', ..] => Self::OpenParen,
            [b')', ..] => Self::CloseParen,
            [b'[', ..] => Self::OpenBracket,
            [b']', ..] => Self::CloseBracket,
            [b'{', ..] => Self::OpenBrace,
            [b'}', ..] => Self::CloseBrace,
            [b'.', b'.', ..] => Self::DotDot,
            [b'.', ..] => Self::Dot,
            [b',', ..] => Self::Comma,
            [b':', b':', ..] => Self::ColonColon,
            [b':', ..] => Self::Colon,
            [b';', ..] => Self::Semicolon,
            [b'?', b'?', b'=', ..] => Self::QuestionQuestionEqual,
            [b'?', b'?', ..] => Self::QuestionQuestion,
            [b'?', ..] => Self::Question,
            [b'+', b'+', ..] => Self::PlusPlus,
            [b'+', b'=', ..] => Self::PlusEqual,
            [b'+', ..] => Self::Plus,
            [b'-', b'-', ..] => Self::MinusMinus,
            [b'-', b'=', ..] => Self::MinusEqual,
            [b'-', b'>', ..] => Self::Arrow,
            [b'-', ..] => Self::Minus,
            [b'*', b'=', ..] => Self::StarEqual,
            [b'*', ..] => Self::Star,
            [b'/', b'=', ..] => Self::SlashEqual,
            [b'/', ..] => Self::Slash,
            [b'%', b'=', ..] => Self::PercentEqual,
            [b'%', ..] => Self::Percent,
            [b'&', b'&', ..] => Self::AmpAmp,
            [b'&', b'=', ..] => Self::AmpEqual,
            [b'&', ..] => Self::Amp,
            [b'|', b'|', ..] => Self::BarBar,
            [b'|', b'=', ..] => Self::BarEqual,
            [b'|', ..] => Self::Bar,
            [b'^', b'=', ..] => Self::CaretEqual,
            [b'^', ..] => Self::Caret,
            [b'~', ..] => Self::Tilde,
            [b'!', b'=', ..] => Self::BangEqual,
            [b'!', ..] => Self::Bang,
            [b'=', b'=', ..] => Self::EqualEqual,
            [b'=', b'>', ..] => Self::FatArrow,
            [b'=', ..] => Self::Equal,
            [b'<', b'<', b'=', ..] => Self::LessLessEqual,
            [b'<', b'<', ..] => Self::LessLess,
            [b'<', b'=', ..] => Self::LessEqual,
            [b'<', ..] => Self::Less,
            [b'>', b'=', ..] => Self::GreaterEqual,
            [b'>', ..] => Self::Greater,
            _ => return None,
        })
    }
}
