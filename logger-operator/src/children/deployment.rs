//! The Deployment that runs the agents of a Logger.

use k8s_openapi::apimachinery::pkg::{api::resource::Quantity, util::intstr::IntOrString};
use logger_agent::interface::{PORT, env, path};
use logger_apply::{
    apps_v1::{DeploymentApply, DeploymentSpecApply, DeploymentStrategyApply, RollingUpdateDeploymentApply},
    core_v1::{
        CapabilitiesApply, ContainerApply, ContainerPortApply, EmptyDirVolumeSourceApply, EnvVarApply,
        EnvVarSourceApply, HTTPGetActionApply, ObjectFieldSelectorApply, PodSecurityContextApply, PodSpecApply,
        PodTemplateSpecApply, ProbeApply, ResourceRequirementsApply, SeccompProfileApply, SecurityContextApply,
        TolerationApply, TopologySpreadConstraintApply, VolumeApply, VolumeMountApply,
    },
    meta_v1::{LabelSelectorApply, ObjectMetaApply},
};
use logger_types::v1::LoggerSpec;

use super::{AgentOptions, PORT_NAME};
use crate::names::{LOGGER_ANNOTATION, Names};

const CONTAINER: &str = "agent";
const VOLUME: &str = "logs";
/// The directory of the files.
const DIRECTORY: &str = "/var/log/logger";
/// The user and the group of the container: `nonroot` of distroless images.
const USER: i64 = 65532;
/// How long an agent can take to flush its file.
const GRACE_PERIOD_SECONDS: i64 = 30;
/// The number of old ReplicaSets, for a rollback.
const REVISION_HISTORY_LIMIT: i32 = 3;
/// Distinguishes the agents of one revision, so that a rollout spreads those of the new one by themselves.
const REVISION_LABEL: &str = "pod-template-hash";

pub(super) fn deployment(names: &Names, spec: &LoggerSpec, replicas: i32, agent: &AgentOptions) -> DeploymentApply {
    let metadata =
        ObjectMetaApply::new().with_labels(names.labels()).with_annotations([(LOGGER_ANNOTATION, names.logger())]);
    let template = PodTemplateSpecApply::new().with_metadata(metadata).with_spec(pod(names, spec, agent));
    let spec = DeploymentSpecApply::new()
        .with_replicas(replicas)
        .with_revision_history_limit(REVISION_HISTORY_LIMIT)
        .with_selector(selector(names))
        .with_strategy(strategy())
        .with_template(template);
    DeploymentApply::new(names.child(), names.namespace()).with_labels(names.labels()).with_spec(spec)
}

pub(super) fn selector(names: &Names) -> LabelSelectorApply {
    LabelSelectorApply::new().with_match_labels(names.selector_labels())
}

/// A new agent is ready before an old one is stopped.
fn strategy() -> DeploymentStrategyApply {
    let rolling_update = RollingUpdateDeploymentApply::new()
        .with_max_surge(IntOrString::Int(1))
        .with_max_unavailable(IntOrString::Int(0));
    DeploymentStrategyApply::new().with_type("RollingUpdate").with_rolling_update(rolling_update)
}

fn pod(names: &Names, spec: &LoggerSpec, agent: &AgentOptions) -> PodSpecApply {
    PodSpecApply::new()
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
        .with_termination_grace_period_seconds(GRACE_PERIOD_SECONDS)
        .with_tolerations(
            ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
                .map(|key| toleration(key, agent.toleration_seconds)),
        )
        .with_topology_spread_constraints([
            spread(names, "topology.kubernetes.io/zone", "ScheduleAnyway"),
            spread(names, "kubernetes.io/hostname", "DoNotSchedule"),
        ])
        .with_volumes([VolumeApply::new().with_name(VOLUME).with_empty_dir(EmptyDirVolumeSourceApply::new())])
}

fn toleration(key: &str, seconds: u32) -> TolerationApply {
    TolerationApply::new()
        .with_key(key)
        .with_operator("Exists")
        .with_effect("NoExecute")
        .with_toleration_seconds(i64::from(seconds))
}

fn spread(names: &Names, topology_key: &str, when_unsatisfiable: &str) -> TopologySpreadConstraintApply {
    TopologySpreadConstraintApply::new()
        .with_label_selector(selector(names))
        .with_match_label_keys([REVISION_LABEL])
        .with_max_skew(1)
        .with_topology_key(topology_key)
        .with_when_unsatisfiable(when_unsatisfiable)
}

fn container(spec: &LoggerSpec, agent: &AgentOptions) -> ContainerApply {
    let port = ContainerPortApply::new().with_name(PORT_NAME).with_container_port(i32::from(PORT)).with_protocol("TCP");
    ContainerApply::new()
        .with_name(CONTAINER)
        .with_image(agent.image.as_str())
        .with_args(["run"])
        .with_env(environment(spec))
        .with_liveness_probe(probe(path::LIVEZ).with_period_seconds(10))
        .with_ports([port])
        .with_readiness_probe(probe(path::READYZ).with_period_seconds(5))
        .with_resources(resources())
        .with_security_context(
            SecurityContextApply::new()
                .with_allow_privilege_escalation(false)
                .with_capabilities(CapabilitiesApply::new().with_drop(["ALL"]))
                .with_read_only_root_filesystem(true),
        )
        // The error of an agent that ends is in the status of its Pod.
        .with_termination_message_policy("FallbackToLogsOnError")
        .with_volume_mounts([VolumeMountApply::new().with_name(VOLUME).with_mount_path(DIRECTORY)])
}

fn environment(spec: &LoggerSpec) -> [EnvVarApply; 5] {
    let value = |name: &str, value: String| EnvVarApply::new().with_name(name).with_value(value);
    let pod_name = ObjectFieldSelectorApply::new().with_api_version("v1").with_field_path("metadata.name");
    [
        value(env::NAME, spec.name.clone()),
        EnvVarApply::new().with_name(env::REPLICA).with_value_from(EnvVarSourceApply::new().with_field_ref(pod_name)),
        value(env::INTERVAL, format!("{}s", spec.time_interval)),
        value(env::DIRECTORY, DIRECTORY.to_owned()),
        value(env::LISTEN, format!("0.0.0.0:{PORT}")),
    ]
}

fn probe(endpoint: &str) -> ProbeApply {
    let get = HTTPGetActionApply::new().with_path(endpoint).with_port(IntOrString::String(PORT_NAME.to_owned()));
    ProbeApply::new().with_http_get(get).with_failure_threshold(3).with_timeout_seconds(5)
}

fn resources() -> ResourceRequirementsApply {
    let quantity = |value: &str| Quantity(value.to_owned());
    ResourceRequirementsApply::new()
        .with_limits([("memory", quantity("128Mi"))])
        .with_requests([("cpu", quantity("10m")), ("memory", quantity("32Mi"))])
}
