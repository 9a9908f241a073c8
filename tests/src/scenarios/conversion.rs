//! Conversion by a webhook that the server calls over TLS: three versions, two of which are not stored, and what users
//! see if the webhook responds wrongly or not at all.

mod converter;

use futures::StreamExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, Error,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    core::{ApiResource, GroupVersionKind, Status},
    runtime::wait::{await_condition, conditions},
};
use serde_json::{Value, json};

use crate::namespace;
use converter::{Converter, Fault};

const VERSIONS: [&str; 3] = ["v1", "v2", "v3"];

/// Gauges in three versions of a dedicated group, in a namespace, with their converter.
struct Gauges {
    client: Client,
    group: String,
    namespace: String,
    converter: Converter,
}

impl Gauges {
    /// Starts a converter, and installs the definition of Gauges that it converts.
    async fn install(client: &Client, test: &str) -> Self {
        let (group, converter) = (format!("{test}.example.org"), Converter::start());
        let definition: CustomResourceDefinition =
            serde_json::from_value(definition(&group, &converter)).expect("a definition");
        let definitions = Api::<CustomResourceDefinition>::all(client.clone());
        definitions.create(&PostParams::default(), &definition).await.expect("the definition is created");
        let name = format!("gauges.{group}");
        await_condition(definitions, &name, conditions::is_crd_established()).await.expect("it is established");
        let namespace = namespace(client, test).await;
        Self { client: client.clone(), group, namespace, converter }
    }

    fn in_version(&self, version: &str) -> Api<DynamicObject> {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(&self.group, version, "Gauge"));
        Api::namespaced_with(self.client.clone(), &self.namespace, &kind)
    }

    /// Returns a Gauge in a version.
    fn gauge(&self, version: &str, name: &str, spec: Value) -> DynamicObject {
        let api_version = format!("{}/{version}", self.group);
        let gauge = json!({ "apiVersion": api_version, "kind": "Gauge", "metadata": { "name": name }, "spec": spec });
        serde_json::from_value(gauge).expect("an object")
    }

    async fn create(&self, version: &str, name: &str, spec: Value) -> Result<DynamicObject, Error> {
        self.in_version(version).create(&PostParams::default(), &self.gauge(version, name, spec)).await
    }

    async fn spec(&self, version: &str, name: &str) -> Value {
        let gauge = self.in_version(version).get(name).await;
        gauge.unwrap_or_else(|error| panic!("{name} in {version}: {error}")).data["spec"].take()
    }

    /// Returns the message of reading `a` in v2, which must fail with code 500.
    async fn failure(&self) -> String {
        let status = rejection(self.in_version("v2").get("a").await);
        assert_eq!((status.code, status.reason.as_str()), (500, ""), "{status:?}");
        status.message
    }
}

/// Returns the definition of Gauges: v1 is stored.
fn definition(group: &str, converter: &Converter) -> Value {
    let integer = || json!({ "type": "integer" });
    let text = || json!({ "type": "string" });
    let version = |name: &str| {
        let mut spec = match name {
            "v1" => json!({ "seconds": integer() }),
            "v2" => json!({ "interval": text() }),
            _ => json!({ "period": { "type": "object", "properties": { "seconds": integer() } } }),
        };
        (spec["replicas"], spec["color"]) = (integer(), text());
        let spec = json!({ "type": "object", "properties": spec });
        let status = json!({ "type": "object", "properties": { "replicas": integer() } });
        json!({
            "name": name,
            "served": true,
            "storage": name == "v1",
            "subresources": {
                "status": {},
                "scale": { "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas" },
            },
            "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": spec, "status": status } } },
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("gauges.{group}") },
        "spec": {
            "group": group,
            "names": { "kind": "Gauge", "plural": "gauges", "singular": "gauge", "listKind": "GaugeList" },
            "scope": "Namespaced",
            "versions": VERSIONS.map(version),
            "conversion": {
                "strategy": "Webhook",
                "webhook": { "clientConfig": converter.client_config(), "conversionReviewVersions": ["v1"] },
            },
        },
    })
}

/// Returns the field of the interval in a version.
fn interval(version: &str, seconds: i64) -> Value {
    match version {
        "v1" => json!({ "seconds": seconds }),
        "v2" => json!({ "interval": format!("{seconds}s") }),
        _ => json!({ "period": { "seconds": seconds } }),
    }
}

fn rejection<T: std::fmt::Debug>(outcome: Result<T, Error>) -> Box<Status> {
    match outcome {
        Err(Error::Api(status)) => status,
        other => panic!("the request is not rejected: {other:?}"),
    }
}

pub(super) async fn versions_are_written_and_read_through_every_other_one(client: Client) {
    let gauges = Gauges::install(&client, "conversion-versions").await;
    for (seconds, version) in (1..).zip(VERSIONS) {
        let created = gauges.create(version, version, interval(version, seconds)).await.expect("created");
        assert_eq!(created.data["spec"], interval(version, seconds));
        for other in VERSIONS {
            assert_eq!(gauges.spec(other, version).await, interval(other, seconds), "{version} in {other}");
        }
    }
    for version in VERSIONS {
        let api = gauges.in_version(version);
        let listed = api.list(&ListParams::default()).await.expect("a list");
        let listed: Vec<Value> = listed.into_iter().map(|mut gauge| gauge.data["spec"].take()).collect();
        assert_eq!(listed, [1, 2, 3].map(|seconds| interval(version, seconds)));
        let mut gauge = api.get("v1").await.expect("a Gauge");
        gauge.data["spec"] = interval(version, 7);
        let replaced = api.replace("v1", &PostParams::default(), &gauge).await.expect("replaced");
        assert_eq!(replaced.data["spec"], interval(version, 7));
        let patch = Patch::Merge(json!({ "spec": interval(version, 1) }));
        let patched = api.patch("v1", &PatchParams::default(), &patch).await.expect("patched");
        assert_eq!(patched.data["spec"], interval(version, 1));
        let dry_run = PostParams { dry_run: true, ..PostParams::default() };
        let dry = api.create(&dry_run, &gauges.gauge(version, "dry", interval(version, 9))).await.expect("a dry run");
        assert_eq!(dry.data["spec"], interval(version, 9));
    }
    let deleted = gauges.in_version("v3").delete("v1", &DeleteParams::default()).await.expect("deleted");
    assert!(deleted.is_right(), "{deleted:?}");
    gauges.converter.stop().await;
}

pub(super) async fn watches_receive_events_in_their_version(client: Client) {
    let gauges = Gauges::install(&client, "conversion-watches").await;
    let created = gauges.create("v1", "a", interval("v1", 1)).await.expect("created");
    let version = created.metadata.resource_version.expect("a version");
    let params = WatchParams::default().timeout(60).disable_bookmarks();
    let watch = gauges.in_version("v2").watch(&params, &version).await.expect("a watch");
    for (seconds, version) in (2..).zip(["v1", "v3", "v2"]) {
        let patch = Patch::Merge(json!({ "spec": interval(version, seconds) }));
        gauges.in_version(version).patch("a", &PatchParams::default(), &patch).await.expect("patched");
    }
    gauges.in_version("v3").delete("a", &DeleteParams::default()).await.expect("deleted");
    let describe = |event: WatchEvent<DynamicObject>| match event {
        WatchEvent::Modified(mut gauge) => ("MODIFIED", gauge.data["spec"].take()),
        WatchEvent::Deleted(mut gauge) => ("DELETED", gauge.data["spec"].take()),
        other => panic!("another event: {other:?}"),
    };
    let events: Vec<_> = watch.take(4).map(|event| describe(event.expect("an event"))).collect().await;
    let event = |type_, seconds| (type_, interval("v2", seconds));
    assert_eq!(events, [event("MODIFIED", 2), event("MODIFIED", 3), event("MODIFIED", 4), event("DELETED", 4)]);
    gauges.converter.stop().await;
}

pub(super) async fn managers_apply_in_different_versions(client: Client) {
    let gauges = Gauges::install(&client, "conversion-applies").await;
    let apply = async |version: &str, manager: &str, spec: Value| {
        let patch = Patch::Apply(gauges.gauge(version, "a", spec));
        gauges.in_version(version).patch("a", &PatchParams::apply(manager), &patch).await
    };
    apply("v1", "first", json!({ "seconds": 5 })).await.expect("applied");
    let both =
        apply("v2", "second", json!({ "color": "red", "interval": "5s" })).await.expect("equal values are shared");
    assert_eq!(both.data["spec"], json!({ "color": "red", "interval": "5s" }));
    let entries = both.metadata.managed_fields.expect("managers");
    let mut owned: Vec<_> = entries
        .into_iter()
        .map(|entry| (entry.manager.unwrap_or_default(), entry.api_version, entry.fields_v1.expect("fields").0))
        .collect();
    owned.sort_by(|left, right| left.0.cmp(&right.0));
    let entry = |manager: &str, version: &str, fields: Value| {
        (manager.to_owned(), Some(format!("{}/{version}", gauges.group)), json!({ "f:spec": fields }))
    };
    let second = entry("second", "v2", json!({ "f:color": {}, "f:interval": {} }));
    assert_eq!(owned, [entry("first", "v1", json!({ "f:seconds": {} })), second]);

    let conflict = rejection(apply("v2", "second", json!({ "color": "red", "interval": "6s" })).await);
    let expected = "Apply failed with 1 conflict: conflict with \"first\": .spec.seconds";
    assert_eq!((conflict.code, conflict.message.as_str()), (409, expected));
    let dropped = apply("v2", "second", json!({ "color": "blue" })).await.expect("applied");
    assert_eq!(dropped.data["spec"], json!({ "color": "blue", "interval": "5s" }));
    let removed = apply("v1", "first", json!({})).await.expect("applied");
    assert_eq!(removed.data["spec"], json!({ "color": "blue" }));
    gauges.converter.stop().await;
}

pub(super) async fn scales_and_statuses_are_converted(client: Client) {
    let gauges = Gauges::install(&client, "conversion-subresources").await;
    gauges.create("v2", "a", json!({ "interval": "5s", "replicas": 1 })).await.expect("created");
    let (second, params) = (gauges.in_version("v2"), PatchParams::default());
    let replicas = Patch::Merge(json!({ "spec": { "replicas": 3 } }));
    let scale = second.patch_scale("a", &params, &replicas).await.expect("a scale");
    assert_eq!(scale.spec.and_then(|spec| spec.replicas), Some(3));
    let status = Patch::Merge(json!({ "status": { "replicas": 2 } }));
    gauges.in_version("v3").patch_status("a", &params, &status).await.expect("a status");
    let stored = gauges.in_version("v1").get("a").await.expect("a Gauge");
    assert_eq!(stored.data, json!({ "spec": { "seconds": 5, "replicas": 3 }, "status": { "replicas": 2 } }));
    let scale = second.get_scale("a").await.expect("a scale");
    assert_eq!(scale.status.map(|status| status.replicas), Some(2));
    gauges.converter.stop().await;
}

pub(super) async fn unusable_responses_fail_the_request(client: Client) {
    let gauges = Gauges::install(&client, "conversion-responses").await;
    gauges.create("v1", "a", interval("v1", 3)).await.expect("created");
    let what = format!("conversion webhook for {}/v1, Kind=Gauge", gauges.group);
    let version = |version: &str| format!("{}/{version}", gauges.group);
    let cases = [
        (Fault::Result(json!({ "status": "Failed", "message": "no way" })), "failed: no way".to_owned()),
        (
            Fault::Result(json!({ "status": "Failed" })),
            "failed: response.result.status was 'Failed', not 'Success'".to_owned(),
        ),
        (Fault::NoResponse, "failed: no response provided".to_owned()),
        (Fault::Count, "returned 0 objects, expected 1".to_owned()),
        (
            Fault::Object("/apiVersion", json!(version("v3"))),
            format!(
                "returned invalid object at index 0: invalid groupVersion (expected {}, received {})",
                version("v2"),
                version("v3")
            ),
        ),
        (
            Fault::Object("/kind", json!("Meter")),
            "returned invalid object at index 0: invalid kind (expected Gauge, received Meter)".to_owned(),
        ),
        (
            Fault::Object("/metadata/name", json!("b")),
            "returned invalid object: must have the same name: a != b".to_owned(),
        ),
        (
            Fault::Object("/metadata/namespace", json!("b")),
            format!("returned invalid object: must have the same namespace: {} != b", gauges.namespace),
        ),
        (
            Fault::Object("/metadata/labels", json!({ "a": 1 })),
            "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object".to_owned(),
        ),
        (
            Fault::Object("/metadata/labels", json!({ "a": "not a label" })),
            "returned invalid metadata: metadata.labels: Invalid value: \"not a label\": a valid label must be an empty \
             string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
             character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
             '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .to_owned(),
        ),
        (
            Fault::Code(500),
            "failed: an error on the server (\"broken\") has prevented the request from succeeding".to_owned(),
        ),
        (Fault::Code(404), "failed: the server could not find the requested resource".to_owned()),
    ];
    for (fault, expected) in cases {
        let described = format!("{fault:?}");
        gauges.converter.respond_with(fault);
        assert_eq!(gauges.failure().await, format!("{what} {expected}"), "{described}");
        assert_eq!(gauges.spec("v1", "a").await, interval("v1", 3), "the stored version needs no conversion");
    }
    gauges.converter.respond_with(Fault::Uid);
    let message = gauges.failure().await;
    assert!(message.starts_with(&format!("{what} failed: expected response.uid=\"")), "{message}");
    assert!(message.ends_with("\", got \"other\""), "{message}");
    gauges.converter.respond_with(Fault::Object("/metadata/finalizers", json!(["example.org/hold"])));
    let gauge = gauges.in_version("v2").get("a").await.expect("other metadata is restored");
    assert_eq!(gauge.metadata.finalizers, None);
    gauges.converter.respond_with(Fault::Delay);
    assert_eq!(gauges.spec("v2", "a").await, interval("v2", 3), "a slow response is a response");
    gauges.converter.stop().await;
}

pub(super) async fn requests_fail_while_the_converter_is_down(client: Client) {
    let gauges = Gauges::install(&client, "conversion-down").await;
    gauges.create("v1", "a", interval("v1", 3)).await.expect("created");
    let address = gauges.converter.address();
    gauges.converter.stop().await;
    let failure = |version: &str| {
        let error =
            format!("Post \"https://{address}/convert?timeout=30s\": dial tcp {address}: connect: connection refused");
        format!("conversion webhook for {}/{version}, Kind=Gauge failed: {error}", gauges.group)
    };
    assert_eq!(gauges.failure().await, failure("v1"));
    let created = rejection(gauges.create("v2", "b", interval("v2", 1)).await);
    assert_eq!((created.code, created.message), (500, failure("v2")));
    let second = gauges.in_version("v2");
    let patch = Patch::Merge(json!({ "spec": { "color": "red" } }));
    // The real server fails to convert the stored object, or, from its watch cache, the updated one.
    let is_failure =
        |rejection: Box<Status>| rejection.code == 500 && [failure("v1"), failure("v2")].contains(&rejection.message);
    assert!(is_failure(rejection(second.patch("a", &PatchParams::default(), &patch).await)));
    assert!(is_failure(rejection(second.delete("a", &DeleteParams::default()).await)));

    let first = gauges.in_version("v1");
    let patched = first.patch("a", &PatchParams::default(), &patch).await.expect("the stored version is available");
    assert_eq!(patched.data["spec"], json!({ "color": "red", "seconds": 3 }));
    assert_eq!(first.list(&ListParams::default()).await.expect("a list").items.len(), 1);
    first.delete("a", &DeleteParams::default()).await.expect("deleted");
}
