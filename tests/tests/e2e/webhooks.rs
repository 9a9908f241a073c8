//! Webhooks that the real server calls over TLS, with a certificate authority that exists for one trial only.

use std::{error::Error as StdError, fs, net::TcpListener, sync::Arc, time::Duration};

use http::{Method, Request, header::WARNING};
use k8s_openapi::{
    ByteString,
    api::{
        admissionregistration::v1::{
            MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
        },
        core::v1::ConfigMap,
    },
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};
use kube::{
    Api, Client, Error,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams},
    core::Status,
};
use kubewright_core::description::ConversionWebhookDescription;
use kubewright_manager::{
    Manager, ManagerError, Webhook, Webhooks,
    serving::{Certificates, ClientCa, ServerConfig},
    webhooks::{AdmissionRequest, Denied, FieldError, Operation, Validator},
};
use libtest_mimic::{Failed, Trial};
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{Suite, client, client_trial};

/// The limit of every wait, in real time.
const TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
/// The namespace whose objects are reviewed. Other trials use others.
const NAMESPACE: &str = "webhooks";

type Outcome = Result<(), Failed>;

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![
        client_trial(suite, "webhooks::objects_are_defaulted_and_validated", admission),
        authenticated_trial(suite, "webhooks::objects_are_converted", conversion),
        authenticated_trial(suite, "webhooks::forged_reviews_are_rejected", forged_reviews),
    ]
}

/// Creates a trial with a client of the control plane, and a server that verifies the certificates of clients.
fn authenticated_trial(
    suite: &Arc<Suite>,
    name: &str,
    run: impl AsyncFnOnce(Client, ServerConfig) -> Outcome + Send + 'static,
) -> Trial {
    suite.test(name, move |environment| {
        let authority = ClientCa::from_file(environment.clients.directory.path().join(AUTHORITY))?;
        let config = ServerConfig::new("webhooks", 0).client_ca(authority);
        tokio::runtime::Runtime::new()?.block_on(async { run(client(&environment.control_plane).await?, config).await })
    })
}

const AUTHORITY: &str = "ca.crt";
const KUBECONFIG: &str = "kubeconfig";
const ADMISSION: &str = "admission.yaml";

/// The certificate with which the API server calls admission webhooks.
pub(super) struct ClientCredentials {
    directory: TempDir,
}

impl ClientCredentials {
    pub(super) fn create() -> Result<Self, Box<dyn StdError>> {
        let directory = tempfile::tempdir()?;
        let Credentials { authority, certificate, key } = Credentials::create(ExtendedKeyUsagePurpose::ClientAuth)?;
        fs::write(directory.path().join(AUTHORITY), authority)?;
        let user = json!({
            "client-certificate-data": ByteString(certificate.into_bytes()),
            "client-key-data": ByteString(key.into_bytes()),
        });
        let kubeconfig = directory.path().join(KUBECONFIG);
        let users = json!([{ "name": "*", "user": user }]);
        fs::write(&kubeconfig, json!({ "apiVersion": "v1", "kind": "Config", "users": users }).to_string())?;
        let plugin = |name: &str| {
            json!({ "name": name, "configuration": {
                "apiVersion": "apiserver.config.k8s.io/v1",
                "kind": "WebhookAdmissionConfiguration",
                "kubeConfigFile": kubeconfig,
            } })
        };
        let admission = json!({
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "AdmissionConfiguration",
            "plugins": [plugin("MutatingAdmissionWebhook"), plugin("ValidatingAdmissionWebhook")],
        });
        fs::write(directory.path().join(ADMISSION), admission.to_string())?;
        Ok(ClientCredentials { directory })
    }

    /// Returns the flag of kube-apiserver.
    pub(super) fn flag(&self) -> String {
        format!("--admission-control-config-file={}", self.directory.path().join(ADMISSION).display())
    }
}

/// A manager that serves webhooks on a free port.
struct Serving {
    url: String,
    authority: String,
    stop: CancellationToken,
    task: JoinHandle<Result<(), ManagerError>>,
    _files: TempDir,
}

impl Serving {
    fn start(client: &Client, webhooks: &Webhooks) -> Result<Self, Failed> {
        Self::start_with(client, ServerConfig::new("webhooks", 0), webhooks)
    }

    fn start_with(client: &Client, config: ServerConfig, webhooks: &Webhooks) -> Result<Self, Failed> {
        let files = tempfile::tempdir()?;
        let (certificate, key) = (files.path().join("tls.crt"), files.path().join("tls.key"));
        let credentials = Credentials::create(ExtendedKeyUsagePurpose::ServerAuth)?;
        fs::write(&certificate, credentials.certificate)?;
        fs::write(&key, credentials.key)?;
        let authority = credentials.authority;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let manager = Manager::builder(client.clone())
            .shutdown_delay(Duration::ZERO)
            .serve_webhooks(config.address(address), Certificates::from_files(certificate, key)?, webhooks)
            .build()?;
        let (url, stop) = (format!("https://{address}"), CancellationToken::new());
        let stopped = stop.clone();
        let task = tokio::spawn(async move { manager.run(stopped).await });
        Ok(Serving { url, authority, stop, task, _files: files })
    }

    fn client_config(&self, path: &str) -> WebhookClientConfig {
        WebhookClientConfig {
            ca_bundle: Some(ByteString(self.authority.clone().into_bytes())),
            url: Some(format!("{}{path}", self.url)),
            service: None,
        }
    }

    async fn stop(self) -> Outcome {
        self.stop.cancel();
        Ok(timeout(TIMEOUT, self.task).await???)
    }
}

/// A certificate authority, and a certificate of the loopback interface with its key, in PEM.
struct Credentials {
    authority: String,
    certificate: String,
    key: String,
}

impl Credentials {
    fn create(usage: ExtendedKeyUsagePurpose) -> Result<Self, rcgen::Error> {
        let (key, mut params) = (KeyPair::generate()?, CertificateParams::default());
        params.distinguished_name.push(DnType::CommonName, "webhooks");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        let authority = params.self_signed(&key)?.pem();
        let issuer = Issuer::new(params, key);
        let (key, mut params) = (KeyPair::generate()?, CertificateParams::new(["127.0.0.1".to_owned()])?);
        params.extended_key_usages = vec![usage];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &issuer)?.pem();
        Ok(Credentials { authority, certificate, key: key.serialize_pem() })
    }
}

fn level(map: &ConfigMap) -> &str {
    map.data.as_ref().and_then(|data| data.get("level")).map(String::as_str).unwrap_or_default()
}

fn set_level(map: &mut ConfigMap, _: &AdmissionRequest) -> Result<(), Denied> {
    map.data.get_or_insert_default().entry("level".to_owned()).or_insert_with(|| "info".to_owned());
    Ok(())
}

/// Validates the levels of config maps.
struct Levels;

impl Validator<ConfigMap> for Levels {
    async fn validate_create(&self, map: &ConfigMap, request: &AdmissionRequest) -> Result<(), Denied> {
        request.warn("levels are validated");
        match level(map) {
            "loud" => Err(Denied::invalid([FieldError::invalid("data.level", "loud", "must be quiet")])),
            _ => Ok(()),
        }
    }

    async fn validate_update(&self, map: &ConfigMap, old: &ConfigMap, _: &AdmissionRequest) -> Result<(), Denied> {
        if level(map) == level(old) { Ok(()) } else { Err(Denied::forbidden("the level must not be changed")) }
    }

    async fn validate_delete(&self, map: &ConfigMap, _: &AdmissionRequest) -> Result<(), Denied> {
        if level(map) == "pinned" { Err(Denied::forbidden("the config map is pinned")) } else { Ok(()) }
    }
}

fn admission_webhooks() -> Webhooks {
    let labels = [("kubernetes.io/metadata.name".to_owned(), NAMESPACE.to_owned())];
    let selector = LabelSelector { match_labels: Some(labels.into()), ..LabelSelector::default() };
    let operations = [Operation::Create, Operation::Update, Operation::Delete];
    Webhooks::new()
        .webhook(Webhook::defaulting::<ConfigMap>(set_level).namespace_selector(selector.clone()))
        .webhook(Webhook::validating::<ConfigMap>(Levels).operations(operations).namespace_selector(selector))
}

/// Config maps are defaulted and validated by the webhooks, until the webhooks end.
async fn admission(client: Client) -> Outcome {
    let webhooks = admission_webhooks();
    let serving = Serving::start(&client, &webhooks)?;
    tests::namespace(&client, NAMESPACE).await;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let configurations = Configurations::install(&client, &webhooks, &serving).await?;
    until_defaulted(&maps).await?;

    let created = maps.create(&PostParams::default(), &config_map("a", None)).await?;
    assert_eq!(level(&created), "info");
    check_denials(&maps).await?;
    check_warning(&client).await?;

    serving.stop().await?;
    let status = rejection(maps.create(&PostParams::default(), &config_map("c", None)).await);
    assert_eq!(status.code, 500, "{status:?}");
    let prefix = "Internal error occurred: failed calling webhook \"mconfigmap-v1.core.k8s.io\": ";
    assert!(status.message.starts_with(prefix), "{}", status.message);
    configurations.delete().await
}

async fn check_denials(maps: &Api<ConfigMap>) -> Outcome {
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    for options in [PostParams::default(), dry_run] {
        let status = rejection(maps.create(&options, &config_map("b", Some("loud"))).await);
        assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
        let expected = "admission webhook \"vconfigmap-v1.core.k8s.io\" denied the request: ConfigMap \"b\" is invalid: \
                        data.level: Invalid value: \"loud\": must be quiet";
        assert_eq!(status.message, expected);
        let causes = status.details.ok_or("the status has details")?.causes;
        assert_eq!((causes[0].field.as_str(), causes[0].reason.as_str()), ("data.level", "FieldValueInvalid"));
    }
    let change = Patch::Merge(json!({ "data": { "level": "debug" } }));
    let status = rejection(maps.patch("a", &PatchParams::default(), &change).await);
    assert_eq!((status.code, status.reason.as_str()), (403, "Forbidden"));
    assert!(status.message.ends_with("the level must not be changed"), "{}", status.message);
    maps.create(&PostParams::default(), &config_map("pinned", Some("pinned"))).await?;
    let status = rejection(maps.delete("pinned", &DeleteParams::default()).await.map(drop));
    assert!(status.message.ends_with("the config map is pinned"), "{}", status.message);
    Ok(())
}

/// The warning of a webhook is a header of the response.
async fn check_warning(client: &Client) -> Outcome {
    let request = Request::builder()
        .method(Method::POST)
        .uri(format!("/api/v1/namespaces/{NAMESPACE}/configmaps"))
        .header("content-type", "application/json")
        .body(kube::client::Body::from(serde_json::to_vec(&config_map("warned", None))?))?;
    let response = client.send(request).await?;
    assert_eq!(response.headers()[WARNING], "299 - \"levels are validated\"");
    Ok(())
}

fn config_map(name: &str, level: Option<&str>) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let data = level.map(|level| [("level".to_owned(), level.to_owned())].into());
    ConfigMap { metadata, data, ..ConfigMap::default() }
}

/// Waits until the server calls both webhooks: it watches their configurations.
async fn until_defaulted(maps: &Api<ConfigMap>) -> Outcome {
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    let wait = async {
        loop {
            let is_defaulted =
                maps.create(&dry_run, &config_map("probe", None)).await.is_ok_and(|map| level(&map) == "info");
            let is_validated = maps.create(&dry_run, &config_map("probe", Some("loud"))).await.is_err();
            if is_defaulted && is_validated {
                return;
            }
            sleep(POLL).await;
        }
    };
    Ok(timeout(TIMEOUT, wait).await?)
}

fn rejection<T: std::fmt::Debug>(result: kube::Result<T>) -> Box<Status> {
    match result {
        Err(Error::Api(status)) => status,
        other => panic!("the request is not rejected: {other:?}"),
    }
}

/// The configurations of the webhooks on the server.
struct Configurations {
    mutating: Api<MutatingWebhookConfiguration>,
    validating: Api<ValidatingWebhookConfiguration>,
}

impl Configurations {
    const NAME: &str = "e2e-webhooks";

    async fn install(client: &Client, webhooks: &Webhooks, serving: &Serving) -> Result<Self, Failed> {
        let configurations =
            Configurations { mutating: Api::all(client.clone()), validating: Api::all(client.clone()) };
        let mutating = webhooks.mutating_configuration(Self::NAME, |path| serving.client_config(path));
        configurations.mutating.create(&PostParams::default(), &mutating).await?;
        let validating = webhooks.validating_configuration(Self::NAME, |path| serving.client_config(path));
        configurations.validating.create(&PostParams::default(), &validating).await?;
        Ok(configurations)
    }

    async fn delete(self) -> Outcome {
        self.mutating.delete(Self::NAME, &DeleteParams::default()).await?;
        self.validating.delete(Self::NAME, &DeleteParams::default()).await?;
        Ok(())
    }
}

const GROUP: &str = "conversion.example.com";

/// Renames `spec.speed` of v1 to `spec.pace` of v2, and back. There are no negative numbers in the other version.
fn convert(object: &mut Value, target: &str) -> Result<(), String> {
    let (from, to) = if target.ends_with("/v2") { ("speed", "pace") } else { ("pace", "speed") };
    let spec = object.get_mut("spec").and_then(Value::as_object_mut);
    if let Some((spec, value)) = spec.and_then(|spec| spec.remove(from).map(|value| (spec, value))) {
        if value.as_i64().is_some_and(|number| number < 0) {
            return Err(format!("`spec.{from}` is negative"));
        }
        spec.insert(to.to_owned(), value);
    }
    object["apiVersion"] = json!(target);
    Ok(())
}

fn definition(client_config: &WebhookClientConfig) -> Value {
    let version = |name: &str, field: &str| {
        let spec = json!({ "type": "object", "properties": { field: { "type": "integer" } } });
        let schema = json!({ "type": "object", "properties": { "spec": spec } });
        json!({ "name": name, "served": true, "storage": name == "v1", "schema": { "openAPIV3Schema": schema } })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("gauges.{GROUP}") },
        "spec": {
            "group": GROUP,
            "names": { "kind": "Gauge", "plural": "gauges", "singular": "gauge", "listKind": "GaugeList" },
            "scope": "Namespaced",
            "versions": [version("v1", "speed"), version("v2", "pace")],
            "conversion": {
                "strategy": "Webhook",
                "webhook": { "clientConfig": client_config, "conversionReviewVersions": ["v1"] },
            },
        },
    })
}

/// A review that is not of the API server is rejected: only the API server has a certificate.
async fn forged_reviews(client: Client, config: ServerConfig) -> Outcome {
    const NAMESPACE: &str = "forged-reviews";
    let labels = [("kubernetes.io/metadata.name".to_owned(), NAMESPACE.to_owned())];
    let selector = LabelSelector { match_labels: Some(labels.into()), ..LabelSelector::default() };
    let webhook = Webhook::validating::<ConfigMap>(Levels).name("forged.example.com").namespace_selector(selector);
    let path = webhook.description().path.clone();
    let webhooks = Webhooks::new().webhook(webhook);
    let serving = Serving::start_with(&client, config, &webhooks)?;
    tests::namespace(&client, NAMESPACE).await;
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let configuration = webhooks.validating_configuration("forged-reviews", |path| serving.client_config(path));
    configurations.create(&PostParams::default(), &configuration).await?;
    let maps: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    let create = async |level| maps.create(&PostParams::default(), &config_map(level, Some(level))).await;
    let denied = async {
        while create("loud").await.is_ok() {
            maps.delete("loud", &DeleteParams::default()).await?;
            sleep(POLL).await;
        }
        Ok::<_, Error>(())
    };
    timeout(TIMEOUT, denied).await??;
    create("quiet").await?;

    let mut stranger = kube::Config::new(serving.url.parse()?);
    stranger.accept_invalid_certs = true;
    let review = json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": { "uid": "1" } });
    let request = Request::post(path).header("content-type", "application/json");
    let request = request.body(kube::client::Body::from(review.to_string().into_bytes()))?;
    let response = Client::try_from(stranger)?.send(request).await?;
    assert_eq!(response.status(), 401);
    configurations.delete("forged-reviews", &DeleteParams::default()).await?;
    serving.stop().await
}

/// Objects of two versions are written and read in the other one. The API server has no certificate for conversions.
async fn conversion(client: Client, config: ServerConfig) -> Outcome {
    let description = ConversionWebhookDescription::new(GROUP, "Gauge", "gauges");
    let path = description.path.clone();
    let webhooks = Webhooks::new().conversion(description, convert);
    let serving = Serving::start_with(&client, config, &webhooks)?;
    let definition = serde_json::from_value(definition(&serving.client_config(&path)))?;
    tests::install(&client, [definition]).await;
    let api = |version: &str| -> Api<DynamicObject> {
        Api::default_namespaced_with(
            client.clone(),
            &ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, version, "Gauge")),
        )
    };
    let (first, second) = (api("v1"), api("v2"));
    let gauge = |version: &str, name: &str, spec: Value| -> Result<DynamicObject, serde_json::Error> {
        let metadata = json!({ "name": name });
        let api_version = format!("{GROUP}/{version}");
        serde_json::from_value(
            json!({ "apiVersion": api_version, "kind": "Gauge", "metadata": metadata, "spec": spec }),
        )
    };
    first.create(&PostParams::default(), &gauge("v1", "a", json!({ "speed": 1 }))?).await?;
    second.create(&PostParams::default(), &gauge("v2", "b", json!({ "pace": 2 }))?).await?;
    assert_eq!(second.get("a").await?.data["spec"], json!({ "pace": 1 }));
    assert_eq!(first.get("b").await?.data["spec"], json!({ "speed": 2 }));
    let listed: Vec<_> =
        second.list(&ListParams::default()).await?.into_iter().map(|object| object.data["spec"].clone()).collect();
    assert_eq!(listed, [json!({ "pace": 1 }), json!({ "pace": 2 })]);
    let change = Patch::Apply(gauge("v2", "a", json!({ "pace": 3 }))?);
    second.patch("a", &PatchParams::apply("e2e").force(), &change).await?;
    assert_eq!(first.get("a").await?.data["spec"], json!({ "speed": 3 }));

    first.create(&PostParams::default(), &gauge("v1", "bad", json!({ "speed": -1 }))?).await?;
    let status = rejection(second.get("bad").await);
    let expected = format!(
        "conversion webhook for {GROUP}/v1, Kind=Gauge failed: cannot convert Gauge `default/bad` from `{GROUP}/v1` to \
         `{GROUP}/v2`: `spec.speed` is negative"
    );
    assert_eq!((status.code, status.message.as_str()), (500, expected.as_str()));
    first.delete("bad", &DeleteParams::default()).await?;
    serving.stop().await
}
