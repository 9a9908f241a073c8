//! Releases A, B and A again: what only one of them has is installed and taken back.

use std::time::Duration;

use k8s_openapi::{
    ByteString, api::admissionregistration::v1::ValidatingWebhookConfiguration,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use kubewright_core::description::{
    AdmissionType, AdmissionWebhookDescription, ConversionWebhookDescription, KindDescription, OperatorDescription,
    WebhookNames,
};
use kubewright_manager::{
    crds::Definitions,
    serving::{SelfManaged, SelfManagedConfig},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::namespace;

const DEFINITION: &str = "parcels.releases.example.org";
const CONFIGURATION: &str = "releases-validating-webhook-configuration";
const SERVICE: &str = "releases-webhook-service";

/// The program that writes the CA bundles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Injector {
    /// The operator itself.
    SelfManaged,
    /// A program that owns what it writes, as cert-manager does.
    Owner,
}

pub(super) async fn webhooks_of_one_release_only_are_taken_back(client: Client) {
    let namespace = namespace(&client, "releases").await;
    for injector in [Injector::SelfManaged, Injector::Owner] {
        let stop = CancellationToken::new();
        let certificates = SelfManaged::new(client.clone(), certificates(&namespace)).unwrap();
        let (rotation, token) = (certificates.rotation(), stop.clone());
        let running = (injector == Injector::SelfManaged).then(|| {
            tokio::spawn(async move {
                let ((), result) = tokio::join!(rotation.run(token.clone()), certificates.run(token));
                result.unwrap();
            })
        });
        apply_a(&client, &namespace).await;
        for _ in 0..2 {
            apply_b(&client, &namespace).await;
            if injector == Injector::Owner {
                write_bundles(&client).await;
            }
            wait_until_published(&client, injector).await;
            apply_a(&client, &namespace).await;
            let definition = definitions(&client).get(DEFINITION).await.unwrap();
            let conversion = definition.spec.conversion.unwrap();
            assert!(conversion.strategy == "None" && conversion.webhook.is_none(), "{conversion:?}");
        }
        stop.cancel();
        if let Some(running) = running {
            running.await.unwrap();
        }
    }
    configurations(&client).delete(CONFIGURATION, &Default::default()).await.unwrap();
    definitions(&client).delete(DEFINITION, &Default::default()).await.unwrap();
}

fn definitions(client: &Client) -> Api<CustomResourceDefinition> {
    Api::all(client.clone())
}

fn configurations(client: &Client) -> Api<ValidatingWebhookConfiguration> {
    Api::all(client.clone())
}

fn certificates(namespace: &str) -> SelfManagedConfig {
    let parcel = KindDescription {
        group: "releases.example.org".to_owned(),
        version: "v1".to_owned(),
        kind: "Parcel".to_owned(),
        plural: "parcels".to_owned(),
        namespaced: true,
    };
    let description = OperatorDescription {
        admission_webhooks: vec![AdmissionWebhookDescription::new(AdmissionType::Validating, parcel)],
        conversion_webhooks: vec![conversion()],
        ..OperatorDescription::default()
    };
    SelfManagedConfig::for_service(namespace, WebhookNames::new("releases"))
        .webhooks(&description)
        .poll_interval(Duration::from_millis(100))
}

fn conversion() -> ConversionWebhookDescription {
    ConversionWebhookDescription::new("releases.example.org", "Parcel", "parcels")
}

/// Applies a release with one version, and one webhook.
async fn apply_a(client: &Client, namespace: &str) {
    apply_definition(client, &["v1"], None).await;
    apply_webhooks(client, namespace, &["a.example.org"]).await;
}

/// Applies a release with two versions, their conversion, and two webhooks.
async fn apply_b(client: &Client, namespace: &str) {
    apply_definition(client, &["v1", "v2"], Some(namespace)).await;
    apply_webhooks(client, namespace, &["a.example.org", "b.example.org"]).await;
}

async fn apply_definition(client: &Client, versions: &[&str], converted_in: Option<&str>) {
    let version = |name: &&str| {
        json!({
            "name": name, "served": true, "storage": *name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object"}},
        })
    };
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": DEFINITION},
        "spec": {
            "group": "releases.example.org",
            "names": {"kind": "Parcel", "listKind": "ParcelList", "plural": "parcels", "singular": "parcel"},
            "scope": "Namespaced",
            "versions": versions.iter().map(version).collect::<Vec<_>>(),
        },
    });
    let mut definitions = Definitions::parse(&definition.to_string()).unwrap();
    if let Some(namespace) = converted_in {
        definitions = definitions.convert(&[conversion()], namespace, &WebhookNames::new("releases"), None);
    }
    definitions.plan(client.clone()).await.unwrap().apply("releases-crds", true).await.unwrap();
}

async fn apply_webhooks(client: &Client, namespace: &str, names: &[&str]) {
    let service = json!({"namespace": namespace, "name": SERVICE, "path": "/validate"});
    let rule = json!({
        "apiGroups": ["releases.example.org"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["parcels"],
    });
    let webhook = |name: &&str| {
        json!({
            "name": name, "admissionReviewVersions": ["v1"], "clientConfig": {"service": service},
            "sideEffects": "None", "rules": [rule],
        })
    };
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": CONFIGURATION},
        "webhooks": names.iter().map(webhook).collect::<Vec<_>>(),
    });
    let params = PatchParams::apply("releases-deploy");
    let applied = configurations(client).patch(CONFIGURATION, &params, &Patch::Apply(configuration)).await.unwrap();
    assert_eq!(applied.webhooks.unwrap().len(), names.len());
}

/// Writes the bundles as a program that owns them.
async fn write_bundles(client: &Client) {
    let config = json!({"caBundle": ByteString(ca().into_bytes())});
    let patch: Value = json!({"spec": {"conversion": {"webhook": {"clientConfig": config}}}});
    let params = PatchParams { field_manager: Some("injector".to_owned()), ..PatchParams::default() };
    definitions(client).patch(DEFINITION, &params, &Patch::Merge(patch)).await.unwrap();
}

/// Returns a certificate that the API server accepts.
fn ca() -> String {
    rcgen::generate_simple_self_signed(["releases".to_owned()]).unwrap().cert.pem()
}

/// Waits until all webhooks have a bundle, and those of the operator itself have no owner.
async fn wait_until_published(client: &Client, injector: Injector) {
    let published = async || {
        let definition = definitions(client).get(DEFINITION).await.unwrap();
        let configuration = configurations(client).get(CONFIGURATION).await.unwrap();
        let managers = [&definition.metadata.managed_fields, &configuration.metadata.managed_fields];
        let mut managers = managers.into_iter().flatten().flatten().filter_map(|entry| entry.manager.as_deref());
        let conversion = definition.spec.conversion.unwrap().webhook.unwrap();
        let has_bundle = conversion.client_config.unwrap().ca_bundle.is_some();
        let webhooks = configuration.webhooks.unwrap();
        let have_bundles = webhooks.iter().all(|webhook| webhook.client_config.ca_bundle.is_some());
        match injector {
            Injector::SelfManaged => {
                has_bundle && have_bundles && !managers.any(|manager| manager == "releases-certificates")
            }
            Injector::Owner => has_bundle,
        }
    };
    for _ in 0..600 {
        if published().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the bundles are not published within a minute");
}
