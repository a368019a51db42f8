//! Why an expression has no value: what is wrong, where in the text, and C#'s own code for it.

use syntax::Span;

use crate::api::{Details, Error, ErrorCode, ExceptionReport};
use crate::calls::CallError;

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
    /// The assembly that would bring a name that is not found, and that the program has not loaded.
    pub(crate) lacks: Option<Box<str>>,
    /// Set if the expression is right C# and its evaluation throws: the exception. One that the expression itself throws has
    /// no stack, as its place is in the text.
    pub(crate) thrown: Option<Box<ExceptionReport>>,
}

/// Characters of an exception's message that are told in a line.
const MAX_HEADLINE: usize = 1_000;
/// Entries of an exception's stack that are told in the message.
const MAX_STACK: usize = 20;
/// Exceptions inside one another that are told in the message.
const MAX_INNER: usize = 5;

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
            lacks: None,
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
            lacks: None,
            thrown: None,
        })
    }

    /// The time is over.
    pub(crate) fn late(span: Span) -> Box<Self> {
        let told = Self::new(span, "the evaluation took longer than its time limit");
        told.hint(
            "allow more time, ask for less (`Skip`, `Take`), or have a method of the program do it",
        )
    }

    /// The evaluation throws, as the program would.
    pub(crate) fn thrown(span: Span, ty: &str, message: Option<String>) -> Box<Self> {
        Self::threw(
            span,
            ExceptionReport {
                type_name: ty.to_owned(),
                message,
                ..ExceptionReport::default()
            },
        )
    }

    /// The evaluation throws this.
    pub(crate) fn threw(span: Span, report: ExceptionReport) -> Box<Self> {
        let mut fail = Self::new(span, format!("evaluating it throws {}", headline(&report)));
        fail.thrown = Some(Box::new(report));
        fail
    }

    /// Code of the program was not run, or not to its end.
    pub(crate) fn of_call(span: Span, what: Option<&str>, error: CallError) -> Box<Self> {
        // What an evaluation has done before has had its part of the time.
        let told = match &error {
            CallError::TimedOut { limit, more, .. } => format!(
                "it took longer than the {} ms that it had and was given up{more}",
                limit.as_millis()
            ),
            error => error.to_string(),
        };
        let text = match what {
            Some(what) => format!("`{what}`: {told}"),
            None => told,
        };
        let mut fail = Self::new(span, text);
        fail.hint = Error::from(error).hint;
        fail
    }

    /// Where the exception came from and what is inside it, as lines.
    fn stack(&self) -> String {
        let mut lines = String::new();
        let mut exception = self.thrown.as_deref();
        for depth in 0..MAX_INNER {
            let Some(report) = exception else { break };
            if depth > 0 {
                lines.push_str(&format!("\n  inside it: {}", headline(report)));
            }
            for entry in report.trace.iter().take(MAX_STACK) {
                lines.push_str(&format!("\n  at {}", entry.method));
                if let Some(source) = &entry.source {
                    let path = source.path.display();
                    lines.push_str(&format!(" in {path}:{}", source.line.0));
                }
            }
            let more = report.trace.len().saturating_sub(MAX_STACK);
            if more > 0 {
                lines.push_str(&format!("\n  … {more} more"));
            }
            exception = report.inner.first();
        }
        lines
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
        let mut error = Error::new(code, format!("{head}\n  {line}\n  {mark}{}", self.stack()))
            .details(Details::Position {
                start: characters(self.span.start),
                end: characters(self.span.end),
            });
        error.hint = self.hint.clone();
        error
    }
}

/// An exception's type and message; of a long one the beginning, as the report has all that was read.
fn headline(report: &ExceptionReport) -> String {
    let message =
        report
            .message
            .as_ref()
            .map(|message| match message.char_indices().nth(MAX_HEADLINE) {
                Some((end, _)) => format!("{}… (cut)", message.get(..end).unwrap_or_default()),
                None => message.clone(),
            });
    match (message, &report.message_overridden_by) {
        (Some(message), None) => format!("{}: {message}", report.type_name),
        (Some(message), Some(by)) => format!(
            "{}: {message} (made with that; {by} computes its own message)",
            report.type_name
        ),
        (None, _) => report.type_name.clone(),
    }
}

impl From<syntax::SyntaxError> for Box<Fail> {
    fn from(error: syntax::SyntaxError) -> Self {
        Box::new(Fail {
            code: error.code(),
            message: error.message(),
            span: error.span,
            hint: None,
            lacks: None,
            thrown: None,
        })
    }
}
