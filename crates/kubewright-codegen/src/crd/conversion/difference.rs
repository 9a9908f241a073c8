//! The first difference between the schemas of two versions that a conversion has to bridge.

use serde_json::{Map, Value};

/// The keywords that decide which values a field has, besides its type and nested schemas. Descriptions, bounds,
/// patterns, rules and list types do not: the same values are stored and returned.
const KEYWORDS: [&str; 12] = [
    "allOf",
    "anyOf",
    "default",
    "enum",
    "format",
    "not",
    "nullable",
    "oneOf",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "type",
];

/// A difference between two schemas.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    /// The path of the field, such as `.spec.size`.
    pub(super) path: String,
    /// What differs, with the names of the versions.
    pub(super) what: String,
    /// Whether only the second schema has the field.
    pub(super) only_in_second: bool,
}

/// Returns the first difference in the order of the paths; the names are those of the versions.
pub(super) fn difference(
    first: &Value,
    second: &Value,
    first_version: &str,
    second_version: &str,
) -> Option<Difference> {
    Comparison { first_version, second_version }.node(String::new(), first, second)
}

struct Comparison<'a> {
    first_version: &'a str,
    second_version: &'a str,
}

impl Comparison<'_> {
    fn node(&self, path: String, first: &Value, second: &Value) -> Option<Difference> {
        if let Some(keyword) = KEYWORDS.iter().rev().find(|keyword| first.get(keyword) != second.get(keyword)) {
            let text = |schema: &Value| schema.get(keyword).map_or_else(|| "not set".to_owned(), Value::to_string);
            let (first_version, second_version) = (self.first_version, self.second_version);
            let what = format!(
                "its `{keyword}` is {} in {first_version} and {} in {second_version}",
                text(first),
                text(second)
            );
            return Some(Difference { path, what, only_in_second: false });
        }
        if let Some(found) = self.properties(&path, first, second) {
            return Some(found);
        }
        let nested = [("items", "[]"), ("additionalProperties", "{}")];
        nested.into_iter().find_map(|(keyword, suffix)| match (first.get(keyword), second.get(keyword)) {
            (None, None) => None,
            (first, second) => {
                let (first, second) = (first.unwrap_or(&Value::Null), second.unwrap_or(&Value::Null));
                let path = format!("{path}{suffix}");
                match first.is_object() && second.is_object() {
                    true => self.node(path, first, second),
                    false => (first != second).then(|| self.only(path, second.is_null())),
                }
            }
        })
    }

    fn properties(&self, path: &str, first: &Value, second: &Value) -> Option<Difference> {
        let none = Map::new();
        let (first_all, second_all) = (properties(first).unwrap_or(&none), properties(second).unwrap_or(&none));
        let mut names: Vec<&String> = first_all.keys().chain(second_all.keys()).collect();
        names.sort();
        names.dedup();
        names.into_iter().find_map(|name| {
            let path = format!("{path}.{name}");
            match (first_all.get(name), second_all.get(name)) {
                (Some(first_property), Some(second_property)) => self
                    .required(&path, is_required(first, name), is_required(second, name))
                    .or_else(|| self.node(path, first_property, second_property)),
                (first_property, _) => Some(self.only(path, first_property.is_some())),
            }
        })
    }

    fn required(&self, path: &str, first: bool, second: bool) -> Option<Difference> {
        let version = if first { self.first_version } else { self.second_version };
        let what = format!("it is required in {version} only");
        (first != second).then(|| Difference { path: path.to_owned(), what, only_in_second: false })
    }

    fn only(&self, path: String, in_first: bool) -> Difference {
        let version = if in_first { self.first_version } else { self.second_version };
        Difference { path, what: format!("only {version} has this field"), only_in_second: !in_first }
    }
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|required| required.iter().any(|required_name| required_name == name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path_and_text(first: &Value, second: &Value) -> Option<(String, String)> {
        let wrap = |spec: &Value| json!({"type": "object", "properties": {"spec": spec}});
        let found = difference(&wrap(first), &wrap(second), "v2", "v1");
        found.map(|found| (found.path, found.what))
    }

    fn object(properties: Value) -> Value {
        json!({"type": "object", "properties": properties})
    }

    #[test]
    fn documentation_and_bounds_are_no_differences() {
        let plain = object(json!({"size": {"type": "integer"}}));
        let bounded = object(json!({"size": {
            "type": "integer",
            "description": "How large it is.",
            "minimum": 1,
            "x-kubernetes-validations": [{"rule": "self != 3"}],
        }}));
        assert_eq!(path_and_text(&plain, &bounded), None);
    }

    #[test]
    fn differences_have_the_path_and_the_version() {
        let found = |first, second| path_and_text(&first, &second).unwrap_or_default();
        let pair = |path: &str, what: &str| (path.to_owned(), what.to_owned());
        let (a, b) = (json!({"type": "integer"}), json!({"type": "string"}));
        assert_eq!(
            found(object(json!({"size": a})), object(json!({"size": b}))),
            pair(".spec.size", "its `type` is \"integer\" in v2 and \"string\" in v1")
        );
        assert_eq!(
            found(object(json!({"b": a, "c": b})), object(json!({"b": a}))),
            pair(".spec.c", "only v2 has this field")
        );
        assert_eq!(
            found(object(json!({})), object(json!({"z": a, "a": a}))),
            pair(".spec.a", "only v1 has this field")
        );
        let list = |items: &Value| object(json!({"all": {"type": "array", "items": items}}));
        let map = |values: &Value| object(json!({"all": {"type": "object", "additionalProperties": values}}));
        assert_eq!(
            found(list(&object(json!({"x": a}))), list(&object(json!({})))),
            pair(".spec.all[].x", "only v2 has this field")
        );
        assert_eq!(
            found(map(&a), map(&b)),
            pair(".spec.all{}", "its `type` is \"integer\" in v2 and \"string\" in v1")
        );
        let mut required = object(json!({"size": a}));
        required["required"] = json!(["size"]);
        assert_eq!(found(object(json!({"size": a})), required), pair(".spec.size", "it is required in v1 only"));
        let limited = object(json!({"level": {"type": "string", "enum": ["a"]}}));
        let wider = object(json!({"level": {"type": "string", "enum": ["a", "b"]}}));
        assert_eq!(found(wider, limited), pair(".spec.level", "its `enum` is [\"a\",\"b\"] in v2 and [\"a\"] in v1"));
    }

    #[test]
    fn map_values_and_unknown_fields_are_compared() {
        let plain = json!({"type": "object"});
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        assert!(path_and_text(&plain, &open).is_some());
        let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
        assert_eq!(path_and_text(&plain, &map), Some((".spec{}".to_owned(), "only v1 has this field".to_owned())));
    }
}
