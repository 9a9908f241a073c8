//! Objects checked by the rules of their CRD, without an API server.

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use logger_crd::cel::RuleFinding;
use logger_crd::finding::Finding;
use logger_crd::judge::Judge;
use logger_crd::structural::{self, Options, Refusal, Root};
use serde_json::{Map, Value};

use crate::object::Kind;

/// Checks of an object by the schema of its kind: types, bounds, patterns, formats, enums, lists, and rules in CEL.
///
/// It promises:
/// - what the server refuses by the schema of the CRD, this refuses, at the same fields and in the same words;
/// - what the server fills in, defaults and pruned fields, is filled in before it is checked, and the object stays as it is;
/// - metadata is not checked, nor what an admission webhook or a quota would say.
///
/// The schema of a kind is made and its rules are compiled once in a process.
pub trait Validate {
    /// Checks it as a create would.
    ///
    /// # Errors
    /// Every rule that is broken.
    fn validate(&self) -> Result<(), Invalid>;

    /// Checks it as an update of `old` would: rules that name `oldSelf` count too, and what `old` has alike may stay as it
    /// is where the server lets it.
    ///
    /// # Errors
    /// Every rule that is broken.
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

/// The rules that an object breaks. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub Vec<FieldError>);

/// A field and what is wrong with it, in the API server's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field, such as `spec.timeInterval`. Empty for what is wrong with the object as a whole.
    pub field: String,
    /// What is wrong, such as `Invalid value: 0: should be greater than or equal to 1`.
    pub message: String,
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

impl From<Finding> for FieldError {
    fn from(finding: Finding) -> Self {
        FieldError { message: finding.message(), field: finding.path }
    }
}

impl Invalid {
    /// What is wrong with the object or its kind as a whole.
    fn whole(message: impl fmt::Display) -> Self {
        Invalid(vec![FieldError { field: String::new(), message: message.to_string() }])
    }
}

fn check<K: Kind>(new: &K, old: Option<&K>) -> Result<(), Invalid> {
    let judge = judge::<K>()?;
    let (new, old) = (stored(&judge, new)?, old.map(|old| stored(&judge, old)).transpose()?);
    let found: Vec<FieldError> = judge.judge(&new, old.as_ref()).into_iter().map(FieldError::from).collect();
    if found.is_empty() { Ok(()) } else { Err(Invalid(found)) }
}

/// The object as the server would store it.
fn stored<K: Kind>(judge: &Judge, object: &K) -> Result<Map<String, Value>, Invalid> {
    match serde_json::to_value(object).map_err(Invalid::whole)? {
        Value::Object(mut object) => {
            judge.complete(&mut object);
            Ok(object)
        }
        _ => Err(Invalid::whole("it is no object in JSON")),
    }
}

/// What judges objects of a kind, made when it is first asked for. A process has few kinds, so none is ever forgotten.
fn judge<K: Kind>() -> Result<Arc<Judge>, Invalid> {
    static ALL: OnceLock<RwLock<HashMap<TypeId, Arc<Judge>>>> = OnceLock::new();
    let all = ALL.get_or_init(RwLock::default);
    let known = all.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<K>()).cloned();
    if let Some(judge) = known {
        return Ok(judge);
    }
    let judge = Arc::new(new_judge::<K>()?);
    all.write().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<K>(), judge.clone());
    Ok(judge)
}

fn new_judge<K: Kind>() -> Result<Judge, Invalid> {
    let kind = K::API_KIND;
    let Some(schema) = kind.schema else {
        return Err(Invalid::whole(format_args!("{} has no schema: its definition is made elsewhere", kind.kind)));
    };
    let root = Root { docs: String::new(), status: kind.status };
    let options = Options { root: Some(root), allow_floats: true, ..Options::default() };
    let schema =
        structural::of(schema, &options).map_err(|refusals| Invalid(refusals.into_iter().map(refused).collect()))?;
    Judge::new(schema.schema).map_err(|rules| Invalid(rules.iter().map(not_a_rule).collect()))
}

fn refused(refusal: Refusal) -> FieldError {
    FieldError { field: refusal.path, message: refusal.message }
}

fn not_a_rule(finding: &RuleFinding) -> FieldError {
    FieldError { field: finding.field("openAPIV3Schema"), message: finding.message("openAPIV3Schema") }
}
