//! The defaults of policies and bindings, as the API server sets them.

use serde_json::{Map, Value, json};

/// Sets the defaults of a ValidatingAdmissionPolicy or of a MutatingAdmissionPolicy.
pub fn default_policy(policy: &mut Value) {
    let Some(spec) = policy.get_mut("spec").and_then(Value::as_object_mut) else { return };
    set(spec, "failurePolicy", "Fail".into());
    default_match_resources(spec.get_mut("matchConstraints"));
}

/// Sets the defaults of a ValidatingAdmissionPolicyBinding or of a MutatingAdmissionPolicyBinding.
pub fn default_binding(binding: &mut Value) {
    let Some(spec) = binding.get_mut("spec").and_then(Value::as_object_mut) else { return };
    default_match_resources(spec.get_mut("matchResources"));
}

fn default_match_resources(resources: Option<&mut Value>) {
    let Some(resources) = resources.and_then(Value::as_object_mut) else { return };
    set(resources, "matchPolicy", "Equivalent".into());
    for selector in ["namespaceSelector", "objectSelector"] {
        set(resources, selector, json!({}));
    }
    for rules in ["resourceRules", "excludeResourceRules"] {
        for rule in resources.get_mut(rules).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Object(rule) = rule {
                set(rule, "scope", "*".into());
            }
        }
    }
}

/// Sets a field that is absent or null.
fn set(fields: &mut Map<String, Value>, name: &str, value: Value) {
    let field = fields.entry(name).or_insert(Value::Null);
    if field.is_null() {
        *field = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_fields_are_set() {
        let mut policy = json!({"spec": {"matchConstraints": {
            "objectSelector": {"matchLabels": {"a": "b"}},
            "resourceRules": [{"scope": "Cluster"}, {"scope": null}],
        }}});
        default_policy(&mut policy);
        let expected = json!({"spec": {"failurePolicy": "Fail", "matchConstraints": {
            "matchPolicy": "Equivalent",
            "namespaceSelector": {},
            "objectSelector": {"matchLabels": {"a": "b"}},
            "resourceRules": [{"scope": "Cluster"}, {"scope": "*"}],
        }}});
        assert_eq!(policy, expected);
    }
}
