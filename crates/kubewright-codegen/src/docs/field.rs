//! The table row of one field: name, type, default or whether it is required, and description with rules.

use serde_json::Value;

use super::{
    objects::Objects,
    rules,
    text::{cell, code, codes},
};

pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) schema: &'a Value,
    pub(super) path: &'a str,
    pub(super) required: bool,
}

impl Field<'_> {
    /// Returns the cells: name, type, default or `required`, description.
    pub(super) fn row(&self, objects: &Objects<'_>) -> [String; 4] {
        let Field { name, schema, path, required } = self;
        let default = schema.get("default").filter(|default| !default.is_null());
        let presence = match (default, required) {
            (Some(default), _) => format!("default {}", code(&default.to_string())),
            (None, true) => "required".to_owned(),
            (None, false) => String::new(),
        };
        let mut parts = Vec::new();
        let docs = schema["description"].as_str().or_else(|| schema["title"].as_str()).unwrap_or_default();
        parts.extend(Some(cell(docs)).filter(|docs| !docs.is_empty()));
        parts.extend(rules::describe(schema));
        if let Some(example) = schema.get("example") {
            parts.push(format!("Example: {}", code(&example.to_string())));
        }
        if let Some(url) = schema["externalDocs"]["url"].as_str() {
            let about = schema["externalDocs"]["description"].as_str().unwrap_or("more");
            parts.push(format!("See [{}]({url})", cell(about)));
        }
        [code(name), type_of(schema, path, objects), presence, parts.join("<br>")]
    }
}

/// Returns the type, with a link to the section of its fields.
fn type_of(schema: &Value, path: &str, objects: &Objects<'_>) -> String {
    if schema["x-kubernetes-int-or-string"] == true {
        return "integer or string".to_owned();
    }
    let ty = schema["type"].as_str().unwrap_or("any value");
    let inner = |name: &str, suffix: &str| {
        let path = format!("{path}{suffix}");
        schema
            .get(name)
            .filter(|inner| inner.is_object())
            .map_or_else(|| "any value".to_owned(), |inner| type_of(inner, &path, objects))
    };
    match ty {
        "array" => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten().filter_map(Value::as_str);
            match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => format!("set of {}", inner("items", "[]")),
                Some("map") => format!("list of {} by {}", inner("items", "[]"), codes(keys)),
                _ => format!("list of {}", inner("items", "[]")),
            }
        }
        "object" => match objects.link(path) {
            Some((title, slug)) => {
                let title = if title.contains('.') { "object" } else { title };
                format!("[{title}](#{slug})")
            }
            None if schema["x-kubernetes-embedded-resource"] == true => "Kubernetes object".to_owned(),
            None if schema.get("additionalProperties").is_some() => {
                format!("map of {}", inner("additionalProperties", "{}"))
            }
            None => "object".to_owned(),
        },
        ty => match schema["format"].as_str() {
            Some(format) => format!("{ty} ({format})"),
            None => ty.to_owned(),
        },
    }
}
