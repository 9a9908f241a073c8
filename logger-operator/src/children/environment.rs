//! The environment of agents: their options, as the spec of a Logger declares them.

use kubewright_apply::core_v1::{EnvVarApply, EnvVarSourceApply, ObjectFieldSelectorApply};
use logger_agent::interface::{PORT, env};
use logger_types::v2::{LoggerDurability, LoggerRotation, LoggerSource, LoggerSpec, RecordSource};

use super::tokens;
use crate::spec::bytes;

/// The directory of the files.
pub(super) const DIRECTORY: &str = "/var/log/logger";

/// Returns the variables. Options that the spec does not declare have the defaults of the agent, so that their
/// variables are absent.
pub(super) fn environment(spec: &LoggerSpec) -> Vec<EnvVarApply> {
    let pod_name = ObjectFieldSelectorApply::new().with_api_version("v1").with_field_path("metadata.name");
    let mut variables = vec![
        variable(env::NAME, spec.name.as_str()),
        EnvVarApply::new().with_name(env::REPLICA).with_value_from(EnvVarSourceApply::new().with_field_ref(pod_name)),
        variable(env::INTERVAL, spec.interval.as_str()),
        variable(env::DIRECTORY, DIRECTORY),
        variable(env::LISTEN, format!("0.0.0.0:{PORT}")),
    ];
    variables.extend(spec.durability.map(|durability| variable(env::DURABILITY, durability_name(durability))));
    variables.extend(spec.source.iter().flat_map(source));
    variables.extend(tokens::variables(spec).map(|(name, file)| variable(name, file)));
    variables.extend(spec.rotation.iter().flat_map(rotation));
    variables
}

fn variable(name: &str, value: impl Into<String>) -> EnvVarApply {
    EnvVarApply::new().with_name(name).with_value(value)
}

fn durability_name(durability: LoggerDurability) -> &'static str {
    match durability {
        LoggerDurability::Interval => "interval",
        LoggerDurability::Record => "record",
    }
}

fn source_name(source: RecordSource) -> &'static str {
    match source {
        RecordSource::Audit => "audit",
        RecordSource::Activity => "activity",
    }
}

fn source(source: &LoggerSource) -> impl Iterator<Item = EnvVarApply> {
    let accept = source.accept.as_ref().map(|sources| {
        let names: Vec<_> = sources.iter().copied().map(source_name).collect();
        variable(env::ACCEPT, names.join(","))
    });
    let rate = source.records_per_second.map(|rate| variable(env::RECORDS_PER_SECOND, rate.to_string()));
    accept.into_iter().chain(rate)
}

fn rotation(rotation: &LoggerRotation) -> impl Iterator<Item = EnvVarApply> {
    let LoggerRotation { max_size, max_age, retention } = rotation;
    let retention = retention.clone().unwrap_or_default();
    let sizes = [(env::SEGMENT_BYTES, max_size.as_ref()), (env::RETENTION_BYTES, retention.max_size.as_ref())];
    let ages = [(env::SEGMENT_AGE, max_age.as_ref()), (env::RETENTION_AGE, retention.max_age.as_ref())];
    // A size that is not a number of bytes does not pass the validation.
    let sizes = sizes.map(|(name, size)| size.and_then(bytes).map(|bytes| variable(name, bytes.to_string())));
    let ages = ages.map(|(name, age)| age.map(|age| variable(name, age.as_str())));
    sizes.into_iter().chain(ages).flatten()
}
