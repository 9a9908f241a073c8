//! The bearer tokens of the clients of agents: a volume with a file for each source.

use k8s_openapi::api::core::v1::SecretKeySelector;
use kubewright_apply::core_v1::{
    KeyToPathApply, ProjectedVolumeSourceApply, SecretProjectionApply, VolumeApply, VolumeMountApply,
    VolumeProjectionApply,
};
use logger_agent::interface::env;
use logger_types::v2::LoggerSpec;

const VOLUME: &str = "tokens";
const DIRECTORY: &str = "/var/run/logger-tokens";
/// Readable by the group of the container.
const MODE: i32 = 0o440;

/// Returns the volume, if a source has tokens.
pub(super) fn volume(spec: &LoggerSpec) -> Option<VolumeApply> {
    let sources: Vec<_> = sources(spec).map(|(_, file, key)| projection(file, key)).collect();
    let projected = || ProjectedVolumeSourceApply::new().with_default_mode(MODE).with_sources(sources.clone());
    (!sources.is_empty()).then(|| VolumeApply::new().with_name(VOLUME).with_projected(projected()))
}

/// Returns the mount of the volume.
pub(super) fn mount(spec: &LoggerSpec) -> Option<VolumeMountApply> {
    let mount = || VolumeMountApply::new().with_name(VOLUME).with_mount_path(DIRECTORY).with_read_only(true);
    sources(spec).next().map(|_| mount())
}

/// Returns the variables with the files, and their values.
pub(super) fn variables(spec: &LoggerSpec) -> impl Iterator<Item = (&'static str, String)> {
    sources(spec).map(|(variable, file, _)| (variable, format!("{DIRECTORY}/{file}")))
}

/// Returns the sources with tokens: the variable of the file, its name, and the key of a Secret.
fn sources(spec: &LoggerSpec) -> impl Iterator<Item = (&'static str, &'static str, &SecretKeySelector)> {
    let source = spec.source.as_ref();
    let audit = source.and_then(|source| source.audit_tokens.as_ref());
    let activity = source.and_then(|source| source.activity_tokens.as_ref());
    let audit = audit.map(|key| (env::AUDIT_TOKEN_FILE, "audit", key));
    audit.into_iter().chain(activity.map(|key| (env::ACTIVITY_TOKEN_FILE, "activity", key)))
}

fn projection(file: &str, key: &SecretKeySelector) -> VolumeProjectionApply {
    let item = KeyToPathApply::new().with_key(key.key.as_str()).with_path(file);
    let mut secret = SecretProjectionApply::new().with_name(key.name.as_str()).with_items([item]);
    secret.optional = key.optional;
    VolumeProjectionApply::new().with_secret(secret)
}
