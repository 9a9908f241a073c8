//! Self-managed certificates on the embedded API server: replicas, rotations under connections, and what is written.

use std::{
    collections::VecDeque,
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use k8s_openapi::{
    ByteString,
    api::{admissionregistration::v1::ValidatingWebhookConfiguration, core::v1::Secret, rbac::v1::PolicyRule},
};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use kubewright_core::description::{
    AdmissionType, AdmissionWebhookDescription, KindDescription, OperatorDescription, PermissionScope, WebhookNames,
};
use kubewright_manager::serving::{Certificates, SelfManaged, SelfManagedConfig};
use kubewright_runtime::metrics::Metrics;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::{net::TcpStream, task::JoinHandle, time::sleep};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Running, until};

const CONFIGURATION: &str = "my-validating-webhook-configuration";
const SECRET: &str = "my-webhook-server-cert";
const HOST: &str = "my-webhook-service.default.svc";

fn webhooks() -> OperatorDescription {
    let widgets = KindDescription {
        group: "example.org".to_owned(),
        version: "v1".to_owned(),
        kind: "Widget".to_owned(),
        plural: "widgets".to_owned(),
        namespaced: true,
    };
    let webhook = AdmissionWebhookDescription::new(AdmissionType::Validating, widgets);
    OperatorDescription { admission_webhooks: vec![webhook], ..OperatorDescription::default() }
}

/// Options with short times. A certificate is due after 8 s.
fn config() -> SelfManagedConfig {
    SelfManagedConfig::for_service("default", WebhookNames::new("my"))
        .webhooks(&webhooks())
        .certificate_lifetime(Duration::from_secs(12))
        .authority_lifetime(Duration::from_secs(12))
        .publication_delay(Duration::from_millis(500))
        .retention(Duration::from_secs(2))
        .poll_interval(Duration::from_millis(100))
}

fn webhook(name: &str, service: &str) -> Value {
    json!({
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "default", "name": service, "path": "/validate"}},
        "sideEffects": "None",
        "rules": [{
            "apiGroups": ["example.org"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"],
        }],
    })
}

fn object<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn configurations(client: &Client) -> Api<ValidatingWebhookConfiguration> {
    Api::all(client.clone())
}

fn secrets(client: &Client) -> Api<Secret> {
    Api::namespaced(client.clone(), "default")
}

/// Creates the configuration, with a webhook of this operator and one of another program.
async fn create_configuration(client: &Client, annotations: Value) {
    let webhooks = [webhook("a.example.org", "my-webhook-service"), webhook("b.example.org", "other")];
    let metadata = json!({"name": CONFIGURATION, "annotations": annotations});
    let configuration = object(json!({"metadata": metadata, "webhooks": webhooks}));
    configurations(client).create(&PostParams::default(), &configuration).await.unwrap();
}

/// Returns the CA bundles of both webhooks.
async fn bundles(client: &Client) -> [Option<String>; 2] {
    let webhooks = configurations(client).get(CONFIGURATION).await.unwrap().webhooks.unwrap();
    let bundle = |index: usize| {
        let bundle = webhooks[index].client_config.ca_bundle.clone();
        bundle.map(|ByteString(bytes)| String::from_utf8(bytes).unwrap())
    };
    [bundle(0), bundle(1)]
}

/// Connects as the API server does: with the bundle, and to the name of the Service.
async fn connect(running: &Running, bundle: &str) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(HOST).unwrap(), running.connect().await).await
}

/// A replica of an operator: its certificates and the server with them.
struct Replica {
    managed: SelfManaged,
    server: Running,
    stop: CancellationToken,
    task: JoinHandle<()>,
    leading: Option<CancellationToken>,
}

impl Replica {
    async fn start(client: &Client, config: SelfManagedConfig) -> Self {
        let managed = SelfManaged::new(client.clone(), config).unwrap();
        let server = Running::start_tls(&managed.certificates()).await;
        let stop = CancellationToken::new();
        let (running, cancelled) = (managed.clone(), stop.clone());
        let task = tokio::spawn(async move { running.run(cancelled).await.unwrap() });
        Replica { managed, server, stop, task, leading: None }
    }

    fn certificates(&self) -> Certificates {
        self.managed.certificates()
    }

    fn lead(&mut self) {
        let stop = CancellationToken::new();
        drop(tokio::spawn(self.managed.rotation().run(stop.clone())));
        self.leading = Some(stop);
    }

    fn resign(&mut self) {
        if let Some(leading) = self.leading.take() {
            leading.cancel();
        }
    }

    /// Waits until the certificate is trusted by the configuration.
    async fn trusted(&self, client: &Client) -> String {
        until(async || match bundles(client).await {
            [Some(bundle), _] => connect(&self.server, &bundle).await.is_ok(),
            _ => false,
        })
        .await;
        let [bundle, _] = bundles(client).await;
        bundle.unwrap()
    }

    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

#[tokio::test]
async fn the_first_certificate_needs_no_leader_and_changes_one_field() {
    let client = ApiServer::new().client();
    create_configuration(&client, json!({})).await;
    let replica = Replica::start(&client, config()).await;
    assert!(replica.certificates().check().is_err(), "nothing is issued yet");
    replica.trusted(&client).await;
    replica.certificates().check().unwrap();
    let [served, other] = bundles(&client).await;
    assert!(served.is_some() && other.is_none());
    until(async || !owns_a_field(&client).await).await;
    assert_eq!(bundles(&client).await, [served, other], "without an owner, the bundle remains");
    let data = secrets(&client).get(SECRET).await.unwrap().data.unwrap();
    assert_eq!(data.keys().collect::<Vec<_>>(), ["ca.crt", "ca.key", "tls.crt", "tls.key"]);
    replica.stop().await;
}

/// Whether the certificates own a field of the configuration.
async fn owns_a_field(client: &Client) -> bool {
    let configuration = configurations(client).get(CONFIGURATION).await.unwrap();
    let mut managers = configuration.metadata.managed_fields.unwrap().into_iter().filter_map(|entry| entry.manager);
    managers.any(|manager| manager == "my-certificates")
}

#[tokio::test]
async fn a_webhook_with_a_published_bundle_can_be_removed() {
    let client = ApiServer::new().client();
    let apply = async |webhooks: &[Value]| {
        let metadata = json!({"name": CONFIGURATION});
        let (api_version, kind) = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration");
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "webhooks": webhooks});
        let params = PatchParams::apply("installer");
        configurations(&client).patch(CONFIGURATION, &params, &Patch::Apply(object)).await.unwrap()
    };
    let [kept, removed] = ["a.example.org", "b.example.org"].map(|name| webhook(name, "my-webhook-service"));
    apply(&[kept.clone(), removed]).await;
    let replica = Replica::start(&client, config()).await;
    replica.trusted(&client).await;
    until(async || !owns_a_field(&client).await).await;
    assert!(bundles(&client).await.iter().all(Option::is_some));

    let webhooks = apply(&[kept]).await.webhooks.unwrap();
    let [webhook] = &webhooks[..] else { panic!("{webhooks:?}") };
    assert!(webhook.name == "a.example.org" && webhook.client_config.ca_bundle.is_some());
    replica.stop().await;
}

#[tokio::test]
async fn connections_are_trusted_during_rotations_and_restarts() {
    const LAG: Duration = Duration::from_millis(200);
    let client = ApiServer::new().client();
    create_configuration(&client, json!({})).await;
    let mut replicas = VecDeque::new();
    for _ in 0..3 {
        replicas.push_back(Replica::start(&client, config()).await);
    }
    replicas[0].lead();
    let first = replicas[0].trusted(&client).await;
    let (start, mut seen) = (Instant::now(), VecDeque::from([(Instant::now(), first.clone())]));
    let (mut connections, mut restarted) = (0, 0);
    while start.elapsed() < Duration::from_secs(20) {
        let [bundle, _] = bundles(&client).await;
        seen.push_back((Instant::now(), bundle.unwrap()));
        while seen.len() > 1 && seen[1].0.elapsed() >= LAG {
            seen.pop_front();
        }
        for replica in &replicas {
            // A replica that is not ready gets no connections.
            if replica.certificates().check().is_ok() {
                let connected = connect(&replica.server, &seen[0].1).await;
                assert!(connected.is_ok(), "after {:?}: {connected:?}", start.elapsed());
                connections += 1;
            }
        }
        if start.elapsed().as_secs() / 2 > restarted {
            restarted += 1;
            // The leader is killed, and another replica takes over.
            if let Some(mut killed) = replicas.pop_front() {
                killed.resign();
                killed.task.abort();
            }
            replicas.push_back(Replica::start(&client, config()).await);
            replicas[0].lead();
        }
        sleep(Duration::from_millis(10)).await;
    }
    assert!(connections > 100, "{connections}");
    let last = replicas[0].trusted(&client).await;
    assert!(!last.contains(first.trim()), "the first authority is not trusted anymore");
}

#[tokio::test]
async fn a_deleted_secret_is_replaced_while_connections_are_trusted() {
    let client = ApiServer::new().client();
    create_configuration(&client, json!({})).await;
    let long = Duration::from_secs(3600);
    let config = config().certificate_lifetime(long).authority_lifetime(long);
    let replica = Replica::start(&client, config).await;
    let first = replica.trusted(&client).await;
    secrets(&client).delete(SECRET, &DeleteParams::default()).await.unwrap();
    until(async || {
        let [bundle, _] = bundles(&client).await;
        assert!(connect(&replica.server, bundle.as_deref().unwrap()).await.is_ok());
        let secret = secrets(&client).get_opt(SECRET).await.unwrap();
        secret.is_some_and(|secret| secret.data.is_some_and(|data| data.contains_key("tls.crt")))
    })
    .await;
    let bundle = replica.trusted(&client).await;
    assert!(bundle != first && bundle.contains(first.trim()), "both authorities are trusted");
    replica.stop().await;
}

#[tokio::test]
async fn a_leaked_authority_is_revoked_by_an_annotation() {
    let client = ApiServer::new().client();
    create_configuration(&client, json!({})).await;
    let long = Duration::from_secs(3600);
    let mut replica = Replica::start(&client, config().certificate_lifetime(long).authority_lifetime(long)).await;
    replica.lead();
    let leaked = replica.trusted(&client).await;
    let annotation = json!({"metadata": {"annotations": {"certificates.kubewright.dev/revoke": "1"}}});
    secrets(&client).patch(SECRET, &PatchParams::default(), &Patch::Merge(annotation)).await.unwrap();
    until(async || bundles(&client).await[0].as_deref().is_some_and(|bundle| !bundle.contains(leaked.trim()))).await;
    let bundle = replica.trusted(&client).await;
    assert!(connect(&replica.server, &leaked).await.is_err(), "the server has a certificate of the new authority");
    // The revocation is executed once, and the old authority does not return.
    sleep(Duration::from_secs(1)).await;
    assert_eq!(bundles(&client).await[0].as_deref(), Some(bundle.as_str()));
    replica.stop().await;
}

#[tokio::test]
async fn a_bundle_of_cert_manager_is_not_changed() {
    let client = ApiServer::new().client();
    create_configuration(&client, json!({"cert-manager.io/inject-ca-from": "default/a"})).await;
    let replica = Replica::start(&client, config()).await;
    until(async || replica.managed.check().is_err()).await;
    let expected = format!(
        "validatingwebhookconfigurations/{CONFIGURATION} has the annotation `cert-manager.io/inject-ca-from`, so that \
         cert-manager writes its CA bundle; remove the annotation, or mount the certificate of cert-manager and pass \
         its directory to the operator"
    );
    assert_eq!(replica.managed.check().unwrap_err(), expected);
    assert_eq!(bundles(&client).await, [None, None]);
    assert!(secrets(&client).get_opt(SECRET).await.unwrap().is_none());
    replica.stop().await;
}

/// Creates a role with these rules for the operator, and its binding.
async fn permit(client: &Client, name: &str, rules: Vec<PolicyRule>) {
    let metadata = json!({"name": name});
    let role = object(json!({"metadata": metadata, "rules": rules}));
    let roles: Api<k8s_openapi::api::rbac::v1::ClusterRole> = Api::all(client.clone());
    roles.create(&PostParams::default(), &role).await.unwrap();
    let binding = object(json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "operator"}],
    }));
    let bindings: Api<k8s_openapi::api::rbac::v1::ClusterRoleBinding> = Api::all(client.clone());
    bindings.create(&PostParams::default(), &binding).await.unwrap();
}

#[tokio::test]
async fn the_described_permissions_are_sufficient_and_restricted_to_names() {
    let server = ApiServer::builder().rbac(true).build();
    let (client, operator) = (server.client(), server.client_as("system:serviceaccount:default:operator", &[]));
    create_configuration(&client, json!({})).await;
    let permissions = SelfManaged::new(operator.clone(), config()).unwrap().describe().permissions;
    for scope in [PermissionScope::Certificates, PermissionScope::CaBundles] {
        let rules = permissions
            .iter()
            .filter(|permission| permission.scope == scope)
            .map(|permission| permission.rule.clone())
            .collect::<Vec<_>>();
        assert!(!rules.is_empty() && rules.iter().all(|rule| rule.resource_names.is_some()), "{rules:?}");
        permit(&client, &format!("{scope:?}").to_lowercase(), rules).await;
    }
    let mut replica = Replica::start(&operator, config()).await;
    replica.lead();
    replica.trusted(&client).await;
    assert_eq!(replica.managed.last_error(), None);
    replica.stop().await;
}

#[tokio::test]
async fn expiration_and_changes_are_measured_and_keys_are_not_printed() {
    let (client, metrics) = (ApiServer::new().client(), Metrics::default());
    create_configuration(&client, json!({})).await;
    let replica = Replica::start(&client, config().metrics(metrics.clone())).await;
    replica.trusted(&client).await;
    let text = metrics.text();
    for line in [
        "certwatcher_certificate_expiration_timestamp_seconds{name=\"webhook\"} 1",
        "webhook_certificate_authority_expiration_timestamp_seconds 1",
        "webhook_certificate_changes_total 1",
    ] {
        assert!(text.contains(line) || text.contains(&line.replacen(' ', "{} ", 1)), "{line}\n{text}");
    }
    assert!(!format!("{:?}", replica.managed).contains("PRIVATE KEY"));
    replica.stop().await;
}
