//! Admission policies: the generated ones are accepted, and are enforced in namespaces with their parameters.

use std::time::Duration;

use fixture_types::desk_v1::{Table, TableSpec};
use http::{Request, header};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Client, Error,
    api::{Patch, PatchParams, PostParams},
    client::Body,
    core::{ApiResource, DynamicObject, GroupVersionKind, Status},
};
use serde_json::{Value, json};

use crate::{namespace, workspace_root};

/// How long a server may take until a new policy or parameter has an effect.
const PROPAGATION: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const GROUP: &str = "admissionregistration.k8s.io";
const OWNER: &str = "desk.example.org/owner";
const FILE: &str = "tests/fixture/config/policy/desk.example.org_tables.yaml";

/// Creates the generated policies and bindings whose kinds start with a prefix.
async fn install(client: &Client, prefix: &str) {
    let text = std::fs::read_to_string(workspace_root().join(FILE)).expect("the file can be read");
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).expect("YAML");
    for document in documents {
        let kind = document["kind"].as_str().expect("a kind").to_owned();
        if kind.starts_with(prefix) {
            let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, "v1", &kind));
            let object: DynamicObject = serde_json::from_value(document).expect("an object");
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
            api.create(&PostParams::default(), &object).await.unwrap_or_else(|error| panic!("{kind}: {error}"));
        }
    }
}

async fn create_parameters(client: &Client, namespace: &str, name: &str, data: [(&str, &str); 1]) {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let data = data.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let config_map = ConfigMap { metadata, data: Some(data), ..ConfigMap::default() };
    let config_maps = Api::<ConfigMap>::namespaced(client.clone(), namespace);
    config_maps.create(&PostParams::default(), &config_map).await.expect("the parameters are created");
}

fn table(name: &str, seats: i32) -> Table {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    Table { metadata, spec: TableSpec { seats }, status: None }
}

/// Creates the table without storing it, until the answer is as expected. A real server reads policies from a cache.
async fn wait_for<T>(tables: &Api<Table>, object: &Table, expected: impl Fn(Result<Table, Error>) -> Option<T>) -> T {
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    let answer = async {
        loop {
            match expected(tables.create(&dry_run, object).await) {
                Some(answer) => return answer,
                None => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    };
    tokio::time::timeout(PROPAGATION, answer).await.expect("the policy has an effect")
}

fn status<T>(outcome: Result<T, Error>) -> Option<Box<Status>> {
    match outcome {
        Err(Error::Api(status)) => Some(status),
        _ => None,
    }
}

pub(super) async fn generated_rules_deny_and_warn(client: Client) {
    let namespace = namespace(&client, "policy-rules").await;
    install(&client, "Validating").await;
    let tables = Api::<Table>::namespaced(client.clone(), &namespace);
    let post = PostParams::default();
    tables.create(&post, &table("long", 9)).await.expect("no parameters, no limit");

    create_parameters(&client, &namespace, "table-limits", [("most", "3")]).await;
    let denied = wait_for(&tables, &table("round", 4), status).await;
    assert_eq!((denied.code, denied.reason.as_str()), (422, "Invalid"), "{denied:?}");
    let name = "validation.tables.desk.example.org";
    let cause = format!("ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request: at most 3");
    assert_eq!(denied.message, format!("tables.desk.example.org \"round\" is forbidden: {cause}"));
    let details = denied.details.expect("details");
    assert_eq!((details.group.as_str(), details.kind.as_str()), ("desk.example.org", "tables"));
    assert_eq!(details.causes.iter().map(|cause| cause.message.as_str()).collect::<Vec<_>>(), [cause]);

    tables.create(&post, &table("round", 3)).await.expect("the seats are within the limit");
    let more = Patch::Merge(json!({"spec": {"seats": 5}}));
    let denied = status(tables.patch("round", &PatchParams::default(), &more).await).expect("a denial");
    assert!(denied.message.ends_with("denied request: at most 3"), "{denied:?}");
    let label = Patch::Merge(json!({"metadata": {"labels": {"a": "b"}}}));
    let denied = status(tables.patch("long", &PatchParams::default(), &label).await).expect("a denial");
    assert!(denied.message.ends_with("denied request: at most 3"), "the complete object is validated: {denied:?}");

    let expected = "Validation failed for ValidatingAdmissionPolicy 'warning.tables.desk.example.org' with binding \
                    'warning.tables.desk.example.org': the namespace is no room";
    let found = wait_for_warnings(&client, &namespace, |warnings| !warnings.is_empty()).await;
    assert_eq!(found, [format!("299 - \"{expected}\"")]);
    let labels = Patch::Merge(json!({"metadata": {"labels": {"room": "1"}}}));
    Api::<Namespace>::all(client.clone()).patch(&namespace, &PatchParams::default(), &labels).await.expect("a patch");
    wait_for_warnings(&client, &namespace, <[String]>::is_empty).await;
}

/// Repeats a request until its warnings are as expected, and returns them.
async fn wait_for_warnings(client: &Client, namespace: &str, expected: impl Fn(&[String]) -> bool) -> Vec<String> {
    let found = async {
        loop {
            let warnings = warnings(client, namespace, &table("small", 1)).await;
            if expected(&warnings) {
                return warnings;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::time::timeout(PROPAGATION, found).await.expect("the warnings change")
}

/// Creates an object without storing it, and returns the warnings of the answer.
async fn warnings(client: &Client, namespace: &str, object: &Table) -> Vec<String> {
    let path = format!("/apis/desk.example.org/v1/namespaces/{namespace}/tables?dryRun=All");
    let body = serde_json::to_vec(object).expect("JSON");
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
    let response = client.send(request.body(Body::from(body)).expect("a request")).await.expect("an answer");
    assert_eq!(response.status(), 201);
    let warnings = response.headers().get_all(header::WARNING).iter();
    warnings.map(|warning| warning.to_str().expect("text").to_owned()).collect()
}

pub(super) async fn generated_defaults_are_set(client: Client) {
    let namespace = namespace(&client, "policy-defaults").await;
    install(&client, "Mutating").await;
    let tables = Api::<Table>::namespaced(client.clone(), &namespace);
    create_parameters(&client, &namespace, "table-defaults", [("owner", "ada")]).await;
    let owner_of = |outcome: Result<Table, Error>| owner(&outcome.expect("a table"));
    assert_eq!(wait_for(&tables, &table("round", 4), owner_of).await, "ada");

    for (name, annotations, expected) in
        [("other", json!({"a": "b"}), "ada"), ("owned", json!({OWNER: "grace"}), "grace")]
    {
        let mut table = table(name, 4);
        table.metadata.annotations = serde_json::from_value(annotations).expect("annotations");
        let created = tables.create(&PostParams::default(), &table).await.expect("the table is created");
        assert_eq!(owner(&created).as_deref(), Some(expected), "only absent annotations have a default");
    }
    let removal = Patch::Merge(json!({"metadata": {"annotations": {OWNER: null}}}));
    let updated = tables.patch("owned", &PatchParams::default(), &removal).await.expect("a patch");
    assert_eq!(owner(&updated), None, "the policy applies to new objects");
}

fn owner(table: &Table) -> Option<String> {
    table.metadata.annotations.as_ref()?.get(OWNER).cloned()
}
