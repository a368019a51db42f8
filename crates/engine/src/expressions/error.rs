//! Why an expression has no value: what is wrong, where in the text, and C#'s own code for it.

use syntax::Span;

use crate::api::{Details, Error, ErrorCode};

/// What is wrong with an expression.
#[derive(Debug, Clone)]
pub(crate) struct Fail {
    /// The compiler's code, where C# has one.
    pub(crate) code: Option<&'static str>,
    /// One sentence.
    pub(crate) message: String,
    /// Where in the text.
    pub(crate) span: Span,
    /// What to do next.
    pub(crate) hint: Option<String>,
    /// Set if the expression is right C# and its evaluation throws.
    pub(crate) thrown: Option<Thrown>,
}

/// An exception that evaluating an expression throws.
#[derive(Debug, Clone)]
pub(crate) struct Thrown {
    /// The full name of its type.
    pub(crate) ty: String,
    /// Its message, where one is known.
    #[allow(dead_code, reason = "told with the exception's stack")]
    pub(crate) message: Option<String>,
}

/// What binding and running give.
pub(crate) type Result<T, E = Box<Fail>> = std::result::Result<T, E>;

impl Fail {
    /// An error that the compiler has a code for.
    pub(crate) fn cs(code: &'static str, span: Span, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            code: Some(code),
            message: message.into(),
            span,
            hint: None,
            thrown: None,
        })
    }

    /// An error that only a debugger knows.
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            code: None,
            message: message.into(),
            span,
            hint: None,
            thrown: None,
        })
    }

    /// The evaluation throws, as the program would.
    pub(crate) fn thrown(span: Span, ty: &str, message: Option<String>) -> Box<Self> {
        let text = match &message {
            Some(message) => format!("evaluating it throws {ty}: {message}"),
            None => format!("evaluating it throws {ty}"),
        };
        let mut fail = Self::new(span, text);
        fail.thrown = Some(Thrown {
            ty: ty.to_owned(),
            message,
        });
        fail
    }

    /// Adds what to do next.
    pub(crate) fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hint = Some(hint.into());
        self
    }

    /// The error for a front end, with the line and a caret under the spot.
    pub(crate) fn to_api(&self, text: &str, code: ErrorCode) -> Error {
        let (line, mark) = syntax::caret(text, self.span);
        let head = match self.code {
            Some(code) => format!("error {code}: {}", self.message),
            None => self.message.clone(),
        };
        let characters = |offset: u32| {
            let before = text.get(..offset as usize).unwrap_or(text);
            u32::try_from(before.chars().count()).unwrap_or(u32::MAX)
        };
        let mut error =
            Error::new(code, format!("{head}\n  {line}\n  {mark}")).details(Details::Position {
                start: characters(self.span.start),
                end: characters(self.span.end),
            });
        error.hint = self.hint.clone();
        error
    }
}

impl From<syntax::SyntaxError> for Box<Fail> {
    fn from(error: syntax::SyntaxError) -> Self {
        Box::new(Fail {
            code: error.code(),
            message: error.message(),
            span: error.span,
            hint: None,
            thrown: None,
        })
    }
}
