//! Version 2 of OpenAPI, made of what version 3 says.

use serde_json::{Map, Value, json};

/// What version 2 has no word for.
const UNKNOWN: [&str; 4] = ["anyOf", "nullable", "not", "oneOf"];
/// What has a schema below it, or a list of them.
const BELOW: [&str; 3] = ["additionalProperties", "allOf", "items"];
const OPERATIONS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// A schema. What stood in an `allOf` beside a description stands beside it alone.
pub(super) fn schema(mut schema: Value) -> Value {
    let Some(fields) = schema.as_object_mut() else { return schema };
    UNKNOWN.iter().for_each(|keyword| drop(fields.remove(*keyword)));
    unwrap(fields);
    for (keyword, value) in fields.iter_mut() {
        match (keyword.as_str(), &mut *value) {
            ("$ref", Value::String(path)) => *path = path.replace("#/components/schemas/", "#/definitions/"),
            ("properties", Value::Object(named)) => {
                named.values_mut().for_each(|below| *below = self::schema(below.take()));
            }
            (keyword, Value::Array(list)) if BELOW.contains(&keyword) => {
                list.iter_mut().for_each(|below| *below = self::schema(below.take()));
            }
            (keyword, below) if BELOW.contains(&keyword) => *below = self::schema(below.take()),
            _ => {}
        }
    }
    schema
}

fn unwrap(fields: &mut Map<String, Value>) {
    let reference = match fields.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([one]) => one.get("$ref").cloned(),
        _ => None,
    };
    if let Some(reference) = reference {
        fields.remove("allOf");
        fields.insert("$ref".to_owned(), reference);
    }
}

/// What can be done at a path.
pub(super) fn path(path: &Value) -> Value {
    let mut out = Map::new();
    for name in OPERATIONS {
        if let Some(found) = path.get(name) {
            out.insert(name.to_owned(), operation(found));
        }
    }
    if let Some(parameters) = path.get("parameters") {
        out.insert("parameters".to_owned(), self::parameters(parameters).into());
    }
    Value::Object(out)
}

fn operation(found: &Value) -> Value {
    let mut operation = found.as_object().cloned().unwrap_or_default();
    let mut parameters = self::parameters(&operation.remove("parameters").unwrap_or_default());
    if let Some(body) = operation.remove("requestBody") {
        let content = body["content"].as_object().cloned().unwrap_or_default();
        let of_body = content.values().next().map(|content| schema(content["schema"].clone()));
        operation.insert("consumes".to_owned(), content.keys().cloned().collect());
        parameters.insert(0, json!({ "name": "body", "in": "body", "required": true, "schema": of_body }));
    }
    operation.insert("parameters".to_owned(), parameters.into());
    for (_, answer) in operation.get_mut("responses").and_then(Value::as_object_mut).into_iter().flatten() {
        let content = answer.as_object_mut().and_then(|answer| answer.remove("content"));
        if let Some(content) = content.as_ref().and_then(Value::as_object).and_then(|content| content.values().next()) {
            answer["schema"] = schema(content["schema"].clone());
        }
    }
    Value::Object(operation)
}

/// Parameters whose type is no longer in a schema.
fn parameters(parameters: &Value) -> Vec<Value> {
    let flat = |parameter: &Value| {
        let mut flat = parameter.as_object().cloned().unwrap_or_default();
        if let Some(Value::Object(schema)) = flat.remove("schema") {
            flat.extend(schema);
        }
        Value::Object(flat)
    };
    parameters.as_array().into_iter().flatten().map(flat).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_stand_beside_descriptions_and_fields_may_have_the_names_of_keywords() {
        let three = json!({
            "type": "object",
            "properties": {
                "not": { "description": "A field.", "allOf": [{ "$ref": "#/components/schemas/a" }], "default": { "$ref": "x" } },
                "oneOf": { "type": "string", "nullable": true },
                "default": { "anyOf": [{ "type": "integer" }], "x-kubernetes-int-or-string": true },
            },
        });
        let two = json!({
            "type": "object",
            "properties": {
                "not": { "description": "A field.", "$ref": "#/definitions/a", "default": { "$ref": "x" } },
                "oneOf": { "type": "string" },
                "default": { "x-kubernetes-int-or-string": true },
            },
        });
        assert_eq!(schema(three), two);
    }

    #[test]
    fn bodies_are_parameters_and_types_are_not_in_schemas() {
        let reference = json!({ "schema": { "$ref": "#/components/schemas/a" } });
        let three = json!({
            "put": {
                "parameters": [{ "name": "dryRun", "in": "query", "schema": { "type": "string" } }],
                "requestBody": { "content": { "application/json": reference }, "required": true },
                "responses": { "200": { "description": "OK", "content": { "application/json": reference } } },
            },
        });
        let reference = json!({ "$ref": "#/definitions/a" });
        let two = json!({
            "put": {
                "consumes": ["application/json"],
                "parameters": [
                    { "name": "body", "in": "body", "required": true, "schema": reference },
                    { "name": "dryRun", "in": "query", "type": "string" },
                ],
                "responses": { "200": { "description": "OK", "schema": reference } },
            },
        });
        assert_eq!(path(&three), two);
    }
}
