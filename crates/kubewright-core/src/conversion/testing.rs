//! Property tests of conversions, for the tests of a project: random objects of the schema of each version, and objects
//! of released versions.
//!
//! ```no_run
//! # mod v2 {
//! #     use kubewright_core::{ApiObject, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta};
//! #     #[derive(Clone, Debug, ApiObject)]
//! #     #[genclient]
//! #     #[convert(hub)]
//! #     pub struct Widget { pub metadata: ObjectMeta }
//! #     kubewright_core::group_version! { group = "example.com", version = "v2", kinds = [Widget] }
//! # }
//! # mod v1 {
//! #     use kubewright_core::{ApiObject, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta};
//! #     #[derive(Clone, Debug, ApiObject)]
//! #     #[genclient]
//! #     #[convert(hub = super::v2::Widget)]
//! #     pub struct Widget { pub metadata: ObjectMeta }
//! #     kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }
//! # }
//! use kubewright_core::{
//!     Converter, Scheme,
//!     conversion::testing::{Options, verify, verify_released},
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! verify::<v1::Widget>(&Options::default())?;
//!
//! let mut scheme = Scheme::new();
//! v1::add_to_scheme(&mut scheme)?;
//! v2::add_to_scheme(&mut scheme)?;
//! let converter = Converter::hub::<v2::Widget>().spoke::<v1::Widget>().build();
//! verify_released(&scheme, &[converter], "tests/released")?;
//! # Ok(())
//! # }
//! ```

mod difference;
mod generator;
mod paths;
mod properties;
mod released;

use std::fmt;

pub use generator::Generator;
pub use released::verify_released;

use kubewright_crd::{
    structural::{self, Root},
    validator::Validator,
};
use serde_json::{Value, json};

use super::{
    ConvertTo, Spoke,
    converter::{Converter, annotation, version_of},
    plan::Conversion,
};
use crate::{group_version::GroupVersion, meta::ApiKind, object::Kind};

/// The number and the seed of random objects.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The number of objects for each property.
    pub rounds: u32,
    /// The seed of the first object; that of each further object is the next number.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { rounds: 500, seed: 0 }
    }
}

/// A property that does not hold.
pub struct Failure {
    property: String,
    details: Vec<(&'static str, String)>,
}

impl Failure {
    fn new(property: impl Into<String>) -> Self {
        Failure { property: property.into(), details: Vec::new() }
    }

    fn with(mut self, title: &'static str, detail: impl fmt::Display) -> Self {
        self.details.push((title, detail.to_string()));
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.property)?;
        self.details.iter().try_for_each(|(title, detail)| write!(f, "\n  {title}: {detail}"))
    }
}

/// As the message, which a test that returns the error prints.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}

/// Verifies the conversion between a spoke and its hub with random objects:
/// - An object that is converted into the other version and back is the same object, in both directions; fields that
///   are declared as lost are ignored.
/// - If one field is changed in the spoke in between, the hub has that change and no other.
/// - A partial object gets no further field. An object without spec converts.
///
/// # Errors
/// The first property that does not hold, with the object and the seed.
pub fn verify<S>(options: &Options) -> Result<(), Failure>
where
    S: Kind + Spoke<Hub: Kind>,
{
    let versions = Versions::new::<S>()?;
    for round in 0..options.rounds {
        let seed = options.seed.wrapping_add(u64::from(round));
        versions.verify(seed).map_err(|failure| failure.with("seed", seed))?;
    }
    Ok(())
}

/// A pair of versions with their schemas.
struct Versions {
    converter: Converter,
    conversion: Conversion,
    spoke: Version,
    hub: Version,
}

/// A version of a kind.
struct Version {
    group_version: GroupVersion,
    kind: &'static str,
    schema: Value,
}

impl Versions {
    fn new<S: Kind + Spoke<Hub: Kind>>() -> Result<Self, Failure> {
        Ok(Versions {
            converter: Converter::hub::<S::Hub>().spoke::<S>().build(),
            conversion: <S as ConvertTo<S::Hub>>::conversion(),
            spoke: Version::new::<S>()?,
            hub: Version::new::<S::Hub>()?,
        })
    }
}

impl Version {
    fn new<K: Kind>() -> Result<Self, Failure> {
        let kind = K::API_KIND;
        Ok(Version { group_version: version_of::<K>(), kind: kind.kind, schema: schema(&kind)? })
    }

    /// Returns a random object. A complete object has a UID.
    fn object(&self, seed: u64, is_complete: bool) -> Value {
        let mut object = random_object(&self.schema, self.kind, self.group_version.api_version, seed);
        if is_complete {
            object["metadata"]["uid"] = "2f0b5a5e-7c30-4d0a-a2f5-5c6c2c2a7d10".into();
        }
        object
    }

    /// Returns the annotation with the fields of this version.
    fn annotation(&self) -> String {
        annotation(&self.group_version)
    }
}

/// Returns the structural schema of a kind.
fn schema(kind: &ApiKind) -> Result<Value, Failure> {
    let failure = || Failure::new(format!("{} has no schema: its definition is not generated", kind.kind));
    let root = Root { description: String::new(), status: kind.status };
    let options = structural::Options { root: Some(root), allow_floats: true, ..structural::Options::default() };
    let structural = structural::generate(kind.schema.ok_or_else(failure)?, &options).map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(|error| format!("{}: {}", error.path, error.message)).collect();
        Failure::new(format!("the schema of {} is not structural", kind.kind)).with("errors", errors.join("; "))
    })?;
    Ok(structural.schema)
}

fn random_object(schema: &Value, kind: &str, api_version: &str, seed: u64) -> Value {
    let mut object = Generator::new(seed).value(schema);
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    object["metadata"] = json!({"name": format!("random-{seed}"), "labels": {"example.com/seed": seed.to_string()}});
    object
}

/// Returns at most this number of random objects of a kind that are valid by its schema, the smallest first: fixtures
/// of a release. There can be fewer, or none, if patterns or rules accept few values.
///
/// # Errors
/// The kind has no structural schema, or a rule does not compile.
pub fn samples(kind: &ApiKind, api_version: &str, count: usize) -> Result<Vec<Value>, Failure> {
    const SEEDS: u64 = 5000;
    let schema = schema(kind)?;
    let validator = Validator::new(schema.clone())
        .map_err(|rules| Failure::new(format!("{} rules of {} do not compile", rules.len(), kind.kind)))?;
    let is_valid = |object: &Value| {
        let Value::Object(mut object) = object.clone() else { return false };
        validator.prune_and_default(&mut object).is_ok() && validator.validate(&object, None).is_empty()
    };
    let objects = (0..SEEDS).map(|seed| random_object(&schema, kind.kind, api_version, seed));
    let mut valid: Vec<Value> = objects.filter(is_valid).take(count).collect();
    valid.sort_by_key(|object| object.to_string().len());
    Ok(valid)
}
