//! The webhooks of a program on the embedded API server, without TLS.

use k8s_openapi::{
    api::{
        admissionregistration::v1::{ServiceReference, WebhookClientConfig},
        core::v1::ConfigMap,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Error,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use serde_json::json;

use crate::fixture::webhooks;

fn client_config(path: &str) -> WebhookClientConfig {
    let service = ServiceReference {
        name: "webhook-service".to_owned(),
        namespace: "system".to_owned(),
        path: Some(path.to_owned()),
        port: None,
    };
    WebhookClientConfig { service: Some(service), ..WebhookClientConfig::default() }
}

/// Returns the config maps of a server that calls the webhooks.
fn config_maps() -> Api<ConfigMap> {
    let (server, webhooks) = (ApiServer::new(), webhooks());
    server.load(&webhooks.mutating_configuration("test", client_config)).unwrap();
    server.load(&webhooks.validating_configuration("test", client_config)).unwrap();
    server.call_webhooks(webhooks.into_service().unwrap());
    Api::default_namespaced(server.client())
}

fn config_map(name: &str, data: &[(&str, &str)]) -> ConfigMap {
    let data = data.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, data: Some(data), ..ConfigMap::default() }
}

#[tokio::test]
async fn objects_are_defaulted() {
    let maps = config_maps();
    let created = maps.create(&PostParams::default(), &config_map("a", &[("other", "x")])).await.unwrap();
    let data = json!(created.data);
    assert_eq!(data, json!({ "level": "info", "other": "x" }));
}

#[tokio::test]
async fn a_denial_has_the_causes_of_the_validator() {
    let maps = config_maps();
    let error = maps.create(&PostParams::default(), &config_map("a", &[("level", "loud")])).await.unwrap_err();
    let Error::Api(status) = error else { panic!("{error}") };
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
    let expected = "admission webhook \"vconfigmap-v1.core.k8s.io\" denied the request: ConfigMap \"a\" is invalid: \
                    data.level: Unsupported value: \"loud\": supported values: \"debug\", \"info\", \"pinned\"";
    assert_eq!(status.message, expected);
    assert_eq!(status.details.unwrap().causes[0].field, "data.level");
}

#[tokio::test]
async fn updates_and_deletions_are_validated() {
    let maps = config_maps();
    maps.create(&PostParams::default(), &config_map("a", &[("level", "pinned")])).await.unwrap();
    let change = Patch::Merge(json!({ "data": { "level": "info" } }));
    let error = maps.patch("a", &PatchParams::default(), &change).await.unwrap_err().to_string();
    assert!(error.contains("the level must not be changed"), "{error}");
    let error = maps.delete("a", &DeleteParams::default()).await.unwrap_err().to_string();
    assert!(error.contains("the config map is pinned"), "{error}");
}
