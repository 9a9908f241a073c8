//! Validates objects by the rules of their CRD, without an API server.

use std::{
    any::TypeId,
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use kubewright_crd::{
    cel::RuleError,
    field::{self, ErrorType},
    structural::{self, Options, Root, SchemaError},
    validator::Validator,
};
use serde_json::{Map, Value};

use crate::object::Kind;

/// Validates an object against the schema of its kind: types, bounds, patterns, formats, enums, lists and CEL rules.
///
/// Guarantees:
/// - It rejects the objects that the server rejects by the schema of the CRD, at the same fields and with the same
///   messages.
/// - Like the server it applies defaults and prunes unknown fields before it validates; the object itself is not
///   changed.
/// - Metadata, admission webhooks and quotas are not part of the validation.
///
/// The schema of a kind is generated and its rules are compiled once per process.
pub trait Validate {
    /// Validates the object as a create request does.
    ///
    /// # Errors
    /// All violations.
    fn validate(&self) -> Result<(), Invalid>;

    /// Validates the object as an update of `old` does: transition rules (with `oldSelf`) are evaluated too, and
    /// invalid values that did not change are accepted where the server accepts them.
    ///
    /// # Errors
    /// All violations.
    fn validate_update(&self, old: &Self) -> Result<(), Invalid>;
}

impl<K: Kind> Validate for K {
    fn validate(&self) -> Result<(), Invalid> {
        check(self, None)
    }

    fn validate_update(&self, old: &Self) -> Result<(), Invalid> {
        check(self, Some(old))
    }
}

/// The violations of an object, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub Vec<FieldError>);

/// A violation at a field, with the message of the API server.
///
/// Validation returns such errors, and so do the webhooks of an operator for rules that a schema cannot express:
///
/// ```
/// use kubewright_core::validation::FieldError;
///
/// let error = FieldError::invalid("spec.speed", 3, "must be even");
/// assert_eq!(error.to_string(), "spec.speed: Invalid value: 3: must be even");
/// assert_eq!(error.reason, "FieldValueInvalid");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field, such as `spec.timeInterval`. Empty for a violation of the complete object.
    pub field: String,
    /// The message, such as `Invalid value: 0: should be greater than or equal to 1`.
    pub message: String,
    /// The reason of the cause in a `Status`, such as `FieldValueInvalid`.
    pub reason: &'static str,
}

impl FieldError {
    /// Creates an error of a value that violates a constraint.
    #[must_use]
    pub fn invalid(field: impl Into<String>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        field::FieldError::from_field(field, ErrorType::Invalid, Some(value.into()), detail).into()
    }

    /// Creates an error of a field that is missing.
    #[must_use]
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        field::FieldError::from_field(field, ErrorType::Required, None, detail).into()
    }

    /// Creates an error of a field that must not be set, or not be changed.
    #[must_use]
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        field::FieldError::from_field(field, ErrorType::Forbidden, None, detail).into()
    }

    /// Creates an error of a value that occurs more than once.
    #[must_use]
    pub fn duplicate(field: impl Into<String>, value: impl Into<Value>) -> Self {
        field::FieldError::from_field(field, ErrorType::Duplicate, Some(value.into()), "").into()
    }

    /// Creates an error of a value that is none of the supported ones.
    #[must_use]
    pub fn not_supported(field: impl Into<String>, value: impl Into<Value>, supported: &[&str]) -> Self {
        let supported: Vec<_> = supported.iter().map(|value| format!("{value:?}")).collect();
        let detail = format!("supported values: {}", supported.join(", "));
        field::FieldError::from_field(field, ErrorType::NotSupported, Some(value.into()), detail).into()
    }
}

impl std::error::Error for Invalid {}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&errors.join("; "))
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.message),
            field => write!(f, "{field}: {}", self.message),
        }
    }
}

impl From<field::FieldError> for FieldError {
    fn from(error: field::FieldError) -> Self {
        FieldError { message: error.message(), reason: error.error_type.cause_type(), field: error.field }
    }
}

impl Invalid {
    /// Returns an error unless there are no violations.
    ///
    /// # Errors
    /// The violations.
    pub fn check(errors: Vec<FieldError>) -> Result<(), Self> {
        if errors.is_empty() { Ok(()) } else { Err(Invalid(errors)) }
    }

    /// Creates an error of the complete object or its kind.
    fn from_message(message: impl fmt::Display) -> Self {
        Invalid(vec![internal_error(String::new(), message.to_string())])
    }
}

/// Creates an error that is not one of the object.
fn internal_error(field: String, message: String) -> FieldError {
    FieldError { field, message, reason: ErrorType::Internal.cause_type() }
}

fn check<K: Kind>(new: &K, old: Option<&K>) -> Result<(), Invalid> {
    let validator = validator::<K>()?;
    let (new, old) = (stored(&validator, new)?, old.map(|old| stored(&validator, old)).transpose()?);
    let found: Vec<FieldError> = validator.validate(&new, old.as_ref()).into_iter().map(FieldError::from).collect();
    Invalid::check(found)
}

/// Returns the object as the server stores it.
fn stored<K: Kind>(validator: &Validator, object: &K) -> Result<Map<String, Value>, Invalid> {
    match serde_json::to_value(object).map_err(Invalid::from_message)? {
        Value::Object(mut object) => {
            validator.prune_and_default(&mut object).map_err(Invalid::from_message)?;
            Ok(object)
        }
        _ => Err(Invalid::from_message("the JSON encoding is not an object")),
    }
}

/// Returns the validator of a kind, which is created on first use. There are few kinds in a process, so none is
/// evicted.
fn validator<K: Kind>() -> Result<Arc<Validator>, Invalid> {
    static ALL: OnceLock<RwLock<HashMap<TypeId, Arc<Validator>>>> = OnceLock::new();
    let all = ALL.get_or_init(RwLock::default);
    let known = all.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<K>()).cloned();
    if let Some(validator) = known {
        return Ok(validator);
    }
    let validator = Arc::new(new_validator::<K>()?);
    all.write().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<K>(), validator.clone());
    Ok(validator)
}

fn new_validator<K: Kind>() -> Result<Validator, Invalid> {
    let kind = K::API_KIND;
    let Some(schema) = kind.schema else {
        return Err(Invalid::from_message(format_args!(
            "{} has no schema: its definition is not generated",
            kind.kind
        )));
    };
    let root = Root { description: String::new(), status: kind.status };
    let options = Options { root: Some(root), allow_floats: true, ..Options::default() };
    let schema = structural::generate(schema, &options)
        .map_err(|errors| Invalid(errors.into_iter().map(schema_error).collect()))?;
    Validator::new(schema.schema).map_err(|rules| Invalid(rules.iter().map(rule_error).collect()))
}

fn schema_error(error: SchemaError) -> FieldError {
    internal_error(error.path, error.message)
}

fn rule_error(finding: &RuleError) -> FieldError {
    internal_error(finding.field("openAPIV3Schema"), finding.message("openAPIV3Schema"))
}
