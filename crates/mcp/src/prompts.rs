//! Ways of working that a person can start by name: prompts with holes.

use std::collections::BTreeMap;

use host::api::{Error, ErrorCode};
use serde_json::Value;

use crate::report::similar;
use crate::report::text;

/// Characters of a value that is put into a prompt.
const MAX_VALUE: usize = 500;

/// A prompt.
pub(crate) struct Prompt {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) arguments: &'static [Argument],
    text: &'static str,
}

/// A hole of a prompt.
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) required: bool,
    /// What stands in its place if it is not given.
    absent: &'static str,
}

const fn required(name: &'static str, description: &'static str) -> Argument {
    Argument {
        name,
        description,
        required: true,
        absent: "",
    }
}

const fn optional(name: &'static str, description: &'static str, absent: &'static str) -> Argument {
    Argument {
        name,
        description,
        required: false,
        absent,
    }
}

/// Every prompt.
pub(crate) const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "find_exception_cause",
        title: "Why does it throw?",
        description: "Finds the cause of an exception that ends a program or should not be thrown.",
        arguments: &[
            required("program", "A .dll, an executable or a project."),
            optional("args", "Its arguments.", "(none)"),
        ],
        text: include_str!("prompts/exception.md"),
    },
    Prompt {
        name: "find_wrong_value",
        title: "Where does it go wrong?",
        description: "Finds the statement that makes a value wrong.",
        arguments: &[
            required("program", "A .dll, an executable or a project."),
            required(
                "expression",
                "What is wrong: an expression, a line of output.",
            ),
            optional(
                "expected",
                "What it should be.",
                "(the program's purpose tells)",
            ),
        ],
        text: include_str!("prompts/wrong_value.md"),
    },
    Prompt {
        name: "find_hang",
        title: "Why does it hang?",
        description: "Finds what the threads of a running program wait for or loop in.",
        arguments: &[required(
            "process",
            "The process id or a unique part of its name.",
        )],
        text: include_str!("prompts/hang.md"),
    },
    Prompt {
        name: "find_failing_test",
        title: "Why does the test fail?",
        description: "Finds why a test fails: the program's fault or the test's.",
        arguments: &[
            required("project", "The test project."),
            optional("filter", "Which tests.", "(those that fail)"),
        ],
        text: include_str!("prompts/failing_test.md"),
    },
];

/// The text of a prompt with its holes filled.
pub(crate) fn fill(name: &str, given: &BTreeMap<String, Value>) -> Result<String, Error> {
    let wrong = |message: String| Error::new(ErrorCode::InvalidParameter, message);
    let Some(prompt) = PROMPTS.iter().find(|prompt| prompt.name == name) else {
        let names: Vec<_> = PROMPTS.iter().map(|prompt| prompt.name).collect();
        let message = format!("there is no prompt {}", text::quoted(name, 60));
        return Err(wrong(message).hint(format!("there are {}", names.join(", "))));
    };
    let known = || prompt.arguments.iter().map(|argument| argument.name);
    if let Some(stranger) = given
        .keys()
        .find(|name| !known().any(|known| known == *name))
    {
        let message = format!("{name} has no argument {}", text::quoted(stranger, 60));
        let hint = match similar::nearest(stranger, known()) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("it has {}", known().collect::<Vec<_>>().join(", ")),
        };
        return Err(wrong(message).hint(hint));
    }
    let mut filled = String::new();
    let mut rest = prompt.text;
    // One pass: what is put in is not looked at again.
    while let Some((before, behind)) = rest.split_once('{') {
        let (hole, behind) = behind.split_once('}').unwrap_or((behind, ""));
        filled.push_str(before);
        filled.push_str(&value(prompt, hole, given)?);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn value(prompt: &Prompt, hole: &str, given: &BTreeMap<String, Value>) -> Result<String, Error> {
    let wrong = |what: &str| {
        let message = format!("{} needs the argument {hole}{what}", prompt.name);
        Error::new(ErrorCode::InvalidParameter, message)
    };
    let argument = prompt
        .arguments
        .iter()
        .find(|argument| argument.name == hole);
    let Some(argument) = argument else {
        return Err(Error::new(
            ErrorCode::Internal,
            format!(
                "a bug in ndbg: the prompt {} has a hole {hole}",
                prompt.name
            ),
        ));
    };
    match given.get(hole) {
        Some(Value::String(value)) if value.trim().is_empty() && argument.required => {
            Err(wrong(""))
        }
        Some(Value::String(value)) => Ok(text::one_line(value.trim(), MAX_VALUE)),
        Some(_) => Err(wrong(" as a text")),
        None if argument.required => Err(wrong("")),
        None => Ok(argument.absent.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, Value> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), Value::from(*value));
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn holes_are_filled_once() {
        let text = fill(
            "find_exception_cause",
            &given(&[("program", "a {args}\n.dll")]),
        )
        .expect("filled");
        assert!(text.contains("Arguments: (none)"), "{text}");
        assert!(text.contains("Program: a {args}"), "{text}");
        for prompt in PROMPTS {
            let all = prompt
                .arguments
                .iter()
                .map(|it| (it.name.to_owned(), Value::from("x")))
                .collect();
            let text = fill(prompt.name, &all).expect("filled");
            assert!(!text.contains('{') && text.lines().count() <= 20, "{text}");
        }
    }

    #[test]
    fn wrong_arguments_are_explained() {
        let why = |name, pairs: &[(&str, &str)]| {
            let error = fill(name, &given(pairs)).expect_err("refused");
            format!("{} / {}", error.message, error.hint.unwrap_or_default())
        };
        assert!(why("find", &[]).contains("find_hang"));
        assert_eq!(
            why("find_hang", &[]),
            "find_hang needs the argument process / "
        );
        assert_eq!(
            why("find_hang", &[("process", " ")]),
            "find_hang needs the argument process / "
        );
        assert!(why("find_hang", &[("proces", "1")]).contains("did you mean process?"));
        let number = BTreeMap::from([("process".to_owned(), Value::from(1))]);
        let error = fill("find_hang", &number).expect_err("refused");
        assert!(error.message.contains("as a text"));
    }
}
