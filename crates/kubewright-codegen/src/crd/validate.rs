//! Validates a definition as the API server does. Errors and warnings name the Rust type and field.

use kubewright_crd::{definition as crd, field::FieldError};
use serde_json::Value;

use super::{definition::Definition, rule_report};
use crate::{
    diagnostic::{Diagnostics, RustItem},
    names::schema_key,
    schema_path::text_of_pointer,
};

/// Adds an error for everything the API server would reject, and a warning for everything it would warn about.
pub(super) fn validate(definition: &mut Definition, errors: &mut Diagnostics) {
    for finding in crd::validate(&definition.crd) {
        let item = item(definition, &finding);
        let text = rule_report::describe(&definition.crd, &finding).replace('\n', "\n  ");
        match finding.is_error() {
            true => errors.push(item, format!("the API server would reject its CRD: {text}")),
            false => {
                let message = format!("the API server would warn about its CRD: {text}");
                definition.warnings.push(item.diagnostic(message));
            }
        }
    }
}

/// Returns the Rust field that a finding is about, or the type, with the attribute.
fn item(definition: &Definition, finding: &FieldError) -> RustItem {
    let Some((number, pointer)) = finding.schema_path() else { return definition.item.clone() };
    let Some(version) = definition.versions.get(number) else { return definition.item.clone() };
    let mut path = String::new();
    let (mut field, mut location, mut token) = (None, None, None);
    let mut keywords = pointer.iter().map(String::as_str);
    while let Some(keyword) = keywords.next() {
        match keyword {
            "properties" => {
                path.push('.');
                path.push_str(keywords.next().unwrap_or_default());
            }
            "items" => path.push_str("[]"),
            "additionalProperties" => path.push_str("{}"),
            keyword => {
                token = Some(keyword);
                break;
            }
        }
        field = version.fields.get(&path).or(field);
        location = version.locations.get(&path).or(location);
    }
    let item = field.map_or_else(|| version.item.at(&path), |field| version.item.with_path(field));
    let item = RustItem { type_location: version.location_below(&path), ..item.with_location(location) };
    match token {
        Some("x-kubernetes-validations") => {
            let rule = format!("/spec/versions/{number}/schema/openAPIV3Schema{}", text_of_pointer(pointer));
            match definition.crd.pointer(&rule).and_then(Value::as_str) {
                Some(expression) => item.about(expression),
                None => item,
            }
        }
        Some(keyword) => item.about(schema_key(keyword)),
        None => item,
    }
}
