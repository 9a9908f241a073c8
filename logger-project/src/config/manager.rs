//! The files of `config/manager`: the namespace, the Deployment of the operator and its disruption budget.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            Capabilities, Container, ContainerPort, EnvVar, EnvVarSource, HTTPGetAction, Namespace,
            ObjectFieldSelector, PodSecurityContext, PodSpec, PodTemplateSpec, Probe, ResourceRequirements,
            SeccompProfile, SecurityContext, TopologySpreadConstraint,
        },
        policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec},
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
};
use logger_core::description::ServerDescription;

use super::{Files, MANAGER, NAMESPACE, Project, RenderError, kustomization::Kustomization};
use crate::{rbac::SERVICE_ACCOUNT, settings::Settings};

/// The time after the graceful stop in which the Lease is released and the process ends, in seconds.
const STOP_MARGIN: u64 = 10;
/// The environment variable with the watched namespaces.
pub(crate) const WATCH_NAMESPACES: &str = "WATCH_NAMESPACES";

pub(super) fn render(
    files: &mut Files,
    project: &Project,
    health: &ServerDescription,
    metrics: Option<&ServerDescription>,
) -> Result<(), RenderError> {
    let namespace = Namespace { metadata: namespace(files), ..Namespace::default() };
    files.add("manager/namespace.yaml", &namespace)?;
    let container = container(&project.settings, health, metrics);
    let grace = project.description.graceful_shutdown_seconds.map(|seconds| seconds.saturating_add(STOP_MARGIN));
    let deployment = Deployment {
        metadata: ObjectMeta { labels: Some(files.pod_labels()), ..files.metadata(MANAGER) },
        spec: Some(DeploymentSpec {
            replicas: Some(project.settings.replicas),
            selector: files.pods(),
            template: template(files, container, grace.and_then(|seconds| i64::try_from(seconds).ok())),
            ..DeploymentSpec::default()
        }),
        ..Deployment::default()
    };
    files.add("manager/manager.yaml", &deployment)?;
    let budget = disruption_budget(files, project.settings.replicas);
    files.add("manager/disruption_budget.yaml", &budget)?;
    let resources = ["namespace.yaml", "manager.yaml", "disruption_budget.yaml"].map(str::to_owned);
    files.kustomization("manager", Kustomization::of(resources))
}

/// The API server rejects pods that do not meet the standard "restricted".
fn namespace(files: &Files) -> ObjectMeta {
    let mut metadata = files.cluster_metadata(NAMESPACE);
    let label = ("pod-security.kubernetes.io/enforce".to_owned(), "restricted".to_owned());
    metadata.labels.get_or_insert_default().extend([label]);
    metadata
}

fn template(files: &Files, container: Container, grace: Option<i64>) -> PodTemplateSpec {
    let spread = |key: &str| TopologySpreadConstraint {
        max_skew: 1,
        topology_key: key.to_owned(),
        // A cluster can have one node or one zone.
        when_unsatisfiable: "ScheduleAnyway".to_owned(),
        label_selector: Some(files.pods()),
        ..TopologySpreadConstraint::default()
    };
    let annotation = ("kubectl.kubernetes.io/default-container".to_owned(), "manager".to_owned());
    PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: Some(files.pod_labels()),
            annotations: Some(BTreeMap::from([annotation])),
            ..ObjectMeta::default()
        }),
        spec: Some(PodSpec {
            containers: vec![container],
            service_account_name: Some(SERVICE_ACCOUNT.to_owned()),
            security_context: Some(pod_security()),
            termination_grace_period_seconds: grace,
            topology_spread_constraints: Some(vec![
                spread("kubernetes.io/hostname"),
                spread("topology.kubernetes.io/zone"),
            ]),
            ..PodSpec::default()
        }),
    }
}

/// Returns what the Pod Security Standard "restricted" requires of pods.
pub(crate) fn pod_security() -> PodSecurityContext {
    PodSecurityContext {
        run_as_non_root: Some(true),
        seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".to_owned(), ..SeccompProfile::default() }),
        ..PodSecurityContext::default()
    }
}

/// Returns what the Pod Security Standard "restricted" requires of containers.
pub(crate) fn container_security() -> SecurityContext {
    SecurityContext {
        allow_privilege_escalation: Some(false),
        read_only_root_filesystem: Some(true),
        capabilities: Some(Capabilities { drop: Some(vec!["ALL".to_owned()]), ..Capabilities::default() }),
        ..SecurityContext::default()
    }
}

fn container(settings: &Settings, health: &ServerDescription, metrics: Option<&ServerDescription>) -> Container {
    let port = |name: &str, server: &ServerDescription| ContainerPort {
        name: Some(name.to_owned()),
        container_port: i32::from(server.port),
        protocol: Some("TCP".to_owned()),
        ..ContainerPort::default()
    };
    let mut ports = vec![port("health", health)];
    // Both can be served on one port.
    ports.extend(metrics.filter(|metrics| metrics.port != health.port).map(|metrics| port("metrics", metrics)));
    let args = ["run".to_owned()].into_iter().chain(settings.args.iter().cloned());
    Container {
        name: "manager".to_owned(),
        image: Some(settings.image.clone()),
        args: Some(args.collect()),
        env: environment(settings),
        ports: Some(ports),
        liveness_probe: Some(probe(health, "/livez", 15, 20)),
        readiness_probe: Some(probe(health, "/readyz", 5, 10)),
        resources: Some(ResourceRequirements {
            requests: Some(quantities("10m", "64Mi")),
            limits: Some(quantities("500m", "128Mi")),
            ..ResourceRequirements::default()
        }),
        security_context: Some(container_security()),
        ..Container::default()
    }
}

/// Returns the variables of the settings, and the namespace of the operator if it watches no other.
fn environment(settings: &Settings) -> Option<Vec<EnvVar>> {
    let variable = |(name, value): (&String, &String)| EnvVar {
        name: name.clone(),
        value: Some(value.clone()),
        ..EnvVar::default()
    };
    let mut variables: Vec<_> = settings.env.iter().map(variable).collect();
    if settings.namespaced {
        let field =
            ObjectFieldSelector { field_path: "metadata.namespace".to_owned(), ..ObjectFieldSelector::default() };
        let source = EnvVarSource { field_ref: Some(field), ..EnvVarSource::default() };
        variables.push(EnvVar { name: WATCH_NAMESPACES.to_owned(), value_from: Some(source), ..EnvVar::default() });
    }
    (!variables.is_empty()).then_some(variables)
}

fn probe(server: &ServerDescription, path: &str, delay: i32, period: i32) -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some(path.to_owned()),
            port: IntOrString::String("health".to_owned()),
            scheme: server.https.then(|| "HTTPS".to_owned()),
            ..HTTPGetAction::default()
        }),
        initial_delay_seconds: Some(delay),
        period_seconds: Some(period),
        ..Probe::default()
    }
}

fn quantities(cpu: &str, memory: &str) -> BTreeMap<String, Quantity> {
    [("cpu", cpu), ("memory", memory)].map(|(name, value)| (name.to_owned(), Quantity(value.to_owned()))).into()
}

/// One replica is always available, except for a single one, which must not block the drain of its node.
fn disruption_budget(files: &Files, replicas: i32) -> PodDisruptionBudget {
    let one = Some(IntOrString::Int(1));
    let (min_available, max_unavailable) = if replicas > 1 { (one, None) } else { (None, one) };
    let selector: Option<LabelSelector> = Some(files.pods());
    PodDisruptionBudget {
        metadata: files.metadata(MANAGER),
        spec: Some(PodDisruptionBudgetSpec {
            min_available,
            max_unavailable,
            selector,
            // A replica that is not ready blocks no drain.
            unhealthy_pod_eviction_policy: Some("AlwaysAllow".to_owned()),
        }),
        ..PodDisruptionBudget::default()
    }
}
