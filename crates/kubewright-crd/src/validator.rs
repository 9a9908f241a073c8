//! Pruning, defaulting and validation of objects against one version of a definition, as on the API server.

use serde_json::{Map, Value};

use crate::{
    cel::{Program, RuleError, Violation, ViolationReason},
    field::{ErrorType, FieldError},
    value::{self, DefaultsTooLarge},
};

/// The error that the server reports in place of CEL rules if other errors prevent their evaluation.
pub const RULES_NOT_CHECKED: &str = "some validation rules were not checked because the object was invalid; correct \
                                     the existing errors to complete validation";

/// Defaults, prunes and validates objects against the schema of one version.
///
/// Holds the structural schema (`openAPIV3Schema`) and its compiled rules.
#[derive(Debug)]
pub struct Validator {
    schema: Value,
    program: Program,
}

impl Validator {
    /// Creates a validator for a schema whose rules may be invalid.
    ///
    /// # Errors
    /// Returns the rules that the server would reject.
    pub fn new(schema: Value) -> Result<Self, Vec<RuleError>> {
        let program = Program::compile(&schema)?;
        Ok(Validator { schema, program })
    }

    /// Creates a validator for a schema that a server has accepted. All values violate a rule that does not compile, as
    /// on the server.
    pub fn from_accepted(schema: Value) -> Self {
        let program = Program::compile_unchecked(&schema);
        Validator { schema, program }
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Prunes unknown fields and nulls that are not nullable, and sets defaults: the result is what the server
    /// persists.
    ///
    /// # Errors
    /// The defaults are larger than a request body can be.
    pub fn prune_and_default(&self, object: &mut Map<String, Value>) -> Result<(), DefaultsTooLarge> {
        let meta = take_meta(object);
        value::prune(object, &self.schema);
        value::prune_nulls(object, &self.schema);
        // Never an error, because invalid fields are dropped.
        drop(value::coerce_embedded_resources(object, &self.schema, value::InvalidFields::Drop));
        let defaulted = value::default_within_limit(object, &self.schema);
        object.extend(meta);
        defaulted
    }

    /// Validates an object except for its own metadata. `old` is the object that an update replaces. Errors have the
    /// order and the messages of the server (`k8s.io/apiextensions-apiserver/pkg/registry/customresource`).
    pub fn validate(&self, new: &Map<String, Value>, old: Option<&Map<String, Value>>) -> Vec<FieldError> {
        let mut errors = self.validate_schema(&without_meta(new), old.map(without_meta).as_ref());
        if self.has_rules() {
            let (new, old) = (Value::Object(new.clone()), old.cloned().map(Value::Object));
            errors.extend(self.validate_rules(&errors, &new, old.as_ref()));
        }
        errors
    }

    /// Whether the schema has rules. If not, the caller does not have to build the arguments of
    /// [`validate_rules`](Self::validate_rules).
    pub fn has_rules(&self) -> bool {
        !self.program.is_empty()
    }

    /// Validates the fields of an object, except for its metadata, against the schema without its rules.
    pub fn validate_schema(&self, new: &Map<String, Value>, old: Option<&Map<String, Value>>) -> Vec<FieldError> {
        let mut errors = match old {
            None => value::validate(new, &self.schema),
            Some(old) => value::validate_update(new, old, &self.schema),
        };
        errors.extend(value::validate_embedded_resources(new, &self.schema));
        // Duplicate items are accepted if the old object had any.
        if old.is_none_or(|old| value::validate_list_sets_and_maps(old, &self.schema).is_empty()) {
            errors.extend(value::validate_list_sets_and_maps(new, &self.schema));
        }
        errors
    }

    /// Evaluates the rules on a complete object. `errors` are the errors of [`validate_schema`](Self::validate_schema):
    /// the server evaluates no rules if the rules could fail because of them.
    pub fn validate_rules(&self, errors: &[FieldError], new: &Value, old: Option<&Value>) -> Vec<FieldError> {
        const BLOCKING: [ErrorType; 5] = [
            ErrorType::NotSupported,
            ErrorType::Required,
            ErrorType::TooLong,
            ErrorType::TooMany,
            ErrorType::TypeInvalid,
        ];
        if !self.has_rules() {
            Vec::new()
        } else if errors.iter().any(|error| BLOCKING.contains(&error.error_type)) {
            let error = FieldError::invalid("<nil>".to_owned(), Value::Null, RULES_NOT_CHECKED);
            vec![error.with_displayed_value("null".to_owned())]
        } else {
            self.program.validate(new, old).into_iter().map(|violation| field_error(violation, "")).collect()
        }
    }
}

/// Converts the violation of a rule to a field error, which has the value or the message only if the server shows it.
/// `base` is the path of the root value.
pub(crate) fn field_error(violation: Violation, base: &str) -> FieldError {
    let path = match (base, violation.path) {
        ("", path) if path.is_empty() => "<nil>".to_owned(),
        ("", path) => path,
        (base, path) if path.is_empty() || path.starts_with('[') => format!("{base}{path}"),
        (base, path) => format!("{base}.{path}"),
    };
    match violation.reason {
        ViolationReason::Invalid => FieldError::new(path, ErrorType::Invalid, violation.value, violation.detail),
        ViolationReason::Forbidden => FieldError::forbidden(path, violation.detail),
        ViolationReason::Required => FieldError::required(path, violation.detail),
        ViolationReason::Duplicate => FieldError::new(path, ErrorType::Duplicate, violation.value, ""),
    }
}

/// The fields that no schema governs.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

fn take_meta(object: &mut Map<String, Value>) -> Vec<(String, Value)> {
    META.iter().filter_map(|name| object.remove_entry(*name)).collect()
}

fn without_meta(object: &Map<String, Value>) -> Map<String, Value> {
    let fields = object.iter().filter(|(name, _)| !META.contains(&name.as_str()));
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}
