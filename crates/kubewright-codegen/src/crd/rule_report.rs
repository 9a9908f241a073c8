//! Describes errors of CEL rules for their author: the expression, a caret and a suggestion on separate lines.

use kubewright_crd::{cel, field::FieldError};
use serde_json::Value;

/// The text of an error. For an error in the expression of a rule, it is the report of
/// [`report_at`](cel::report_at) instead of the server's message, which repeats the rule as JSON on one line.
pub(crate) fn describe(crd: &Value, finding: &FieldError) -> String {
    let report = finding.schema_path().and_then(|(version, path)| {
        let schema = crd.pointer(&format!("/spec/versions/{version}/schema/openAPIV3Schema"))?;
        cel::report_at(schema, path)
    });
    match report {
        Some(report) => format!("{}: {report}", finding.field),
        None => finding.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use kubewright_crd::definition::validate;
    use serde_json::json;

    use super::*;

    fn crd(rule: &str) -> Value {
        let spec = json!({
            "type": "object",
            "properties": {"timeInterval": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": rule}],
        });
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com",
                "names": {"kind": "Widget", "plural": "widgets"},
                "scope": "Namespaced",
                "versions": [{
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                }],
            },
        })
    }

    #[test]
    fn an_unknown_field_of_a_rule_is_described_with_the_json_name() {
        let crd = crd("self.time_interval > 0");
        let findings = validate(&crd);
        let [finding] = findings.as_slice() else { panic!("expected one error: {findings:?}") };
        let expected = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: \
                        Invalid value: compilation failed:\n\
                        ERROR: <input>:1:5: undefined field 'time_interval'\n \
                        | self.time_interval > 0\n \
                        | ....^\n \
                        = help: did you mean `timeInterval`?";
        assert_eq!(describe(&crd, finding), expected);
    }

    #[test]
    fn other_errors_keep_the_text_of_the_server() {
        let mut crd = crd("self.timeInterval > 0");
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["type"] = json!("text");
        let findings = validate(&crd);
        assert!(!findings.is_empty());
        assert!(findings.iter().all(|finding| describe(&crd, finding) == finding.to_string()), "{findings:?}");
    }
}
