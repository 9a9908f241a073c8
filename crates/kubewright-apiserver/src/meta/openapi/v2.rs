//! Converts OpenAPI version 3 to version 2.

use serde_json::{Map, Value, json};

/// The keywords that version 2 does not have.
const UNSUPPORTED: [&str; 4] = ["anyOf", "nullable", "not", "oneOf"];
/// The keywords that make kubectl reject unknown fields.
const STRICT: [&str; 3] = ["items", "properties", "type"];
/// The keywords with a subschema, or a list of them.
const SUBSCHEMAS: [&str; 3] = ["additionalProperties", "allOf", "items"];
const OPERATIONS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// Converts the schema of a type. If it preserves unknown fields at its root, it has no properties, as on the real
/// server: beside any property, kubectl rejects the others.
pub(super) fn definition(declared: Value) -> Value {
    if !preserves_unknown_fields(&declared) {
        return schema(declared);
    }
    json!({
        "type": "object",
        "x-kubernetes-group-version-kind": declared["x-kubernetes-group-version-kind"],
    })
}

fn preserves_unknown_fields(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

/// Converts a schema. A reference in an `allOf`, which version 3 needs beside a description, is moved out of it.
fn schema(mut schema: Value) -> Value {
    let removed: &[&str] = if preserves_unknown_fields(&schema) { &STRICT } else { &[] };
    let Some(fields) = schema.as_object_mut() else { return schema };
    UNSUPPORTED.iter().chain(removed).for_each(|keyword| drop(fields.remove(*keyword)));
    unwrap_reference(fields);
    for (keyword, value) in fields.iter_mut() {
        match (keyword.as_str(), &mut *value) {
            ("$ref", Value::String(path)) => *path = path.replace("#/components/schemas/", "#/definitions/"),
            ("properties", Value::Object(named)) => {
                named.values_mut().for_each(|subschema| *subschema = self::schema(subschema.take()));
            }
            (keyword, Value::Array(list)) if SUBSCHEMAS.contains(&keyword) => {
                list.iter_mut().for_each(|subschema| *subschema = self::schema(subschema.take()));
            }
            (keyword, subschema) if SUBSCHEMAS.contains(&keyword) => *subschema = self::schema(subschema.take()),
            _ => {}
        }
    }
    schema
}

fn unwrap_reference(fields: &mut Map<String, Value>) {
    let reference = match fields.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([schema]) => schema.get("$ref").cloned(),
        _ => None,
    };
    if let Some(reference) = reference {
        fields.remove("allOf");
        fields.insert("$ref".to_owned(), reference);
    }
}

/// Converts the operations of a path.
pub(super) fn path(path: &Value) -> Value {
    let mut converted = Map::new();
    for name in OPERATIONS {
        if let Some(found) = path.get(name) {
            converted.insert(name.to_owned(), operation(found));
        }
    }
    if let Some(parameters) = path.get("parameters") {
        converted.insert("parameters".to_owned(), self::parameters(parameters).into());
    }
    Value::Object(converted)
}

fn operation(found: &Value) -> Value {
    let mut operation = found.as_object().cloned().unwrap_or_default();
    let mut parameters = self::parameters(&operation.remove("parameters").unwrap_or_default());
    if let Some(body) = operation.remove("requestBody") {
        let content = body["content"].as_object().cloned().unwrap_or_default();
        let body_schema = content.values().next().map(|content| schema(content["schema"].clone()));
        operation.insert("consumes".to_owned(), content.keys().cloned().collect());
        parameters.insert(0, json!({ "name": "body", "in": "body", "required": true, "schema": body_schema }));
    }
    operation.insert("parameters".to_owned(), parameters.into());
    for (_, response) in operation.get_mut("responses").and_then(Value::as_object_mut).into_iter().flatten() {
        let content = response.as_object_mut().and_then(|response| response.remove("content"));
        if let Some(content) = content.as_ref().and_then(Value::as_object).and_then(|content| content.values().next()) {
            response["schema"] = schema(content["schema"].clone());
        }
    }
    Value::Object(operation)
}

/// Converts parameters: their types are no longer in a schema.
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
    fn references_are_beside_descriptions_and_fields_can_be_named_like_keywords() {
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
    fn a_type_that_preserves_unknown_fields_has_no_properties() {
        let type_ = json!([{ "group": "example.com", "version": "v1", "kind": "Widget" }]);
        let mut three = json!({
            "description": "A widget.",
            "type": "object",
            "required": ["spec"],
            "properties": { "metadata": { "type": "object" }, "spec": { "type": "object" } },
            "x-kubernetes-group-version-kind": type_,
        });
        assert_eq!(definition(three.clone()), three);
        three["x-kubernetes-preserve-unknown-fields"] = json!(false);
        assert_eq!(definition(three.clone()), three);
        three["x-kubernetes-preserve-unknown-fields"] = json!(true);
        assert_eq!(definition(three), json!({ "type": "object", "x-kubernetes-group-version-kind": type_ }));
    }

    #[test]
    fn a_field_that_preserves_unknown_fields_has_no_type() {
        let field = json!({
            "description": "Any object.",
            "type": "object",
            "properties": { "a": { "type": "string" } },
            "x-kubernetes-preserve-unknown-fields": true,
        });
        let three =
            json!({ "type": "object", "properties": { "any": field, "list": { "type": "array", "items": field } } });
        let field = json!({ "description": "Any object.", "x-kubernetes-preserve-unknown-fields": true });
        let two =
            json!({ "type": "object", "properties": { "any": field, "list": { "type": "array", "items": field } } });
        assert_eq!(definition(three), two);
    }

    #[test]
    fn bodies_become_parameters_and_types_move_out_of_schemas() {
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
