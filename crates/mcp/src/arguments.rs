//! Checks a tool's arguments against its schema, and says in words what is wrong with them.
//!
//! All problems are told at once, so that one more call can be right. What passes here deserialises. A name that is ours in
//! another spelling (`stopAtEntry`), or one of a list's things (`expression` for `expressions`), is taken for ours.

use host::api::{Error, ErrorCode};
use serde_json::Value;

use crate::report::similar;
use crate::report::text;
use crate::schema::JsonObject;

/// Problems told at once.
const PROBLEMS: usize = 8;

/// What other debuggers and tools call our parameters.
const ALIASES: &[(&str, &str)] = &[
    ("path", "program"),
    ("file", "program"),
    ("dll", "program"),
    ("executable", "program"),
    ("project", "program"),
    ("projectpath", "program"),
    ("arguments", "args"),
    ("argv", "args"),
    ("workingdirectory", "cwd"),
    ("environment", "env"),
    ("timeout", "timeout_ms"),
    ("processid", "pid"),
    ("process", "pid"),
    ("processname", "name"),
    ("sessionid", "session"),
    ("id", "session"),
    ("terminateprocess", "terminate"),
    ("kill", "terminate"),
    ("data", "text"),
    ("input", "text"),
    ("closeafter", "close"),
    ("regex", "filter"),
    ("pattern", "filter"),
    ("query", "pattern"),
    ("search", "pattern"),
    ("lines", "tail"),
    ("mode", "kind"),
    ("step", "kind"),
    ("threadid", "thread"),
    ("startframe", "start"),
    ("maxframes", "count"),
    ("levels", "count"),
    ("breakpoint", "id"),
    ("breakpointid", "id"),
    ("linenumber", "line"),
    ("sourcefile", "file"),
    ("path", "file"),
    ("method", "function"),
    ("hitcount", "hit_condition"),
    ("logmessage", "log_message"),
    ("exceptiontype", "types"),
    ("type", "types"),
    ("breakonfirstchance", "thrown"),
    ("breakonsecondchance", "unhandled"),
    ("includesubtypes", "subtypes"),
    ("modulename", "name"),
];

/// Checks arguments. Optional parameters that are null are removed: they mean the same as none.
pub(crate) fn check(
    tool: &str,
    schema: &JsonObject,
    arguments: &mut JsonObject,
) -> Result<(), Error> {
    let empty = JsonObject::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let required: Vec<&str> = match schema.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    arguments.retain(|name, value| {
        !value.is_null() || required.contains(&name.as_str()) || !properties.contains_key(name)
    });
    take_other_spellings(properties, arguments);
    let mut problems = Vec::new();
    check_object("", schema, arguments, &mut problems);
    if problems.is_empty() {
        return Ok(());
    }
    let more = problems.len().saturating_sub(PROBLEMS);
    problems.truncate(PROBLEMS);
    let mut message = format!("{tool}: {}", problems.join("; "));
    if more > 0 {
        message.push_str(&format!("; and {more} more problems"));
    }
    Err(Error::new(ErrorCode::InvalidParameter, message).hint(usage(tool, properties, &required)))
}

/// Gives arguments the names that the tool has for them, where only the spelling differs and that name is not given as well.
fn take_other_spellings(properties: &JsonObject, arguments: &mut JsonObject) {
    let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    let is_list =
        |name: &str| properties.get(name).and_then(|it| it.get("type")) == Some(&"array".into());
    let strange = arguments
        .keys()
        .filter(|name| !properties.contains_key(*name));
    for name in strange.cloned().collect::<Vec<_>>() {
        let wanted = plain(&name);
        let ours = |own: &&String| {
            let own_plain = plain(own);
            own_plain == wanted
                || is_list(own) && own_plain.strip_suffix('s') == Some(wanted.as_str())
        };
        let mut meant = properties.keys().filter(ours);
        if let (Some(own), None) = (meant.next(), meant.next())
            && !arguments.contains_key(own)
            && let Some(value) = arguments.remove(&name)
        {
            let is_one = is_list(own) && plain(own) != wanted && !value.is_array();
            let value = if is_one { vec![value].into() } else { value };
            arguments.insert(own.clone(), value);
        }
    }
}

/// Deserialises arguments that were checked.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(
    tool: &str,
    arguments: JsonObject,
) -> Result<T, Error> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Error::new(ErrorCode::InvalidParameter, format!("{tool}: {error}")))
}

/// What a tool takes, in a line.
fn usage(tool: &str, properties: &JsonObject, required: &[&str]) -> String {
    if properties.is_empty() {
        return format!("{tool} takes no parameters");
    }
    let needed = required.iter().map(|name| format!("{name} (required)"));
    let optional = properties
        .keys()
        .filter(|name| !required.contains(&name.as_str()))
        .cloned();
    format!(
        "{tool} takes {}",
        needed.chain(optional).collect::<Vec<_>>().join(", ")
    )
}

fn check_object(path: &str, schema: &JsonObject, object: &JsonObject, problems: &mut Vec<String>) {
    let empty = JsonObject::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let others = schema.get("additionalProperties");
    for (name, value) in object {
        let inner = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        match (properties.get(name), others) {
            (Some(Value::Object(schema)), _) | (None, Some(Value::Object(schema))) => {
                check_value(&inner, schema, value, problems)
            }
            (None, Some(Value::Bool(false))) => problems.push(unknown(&inner, name, properties)),
            _ => {}
        }
    }
    if let Some(Value::Array(required)) = schema.get("required") {
        for name in required
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| !object.contains_key(*name))
        {
            let of = if path.is_empty() {
                String::new()
            } else {
                format!(" of {path}")
            };
            problems.push(format!("the parameter {name}{of} is missing"));
        }
    }
}

fn unknown(path: &str, name: &str, properties: &JsonObject) -> String {
    let path = text::quoted(path, 60);
    let aliases = || {
        ALIASES
            .iter()
            .filter(|(_, name)| properties.contains_key(*name))
    };
    let names = properties.keys().map(String::as_str);
    let near = similar::nearest(name, names.chain(aliases().map(|(alias, _)| *alias)));
    let meant = near.map(|near| {
        // A name that the tool has is itself, whatever it stands for elsewhere.
        let is_own = properties.contains_key(near);
        let alias = aliases().find(|(alias, _)| !is_own && *alias == near);
        alias.map_or(near, |(_, name)| *name)
    });
    match meant {
        Some(meant) => format!("there is no parameter {path}, did you mean {meant}?"),
        None => format!("there is no parameter {path}"),
    }
}

fn check_value(path: &str, schema: &JsonObject, value: &Value, problems: &mut Vec<String>) {
    if let Some(Value::Array(choices)) = schema.get("enum") {
        if !choices.contains(value) {
            problems.push(wrong(path, schema, value));
        }
        return;
    }
    let fits = match schema.get("type") {
        Some(Value::String(name)) => has_type(name, value),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .any(|name| has_type(name, value)),
        _ => true,
    };
    if !fits || !in_range(schema, value) {
        problems.push(wrong(path, schema, value));
        return;
    }
    match value {
        Value::Array(items) => {
            if let Some(Value::Object(schema)) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    check_value(&format!("{path}[{index}]"), schema, item, problems);
                }
            }
        }
        Value::Object(object) => check_object(path, schema, object, problems),
        _ => {}
    }
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn in_range(schema: &JsonObject, value: &Value) -> bool {
    let Some(number) = value.as_number().and_then(serde_json::Number::as_i128) else {
        return true;
    };
    let bound = |name: &str| {
        schema
            .get(name)
            .and_then(Value::as_number)
            .and_then(serde_json::Number::as_i128)
    };
    // An unsigned number has no minimum in a tidy schema, but is never negative here; where a number of 64 bits is
    // meant, its schema says how far it goes.
    number >= bound("minimum").unwrap_or(0)
        && number <= bound("maximum").unwrap_or(i128::from(u32::MAX))
}

fn wrong(path: &str, schema: &JsonObject, value: &Value) -> String {
    let mut problem = format!(
        "{} must be {}, not {}",
        text::one_line(path, 60),
        expected(schema),
        actual(value)
    );
    // A list of `NAME=value`, as other tools take it.
    if let Some(Value::String(pair)) = value.as_array().and_then(|items| items.first())
        && schema.get("type").is_some_and(|name| name == "object")
        && let Some((name, value)) = pair.split_once('=')
    {
        let (name, value) = (text::quoted(name, 30), text::quoted(value, 30));
        problem.push_str(&format!(": {path}={{{name}: {value}}}"));
    }
    problem
}

/// What a schema accepts, in words.
fn expected(schema: &JsonObject) -> String {
    if let Some(Value::Array(choices)) = schema.get("enum") {
        let choices: Vec<_> = choices.iter().map(Value::to_string).collect();
        return format!("one of {}", choices.join(", "));
    }
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return "something else".into(),
    };
    let in_words = |name: &str| match name {
        "string" => "a text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => {
            let bound = |name: &str| {
                schema
                    .get(name)
                    .and_then(Value::as_number)
                    .and_then(serde_json::Number::as_i128)
            };
            match (bound("minimum").unwrap_or(0), bound("maximum")) {
                (low, Some(high)) => format!("a whole number from {low} to {high}"),
                (low, None) => format!("a whole number from {low} to {}", u32::MAX),
            }
        }
        "number" => "a number".to_owned(),
        "array" => match schema.get("items").and_then(Value::as_object) {
            Some(items) if items.get("type").is_some_and(|name| name == "string") => {
                "a list of texts".to_owned()
            }
            _ => "a list".to_owned(),
        },
        "object" => "an object".to_owned(),
        other => other.to_owned(),
    };
    names
        .into_iter()
        .map(in_words)
        .collect::<Vec<_>>()
        .join(" or ")
}

fn actual(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(string) => format!("the text {}", text::quoted(string, 60)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    fn schema() -> JsonObject {
        let schema = json!({
            "type": "object",
            "properties": {
                "program": {"type": "string"},
                "args": {"type": "array", "items": {"type": "string"}},
                "env": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
                "stream": {"type": "string", "enum": ["stdout", "stderr"]},
                "stop_at_entry": {"type": "boolean"},
                "timeout_ms": {"type": "integer", "minimum": 0, "maximum": 600000},
                "cursor": {"type": "integer"},
            },
            "required": ["program"],
            "additionalProperties": false,
        });
        schema.as_object().expect("an object").clone()
    }

    fn check(arguments: Value, expected: Expect) {
        let mut arguments = arguments.as_object().expect("an object").clone();
        let shown = match super::check("debug_launch", &schema(), &mut arguments) {
            Ok(()) => format!("fine: {}", Value::Object(arguments)),
            Err(error) => {
                assert!(
                    error
                        .hint
                        .is_some_and(|hint| hint.starts_with("debug_launch takes "))
                );
                error.message
            }
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn good_arguments_pass() {
        check(
            json!({"program": "a.dll", "args": ["x"], "env": {"A": "1", "B": null}, "timeout_ms": 0, "stream": null}),
            expect![[
                r#"fine: {"args":["x"],"env":{"A":"1","B":null},"program":"a.dll","timeout_ms":0}"#
            ]],
        );
    }

    #[test]
    fn unknown_names_are_refused_with_the_right_one() {
        check(
            json!({"progam": "a.dll"}),
            expect![[
                r#"debug_launch: there is no parameter "progam", did you mean program?; the parameter program is missing"#
            ]],
        );
        check(
            json!({"program": "a.dll", "stopAtEnd": true, "timeout": 5, "colour": "red"}),
            expect![[
                r#"debug_launch: there is no parameter "colour"; there is no parameter "stopAtEnd", did you mean stop_at_entry?; there is no parameter "timeout", did you mean timeout_ms?"#
            ]],
        );
    }

    #[test]
    fn other_spellings_and_single_things_are_taken_for_ours() {
        check(
            json!({"Program": "a.dll", "stopAtEntry": true, "timeout-ms": 5, "arg": "a b"}),
            expect![[
                r#"fine: {"args":["a b"],"program":"a.dll","stop_at_entry":true,"timeout_ms":5}"#
            ]],
        );
        check(
            json!({"program": "a.dll", "arg": ["a"], "timeoutMs": "soon"}),
            expect![[
                r#"debug_launch: timeout_ms must be a whole number from 0 to 600000, not the text "soon""#
            ]],
        );
        check(
            json!({"program": "a.dll", "PROGRAM": "b.dll", "args": [], "arg": "x"}),
            expect![[
                r#"debug_launch: there is no parameter "PROGRAM", did you mean program?; there is no parameter "arg", did you mean args?"#
            ]],
        );
    }

    #[test]
    fn wrong_types_are_told_in_words() {
        check(
            json!({"program": 5, "args": "--fast", "stop_at_entry": "yes"}),
            expect![[
                r#"debug_launch: args must be a list of texts, not the text "--fast"; program must be a text, not 5; stop_at_entry must be true or false, not the text "yes""#
            ]],
        );
        check(
            json!({"program": "a", "args": ["a", 1], "env": {"A": 1}, "stream": "both"}),
            expect![[
                r#"debug_launch: args[1] must be a text, not 1; env.A must be a text or null, not 1; stream must be one of "stdout", "stderr", not the text "both""#
            ]],
        );
        check(
            json!({"program": "a", "timeout_ms": -1, "cursor": -1}),
            expect![
                "debug_launch: cursor must be a whole number from 0 to 4294967295, not -1; timeout_ms must be a whole number from 0 to 600000, not -1"
            ],
        );
        check(
            json!({"program": "a", "timeout_ms": 1.5, "cursor": 1e300, "env": []}),
            expect![
                "debug_launch: cursor must be a whole number from 0 to 4294967295, not 1e+300; env must be an object, not a list; timeout_ms must be a whole number from 0 to 600000, not 1.5"
            ],
        );
        check(
            json!({"program": "a", "env": ["A=B", "C=D"]}),
            expect![[r#"debug_launch: env must be an object, not a list: env={"A": "B"}"#]],
        );
        check(
            json!({"program": null, "timeout_ms": 700_000}),
            expect![
                "debug_launch: program must be a text, not null; timeout_ms must be a whole number from 0 to 600000, not 700000"
            ],
        );
    }

    #[test]
    fn hostile_names_are_quoted_and_capped() {
        check(
            json!({"program": "a", "\u{1b}[31m\n": 1, "x".repeat(1000): 1}),
            expect![[
                r#"debug_launch: there is no parameter "\x1b[31m\n"; there is no parameter "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (940 more characters)""#
            ]],
        );
    }
}
