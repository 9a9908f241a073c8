//! Certificate signing requests: the user who created them, and their conditions.
//!
//! `/approval` changes only the conditions. `/status` can neither approve nor deny a request.

use serde_json::{Map, Value, json};

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, FieldError, Result},
        kind::Kind,
        object::{Object, now},
    },
    authorization::user::User,
};

/// The conditions that only `/approval` can add.
const APPROVALS: [&str; 2] = ["Approved", "Denied"];
const CONDITIONS: &str = "status.conditions";

/// Sets the user of a new request.
pub(crate) fn set_user(request: &mut Object, user: &User) {
    if let Some(Value::Object(spec)) = request.body.get_mut("spec") {
        ["uid", "extra"].iter().for_each(|name| drop(spec.remove(*name)));
        spec.insert("username".to_owned(), json!(user.name));
        spec.insert("groups".to_owned(), json!(user.groups));
    }
}

/// Restores the spec, which an update cannot change.
pub(crate) fn prepare_update(new: &mut Object, old: &Object) -> Result<()> {
    new.copy_field(old, "spec");
    Ok(())
}

/// Restores the fields that an update of `/status` or `/approval` cannot change, and sets the times of conditions.
///
/// # Errors
/// The update of `/status` approves or denies the request.
pub(crate) fn prepare_subresource(endpoint: &Endpoint, kind: &Kind, new: &mut Object, old: &Object) -> Result<()> {
    let mut conditions = conditions(new);
    if *endpoint == Endpoint::Approval {
        new.copy_field(old, "status");
    } else {
        preserve_approvals(kind, &mut conditions, old)?;
    }
    let old_conditions = self::conditions(old);
    conditions.iter_mut().for_each(|condition| set_times(condition, &old_conditions));
    if let Value::Object(status) = new.body.entry("status").or_insert_with(|| json!({})) {
        set_conditions(status, conditions);
    }
    Ok(())
}

fn set_conditions(status: &mut Map<String, Value>, conditions: Vec<Value>) {
    if conditions.is_empty() {
        status.remove("conditions");
    } else {
        status.insert("conditions".to_owned(), Value::Array(conditions));
    }
}

/// Restores the approvals of a request that an update of `/status` omits or changes.
fn preserve_approvals(kind: &Kind, conditions: &mut Vec<Value>, old: &Object) -> Result<()> {
    let is_approval = |condition: &Value| APPROVALS.iter().any(|type_| condition["type"] == **type_);
    let approvals: Vec<Value> = self::conditions(old).into_iter().filter(|condition| is_approval(condition)).collect();
    for condition in conditions.iter_mut().filter(|condition| is_approval(condition)) {
        let Some(approval) = approvals.iter().find(|approval| approval["type"] == condition["type"]) else {
            let detail = format!("updates may not add a condition of type {}", condition["type"]);
            return Err(ApiError::invalid(kind, old.name(), &[FieldError::forbidden(CONDITIONS, detail)]));
        };
        *condition = approval.clone();
    }
    let is_missing = |approval: &Value| conditions.iter().all(|condition| condition["type"] != approval["type"]);
    let missing: Vec<Value> = approvals.iter().filter(|approval| is_missing(approval)).cloned().collect();
    conditions.extend(missing);
    Ok(())
}

/// Sets the times of a condition that are missing.
fn set_times(condition: &mut Value, old: &[Value]) {
    let same = old.iter().find(|old| old["type"] == condition["type"] && old["status"] == condition["status"]);
    let since = same.map(|same| same["lastTransitionTime"].clone()).filter(Value::is_string);
    if condition["lastUpdateTime"].is_null() {
        condition["lastUpdateTime"] = json!(now());
    }
    if condition["lastTransitionTime"].is_null() {
        condition["lastTransitionTime"] = since.unwrap_or_else(|| json!(now()));
    }
}

/// Returns the conditions of a request.
fn conditions(request: &Object) -> Vec<Value> {
    request.field(CONDITIONS).and_then(Value::as_array).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::registry::Registry;

    fn request(conditions: &Value) -> Object {
        let body = json!({ "spec": { "signerName": "example.com/s" }, "status": { "conditions": conditions } });
        Object::from_json(body.as_object().unwrap().clone()).unwrap()
    }

    fn kind() -> Kind {
        let registry = Registry::new();
        let resource = registry.named("certificates.k8s.io/v1", "CertificateSigningRequest").unwrap();
        (**resource).clone()
    }

    #[test]
    fn the_status_can_neither_approve_nor_remove_an_approval() {
        let approved = json!([{ "type": "Approved", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" }]);
        let mut new = request(&approved);
        let error = prepare_subresource(&Endpoint::Status, &kind(), &mut new, &request(&json!([]))).unwrap_err();
        assert!(error.message().ends_with("updates may not add a condition of type \"Approved\""));
        let mut new = request(&json!([{ "type": "Failed", "status": "True" }]));
        prepare_subresource(&Endpoint::Status, &kind(), &mut new, &request(&approved)).unwrap();
        let conditions = conditions(&new);
        let types: Vec<&Value> = conditions.iter().map(|condition| &condition["type"]).collect();
        assert_eq!(types, ["Failed", "Approved"]);
        assert!(conditions.iter().all(|condition| condition["lastTransitionTime"].is_string()));
    }

    #[test]
    fn an_approval_changes_only_the_conditions() {
        let mut new = request(&json!([{ "type": "Approved", "status": "True" }]));
        new.body["status"]["certificate"] = json!("Yw==");
        prepare_subresource(&Endpoint::Approval, &kind(), &mut new, &request(&json!([]))).unwrap();
        assert_eq!(new.field("status.certificate"), None);
        assert_eq!(conditions(&new).len(), 1);
    }
}
