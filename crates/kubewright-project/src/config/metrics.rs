//! The files about the network: a Service of the metrics, `config/prometheus` and `config/network-policy`.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        core::v1::{Service, ServicePort, ServiceSpec},
        networking::v1::{
            NetworkPolicy, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec,
        },
    },
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
};
use kubewright_core::description::ServerDescription;
use serde::Serialize;

use super::{Files, MANAGER, RenderError, kustomization::Kustomization};
use crate::settings::Settings;

/// The name of the port of the Service.
const PORT: &str = "metrics";

/// Renders the files, and returns the resources of `config/default`.
pub(super) fn render(
    files: &mut Files,
    settings: &Settings,
    metrics: Option<&ServerDescription>,
    webhooks: Option<&ServerDescription>,
) -> Result<Vec<String>, RenderError> {
    let mut resources = Vec::new();
    if let Some(metrics) = metrics {
        files.add("default/metrics_service.yaml", &service(files, metrics))?;
        resources.push("metrics_service.yaml".to_owned());
    }
    if settings.prometheus {
        let metrics = metrics.ok_or(RenderError::NoMetrics)?;
        files.add("prometheus/monitor.yaml", &ServiceMonitor::new(files, metrics))?;
        let objects = ["monitor.yaml".to_owned()].into_iter().chain(settings.prometheus_resources.iter().cloned());
        files.kustomization("prometheus", Kustomization::new(objects))?;
        resources.push("../prometheus".to_owned());
    }
    if settings.network_policy && (metrics.is_some() || webhooks.is_some()) {
        network_policies(files, metrics, webhooks)?;
        resources.push("../network-policy".to_owned());
    }
    Ok(resources)
}

fn port(server: &ServerDescription) -> IntOrString {
    IntOrString::Int(i32::from(server.port))
}

fn service(files: &Files, metrics: &ServerDescription) -> Service {
    let port = ServicePort {
        name: Some(PORT.to_owned()),
        port: i32::from(metrics.port),
        protocol: Some("TCP".to_owned()),
        target_port: Some(port(metrics)),
        ..ServicePort::default()
    };
    let metadata = files.metadata(&format!("{MANAGER}-metrics-service"));
    Service {
        metadata: ObjectMeta { labels: Some(files.pod_labels()), ..metadata },
        spec: Some(ServiceSpec {
            ports: Some(vec![port]),
            selector: Some(files.pod_labels()),
            ..ServiceSpec::default()
        }),
        ..Service::default()
    }
}

fn network_policies(
    files: &mut Files,
    metrics: Option<&ServerDescription>,
    webhooks: Option<&ServerDescription>,
) -> Result<(), RenderError> {
    let mut objects = Vec::new();
    if let Some(metrics) = metrics {
        let label = ("metrics".to_owned(), "enabled".to_owned());
        let namespaces = LabelSelector { match_labels: Some(BTreeMap::from([label])), ..LabelSelector::default() };
        let peer = NetworkPolicyPeer { namespace_selector: Some(namespaces), ..NetworkPolicyPeer::default() };
        let policy = network_policy(files, "allow-metrics-traffic", metrics, Some(vec![peer]));
        files.add("network-policy/allow-metrics-traffic.yaml", &policy)?;
        objects.push("allow-metrics-traffic.yaml".to_owned());
    }
    if let Some(webhooks) = webhooks {
        // The API server is in no namespace.
        let policy = network_policy(files, "allow-webhook-traffic", webhooks, None);
        files.add("network-policy/allow-webhook-traffic.yaml", &policy)?;
        objects.push("allow-webhook-traffic.yaml".to_owned());
    }
    files.kustomization("network-policy", Kustomization::new(objects))
}

/// Admits these clients to a server; all clients for `None`. Probes of the kubelet are not affected.
fn network_policy(
    files: &Files,
    name: &str,
    server: &ServerDescription,
    from: Option<Vec<NetworkPolicyPeer>>,
) -> NetworkPolicy {
    let rule = NetworkPolicyIngressRule {
        from,
        ports: Some(vec![NetworkPolicyPort {
            port: Some(port(server)),
            protocol: Some("TCP".to_owned()),
            ..NetworkPolicyPort::default()
        }]),
    };
    NetworkPolicy {
        metadata: files.metadata(name),
        spec: Some(NetworkPolicySpec {
            ingress: Some(vec![rule]),
            pod_selector: Some(files.pods()),
            policy_types: Some(vec!["Ingress".to_owned()]),
            ..NetworkPolicySpec::default()
        }),
    }
}

/// A ServiceMonitor of the Prometheus operator.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServiceMonitor {
    api_version: &'static str,
    kind: &'static str,
    metadata: ObjectMeta,
    spec: ServiceMonitorSpec,
}

#[derive(Serialize)]
struct ServiceMonitorSpec {
    endpoints: Vec<Endpoint>,
    selector: LabelSelector,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Endpoint {
    port: &'static str,
    path: &'static str,
    scheme: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bearer_token_file: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_config: Option<TlsConfig>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TlsConfig {
    insecure_skip_verify: bool,
}

impl ServiceMonitor {
    /// The certificate is self-signed by default, so that it is not verified.
    fn new(files: &Files, metrics: &ServerDescription) -> Self {
        let token = "/var/run/secrets/kubernetes.io/serviceaccount/token";
        let endpoint = Endpoint {
            port: PORT,
            path: "/metrics",
            scheme: if metrics.https { "https" } else { "http" },
            bearer_token_file: metrics.authenticated.then_some(token),
            tls_config: metrics.https.then_some(TlsConfig { insecure_skip_verify: true }),
        };
        ServiceMonitor {
            api_version: "monitoring.coreos.com/v1",
            kind: "ServiceMonitor",
            metadata: files.metadata(&format!("{MANAGER}-metrics-monitor")),
            spec: ServiceMonitorSpec { endpoints: vec![endpoint], selector: files.pods() },
        }
    }
}
