//! Validation of a spec beyond its schema, such as names that cannot be part of a file name.

use std::{num::NonZeroU32, time::Duration};

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kubewright_names::validation::dns_1123_subdomain;
use logger_agent::{JournalConfig, journal::MAX_DURATION};
use logger_types::{
    duration,
    v2::{LoggerRotation, LoggerSource, LoggerSpec, LoggerStorage},
};

use crate::{
    reason,
    spec::{bytes, interval, is_per_node},
};

/// The maximum length of the name of a log: the names of its files have at most 255 bytes, with the name of the Pod and
/// a sequence number.
const MAX_NAME: usize = 100;
/// The number of characters of an invalid value in a message.
const MAX_SHOWN: usize = 60;

/// A spec that no agent can run with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSpec {
    /// The name of the log cannot be the prefix of the name of a file.
    #[error(
        "spec.name {0:?} cannot be the prefix of a file name: use 1 to {max} lowercase letters, digits, `-` and `.`, \
         and start and end each part with a letter or digit",
        max = MAX_NAME
    )]
    Name(String),
    /// The interval is not a duration or is not positive, which the schema rejects unless the object is older than it,
    /// or is too long.
    #[error("spec.interval is {0:?}: use a duration of 1s to {max}h, such as `60s`", max = MAX_DURATION.as_secs() / 3600)]
    Interval(String),
    /// The number of replicas is negative. The schema rejects it, unless the object is older than the schema.
    #[error("spec.replicas is {0}: use at least 0")]
    Replicas(i32),
    /// No record would be accepted.
    #[error("spec.source accepts no record: use at least one source, and at least one record per second")]
    Source,
    /// A size or an age of files cannot be used.
    #[error("spec.rotation: {0}")]
    Rotation(String),
    /// The storage cannot be used.
    #[error("spec.storage: {0}")]
    Storage(String),
}

impl InvalidSpec {
    /// Returns the reason for conditions and events.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            InvalidSpec::Name(_) => reason::INVALID_NAME,
            InvalidSpec::Interval(_) => reason::INVALID_INTERVAL,
            InvalidSpec::Replicas(_) => reason::INVALID_REPLICAS,
            InvalidSpec::Source => reason::INVALID_SOURCE,
            InvalidSpec::Rotation(_) => reason::INVALID_ROTATION,
            InvalidSpec::Storage(_) => reason::INVALID_STORAGE,
        }
    }
}

/// Validates a spec.
///
/// # Errors
/// Fails with the first field that no agent can run with.
pub fn validate(spec: &LoggerSpec) -> Result<(), InvalidSpec> {
    if !is_file_name(&spec.name) {
        return Err(InvalidSpec::Name(shown(&spec.name)));
    }
    let interval = interval(spec).ok_or_else(|| InvalidSpec::Interval(shown(&spec.interval)))?;
    if let Some(replicas) = spec.replicas.filter(|replicas| *replicas < 0) {
        return Err(InvalidSpec::Replicas(replicas));
    }
    spec.source.as_ref().map_or(Ok(()), validate_source)?;
    let journal = journal_config(spec.rotation.as_ref(), interval)?;
    validate_storage(spec, &journal)
}

fn validate_source(source: &LoggerSource) -> Result<(), InvalidSpec> {
    let accepts_none = source.accept.as_ref().is_some_and(Vec::is_empty);
    let rate = source.records_per_second.map(|rate| u32::try_from(rate).ok().and_then(NonZeroU32::new));
    if accepts_none || rate == Some(None) { Err(InvalidSpec::Source) } else { Ok(()) }
}

/// Returns the options of the files of agents, which validate them in the same way.
fn journal_config(rotation: Option<&LoggerRotation>, interval: Duration) -> Result<JournalConfig, InvalidSpec> {
    let defaults = JournalConfig::new(interval);
    let Some(rotation) = rotation else { return Ok(defaults) };
    let size = |name: &str, size: &Option<Quantity>, default: u64| match size {
        Some(size) => {
            let error = || InvalidSpec::Rotation(format!("{name} {:?} is not a size, such as `16Mi`", shown(&size.0)));
            bytes(size).ok_or_else(error)
        }
        None => Ok(default),
    };
    let age = |name: &str, age: &Option<String>, default: Duration| match age {
        Some(age) => {
            let error = |error| InvalidSpec::Rotation(format!("{name} {:?}: {error}", shown(age)));
            duration::parse(age).map_err(error)
        }
        None => Ok(default),
    };
    let retention = rotation.retention.clone().unwrap_or_default();
    let config = JournalConfig {
        segment_bytes: size("maxSize", &rotation.max_size, defaults.segment_bytes)?,
        segment_age: age("maxAge", &rotation.max_age, defaults.segment_age)?,
        retention_bytes: size("retention.maxSize", &retention.max_size, defaults.retention_bytes)?,
        retention_age: age("retention.maxAge", &retention.max_age, defaults.retention_age)?,
        ..defaults
    };
    config.validate().map_err(|error| InvalidSpec::Rotation(error.to_string()))?;
    Ok(config)
}

/// The schema rejects some of these, unless the object is older than it.
fn validate_storage(spec: &LoggerSpec, journal: &JournalConfig) -> Result<(), InvalidSpec> {
    let Some(LoggerStorage { empty_dir, volume_claim }) = &spec.storage else { return Ok(()) };
    let limit = empty_dir.as_ref().and_then(|directory| directory.size_limit.as_ref());
    match (volume_claim, limit) {
        (Some(_), _) if empty_dir.is_some() => {
            Err(InvalidSpec::Storage("use one of emptyDir and volumeClaim".to_owned()))
        }
        (Some(_), _) if is_per_node(spec) => {
            Err(InvalidSpec::Storage("a volumeClaim needs the placement Spread".to_owned()))
        }
        (Some(claim), _) => validate_size("size of volumeClaim", &claim.size, journal.retention_bytes),
        // The Pod is evicted with its records at the limit. The retention excludes the segment that is written.
        (None, Some(limit)) => {
            let needed = journal.retention_bytes.saturating_add(journal.segment_bytes);
            validate_size("sizeLimit of emptyDir", limit, needed)
        }
        (None, None) => Ok(()),
    }
}

/// Validates that files of this size fit.
fn validate_size(name: &str, size: &Quantity, needed: u64) -> Result<(), InvalidSpec> {
    let shown = shown(&size.0);
    match bytes(size) {
        None | Some(0) => Err(InvalidSpec::Storage(format!("the {name} {shown:?} is not a size, such as `10Gi`"))),
        Some(bytes) if bytes < needed => Err(InvalidSpec::Storage(format!(
            "the {name} {shown:?} is smaller than the {needed} bytes of the files: increase it, or decrease \
             spec.rotation.retention.maxSize"
        ))),
        Some(_) => Ok(()),
    }
}

/// Returns whether agents accept a name: they use it as the prefix of file names.
fn is_file_name(name: &str) -> bool {
    name.len() <= MAX_NAME && dns_1123_subdomain(name).is_empty()
}

fn shown(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn spec(name: &str, interval: &str, replicas: Option<i32>) -> LoggerSpec {
        LoggerSpec { name: name.to_owned(), interval: interval.to_owned(), replicas, ..LoggerSpec::default() }
    }

    fn valid() -> LoggerSpec {
        spec("a", "60s", None)
    }

    fn parse(fields: Value) -> LoggerSpec {
        let mut object = json!({"name": "a", "interval": "60s"});
        object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn names_that_can_be_the_prefix_of_a_file_name_are_valid() {
        for name in ["audit", "audit-2.log", "7", &"a".repeat(100)] {
            assert_eq!(validate(&spec(name, "1s", None)), Ok(()), "{name}");
        }
    }

    #[test]
    fn other_names_are_invalid() {
        let long = "a".repeat(101);
        for name in
            ["", ".", "..", "../etc", "a/b", "-a", "a-", "Audit", "a_b", "a b", "a\0", "ä", "$(HOME)", long.as_str()]
        {
            let invalid = validate(&spec(name, "1s", None)).unwrap_err();
            assert_eq!(invalid.reason(), reason::INVALID_NAME, "{name}");
            assert!(invalid.to_string().len() < 300, "{invalid}");
        }
    }

    #[test]
    fn intervals_and_replicas_that_the_schema_rejects_are_invalid() {
        for interval in ["", "0s", "60", "250ms", "315360001s", "2147483647s"] {
            assert_eq!(validate(&spec("a", interval, None)), Err(InvalidSpec::Interval(interval.to_owned())));
        }
        for interval in ["1s", "1m30s", "315360000s", "87600h"] {
            assert_eq!(validate(&spec("a", interval, None)), Ok(()), "{interval}");
        }
        assert_eq!(validate(&spec("a", "1s", Some(-1))), Err(InvalidSpec::Replicas(-1)));
        assert_eq!(validate(&spec("a", "1s", Some(0))), Ok(()));
    }

    #[test]
    fn options_that_no_agent_starts_with_are_invalid() {
        for (fields, reason) in [
            (json!({"source": {"accept": []}}), reason::INVALID_SOURCE),
            (json!({"source": {"recordsPerSecond": 0}}), reason::INVALID_SOURCE),
            (json!({"rotation": {"maxSize": "0"}}), reason::INVALID_ROTATION),
            (json!({"rotation": {"maxSize": "-1Mi"}}), reason::INVALID_ROTATION),
            (json!({"rotation": {"maxSize": "1Gi"}}), reason::INVALID_ROTATION),
            (json!({"rotation": {"maxAge": "0s"}}), reason::INVALID_ROTATION),
            (json!({"rotation": {"retention": {"maxSize": "16Mi"}}}), reason::INVALID_ROTATION),
            (json!({"rotation": {"retention": {"maxAge": "a year"}}}), reason::INVALID_ROTATION),
            (json!({"storage": {"emptyDir": {}, "volumeClaim": {"size": "1Gi"}}}), reason::INVALID_STORAGE),
            (json!({"storage": {"volumeClaim": {"size": "1Gi"}}, "placement": "PerNode"}), reason::INVALID_STORAGE),
            (json!({"storage": {"volumeClaim": {"size": "0"}}}), reason::INVALID_STORAGE),
            (json!({"storage": {"emptyDir": {"sizeLimit": "much"}}}), reason::INVALID_STORAGE),
            (json!({"storage": {"emptyDir": {"sizeLimit": "1Gi"}}}), reason::INVALID_STORAGE),
            (json!({"storage": {"volumeClaim": {"size": "1G"}}}), reason::INVALID_STORAGE),
        ] {
            let invalid = validate(&parse(fields.clone())).map_err(|invalid| invalid.reason());
            assert_eq!(invalid, Err(reason), "{fields}");
        }
    }

    #[test]
    fn a_size_below_the_retention_is_described_with_the_needed_one() {
        let spec = parse(json!({"storage": {"emptyDir": {"sizeLimit": "1Gi"}}}));
        let expected = "spec.storage: the sizeLimit of emptyDir \"1Gi\" is smaller than the 1090519040 bytes of the \
                        files: increase it, or decrease spec.rotation.retention.maxSize";
        assert_eq!(validate(&spec).unwrap_err().to_string(), expected);
    }

    #[test]
    fn options_that_agents_start_with_are_valid() {
        assert_eq!(validate(&valid()), Ok(()));
        for fields in [
            json!({"source": {"accept": ["Audit"], "recordsPerSecond": 1}}),
            json!({"rotation": {"maxSize": "1M", "maxAge": "90m", "retention": {"maxSize": "2M", "maxAge": "24h"}}}),
            json!({"storage": {"emptyDir": {"sizeLimit": "2Gi"}}, "placement": "PerNode"}),
            json!({"storage": {"volumeClaim": {"size": 1 << 30}}}),
            json!({
                "storage": {"emptyDir": {"sizeLimit": "80Mi"}}, "rotation": {"retention": {"maxSize": "64Mi"}},
            }),
        ] {
            assert_eq!(validate(&parse(fields.clone())), Ok(()), "{fields}");
        }
    }
}
