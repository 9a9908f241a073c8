//! The generated definition of a kind.

use kubewright_codegen::definitions;
use kubewright_core::meta::ApiGroup;
use kubewright_crd::{definition::validate, field::FieldError, validator::Validator};
use serde_json::{Value, json};

/// A generated definition.
pub(crate) struct Definition {
    /// The YAML.
    pub(crate) text: String,
    /// The parsed YAML.
    pub(crate) json: Value,
}

impl Definition {
    /// Generates the only definition of a group.
    pub(crate) fn from_group(group: ApiGroup) -> Self {
        let text = definitions(&[group]).unwrap_or_else(|errors| panic!("{errors}"));
        let json = serde_saphyr::from_str(&text).unwrap();
        let errors = validate(&json);
        assert!(errors.is_empty(), "the API server rejects it: {errors:?}");
        Definition { text, json }
    }

    /// Validates an object with this spec.
    pub(crate) fn validate(&self, spec: Value) -> Vec<FieldError> {
        let validator = Validator::from_accepted(self.schema().clone());
        let object =
            json!({"apiVersion": "reports.example/v1", "kind": "Report", "metadata": {"name": "a"}, "spec": spec});
        validator.validate(object.as_object().unwrap(), None)
    }

    /// Generates the definitions of a group.
    pub(crate) fn all_of(group: ApiGroup) -> Vec<Value> {
        let text = definitions(&[group]).unwrap_or_else(|errors| panic!("{errors}"));
        text.split("---\n").map(|document| serde_saphyr::from_str(document).unwrap()).collect()
    }

    /// Returns the errors of a group.
    pub(crate) fn errors_of(group: ApiGroup) -> String {
        definitions(&[group]).expect_err("the group is invalid").to_string()
    }

    /// Returns the schema of the object.
    pub(crate) fn schema(&self) -> &Value {
        &self.json["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    }

    /// Returns the schema of a field below the spec.
    pub(crate) fn field(&self, path: &str) -> &Value {
        path.split('.').fold(&self.schema()["properties"]["spec"], |schema, name| match name {
            "[]" => &schema["items"],
            name => &schema["properties"][name],
        })
    }
}
