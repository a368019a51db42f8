//! `$1 = expression` keeps the object that an expression gives alive and known over continues; `$1 = null` lets go of it.

use cordebug::thread::Thread;
use syntax::Span;

use super::error::{Fail, Result};
use crate::api::{Evaluate, EvaluatedValue, ThreadId, VariablesQuery};
use crate::engine::Engine;

/// What of a text is evaluated, and the number that its object is to be kept as; without one, it is the next.
pub(super) fn keeping(text: &str) -> Option<(Option<u64>, &str)> {
    let name = text.trim_start().strip_prefix('$')?;
    let digits = name.len()
        - name
            .trim_start_matches(|it: char| it.is_ascii_digit())
            .len();
    let (number, rest) = name.split_at_checked(digits)?;
    let value = rest.trim_start().strip_prefix('=')?;
    if value.starts_with(['=', '>']) {
        return None;
    }
    let value = value.trim();
    let number = match number {
        "" => None,
        number => Some(number.parse().ok()?),
    };
    Some((number, value))
}

impl Engine<'_> {
    /// Lets go of what is kept under a number.
    pub(super) fn let_go_of_kept(
        &mut self,
        number: u64,
        null: EvaluatedValue,
    ) -> Result<EvaluatedValue> {
        let fail = |error: crate::api::Error| {
            let fail = Fail::new(Span::empty(0), error.message);
            match error.hint {
                Some(hint) => fail.hint(hint),
                None => fail,
            }
        };
        self.release_object(number).map_err(fail)?;
        Ok(null)
    }

    /// Keeps what an expression gave; its path is then the name that it is kept under.
    pub(super) fn keep_evaluated(
        &mut self,
        request: &Evaluate,
        thread: &Thread,
        number: Option<u64>,
        mut value: EvaluatedValue,
    ) -> Result<EvaluatedValue> {
        let fail = |why: String| Fail::new(Span::empty(0), why);
        let target = self.target.as_ref();
        let is_copy = |path: &str| target.is_some_and(|it| it.is_copy(path));
        let kept = value.variable.as_mut();
        let kept = kept.filter(|it| !it.path.is_empty() && !is_copy(&it.path));
        let Some(variable) = kept else {
            let told = "only an object of the program can be kept";
            return Err(fail(told.into()).hint("a struct is one in a box: (object)…"));
        };
        let query = VariablesQuery {
            stop: request.stop,
            thread: thread.id().ok().map(ThreadId),
            frame: request.frame,
            path: Some(variable.path.clone()),
            ..VariablesQuery::default()
        };
        let number = self.keep_as(&query, number);
        let number = number.map_err(|error| fail(error.message))?;
        variable.path = format!("${number}");
        variable.name.clone_from(&variable.path);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(Option<u64>, &str)>) {
        assert_eq!(keeping(text), expected, "{text}");
    }

    #[test]
    fn only_assignments_to_kept_objects_are_such() {
        check("$1 = order", Some((Some(1), "order")));
        check(" $ =a.b", Some((None, "a.b")));
        check("$12=x == y", Some((Some(12), "x == y")));
        check("$3 = null ", Some((Some(3), "null")));
        check("$1 == order", None);
        check("$1", None);
        check("$1.Name = 3", None);
        check("$exception = x", None);
        check("a = $1", None);
        check("$99999999999999999999 = a", None);
        check("$é = a", None);
    }
}
