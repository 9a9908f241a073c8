//! Warnings about fields that do not follow the API conventions of Kubernetes.

use std::collections::BTreeMap;

use logger_crd::structural::Structural;

use crate::diagnostic::{Diagnostic, RustItem};

/// The mark of a type or field whose fields may be named in snake case.
const ALLOWED: &str = "x-logger-snake-case";

/// Returns a warning for each field whose JSON name is its Rust name in snake case: `rename_all` is missing on its type.
pub(super) fn snake_case_fields(schema: &Structural, item: &RustItem) -> Vec<Diagnostic> {
    let allowed: Vec<&String> = schema.extensions.get(ALLOWED).into_iter().flatten().map(|(path, _)| path).collect();
    let is_allowed = |path: &str| allowed.iter().any(|allowed| is_within(path, allowed));
    // A type that is used several times gets one warning.
    let mut fields: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, rust) in &schema.rust_fields {
        let json_name = path.rsplit('.').next().unwrap_or_default();
        if is_snake_case(json_name) && rust.rsplit("::").next() == Some(json_name) && !is_allowed(path) {
            fields.insert(rust, json_name);
        }
    }
    let warning = |(rust, name): (&str, &str)| {
        let ty = rust.rsplit("::").nth(1).unwrap_or_default();
        let message = format!(
            "its JSON name `{name}` is in snake case; add `#[serde(rename_all = \"camelCase\")]` to `{ty}`, or keep the \
             name with `#[schemars(extend(\"{ALLOWED}\" = true))]` on the field or its type"
        );
        item.with_path(rust).diagnostic(message)
    };
    fields.into_iter().map(warning).collect()
}

fn is_within(path: &str, allowed: &str) -> bool {
    path.strip_prefix(allowed).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '{']))
}

fn is_snake_case(name: &str) -> bool {
    name.trim_matches('_').contains('_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_fields_without_a_rename_get_a_warning() {
        let field = |path: &str, rust: &str| (path.to_owned(), rust.to_owned());
        let rust_fields = BTreeMap::from([
            field(".spec", "my_types::v1::Widget::spec"),
            field(".spec.time_limit", "my_types::v1::WidgetSpec::time_limit"),
            field(".spec.other.time_limit", "my_types::v1::WidgetSpec::time_limit"),
            field(".spec.renamed_field", "my_types::v1::WidgetSpec::renamed"),
            field(".spec.maxSize", "my_types::v1::WidgetSpec::max_size"),
            field(".spec.kept.a_b", "my_types::v1::Kept::a_b"),
        ]);
        let allowed = BTreeMap::from([(".spec.kept".to_owned(), Value::from(true))]);
        let extensions = BTreeMap::from([(ALLOWED.to_owned(), allowed)]);
        let schema = Structural { schema: json!({}), extensions, rust_fields };
        let warnings = snake_case_fields(&schema, &RustItem::from("my_types::v1::Widget"));
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with("`my_types::v1::WidgetSpec::time_limit`: its JSON name `time_limit` is"));
    }
}
