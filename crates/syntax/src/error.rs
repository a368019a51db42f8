//! What is wrong with a text, where, and what to write instead.
//!
//! The parser reports the first error only: one clear sentence at one spot. Each has the code the C#
//! compiler gives, where C# has one for it.

use std::fmt;

use crate::span::Span;

/// A text is not an expression we can evaluate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where; empty where something is missing.
    pub span: Span,
}

impl SyntaxError {
    /// An error at `span`.
    pub const fn new(kind: ErrorKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// The code of the same error in the C# compiler, such as `CS1026`.
    pub fn code(&self) -> Option<&'static str> {
        self.kind.code()
    }

    /// The sentence without code and position.
    pub fn message(&self) -> String {
        self.kind.to_string()
    }

    /// The error with the line of `text` it is in and a caret under the spot.
    ///
    /// A long line is cut to a window around the spot.
    pub fn render(&self, text: &str) -> String {
        let head = match self.code() {
            Some(code) => format!("error {code}: {}", self.kind),
            None => format!("error: {}", self.kind),
        };
        let (line, mark) = caret(text, self.span);
        format!("{head}\n  {line}\n  {mark}")
    }
}

/// The line of `text` that `span` starts in, and a second line that underlines the span with `^`.
pub fn caret(text: &str, span: Span) -> (String, String) {
    /// Characters shown before the spot, and in all.
    const BEFORE: usize = 60;
    const WIDTH: usize = 100;
    let start = floor(text, span.start as usize);
    let end = floor(text, (span.end as usize).max(start));
    let (head, tail) = text.split_at(start);
    let line_start = head.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let line_end = tail.find(['\n', '\r']).map_or(text.len(), |at| start + at);
    let before: Vec<char> = text.get(line_start..start).unwrap_or("").chars().collect();
    let cut = before.len().saturating_sub(BEFORE);
    let shown = before.get(cut..).unwrap_or(&[]);
    let rest: Vec<char> = tail
        .get(..line_end - start)
        .unwrap_or("")
        .chars()
        .take(WIDTH - shown.len())
        .collect();
    let marked = text
        .get(start..end.min(line_end))
        .unwrap_or("")
        .chars()
        .count()
        .min(rest.len());

    let mut line = String::new();
    let mut mark = String::new();
    if cut > 0 {
        line.push('…');
        mark.push(' ');
    }
    // A tab stays a tab in both lines, so that the caret stands right whatever a tab is worth.
    line.extend(
        shown
            .iter()
            .chain(&rest)
            .map(|&c| if c.is_control() && c != '\t' { ' ' } else { c }),
    );
    mark.extend(shown.iter().map(|&c| if c == '\t' { '\t' } else { ' ' }));
    mark.extend(std::iter::repeat_n('^', marked.max(1)));
    (line, mark)
}

/// The nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// Something else has to stand here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What would be right.
        expected: Expected,
        /// What is there.
        found: Found,
    },
    /// The expression is complete, and more follows.
    #[error("unexpected {found} after the expression")]
    Unexpected {
        /// What follows.
        found: Found,
    },
    /// The token stands where it makes no sense.
    #[error("{what}")]
    Misplaced {
        /// A whole sentence.
        what: &'static str,
        /// The compiler's code.
        code: &'static str,
    },
    /// C#, but not something a debugger can evaluate.
    #[error("{0}")]
    Refused(Refused),
    /// The character starts no token.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// `@` before something else than a name or a string.
    #[error("expected a name or a string after `@`")]
    Verbatim,
    /// `...`
    #[error("unexpected `...`; a range or a spread is written with two dots")]
    ThreeDots,
    /// `/*` without `*/`.
    #[error("the comment is not closed; expected `*/`")]
    UnclosedComment,
    /// A string or character literal ends at the end of the line.
    #[error("the literal is not closed before the end of the line; expected `{0}`")]
    NewlineInLiteral(char),
    /// A literal that may span lines ends at the end of the text.
    #[error("the string is not closed; expected `{0}`")]
    UnclosedString(String),
    /// The escape sequence does not exist.
    #[error(
        "unknown escape sequence; known are \\' \\\" \\\\ \\0 \\a \\b \\e \\f \\n \\r \\t \\v \\xH \\uHHHH \\UHHHHHHHH"
    )]
    Escape,
    /// `''`
    #[error("a character literal holds exactly one character, this one is empty")]
    EmptyCharacter,
    /// `'ab'`
    #[error("a character literal holds exactly one UTF-16 unit; use a string in double quotes")]
    LongCharacter,
    /// The text of a `u8` literal is not valid Unicode.
    #[error("the text of a `u8` literal must be valid Unicode; it holds half of a surrogate pair")]
    Utf8Literal,
    /// `0x`, `1_`
    #[error("invalid number; digits are missing or a `_` stands at the edge")]
    Number,
    /// `1e`
    #[error("invalid real number; the exponent has no digits")]
    Real,
    /// More than 64 bits.
    #[error("the integer is too large; the largest is 18446744073709551615")]
    IntegerTooLarge,
    /// Beyond the range of the type.
    #[error("the number is outside the range of type `{0}`")]
    RealOutOfRange(&'static str),
    /// `}` alone in the text of an interpolated string.
    #[error("write `}}}}` for a `}}` in the text of an interpolated string")]
    LoneCloseBrace,
    /// `\{`, or a brace made by an escape.
    #[error("a brace in an interpolated string is escaped by doubling it, not with `\\`")]
    EscapedBrace,
    /// `{` in the format of a hole.
    #[error("a format cannot hold `{{`")]
    BraceInFormat,
    /// `{` without `}` in an interpolated string.
    #[error("the hole is not closed; expected `}}`")]
    UnclosedHole,
    /// `{a ? b : c}`
    #[error("`:` starts the format of the hole; put the conditional expression in parentheses")]
    ConditionalInHole,
    /// The opening quotes are not followed by a new line, or text precedes the closing ones.
    #[error("the quotes of a raw string over several lines stand on lines of their own")]
    RawDelimiter,
    /// A line of a raw string is not indented as its last line.
    #[error(
        "the line does not start with the same white space as the closing line of the raw string"
    )]
    RawIndent,
    /// A raw string over several lines without a line.
    #[error("a raw string over several lines must hold at least one line")]
    RawEmpty,
    /// As many quotes as in the delimiter, or more, within or at the end of a raw string.
    #[error("the raw string holds more quotes than its delimiter; open it with more")]
    RawQuotes,
    /// More braces than `$` signs allow.
    #[error("too many braces in a row for this raw string; start it with more `$`")]
    RawBraces {
        /// `}` instead of `{`.
        closing: bool,
    },
    /// `$foo`
    #[error(
        "unknown pseudo-variable `${0}`; known are $exception, $returnvalue, $pid, $tid, $hitcount and $1, $2, …"
    )]
    PseudoVariable(String),
    /// `x,foo`
    #[error(
        "unknown format specifier `{0}`; known are ac, d, dynamic, h, hidden, nq, nse, raw, results, threads and [count]"
    )]
    FormatSpecifier(String),
    /// The text is longer than [`MAX_LENGTH`](crate::MAX_LENGTH).
    #[error(
        "the expression is too long: {length} bytes, at most {} are read",
        crate::MAX_LENGTH
    )]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// More levels than [`MAX_DEPTH`](crate::MAX_DEPTH) or [`MAX_HEIGHT`](crate::MAX_HEIGHT).
    #[error(
        "the expression is nested too deeply; at most {} levels of nesting and {} operators in a row are read",
        crate::MAX_DEPTH,
        crate::MAX_HEIGHT
    )]
    TooDeep,
}

impl ErrorKind {
    /// The code of the same error in the C# compiler.
    pub fn code(&self) -> Option<&'static str> {
        Some(match self {
            Self::Expected { expected, found } => expected.code(!matches!(found, Found::Token(_))),
            Self::Unexpected { .. } => "CS1073",
            Self::Misplaced { code, .. } => code,
            Self::Character(_) | Self::BraceInFormat => "CS1056",
            Self::Verbatim => "CS1646",
            Self::ThreeDots => "CS8635",
            Self::UnclosedComment => "CS1035",
            Self::NewlineInLiteral(_) => "CS1010",
            Self::UnclosedString(quotes) if quotes.len() >= 3 => "CS8997",
            Self::UnclosedString(_) => "CS1039",
            Self::Escape => "CS1009",
            Self::EmptyCharacter => "CS1011",
            Self::LongCharacter => "CS1012",
            Self::Utf8Literal => "CS9026",
            Self::Number => "CS1013",
            Self::Real => "CS0595",
            Self::IntegerTooLarge => "CS1021",
            Self::RealOutOfRange(_) => "CS0594",
            Self::LoneCloseBrace => "CS8086",
            Self::EscapedBrace => "CS8087",
            Self::UnclosedHole => "CS8076",
            Self::ConditionalInHole => "CS8361",
            Self::RawDelimiter => "CS9000",
            Self::RawIndent => "CS8999",
            Self::RawEmpty => "CS9002",
            Self::RawQuotes => "CS8998",
            Self::RawBraces { closing: false } => "CS9006",
            Self::RawBraces { closing: true } => "CS9007",
            Self::Refused(_)
            | Self::PseudoVariable(_)
            | Self::FormatSpecifier(_)
            | Self::TooLong { .. }
            | Self::TooDeep => return None,
        })
    }
}

/// What the parser wanted to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Expected {
    /// Any expression.
    #[error("an expression")]
    Expression,
    /// An argument between commas.
    #[error("an argument")]
    Argument,
    /// A value between `[` and `]`.
    #[error("an index")]
    Index,
    /// A name that is declared.
    #[error("a name")]
    Identifier,
    /// A name after `.`.
    #[error("a member name")]
    Member,
    /// A type.
    #[error("a type")]
    Type,
    /// A pattern.
    #[error("a pattern")]
    Pattern,
    /// `(`, `[` or `{` after `new T`.
    #[error("`(`, `[` or `{{` after the type to create")]
    Creation,
    /// A size or an initialiser in an array creation.
    #[error("an array size or an initialiser")]
    ArraySize,
    /// A second element in a tuple.
    #[error("`,` and a second element, as a tuple has two or more")]
    TupleElement,
    /// `Name = value` in an initialiser.
    #[error("`Name = value`")]
    MemberInitialiser,
    /// The end of a query body.
    #[error("`select` or `group`")]
    SelectOrGroup,
    /// A format specifier after a comma.
    #[error("a format specifier such as h, nq, raw or [10]")]
    FormatSpecifier,
    /// Another element of a list, or its end.
    #[error("`,` or `{0}`")]
    CommaOr(&'static str),
    /// This very token or contextual keyword.
    #[error("`{0}`")]
    Token(&'static str),
}

impl Expected {
    fn code(self, at_end: bool) -> &'static str {
        match self {
            Self::Expression if at_end => "CS1733",
            Self::Expression => "CS1525",
            Self::Argument => "CS0839",
            Self::Index => "CS0443",
            Self::Identifier | Self::Member => "CS1001",
            Self::Type => "CS1031",
            Self::Pattern => "CS8504",
            Self::Creation => "CS1526",
            Self::ArraySize => "CS1586",
            Self::TupleElement => "CS8124",
            Self::MemberInitialiser => "CS0747",
            Self::SelectOrGroup => "CS0742",
            Self::CommaOr(close) if at_end => Self::Token(close).code(at_end),
            Self::Token(")") => "CS1026",
            Self::Token("}") => "CS1513",
            Self::Token("{") => "CS1514",
            Self::Token("on") => "CS0743",
            Self::Token("equals") => "CS0744",
            Self::Token("by") => "CS0745",
            Self::Token(_) | Self::CommaOr(_) | Self::FormatSpecifier => "CS1003",
        }
    }
}

/// What stands where something else was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A token, as written.
    Token(String),
    /// Nothing more.
    End,
    /// Nothing more in the hole of an interpolated string.
    HoleEnd,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(text) => write!(f, "`{text}`"),
            Self::End => f.write_str("the end"),
            Self::HoleEnd => f.write_str("the end of the hole"),
        }
    }
}

/// Constructs of C# that a debugger does not evaluate, with what to do instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// `await x`
    #[error(
        "`await` cannot be evaluated, as the program is stopped and the task cannot proceed; look at the task itself, or at `.Result` of one that is completed"
    )]
    Await,
    /// `throw x`
    #[error(
        "`throw` cannot be evaluated, as no code of the program could catch the exception; evaluate `new …Exception(…)` to look at one"
    )]
    Throw,
    /// `x => { if (…) … }`
    #[error(
        "a block of a lambda may declare variables (`var a = b;`), have calls and assignments, and end with `return c;`; other statements cannot be evaluated"
    )]
    StatementLambda,
    /// `delegate { … }`
    #[error(
        "an anonymous method cannot be evaluated; write a lambda with an expression body, such as `x => x + 1`"
    )]
    AnonymousMethod,
    /// `[A] x => x`
    #[error("attributes have no effect in an evaluated lambda; leave them out")]
    LambdaAttributes,
    /// `__makeref(x)` and its like.
    #[error("`__makeref`, `__reftype`, `__refvalue` and `__arglist` cannot be evaluated")]
    TypedReference,
    /// `if (…)`, `var x = 1;`
    #[error("statements cannot be evaluated; write one expression")]
    Statement,
    /// `#if`
    #[error("preprocessor directives cannot be evaluated; leave the line out")]
    Directive,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, span: Span, expected: &str) {
        let error = SyntaxError::new(ErrorKind::Escape, span);
        let rendered = error.render(text);
        let (_, lines) = rendered.split_once('\n').expect("a head line");
        assert_eq!(lines, expected);
    }

    #[test]
    fn caret_stands_under_the_spot() {
        check("a + b", Span::new(4, 5), "  a + b\n      ^");
        check("a +", Span::empty(3), "  a +\n     ^");
        check("aé + bcd", Span::new(6, 9), "  aé + bcd\n       ^^^");
        check("a\n b + cc\nd", Span::new(7, 9), "   b + cc\n       ^^");
        check("\tx", Span::new(1, 2), "  \tx\n  \t^");
        check("", Span::empty(0), "  \n  ^");
        check("ab", Span::new(900, 901), "  ab\n    ^");
        check("é", Span::new(1, 2), "  é\n  ^");
    }

    #[test]
    fn a_long_line_is_cut() {
        let text = format!("{}!{}", "a".repeat(500), "b".repeat(500));
        let (line, mark) = caret(&text, Span::new(500, 501));
        assert_eq!(line, format!("…{}!{}", "a".repeat(60), "b".repeat(39)));
        assert_eq!(mark, format!("{}^", " ".repeat(61)));
    }

    #[test]
    fn code_and_message() {
        let kind = ErrorKind::Expected {
            expected: Expected::Token(")"),
            found: Found::End,
        };
        let error = SyntaxError::new(kind, Span::empty(2));
        assert_eq!(
            error.render("f("),
            "error CS1026: expected `)`, found the end\n  f(\n    ^"
        );
    }
}
