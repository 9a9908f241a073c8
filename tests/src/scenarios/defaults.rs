//! Defaults: the server applies the same defaults as decoding and Rust's `Default`.

use fixture_client::Clientset;
use fixture_types::defaults_v1::{Preset, PresetSpec, PresetStatus, Sink};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject},
};
use kubewright_core::defaults::defaulted;
use serde_json::{Value, from_value, json, to_value};

use crate::namespace;

fn raw(name: &str, fields: Value) -> Value {
    let mut object = json!({"apiVersion": "defaults.example.org/v1", "kind": "Preset", "metadata": {"name": name}});
    object.as_object_mut().expect("an object").extend(fields.as_object().expect("fields").clone());
    object
}

/// Creates an object from raw JSON and returns the stored one.
async fn create_raw(client: &Client, namespace: &str, object: Value) -> DynamicObject {
    let resource = ApiResource::erase::<Preset>(&());
    let api = Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource);
    api.create(&PostParams::default(), &from_value(object).unwrap()).await.unwrap()
}

pub(super) async fn server_defaults_equal_those_of_decoding(client: Client) {
    let namespace = namespace(&client, "decoded").await;
    for (i, fields) in [
        json!({}),
        json!({"spec": {}}),
        json!({"spec": {"level": "debug", "timeInterval": 1, "retries": 9, "outputs": [], "labels": {}}}),
        json!({"spec": {"sink": {}, "fallback": {"retry": {}}}}),
        json!({"spec": {"sinks": [{}, {"target": "file"}, {"retry": {"attempts": 1}}]}}),
        json!({"spec": {"namedSinks": {"a": {}, "b": {"format": "Text", "bufferSize": 0}}}}),
    ]
    .into_iter()
    .enumerate()
    {
        let object = raw(&format!("preset-{i}"), fields);
        let stored = create_raw(&client, &namespace, object.clone()).await;
        let decoded: Preset = from_value(object).unwrap();
        assert_eq!(stored.data["spec"], to_value(&decoded).unwrap()["spec"]);
        assert_eq!(stored.data["spec"], to_value(defaulted(&decoded).unwrap()).unwrap()["spec"]);
    }
}

pub(super) async fn server_defaults_equal_those_of_rust(client: Client) {
    let namespace = namespace(&client, "defaulted").await;
    let stored = create_raw(&client, &namespace, raw("complete", json!({}))).await;
    assert_eq!(stored.data["spec"], to_value(Preset::default()).unwrap()["spec"]);
    let stored = create_raw(&client, &namespace, raw("empty", json!({"spec": {}}))).await;
    assert_eq!(from_value::<PresetSpec>(stored.data["spec"].clone()).unwrap(), PresetSpec::default());

    let presets = Clientset::new(client).defaults_v1().presets(&namespace);
    let mut built =
        Preset { metadata: ObjectMeta { name: Some("built".into()), ..ObjectMeta::default() }, ..Preset::default() };
    built.spec = PresetSpec { replicas: 1, rotation: None, port: None, fallback: None, ..PresetSpec::default() };
    built.spec.sinks = vec![Sink { buffer_size: None, ..Sink::default() }];
    let stored = presets.create(&built, &PostParams::default()).await.unwrap();
    assert_eq!(stored.spec, defaulted(&built).unwrap().spec);
    assert_eq!((stored.spec.rotation.as_deref(), stored.spec.sinks[0].buffer_size), (Some("daily"), Some(1024)));
}

pub(super) async fn every_write_is_defaulted(client: Client) {
    let namespace = namespace(&client, "rewritten").await;
    let presets = Clientset::new(client.clone()).defaults_v1().presets(&namespace);
    let built =
        Preset { metadata: ObjectMeta { name: Some("built".into()), ..ObjectMeta::default() }, ..Preset::default() };
    let mut stored = presets.create(&built, &PostParams::default()).await.unwrap();
    stored.spec.rotation = None;
    let updated = presets.update(&stored, &PostParams::default()).await.unwrap();
    assert_eq!(updated.spec.rotation.as_deref(), Some("daily"));

    // A null in a merge patch removes the field, and what is absent gets its default.
    let patch = Patch::Merge(json!({"spec": {"level": null, "sink": {"retry": null}, "sinks": [{}]}}));
    let patched = presets.patch("built", &patch, &PatchParams::default()).await.unwrap();
    assert_eq!(patched.spec, PresetSpec { sinks: vec![Sink::default()], ..PresetSpec::default() });
}

/// A status that create drops, or that was never written, is defaulted.
pub(super) async fn an_absent_status_is_defaulted(client: Client) {
    let namespace = namespace(&client, "reported").await;
    let stored = create_raw(&client, &namespace, raw("new", json!({"status": {"state": "Reported"}}))).await;
    assert_eq!(stored.data["status"], json!({"state": "Unknown"}));
    let api = Api::<Preset>::namespaced(client, &namespace);
    let reported = Patch::Merge(json!({"status": {"state": "Reported"}}));
    assert_eq!(api.patch_status("new", &PatchParams::default(), &reported).await.unwrap().status.state, "Reported");
    let emptied = Patch::Merge(json!({"status": {"state": null}}));
    assert_eq!(
        api.patch_status("new", &PatchParams::default(), &emptied).await.unwrap().status,
        PresetStatus::default()
    );
    let removed = Patch::Merge(json!({"status": null}));
    assert_eq!(
        api.patch_status("new", &PatchParams::default(), &removed).await.unwrap().status,
        PresetStatus::default()
    );
    assert_eq!(api.get("new").await.unwrap().status, PresetStatus::default());
}
