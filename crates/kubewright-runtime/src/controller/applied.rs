//! The configurations that a controller applied: an apply that changes nothing is not sent.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    num::NonZeroUsize,
};

use parking_lot::Mutex;

use kubewright_core::wire::OmitNone;
use lru::LruCache;
use serde::Serialize;
use serde_json::Value;

use crate::object::{ApiObject, ObjectKey, resource_name};

/// The maximum number of objects and subresources whose last configuration is stored.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(16_384).expect("the capacity is not zero");

/// Compares configurations with the last applied ones, and objects with the results.
///
/// Guarantees:
/// - an apply is only omitted if this process applied an equal configuration last, and the cached object is equal to
///   the result, except for its version, its managed fields and what the server reports in other subresources;
/// - at most 16,384 configurations are stored, as digests.
///
/// The managed fields are not compared: an informer does not store them.
pub(super) struct AppliedConfigurations(Mutex<LruCache<Target, Applied>>);

/// What a configuration is applied to.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Target {
    resource: String,
    key: ObjectKey,
    is_status: bool,
}

struct Applied {
    configuration: u64,
    version: Option<String>,
    result: u64,
}

impl Target {
    pub(super) fn new<K: ApiObject>(key: ObjectKey, is_status: bool) -> Self {
        Target { resource: resource_name::<K>(), key, is_status }
    }
}

impl AppliedConfigurations {
    pub(super) fn new() -> Self {
        AppliedConfigurations(Mutex::new(LruCache::new(CAPACITY)))
    }

    /// Returns whether applying the configuration to the cached object changes nothing.
    pub(super) fn is_unchanged<K: ApiObject>(&self, target: &Target, configuration: &Digest, cached: &K) -> bool {
        let mut all = self.0.lock();
        let Some(applied) = all.get_mut(target).filter(|applied| applied.configuration == configuration.hash) else {
            return false;
        };
        let version = &cached.meta().resource_version;
        if version.is_some() && *version == applied.version {
            return true;
        }
        let is_unchanged = configuration.result(target, cached) == Some(applied.result);
        if is_unchanged {
            // Only other parts of the object have changed.
            applied.version.clone_from(version);
        }
        is_unchanged
    }

    /// Records the result of an apply.
    pub(super) fn record<K: ApiObject>(&self, target: Target, configuration: &Digest, result: &K) {
        let Some(hash) = configuration.result(&target, result) else { return };
        let version = result.meta().resource_version.clone();
        self.0.lock().put(target, Applied { configuration: configuration.hash, version, result: hash });
    }
}

/// The digest of a configuration.
pub(super) struct Digest {
    hash: u64,
    has_status: bool,
}

impl Digest {
    /// Returns the digest; `None` if it cannot be serialized, so that the apply fails, too.
    pub(super) fn from_configuration(configuration: &impl Serialize) -> Option<Self> {
        let configuration = serde_json::to_value(OmitNone(configuration)).ok()?;
        Some(Digest { hash: hash(&configuration), has_status: configuration.get("status").is_some() })
    }

    /// Returns the digest of the part of an object that an apply of this configuration depends on.
    fn result<K: ApiObject>(&self, target: &Target, object: &K) -> Option<u64> {
        let mut object = serde_json::to_value(object).ok()?;
        let compared = match target.is_status {
            true => vec![object["metadata"]["uid"].take(), object["status"].take()],
            false => {
                let fields = object.as_object_mut()?;
                if !self.has_status {
                    fields.remove("status");
                }
                let metadata = fields.get_mut("metadata")?.as_object_mut()?;
                for volatile in ["resourceVersion", "managedFields", "generation"] {
                    metadata.remove(volatile);
                }
                vec![object]
            }
        };
        Some(hash(&Value::Array(compared)))
    }
}

fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.to_string().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Namespace;
    use serde_json::json;

    use super::*;

    fn namespace(version: &str, label: &str, phase: &str) -> Namespace {
        let metadata = json!({"name": "a", "uid": "u", "resourceVersion": version, "labels": {"x": label}});
        serde_json::from_value(json!({"metadata": metadata, "status": {"phase": phase}})).unwrap()
    }

    fn target(is_status: bool) -> Target {
        Target::new::<Namespace>(ObjectKey::cluster("a"), is_status)
    }

    #[test]
    fn only_an_equal_configuration_on_an_equal_object_is_unchanged() {
        let (applied, target) = (AppliedConfigurations::new(), target(false));
        let configuration = Digest::from_configuration(&json!({"metadata": {"labels": {"x": "1"}}})).unwrap();
        let other = Digest::from_configuration(&json!({"metadata": {"labels": {"x": "2"}}})).unwrap();
        assert!(!applied.is_unchanged(&target, &configuration, &namespace("1", "1", "Active")), "nothing was applied");
        applied.record(target.clone(), &configuration, &namespace("1", "1", "Active"));
        for (version, label, phase, expected) in
            [("1", "1", "Active", true), ("2", "1", "Terminating", true), ("3", "changed", "Active", false)]
        {
            let cached = namespace(version, label, phase);
            assert_eq!(applied.is_unchanged(&target, &configuration, &cached), expected, "{version}");
            assert!(!applied.is_unchanged(&target, &other, &cached));
        }
    }

    #[test]
    fn a_status_is_compared_apart_from_the_object() {
        let (applied, target) = (AppliedConfigurations::new(), target(true));
        let configuration = Digest::from_configuration(&json!({"status": {"phase": "Active"}})).unwrap();
        applied.record(target.clone(), &configuration, &namespace("1", "1", "Active"));
        assert!(applied.is_unchanged(&target, &configuration, &namespace("2", "changed", "Active")));
        assert!(!applied.is_unchanged(&target, &configuration, &namespace("3", "1", "Terminating")));
        assert!(!applied.is_unchanged(&self::target(false), &configuration, &namespace("1", "1", "Active")));
    }
}
