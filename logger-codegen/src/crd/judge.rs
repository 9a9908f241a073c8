//! What the API server would refuse in a definition, told of the Rust type and field that it comes from.

use logger_crd::check::{self, Finding};

use super::definition::Definition;
use crate::diagnostic::Diagnostics;

/// Notes what the server would refuse or warn of.
pub(super) fn judge(definition: &Definition, found: &mut Diagnostics) {
    for finding in check::definition(&definition.crd) {
        let told = match finding.is_refusal() {
            true => format!("the API server would refuse its CRD: {finding}"),
            false => format!("the API server would warn of its CRD: {finding}"),
        };
        found.push(item(definition, &finding), told);
    }
}

/// The Rust field that a finding is about, or else the type.
fn item(definition: &Definition, finding: &Finding) -> String {
    let Some((version, keywords)) = finding.schema_path() else { return definition.item.clone() };
    let Some(version) = definition.versions.get(version) else { return definition.item.clone() };
    let mut path = String::new();
    let mut field = None;
    let mut keywords = keywords.iter().map(String::as_str);
    while let Some(keyword) = keywords.next() {
        match keyword {
            "properties" => {
                path.push('.');
                path.push_str(keywords.next().unwrap_or_default());
            }
            "items" => path.push_str("[]"),
            "additionalProperties" => path.push_str("{}"),
            _ => break,
        }
        field = version.fields.get(&path).or(field);
    }
    field.cloned().unwrap_or_else(|| format!("{}{path}", version.item))
}
