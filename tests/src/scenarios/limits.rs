//! Objects, bodies and patches above the limits of the server.

use std::collections::BTreeMap;

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Client, Error,
    api::{Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind, Request},
};
use serde_json::{Value, json};

use crate::namespace;

const MIB: usize = 1 << 20;

/// Returns the code, the reason and the message of a rejected request.
fn rejection<T>(outcome: Result<T, Error>) -> (u16, String, String) {
    match outcome {
        Err(Error::Api(status)) => (status.code, status.reason.clone(), status.message.clone()),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the request is accepted"),
    }
}

fn invalid(message: &str) -> (u16, String, String) {
    (422, "Invalid".to_owned(), message.to_owned())
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

fn text(length: usize) -> String {
    "x".repeat(length)
}

/// Returns a config map with a text and a binary value of these lengths.
fn config_map(name: &str, text_length: usize, binary_length: usize) -> ConfigMap {
    ConfigMap {
        metadata: named(name),
        data: Some(BTreeMap::from([("text".to_owned(), text(text_length))])),
        binary_data: Some(BTreeMap::from([("binary".to_owned(), ByteString(vec![0; binary_length]))])),
        ..ConfigMap::default()
    }
}

pub(super) async fn config_maps_and_secrets_of_more_than_1_mib_are_rejected(client: Client) {
    let namespace = namespace(&client, "large-data").await;
    let config_maps = Api::<ConfigMap>::namespaced(client.clone(), &namespace);
    let post = PostParams::default();
    config_maps.create(&post, &config_map("full", MIB - 10, 10)).await.unwrap();
    let rejected = rejection(config_maps.create(&post, &config_map("large", MIB - 10, 11)).await);
    let message = "is invalid: []: Too long: may not be more than 1048576 bytes";
    assert_eq!(rejected, invalid(&format!("ConfigMap \"large\" {message}")));
    let patch = Patch::Merge(json!({ "data": { "more": "x" } }));
    let rejected = rejection(config_maps.patch("full", &PatchParams::default(), &patch).await);
    assert_eq!(rejected, invalid(&format!("ConfigMap \"full\" {message}")));

    let secrets = Api::<Secret>::namespaced(client, &namespace);
    let secret = |name: &str, length: usize| Secret {
        metadata: named(name),
        string_data: Some(BTreeMap::from([("text".to_owned(), text(length))])),
        ..Secret::default()
    };
    secrets.create(&post, &secret("full", MIB)).await.unwrap();
    let rejected = rejection(secrets.create(&post, &secret("large", MIB + 1)).await);
    let message = "Secret \"large\" is invalid: data: Too long: may not be more than 1048576 bytes";
    assert_eq!(rejected, invalid(message));
}

pub(super) async fn annotations_of_more_than_256_kib_are_rejected(client: Client) {
    let namespace = namespace(&client, "large-annotations").await;
    let api = Api::<ConfigMap>::namespaced(client, &namespace);
    let annotated = |name: &str, length: usize| {
        let annotations = BTreeMap::from([("a".to_owned(), text(length - 1))]);
        ConfigMap { metadata: ObjectMeta { annotations: Some(annotations), ..named(name) }, ..ConfigMap::default() }
    };
    api.create(&PostParams::default(), &annotated("full", 256 << 10)).await.unwrap();
    let rejected = rejection(api.create(&PostParams::default(), &annotated("large", (256 << 10) + 1)).await);
    let message = "ConfigMap \"large\" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes";
    assert_eq!(rejected, invalid(message));
}

pub(super) async fn objects_above_the_limits_of_etcd_are_rejected(client: Client) {
    let namespace = namespace(&client, "large-objects").await;
    let kind = GroupVersionKind::gvk("apps", "v1", "Deployment");
    let api = Api::<DynamicObject>::namespaced_with(client, &namespace, &ApiResource::from_gvk(&kind));
    let deployment = |length: usize| -> DynamicObject {
        let labels = json!({ "app": "large" });
        let env = json!([{ "name": "TEXT", "value": text(length) }]);
        let template = json!({
            "metadata": { "labels": labels },
            "spec": { "containers": [{ "name": "main", "image": "main", "env": env }] },
        });
        let spec = json!({ "replicas": 0, "selector": { "matchLabels": labels }, "template": template });
        serde_json::from_value(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "large" }, "spec": spec,
        }))
        .unwrap()
    };
    let rejected = rejection(api.create(&PostParams::default(), &deployment(1_600_000)).await);
    assert_eq!(rejected, (500, String::new(), "etcdserver: request is too large".to_owned()));
    let (code, reason, message) = rejection(api.create(&PostParams::default(), &deployment(2_200_000)).await);
    assert_eq!((code, reason.as_str()), (500, ""));
    let size = message
        .strip_prefix("rpc error: code = ResourceExhausted desc = trying to send message larger than max (")
        .and_then(|rest| rest.strip_suffix(" vs. 2097152)"))
        .and_then(|size| size.parse::<usize>().ok());
    assert!(size.is_some_and(|size| (2_200_000..2_210_000).contains(&size)), "{message}");
    api.create(&PostParams::default(), &deployment(1_500_000)).await.unwrap();
}

/// Sends a patch of a media type to the config map `a`.
async fn patch(client: &Client, namespace: &str, media_type: &'static str, body: &str) -> (u16, String, String) {
    let url = Api::<ConfigMap>::namespaced(client.clone(), namespace).resource_url().to_owned();
    let params = PatchParams { field_manager: Some("tests".to_owned()), ..PatchParams::default() };
    let mut request = Request::new(url).patch("a", &params, &Patch::Merge(json!({}))).unwrap();
    request.headers_mut().insert("content-type", media_type.parse().unwrap());
    *request.body_mut() = body.as_bytes().to_vec();
    rejection(client.request::<Value>(request).await)
}

pub(super) async fn json_patches_that_multiply_an_object_are_rejected(client: Client) {
    const JSON_PATCH: &str = "application/json-patch+json";
    let namespace = namespace(&client, "large-patches").await;
    let api = Api::<ConfigMap>::namespaced(client.clone(), &namespace);
    api.create(&PostParams::default(), &config_map("a", 1000, 1)).await.unwrap();
    let copy = |index: usize| json!({ "op": "copy", "from": "/data", "path": format!("/data/c{index}") });
    let copies: Vec<Value> = (0..30).map(copy).collect();
    let rejected = patch(&client, &namespace, JSON_PATCH, &json!(copies).to_string()).await;
    assert_eq!(rejected, invalid("the server rejected our request due to an error in our request"));
    let tests = vec![json!({ "op": "test", "path": "/metadata/name", "value": "a" }); 10_001];
    let rejected = patch(&client, &namespace, JSON_PATCH, &json!(tests).to_string()).await;
    let message =
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001".to_owned();
    assert_eq!(rejected, (413, "RequestEntityTooLarge".to_owned(), message));
}

pub(super) async fn bodies_and_aliases_above_the_limits_are_rejected(client: Client) {
    let namespace = namespace(&client, "large-bodies").await;
    let api = Api::<ConfigMap>::namespaced(client.clone(), &namespace);
    let post = PostParams::default();
    let rejected = rejection(api.create(&post, &config_map("large", 3 * MIB, 1)).await);
    let message = "Request entity too large: limit is 3145728".to_owned();
    assert_eq!(rejected, (413, "RequestEntityTooLarge".to_owned(), message));

    let level = |level: usize| {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        format!("a{level}: &a{level} [{aliases}]\n")
    };
    let yaml = std::iter::once("a0: &a0 [x]\n".to_owned()).chain((1..10).map(level)).collect::<String>();
    let error = "yaml: document contains excessive aliasing";
    api.create(&post, &config_map("a", 1, 1)).await.unwrap();
    let rejected = patch(&client, &namespace, "application/apply-patch+yaml", &yaml).await;
    let message = format!("error decoding YAML: error converting YAML to JSON: {error}");
    assert_eq!(rejected, (400, "BadRequest".to_owned(), message));
    let mut create = Request::new(api.resource_url()).create(&post, yaml.clone().into_bytes()).unwrap();
    create.headers_mut().insert("content-type", "application/yaml".parse().unwrap());
    let start: String = yaml.bytes().take(30).map(|byte| format!("{byte:02x}")).collect();
    let message = format!("the object provided is unrecognized (must be of type ConfigMap): {error} ({start} ...)");
    assert_eq!(rejection(client.request::<Value>(create).await), (400, "BadRequest".to_owned(), message));
}
