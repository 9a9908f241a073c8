//! The Pods of the agents of a Logger.

use k8s_openapi::{
    api::core::v1::ResourceClaim,
    apimachinery::pkg::{api::resource::Quantity, util::intstr::IntOrString},
};
use kubewright_apply::{
    core_v1::{
        CapabilitiesApply, ContainerApply, ContainerPortApply, EmptyDirVolumeSourceApply, HTTPGetActionApply,
        PodSecurityContextApply, PodSpecApply, PodTemplateSpecApply, ProbeApply, ResourceClaimApply,
        ResourceRequirementsApply, SeccompProfileApply, SecurityContextApply, TolerationApply,
        TopologySpreadConstraintApply, VolumeApply, VolumeMountApply,
    },
    meta_v1::{LabelSelectorApply, ObjectMetaApply},
};
use logger_agent::interface::{PORT, path};
use logger_types::v2::{LoggerEmptyDir, LoggerSpec, LoggerWorkload};

use super::{
    AgentOptions, PORT_NAME,
    environment::{DIRECTORY, environment},
    tokens, workload_kind,
};
use crate::names::{LOGGER_ANNOTATION, Names};

const CONTAINER: &str = "agent";
/// The volume of the files.
pub(super) const VOLUME: &str = "logs";
/// The user and the group of the container: `nonroot` of distroless images.
const USER: i64 = 65532;
/// How long an agent can take to flush its file.
const GRACE_PERIOD_SECONDS: i64 = 30;
/// The number of old revisions, for a rollback.
pub(super) const REVISION_HISTORY_LIMIT: i32 = 3;
/// Returns the template of agents that are spread over nodes, and over zones if possible. The label distinguishes the
/// agents of one revision.
pub(super) fn spread_template(
    names: &Names,
    spec: &LoggerSpec,
    agent: &AgentOptions,
    revision_label: &str,
) -> PodTemplateSpecApply {
    let pod = pod(spec, agent)
        .with_tolerations(
            ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
                .map(|key| toleration(key, agent.toleration_seconds)),
        )
        .with_topology_spread_constraints([
            spread(names, revision_label, "topology.kubernetes.io/zone", "ScheduleAnyway"),
            spread(names, revision_label, "kubernetes.io/hostname", "DoNotSchedule"),
        ]);
    PodTemplateSpecApply::new().with_metadata(metadata(names)).with_spec(pod)
}

/// Returns the template of agents without rules for their nodes.
pub(super) fn template(names: &Names, spec: &LoggerSpec, agent: &AgentOptions) -> PodTemplateSpecApply {
    PodTemplateSpecApply::new().with_metadata(metadata(names)).with_spec(pod(spec, agent))
}

fn metadata(names: &Names) -> ObjectMetaApply {
    ObjectMetaApply::new().with_labels(names.labels()).with_annotations([(LOGGER_ANNOTATION, names.logger())])
}

pub(super) fn selector(names: &Names) -> LabelSelectorApply {
    LabelSelectorApply::new().with_match_labels(names.selector_labels())
}

fn pod(spec: &LoggerSpec, agent: &AgentOptions) -> PodSpecApply {
    let pod = PodSpecApply::new()
        .with_automount_service_account_token(false)
        .with_containers([container(spec, agent)])
        .with_enable_service_links(false)
        .with_security_context(
            PodSecurityContextApply::new()
                .with_fs_group(USER)
                .with_run_as_group(USER)
                .with_run_as_non_root(true)
                .with_run_as_user(USER)
                .with_seccomp_profile(SeccompProfileApply::new().with_type("RuntimeDefault")),
        )
        .with_termination_grace_period_seconds(GRACE_PERIOD_SECONDS);
    let volumes: Vec<_> = volume(spec).into_iter().chain(tokens::volume(spec)).collect();
    if volumes.is_empty() { pod } else { pod.with_volumes(volumes) }
}

/// Returns the volume of the files, unless a claim of the agent is one.
fn volume(spec: &LoggerSpec) -> Option<VolumeApply> {
    if workload_kind(spec) == LoggerWorkload::StatefulSet {
        return None;
    }
    let limit = spec.storage.as_ref().and_then(|storage| storage.empty_dir.as_ref());
    let directory = match limit {
        Some(LoggerEmptyDir { size_limit: Some(limit) }) => {
            EmptyDirVolumeSourceApply::new().with_size_limit(limit.clone())
        }
        _ => EmptyDirVolumeSourceApply::new(),
    };
    Some(VolumeApply::new().with_name(VOLUME).with_empty_dir(directory))
}

fn toleration(key: &str, seconds: u32) -> TolerationApply {
    TolerationApply::new()
        .with_key(key)
        .with_operator("Exists")
        .with_effect("NoExecute")
        .with_toleration_seconds(i64::from(seconds))
}

fn spread(
    names: &Names,
    revision_label: &str,
    topology_key: &str,
    when_unsatisfiable: &str,
) -> TopologySpreadConstraintApply {
    TopologySpreadConstraintApply::new()
        .with_label_selector(selector(names))
        .with_match_label_keys([revision_label])
        .with_max_skew(1)
        .with_topology_key(topology_key)
        .with_when_unsatisfiable(when_unsatisfiable)
}

fn container(spec: &LoggerSpec, agent: &AgentOptions) -> ContainerApply {
    let port = ContainerPortApply::new().with_name(PORT_NAME).with_container_port(i32::from(PORT)).with_protocol("TCP");
    let files = VolumeMountApply::new().with_name(VOLUME).with_mount_path(DIRECTORY);
    ContainerApply::new()
        .with_name(CONTAINER)
        .with_image(agent.image.as_str())
        .with_args(["run"])
        .with_env(environment(spec))
        .with_liveness_probe(probe(path::LIVEZ).with_period_seconds(10))
        .with_ports([port])
        .with_readiness_probe(probe(path::READYZ).with_period_seconds(5))
        .with_resources(resources(spec))
        .with_security_context(
            SecurityContextApply::new()
                .with_allow_privilege_escalation(false)
                .with_capabilities(CapabilitiesApply::new().with_drop(["ALL"]))
                .with_read_only_root_filesystem(true),
        )
        // The error of an agent that ends is in the status of its Pod.
        .with_termination_message_policy("FallbackToLogsOnError")
        .with_volume_mounts([files].into_iter().chain(tokens::mount(spec)))
}

fn probe(endpoint: &str) -> ProbeApply {
    let get = HTTPGetActionApply::new().with_path(endpoint).with_port(IntOrString::String(PORT_NAME.to_owned()));
    ProbeApply::new().with_http_get(get).with_failure_threshold(3).with_timeout_seconds(5)
}

/// Returns the resources of the spec, which replace the defaults as a whole.
fn resources(spec: &LoggerSpec) -> ResourceRequirementsApply {
    let quantity = |value: &str| Quantity(value.to_owned());
    let Some(resources) = &spec.resources else {
        return ResourceRequirementsApply::new()
            .with_limits([("memory", quantity("128Mi"))])
            .with_requests([("cpu", quantity("10m")), ("memory", quantity("32Mi"))]);
    };
    let claim =
        |claim: &ResourceClaim| ResourceClaimApply { name: Some(claim.name.clone()), request: claim.request.clone() };
    ResourceRequirementsApply {
        claims: resources.claims.as_ref().map(|claims| claims.iter().map(claim).collect()),
        limits: resources.limits.clone(),
        requests: resources.requests.clone(),
    }
}
