//! One field in the table of its object: type, whether it must be given, what it means and what it may be.

use serde_json::Value;

use super::rules;
use super::section::Sections;
use super::text::{cell, code, codes};

pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) schema: &'a Value,
    pub(super) path: &'a str,
    pub(super) required: bool,
}

impl Field<'_> {
    /// Name, type, need, description.
    pub(super) fn row(&self, sections: &Sections<'_>) -> [String; 4] {
        let Field { name, schema, path, required } = self;
        let default = schema.get("default").filter(|default| !default.is_null());
        let need = match (default, required) {
            (Some(default), _) => format!("default {}", code(&default.to_string())),
            (None, true) => "required".to_owned(),
            (None, false) => String::new(),
        };
        let mut parts = Vec::new();
        let docs = schema["description"].as_str().or_else(|| schema["title"].as_str()).unwrap_or_default();
        parts.extend(Some(cell(docs)).filter(|docs| !docs.is_empty()));
        parts.extend(rules::of(schema));
        if let Some(example) = schema.get("example") {
            parts.push(format!("For example {}", code(&example.to_string())));
        }
        if let Some(url) = schema["externalDocs"]["url"].as_str() {
            let about = schema["externalDocs"]["description"].as_str().unwrap_or("more");
            parts.push(format!("See [{}]({url})", cell(about)));
        }
        [code(name), type_of(schema, path, sections), need, parts.join("<br>")]
    }
}

/// The type, with a link to where its fields are.
fn type_of(schema: &Value, path: &str, sections: &Sections<'_>) -> String {
    if schema["x-kubernetes-int-or-string"] == true {
        return "integer or string".to_owned();
    }
    let of = schema["type"].as_str().unwrap_or("any value");
    let inner = |name: &str, sign: &str| {
        let path = format!("{path}{sign}");
        schema
            .get(name)
            .filter(|inner| inner.is_object())
            .map_or_else(|| "any value".to_owned(), |inner| type_of(inner, &path, sections))
    };
    match of {
        "array" => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten().filter_map(Value::as_str);
            match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => format!("set of {}", inner("items", "[]")),
                Some("map") => format!("list of {} by {}", inner("items", "[]"), codes(keys)),
                _ => format!("list of {}", inner("items", "[]")),
            }
        }
        "object" => match sections.link(path) {
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
        of => match schema["format"].as_str() {
            Some(format) => format!("{of} ({format})"),
            None => of.to_owned(),
        },
    }
}
