//! JSON schemas of tools, short enough for a model's context.
//!
//! Schemas come from the argument and report types. What costs tokens and says nothing to a model is removed; what is
//! left is draft 2020-12 without references. Output schemas name the fields of the answer and no more (the reference
//! has the rest: a stop report alone, spelt out in each tool that gives one, would fill a third of the budget), and
//! require nothing: an error result must fit the same schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// A JSON object, as tools take and give it.
pub(crate) type JsonObject = Map<String, Value>;

/// Marks fields that the reference tells and the tool list does not.
pub(crate) const MINOR: &str = "x-minor";

/// The full schema of a type, with everything it is made of in place.
fn full<T: JsonSchema>() -> JsonObject {
    let mut schema = generated::<T>(true);
    schema.remove("title");
    schema.remove("description");
    schema
}

/// The schemas of a type and of all types it is made of, by name, for the reference.
pub(crate) fn definitions<T: JsonSchema>() -> BTreeMap<String, JsonObject> {
    let mut schema = generated::<T>(false);
    let mut definitions = BTreeMap::new();
    if let Some(Value::Object(parts)) = schema.remove("$defs") {
        for (name, part) in parts {
            if let Value::Object(mut part) = part {
                tidy(&mut part);
                definitions.insert(name, part);
            }
        }
    }
    definitions.insert(T::schema_name().into_owned(), schema);
    definitions
}

fn generated<T: JsonSchema>(inline: bool) -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = inline;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    // A schema that is not an object accepts anything; no argument or report type is one.
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    tidy(&mut schema);
    schema
}

/// The schema of a tool's arguments.
pub(crate) fn input<T: JsonSchema>() -> JsonObject {
    let mut schema = full::<T>();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            drop_null(property);
            // That counting begins at the beginning need not be said.
            if property.get("default") == Some(&json!(0)) {
                property.remove("default");
            }
        }
    } else {
        // Some clients insist on it.
        schema.insert("properties".into(), json!({}));
    }
    // Also of types that are put together from others, where serde cannot refuse what it does not know.
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

/// Descriptions that the tool list does without.
const ELSEWHERE: [&str; 3] = [
    "As for debug_launch.",
    "How long to wait at most.",
    "Id; else the one that reported the stop.",
];

/// The schema of a tool's arguments as the tool list has it: what nearly every tool takes needs no words there.
pub(crate) fn shown(mut schema: JsonObject) -> JsonObject {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties {
            let Some(property) = property.as_object_mut() else {
                continue;
            };
            // The instructions tell of sessions, and the same parameter of another tool tells the rest.
            let said_elsewhere = property
                .get("description")
                .and_then(Value::as_str)
                .is_some_and(|text| ELSEWHERE.contains(&text));
            if name == "session" || said_elsewhere {
                property.remove("description");
            }
            if let Some(Value::Object(items)) = property.get_mut("items") {
                items.remove("additionalProperties");
            }
        }
    }
    schema
}

/// The schema of a tool's structured answer, or error.
pub(crate) fn output<T: JsonSchema>() -> JsonObject {
    let mut properties = JsonObject::new();
    if let Some(Value::Object(found)) = full::<T>().get_mut("properties") {
        for (name, property) in found {
            if let Some(property) = property.as_object_mut() {
                drop_null(property);
            }
            // Every answer has the session's id: telling it once in the reference is enough.
            if property.get(MINOR).is_none() && name != "session" {
                properties.insert(name.clone(), json!({"type": property.get("type")}));
            }
        }
    }
    properties.insert("error".into(), json!({"type": "object"}));
    let schema = json!({"type": "object", "properties": properties});
    schema.as_object().cloned().unwrap_or_default()
}

/// Removes what no reader needs, at every depth.
fn tidy(schema: &mut JsonObject) {
    schema.remove("format");
    let says_nothing = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    };
    if schema.get("default").is_some_and(says_nothing) {
        schema.remove("default");
    }
    if schema.get("minimum") == Some(&json!(0)) {
        schema.remove("minimum");
    }
    // An enum whose variants are documented comes as a list of constants.
    let constants: Option<Vec<Value>> =
        schema
            .get("oneOf")
            .and_then(Value::as_array)
            .and_then(|variants| {
                variants
                    .iter()
                    .map(|variant| variant.get("const").cloned())
                    .collect()
            });
    if let Some(constants) = constants {
        schema.remove("oneOf");
        schema.insert("type".into(), json!("string"));
        schema.insert("enum".into(), constants.into());
    }
    each_subschema(schema, tidy);
}

/// An optional property may be left out; that it may also be null need not be said.
pub(crate) fn drop_null(schema: &mut JsonObject) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let alternative = schema
        .get("anyOf")
        .and_then(Value::as_array)
        .and_then(|alternatives| {
            let not_null = |schema: &&Value| schema.get("type") != Some(&json!("null"));
            let mut rest = alternatives.iter().filter(not_null);
            match (rest.next(), rest.next()) {
                (Some(Value::Object(only)), None) => Some(only.clone()),
                _ => None,
            }
        });
    if let Some(alternative) = alternative {
        schema.remove("anyOf");
        for (key, value) in alternative {
            schema.entry(key).or_insert(value);
        }
    }
}

fn each_subschema(schema: &mut JsonObject, change: fn(&mut JsonObject)) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties
            .values_mut()
            .filter_map(Value::as_object_mut)
            .for_each(change);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(Value::Object(subschema)) = schema.get_mut(key) {
            change(subschema);
        }
    }
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Example {
        /// A text.
        name: String,
        /// A choice.
        choice: Option<Choice>,
        #[schemars(range(max = 10))]
        count: Option<u32>,
        values: BTreeMap<String, Option<String>>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    #[serde(rename_all = "lowercase")]
    enum Choice {
        /// The first.
        One,
        /// The second.
        Two,
    }

    #[test]
    fn schemas_are_short() {
        let show = |schema: JsonObject| serde_json::to_string_pretty(&schema).expect("JSON");
        expect![[r#"
            {
              "additionalProperties": false,
              "properties": {
                "choice": {
                  "description": "A choice.",
                  "enum": [
                    "one",
                    "two"
                  ],
                  "type": "string"
                },
                "count": {
                  "maximum": 10,
                  "type": "integer"
                },
                "name": {
                  "description": "A text.",
                  "type": "string"
                },
                "values": {
                  "additionalProperties": {
                    "type": [
                      "string",
                      "null"
                    ]
                  },
                  "type": "object"
                }
              },
              "required": [
                "name",
                "values"
              ],
              "type": "object"
            }"#]]
        .assert_eq(&show(input::<Example>()));
        expect![[r#"
            {
              "properties": {
                "choice": {
                  "type": "string"
                },
                "count": {
                  "type": "integer"
                },
                "error": {
                  "type": "object"
                },
                "name": {
                  "type": "string"
                },
                "values": {
                  "type": "object"
                }
              },
              "type": "object"
            }"#]]
        .assert_eq(&show(output::<Example>()));
    }
}
