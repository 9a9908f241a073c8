//! The rows of kinds of the control plane.

use serde_json::{Value, json};

use super::{
    duration,
    row::{NONE, Row, UNSET, text},
};
use crate::resource::selector;

pub(super) fn certificate_signing_request(row: &Row<'_>) -> Vec<Value> {
    let has = |type_: &str| row.list("status.conditions").iter().any(|condition| condition["type"] == type_);
    let mut state = if has("Denied") {
        "Denied".to_owned()
    } else if has("Approved") {
        "Approved".to_owned()
    } else {
        "Pending".to_owned()
    };
    if has("Failed") {
        state.push_str(",Failed");
    }
    if !row.text("status.certificate").is_empty() {
        state.push_str(",Issued");
    }
    let requested = row.get("spec.expirationSeconds").as_i64().map_or_else(|| NONE.to_owned(), duration::human);
    vec![
        row.name(),
        row.age(),
        json!(row.text_or("spec.signerName", NONE)),
        json!(row.text("spec.username")),
        json!(requested),
        json!(state),
    ]
}

/// Returns the number of validations or mutations of an admission policy, and the kind of its parameters.
pub(super) fn admission_policy(row: &Row<'_>, expressions: &str) -> Vec<Value> {
    let kind = row.get("spec.paramKind");
    let kind = match kind.is_object() {
        true => format!("{}/{}", text(&kind["apiVersion"]), text(&kind["kind"])),
        false => UNSET.to_owned(),
    };
    row.with_name_and_age(vec![json!(row.count(expressions)), json!(kind)])
}

/// Returns the policy and the parameters of a binding of an admission policy.
pub(super) fn admission_policy_binding(row: &Row<'_>) -> Vec<Value> {
    let reference = row.get("spec.paramRef");
    let parameters = match (text(&reference["namespace"]), text(&reference["name"])) {
        (_, "") if reference["selector"].is_object() => selector::to_text(&reference["selector"]),
        (_, "") => UNSET.to_owned(),
        ("", name) => name.to_owned(),
        (namespace, name) => format!("{namespace}/{name}"),
    };
    row.with_name_and_age(vec![json!(row.text("spec.policyName")), json!(parameters)])
}
