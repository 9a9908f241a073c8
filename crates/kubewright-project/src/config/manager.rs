//! The files of `config/manager`: the namespace, the Deployment of the operator and its disruption budget.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            Capabilities, Container, ContainerPort, EnvVar, EnvVarSource, HTTPGetAction, Namespace,
            ObjectFieldSelector, PodSecurityContext, PodSpec, PodTemplateSpec, Probe, ResourceRequirements,
            SeccompProfile, SecretVolumeSource, SecurityContext, TopologySpreadConstraint, Volume, VolumeMount,
        },
        policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec},
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
};
use kubewright_core::description::{ServerDescription, WebhookNames};

use super::{
    Files, MANAGER, NAMESPACE, Project, RenderError,
    kustomization::Kustomization,
    webhooks::{CERTIFICATE_DIRECTORY, Webhooks},
};
use crate::{
    rbac::SERVICE_ACCOUNT,
    settings::{CertificateMode, Settings},
};

/// The time after the graceful stop in which the Lease is released and the process ends, in seconds.
const STOP_MARGIN: u64 = 10;
/// The environment variable with the watched namespaces.
pub(crate) const WATCH_NAMESPACES: &str = "WATCH_NAMESPACES";
/// The flag of the operator with the directory of the certificate of its webhooks.
pub(crate) const CERTIFICATE_FLAG: &str = "--webhook-cert-path";
/// The volume with the certificate. That of Operator Lifecycle Manager has the same name.
pub(crate) const CERTIFICATE_VOLUME: &str = "webhook-cert";

/// The servers of the operator.
#[derive(Clone, Copy)]
pub(super) struct Servers<'a> {
    pub(super) health: &'a ServerDescription,
    pub(super) metrics: Option<&'a ServerDescription>,
    pub(super) webhooks: Option<Webhooks<'a>>,
}

pub(super) fn render(files: &mut Files, project: &Project, servers: Servers<'_>) -> Result<(), RenderError> {
    let namespace = Namespace { metadata: namespace(files), ..Namespace::default() };
    files.add("manager/namespace.yaml", &namespace)?;
    let container = container(&project.settings, servers);
    let volumes = volumes(files, servers.webhooks);
    let grace = project.description.graceful_shutdown_seconds.map(|seconds| seconds.saturating_add(STOP_MARGIN));
    let deployment = Deployment {
        metadata: ObjectMeta { labels: Some(files.pod_labels()), ..files.metadata(MANAGER) },
        spec: Some(DeploymentSpec {
            replicas: Some(project.settings.replicas),
            selector: files.pods(),
            template: template(files, container, volumes, grace.and_then(|seconds| i64::try_from(seconds).ok())),
            ..DeploymentSpec::default()
        }),
        ..Deployment::default()
    };
    files.add("manager/manager.yaml", &deployment)?;
    let budget = disruption_budget(files, project.settings.replicas);
    files.add("manager/disruption_budget.yaml", &budget)?;
    let resources = ["namespace.yaml", "manager.yaml", "disruption_budget.yaml"].map(str::to_owned);
    files.kustomization("manager", Kustomization::new(resources))
}

/// The API server rejects pods that do not meet the standard "restricted".
fn namespace(files: &Files) -> ObjectMeta {
    let mut metadata = files.cluster_metadata(NAMESPACE);
    let label = ("pod-security.kubernetes.io/enforce".to_owned(), "restricted".to_owned());
    metadata.labels.get_or_insert_default().extend([label]);
    metadata
}

fn template(files: &Files, container: Container, volumes: Option<Vec<Volume>>, grace: Option<i64>) -> PodTemplateSpec {
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
            volumes,
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

fn container(settings: &Settings, servers: Servers<'_>) -> Container {
    let Servers { health, webhooks, .. } = servers;
    let mode = webhooks.map(|webhooks| webhooks.mode);
    // Operator Lifecycle Manager adds the volume and its mount.
    let mount = (mode == Some(CertificateMode::CertManager)).then(|| {
        vec![VolumeMount {
            name: CERTIFICATE_VOLUME.to_owned(),
            mount_path: CERTIFICATE_DIRECTORY.to_owned(),
            read_only: Some(true),
            ..VolumeMount::default()
        }]
    });
    Container {
        name: "manager".to_owned(),
        image: Some(settings.image.clone()),
        args: Some(arguments(settings, mode)),
        env: environment(settings, mode),
        ports: Some(ports(servers)),
        liveness_probe: Some(probe(health, "/livez", 15, 20)),
        readiness_probe: Some(probe(health, "/readyz", 5, 10)),
        resources: Some(ResourceRequirements {
            requests: Some(quantities("10m", "64Mi")),
            limits: Some(quantities("500m", "128Mi")),
            ..ResourceRequirements::default()
        }),
        security_context: Some(container_security()),
        volume_mounts: mount,
        ..Container::default()
    }
}

/// Several servers can have one port, which then has the name of the first.
fn ports(Servers { health, metrics, webhooks }: Servers<'_>) -> Vec<ContainerPort> {
    let webhooks = webhooks.map(|webhooks| webhooks.server);
    let named = [("health", Some(health)), ("metrics", metrics), ("webhook", webhooks)];
    let mut ports: Vec<ContainerPort> = Vec::new();
    for (name, port) in named.into_iter().filter_map(|(name, server)| Some((name, i32::from(server?.port)))) {
        if !ports.iter().any(|other| other.container_port == port) {
            ports.push(ContainerPort {
                name: Some(name.to_owned()),
                container_port: port,
                protocol: Some("TCP".to_owned()),
                ..ContainerPort::default()
            });
        }
    }
    ports
}

/// Returns the arguments of the settings, and the directory of a mounted certificate.
fn arguments(settings: &Settings, mode: Option<CertificateMode>) -> Vec<String> {
    let is_mounted = matches!(mode, Some(CertificateMode::CertManager | CertificateMode::Olm));
    let certificate = is_mounted.then(|| format!("{CERTIFICATE_FLAG}={CERTIFICATE_DIRECTORY}"));
    ["run".to_owned()].into_iter().chain(settings.args.iter().cloned()).chain(certificate).collect()
}

/// Returns the volume of the Secret that cert-manager writes. Pods wait until it exists.
fn volumes(files: &Files, webhooks: Option<Webhooks<'_>>) -> Option<Vec<Volume>> {
    webhooks.filter(|webhooks| webhooks.mode == CertificateMode::CertManager)?;
    let name = WebhookNames::new(&files.name).secret();
    let secret = SecretVolumeSource { secret_name: Some(name), ..SecretVolumeSource::default() };
    Some(vec![Volume { name: CERTIFICATE_VOLUME.to_owned(), secret: Some(secret), ..Volume::default() }])
}

/// Returns the variables of the settings, the namespace of the operator if it watches no other, and the prefix of the
/// names of its webhooks if it writes their certificates.
fn environment(settings: &Settings, mode: Option<CertificateMode>) -> Option<Vec<EnvVar>> {
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
    if mode == Some(CertificateMode::SelfManaged) {
        let (name, value) = (WebhookNames::PREFIX_VARIABLE.to_owned(), Some(settings.name.clone()));
        variables.push(EnvVar { name, value, ..EnvVar::default() });
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
    let one_pod = Some(IntOrString::Int(1));
    let (min_available, max_unavailable) = if replicas > 1 { (one_pod, None) } else { (None, one_pod) };
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
