//! Every kind of the verb matrix: the granted verbs in both scopes, with and without a status, and the extension
//! methods.

use std::fmt::Debug;

use fixture_client::{
    Clientset,
    applyconfigurations::matrix_v1::{ExtendedApply, LetterApply, SpecApply, StatusApply},
    typed::matrix_v1::ExtendedClient,
};
use fixture_types::matrix_v1::{Extended, GROUP_VERSION, Letter, Spec, Status};
use k8s_openapi::{api::autoscaling::v1::Scale, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Client,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use kubewright_apply::{
    autoscaling_v1::{ScaleApply, ScaleSpecApply},
    meta_v1::ObjectMetaApply,
};
use kubewright_runtime::{Error, FieldManager};
use serde_json::json;

use crate::{matrix::subjects, namespace};

pub(super) async fn granted_verbs_work_in_every_scope_and_with_every_status(client: Client) {
    let namespace = namespace(&client, "matrix").await;
    let clientset = Clientset::new(client);
    for subject in subjects(&clientset, &namespace) {
        subject.verify(&clientset, &namespace).await;
    }
}

pub(super) async fn extension_methods_of_every_verb_reach_objects_and_subresources(client: Client) {
    let namespace = namespace(&client, "matrix-extended").await;
    let client = Clientset::new(client).matrix_v1().extendeds(&namespace);
    get(&client).await;
    list(&client).await;
    create(&client).await;
    update(&client).await;
    patch(&client).await;
    apply(&client, || ExtendedApply::new("applied", &*namespace)).await;
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

fn spec(word: &str, count: i32) -> Spec {
    Spec { word: Some(word.to_owned()), count: Some(count) }
}

fn word(word: &str) -> Option<Status> {
    Some(Status { word: Some(word.to_owned()), count: None })
}

fn post() -> PostParams {
    PostParams::default()
}

fn mine() -> FieldManager {
    FieldManager::new("matrix")
}

/// Returns another type that is sent as an Extended.
fn letter(name: &str) -> Letter {
    let api_version = GROUP_VERSION.api_version.to_owned();
    Letter { api_version, kind: KIND.to_owned(), metadata: named(name), spec: spec("sent", 1) }
}

const KIND: &str = "Extended";

/// The error if the response is of another kind than the method's result.
const OTHER_KIND: &str = "invalid value: string";

/// The server's error for the creation of a subresource.
const NOT_CREATED: &str = "create is not supported on resources of kind";

/// Returns the desired replicas of a Scale.
fn replicas(scale: &Scale) -> Option<i32> {
    scale.spec.as_ref().and_then(|spec| spec.replicas)
}

/// Asserts that a call failed with a message that contains `expected`.
fn assert_fails<T: Debug>(result: Result<T, Error>, expected: &str) {
    let error = result.expect_err(expected).to_string();
    assert!(error.contains(expected), "{expected}\n{error}");
}

// Each verb is called with the kind's own types (`own`) and with other types.

/// An object of this name, with a status.
async fn make(client: &ExtendedClient, name: &str) -> Extended {
    let object = Extended { metadata: named(name), spec: spec("first", 1), status: word("first") };
    let made = client.create(&object, &post()).await.unwrap();
    client.update_status(&Extended { status: word("first"), ..made }, &post()).await.unwrap()
}

async fn get(client: &ExtendedClient) {
    let made = make(client, "got").await;
    assert_eq!(client.get_own("got").await.unwrap(), made);
    assert_eq!(client.get_other("got").await.unwrap().spec, made.spec);
    assert_eq!(client.get_status_own("got").await.unwrap(), made);
    assert_eq!(client.get_status_other("got").await.unwrap()["status"], json!({"word": "first"}));
    assert_fails(client.get_scale_own("got").await, OTHER_KIND);
    assert_eq!(replicas(&client.get_scale_other("got").await.unwrap()), Some(1));
}

async fn list(client: &ExtendedClient) {
    let made = make(client, "listed").await;
    let selected = ListParams::default().fields("metadata.name=listed");
    assert_eq!(client.list_own(&selected).await.unwrap().items, [made]);
    assert_eq!(client.list_other(&selected).await.unwrap().items[0].spec, spec("first", 1));
    // What is below an object is one, so it is no list of the kind's own.
    assert_fails(client.list_status_own("listed", &selected).await, OTHER_KIND);
    let status = client.list_status_other("listed", &selected).await.unwrap();
    assert_eq!(status["status"], json!({"word": "first"}));
    assert_fails(client.list_scale_own("listed", &selected).await, OTHER_KIND);
    assert_eq!(replicas(&client.list_scale_other("listed", &selected).await.unwrap()), Some(1));
}

async fn create(client: &ExtendedClient) {
    let object = Extended { metadata: named("created"), spec: spec("first", 1), status: None };
    let made = client.create_own(&object, &post()).await.unwrap();
    assert_eq!(client.get("created").await.unwrap(), made);
    let other = client.create_other(&letter("sent"), &post()).await.unwrap();
    assert_eq!(client.get("sent").await.unwrap().spec, other.spec);
    let json = json!({"apiVersion": GROUP_VERSION.api_version, "kind": KIND});
    assert_fails(client.create_status_own("created", &made, &post()).await, NOT_CREATED);
    assert_fails(client.create_status_other("created", &json, &post()).await, NOT_CREATED);
    assert_fails(client.create_scale_own("created", &made, &post()).await, NOT_CREATED);
    assert_fails(client.create_scale_other("created", &Scale::default(), &post()).await, NOT_CREATED);
}

async fn update(client: &ExtendedClient) {
    let made = make(client, "updated").await;
    let changed = Extended { spec: spec("second", 2), status: word("second"), ..made };
    let mut updated = client.update_own("updated", &changed, &post()).await.unwrap();
    assert_eq!((&updated.spec, &updated.status), (&spec("second", 2), &word("first")));
    updated.spec = spec("third", 3);
    let mut other = letter("updated");
    other.metadata.resource_version = updated.metadata.resource_version.clone();
    let other = client.update_other("updated", &other, &post()).await.unwrap();
    assert_eq!(other.spec, spec("sent", 1));

    let current = client.get("updated").await.unwrap();
    let changed = Extended { status: word("second"), spec: spec("third", 3), ..current };
    let updated = client.update_status_own("updated", &changed, &post()).await.unwrap();
    assert_eq!((&updated.spec, &updated.status), (&spec("sent", 1), &word("second")));
    let mut json = client.get_status_other("updated").await.unwrap();
    json["status"]["word"] = json!("third");
    let json = client.update_status_other("updated", &json, &post()).await.unwrap();
    assert_eq!(json["status"], json!({"word": "third"}));

    assert_fails(client.update_scale_own("updated", &updated, &post()).await, "v1.Scale");
    let mut scale = client.get_scale_other("updated").await.unwrap();
    scale.spec.get_or_insert_default().replicas = Some(4);
    assert_eq!(replicas(&client.update_scale_other("updated", &scale, &post()).await.unwrap()), Some(4));
    assert_eq!(client.get("updated").await.unwrap().spec, spec("sent", 4));
}

async fn patch(client: &ExtendedClient) {
    make(client, "patched").await;
    let (params, of_spec) = (PatchParams::default(), |patch| Patch::Merge(json!({"spec": patch})));
    let patched = client.patch_own("patched", &of_spec(json!({"word": "own"})), &params).await.unwrap();
    assert_eq!(patched.spec, spec("own", 1));
    let patched = client.patch_other("patched", &of_spec(json!({"word": "other"})), &params).await.unwrap();
    assert_eq!(patched.spec, spec("other", 1));

    let of_status = |word| Patch::Merge(json!({"spec": {"word": word}, "status": {"word": word}}));
    let patched = client.patch_status_own("patched", &of_status("own"), &params).await.unwrap();
    assert_eq!((&patched.spec, &patched.status), (&spec("other", 1), &word("own")));
    let json = client.patch_status_other("patched", &of_status("other"), &params).await.unwrap();
    assert_eq!(json["status"], json!({"word": "other"}));

    let patched = client.patch_scale_own("patched", &of_spec(json!({"replicas": 2})), &params).await;
    assert_fails(patched, OTHER_KIND);
    assert_eq!(client.get("patched").await.unwrap().spec.count, Some(2), "the server applies the patch");
    let scale = client.patch_scale_other("patched", &of_spec(json!({"replicas": 3})), &params).await;
    assert_eq!(replicas(&scale.unwrap()), Some(3));
}

async fn apply(client: &ExtendedClient, configuration: impl Fn() -> ExtendedApply) {
    let letter = configuration().with_spec(SpecApply::new().with_word("own"));
    let applied = client.apply_own(&letter, &mine()).await.unwrap();
    assert_eq!(applied.spec.word.as_deref(), Some("own"));
    let other = LetterApply::new()
        .with_api_version(GROUP_VERSION.api_version)
        .with_kind(KIND)
        .with_metadata(ObjectMetaApply::new().with_name("applied"))
        .with_spec(SpecApply::new().with_word("other").with_count(1));
    let applied = client.apply_other("applied", &other, &mine()).await.unwrap();
    assert_eq!(applied.spec, spec("other", 1));

    let letter = configuration().with_status(StatusApply::new().with_word("own"));
    let applied = client.apply_status_own(&letter, &mine()).await.unwrap();
    assert_eq!((&applied.spec, &applied.status), (&spec("other", 1), &word("own")));
    let other = json!({
        "apiVersion": GROUP_VERSION.api_version, "kind": KIND, "status": {"word": "other"},
    });
    let json = client.apply_status_other("applied", &other, &mine()).await.unwrap();
    assert_eq!(json["status"], json!({"word": "other"}));

    assert_fails(client.apply_scale_own(&letter, &mine()).await, "cannot apply the scale of");
    let scale = ScaleApply::new("applied", "").with_spec(ScaleSpecApply::new().with_replicas(2));
    // No server converts the scale of a custom resource for apply (kubernetes 1.36).
    assert_fails(client.apply_scale_other("applied", &scale, &mine().force()).await, "autoscaling/v1");
    assert_eq!(client.get("applied").await.unwrap().spec, spec("other", 1));
}
