//! JSON schemas of tools, short enough for a model's context.
//!
//! Schemas come from the argument and report types. What costs tokens and says nothing to a model is removed; what is
//! left is draft 2020-12 without references. Output schemas have no descriptions (the reference has them) and require
//! nothing: an error result must fit the same schema.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// A JSON object, as tools take and give it.
pub(crate) type JsonObject = Map<String, Value>;

/// The full schema of a type, for the reference.
pub(crate) fn full<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = match settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
    {
        Value::Object(object) => object,
        // A type that accepts anything; no argument or report type is one.
        _ => JsonObject::new(),
    };
    schema.remove("title");
    schema.remove("description");
    tidy(&mut schema);
    schema
}

/// The schema of a tool's arguments.
pub(crate) fn input<T: JsonSchema>() -> JsonObject {
    let mut schema = full::<T>();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            drop_null(property);
        }
    } else {
        // Some clients insist on it.
        schema.insert("properties".into(), json!({}));
    }
    schema
}

/// The schema of a tool's structured answer, or error.
pub(crate) fn output<T: JsonSchema>() -> JsonObject {
    let mut schema = full::<T>();
    strip(&mut schema);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("error".into(), json!({"type": "object"}));
    }
    schema
}

/// Removes what no reader needs, at every depth.
fn tidy(schema: &mut JsonObject) {
    schema.remove("format");
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    if schema.get("minimum") == Some(&json!(0)) && !schema.contains_key("maximum") {
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

/// Removes descriptions and demands, at every depth.
fn strip(schema: &mut JsonObject) {
    for key in [
        "description",
        "required",
        "default",
        "minimum",
        "maximum",
        "additionalProperties",
    ] {
        schema.remove(key);
    }
    drop_null(schema);
    each_subschema(schema, strip);
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
    use std::collections::BTreeMap;

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
                  "minimum": 0,
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
                  "enum": [
                    "one",
                    "two"
                  ],
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
