//! The memory of one request is bounded by the sizes of its body and of the stored objects, whatever the body contains.
//!
//! Each kind of body has a test that sends generated bodies, most of which amplify: aliases, copies, defaults, long
//! names above many invalid values. Without a bound, they need gigabytes or more.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and the helpers of tests are part of them")]

use std::iter::repeat_n;

use allocation_counter::measure;
use http::{Request, StatusCode, header::CONTENT_TYPE};
use http_body_util::BodyExt;
use kubewright_apiserver::ApiServer;
use parking_lot::Mutex;
use proptest::{prelude::*, test_runner::TestCaseError};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// The memory for one byte of the body and of the stored objects. An empty item of a list has three bytes of JSON, and
/// becomes a map with defaults, field owners and errors, of which a request holds several copies.
const PER_BYTE: u64 = 1024;
/// The memory of a request without a body.
const BASE: u64 = 16 << 20;
/// The memory for the 3 MiB of JSON that copies, aliases or defaults can add.
const EXPANSION: u64 = 512 << 20;
/// The limit of the process, so that an unbounded request fails the test and does not exhaust the machine.
#[cfg(target_os = "linux")]
const ADDRESS_SPACE: u64 = 6 << 30;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

/// One request.
#[derive(Debug)]
struct Call {
    method: &'static str,
    path: String,
    content_type: &'static str,
    body: Vec<u8>,
}

impl Call {
    fn new(method: &'static str, path: &str, content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { method, path: path.to_owned(), content_type, body: body.into() }
    }

    /// Returns the response code.
    fn send(&self, runtime: &Runtime, server: &ApiServer) -> StatusCode {
        let request = Request::builder().method(self.method).uri(&self.path).header(CONTENT_TYPE, self.content_type);
        let request = request.body(kube::client::Body::from(self.body.clone())).unwrap();
        runtime.block_on(async {
            let response = server.clone().oneshot(request).await.unwrap();
            let status = response.status();
            drop(response.into_body().collect().await.unwrap());
            status
        })
    }
}

/// Sends a request to a server with these objects, and checks its memory. `expands` if copies, aliases or defaults can
/// make its values larger.
fn check(objects: &[Call], call: &Call, expands: bool) -> Result<(), TestCaseError> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock();
    limit_address_space();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let server = ApiServer::new();
    for object in objects {
        let status = object.send(&runtime, &server);
        prop_assert!(status.is_success(), "{status} for {} {}", object.method, object.path);
    }
    let mut status = StatusCode::OK;
    let counted = measure(|| status = call.send(&runtime, &server));
    let sizes = objects.iter().chain([call]).map(|call| call.body.len() as u64);
    let allowed = PER_BYTE * sizes.sum::<u64>() + BASE + if expands { EXPANSION } else { 0 };
    prop_assert!(counted.bytes_max <= allowed, "{status}: {} bytes, {allowed} are allowed", counted.bytes_max);
    Ok(())
}

#[cfg(target_os = "linux")]
fn limit_address_space() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    // A lower limit of the environment remains.
    let _ = setrlimit(Resource::As, Rlimit { current: Some(ADDRESS_SPACE), maximum: Some(ADDRESS_SPACE) });
}

#[cfg(not(target_os = "linux"))]
fn limit_address_space() {}

/// Returns the request that creates the definition of Widgets whose spec has this schema.
fn definition(spec: Value) -> Call {
    let schema = json!({ "type": "object", "properties": { "spec": spec } });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.example.com" },
        "spec": {
            "group": "example.com", "names": { "kind": "Widget", "plural": "widgets" }, "scope": "Namespaced",
            "versions": [version],
        },
    });
    Call::new("POST", DEFINITIONS, JSON, definition.to_string())
}

fn widgets() -> Call {
    let map = |values: Value| json!({ "type": "object", "additionalProperties": values });
    definition(json!({ "type": "object", "properties": {
        "free": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        "numbers": map(json!({ "type": "array", "items": { "type": "integer", "minimum": 1 } })),
        "maps": map(json!({ "type": "object", "properties": { "a": { "type": "string" } } })),
        "owned": map(map(json!({ "type": "string" }))),
    } }))
}

/// Returns the JSON of a Widget, whose spec is JSON as well.
fn widget(spec: &str) -> String {
    format!(r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"a"}},"spec":{spec}}}"#)
}

fn existing_widget() -> [Call; 2] {
    [widgets(), Call::new("POST", WIDGETS, JSON, widget(r#"{"free":{"k":"v"},"owned":{}}"#))]
}

fn existing(name: &str) -> String {
    format!("{WIDGETS}/{name}")
}

fn repeated(item: &str, count: usize) -> String {
    repeat_n(item, count).collect::<Vec<_>>().join(",")
}

/// Generates the specs of Widgets as JSON.
fn specs() -> impl Strategy<Value = String> {
    let name = |length: usize| "x".repeat(length);
    let fields = |count: usize, value: &str| -> String {
        (0..count).map(|index| format!("\"f{index}\":{value}")).collect::<Vec<_>>().join(",")
    };
    prop_oneof![
        // Maps with one field, flat and nested.
        (0..2000_usize).prop_map(|count| format!(r#"{{"free":{{"a":[{}]}}}}"#, repeated(r#"{"a":1}"#, count))),
        (0..100_usize, 0..50_usize).prop_map(move |(depth, width)| {
            let open = r#"{"a":"#.repeat(depth);
            format!(r#"{{"free":{{"a":{open}{{{}}}{}}}}}"#, fields(width, "{}"), "}".repeat(depth))
        }),
        // Invalid values, unknown fields and many fields below a long name.
        (0..8000_usize, 0..4000_usize).prop_map(move |(long, count)| format!(
            r#"{{"numbers":{{"{}":[{}]}}}}"#,
            name(long),
            repeated("0", count)
        )),
        (0..8000_usize, 0..1000_usize).prop_map(move |(long, count)| format!(
            r#"{{"maps":{{"{}":{{{}}}}}}}"#,
            name(long),
            fields(count, "1")
        )),
        (0..8000_usize, 0..2000_usize).prop_map(move |(long, count)| {
            format!(r#"{{"free":{{"{}":{{{}}}}}}}"#, name(long), repeated(r#""a":1"#, count))
        }),
        (0..8000_usize, 0..1000_usize).prop_map(move |(long, count)| format!(
            r#"{{"owned":{{"{}":{{{}}}}}}}"#,
            name(long),
            fields(count, r#""v""#)
        )),
    ]
}

/// Generates YAML with an anchor `a` whose aliases multiply it.
fn aliases() -> impl Strategy<Value = String> {
    let nested = |(levels, width): (usize, usize)| {
        let level = |level: usize| {
            format!("  a{level}: &a{level} [{}]\n", repeated(&format!("*a{}", level.saturating_sub(1)), width))
        };
        let first = format!("  a0: &a0 {{{}}}\n", repeated("k: v", 1));
        std::iter::once(first).chain((1..=levels).map(level)).collect::<String>()
    };
    let long = |(length, count): (usize, usize)| {
        format!("  a0: &a0 {}\n  b: [{}]\n", "x".repeat(length), repeated("*a0", count))
    };
    let anchored = |depth: usize| {
        let open: String = (0..depth).map(|level| format!("&n{level} [")).collect();
        format!("  a0: {open}{}{}\n", repeated("x", 500), "]".repeat(depth))
    };
    prop_oneof![
        (1..12_usize, 1..12_usize).prop_map(nested),
        (0..8000_usize, 0..4000_usize).prop_map(long),
        (0..50_usize).prop_map(anchored),
    ]
}

fn yaml_widget(free: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: a}}\nspec:\n free:\n{free}")
}

/// Generates the operations of JSON patches.
fn operations() -> impl Strategy<Value = Vec<Value>> {
    let copies = |from: &'static str| {
        (0..60_usize).prop_map(move |count| {
            let copy = |index: usize| json!({ "op": "copy", "from": from, "path": format!("{from}/c{index}") });
            (0..count).map(copy).collect::<Vec<_>>()
        })
    };
    prop_oneof![
        copies("/spec/free"),
        copies("/metadata"),
        copies(""),
        (0..400_usize, 0..4000_usize).prop_map(|(count, length)| {
            let add = json!({ "op": "add", "path": "/spec/free/a", "value": "x".repeat(length) });
            let copy =
                |index: usize| json!({ "op": "copy", "from": "/spec/free/a", "path": format!("/spec/free/{index}") });
            std::iter::once(add).chain((0..count).map(copy)).collect::<Vec<_>>()
        }),
        (0..20_000_usize)
            .prop_map(|count| vec![json!({ "op": "test", "path": "/spec/free/k", "value": "v", "more": 1 }); count]),
    ]
}

/// Generates strategic merge patches of a Deployment.
fn strategic_patches() -> impl Strategy<Value = Value> {
    let containers =
        |count: usize| -> Vec<Value> { (0..count).map(|index| json!({ "name": format!("c{index}") })).collect() };
    let spec = |spec: Value| json!({ "spec": { "template": { "spec": spec } } });
    prop_oneof![
        (0..300_usize).prop_map(move |count| spec(json!({ "containers": containers(count) }))),
        (0..300_usize).prop_map(move |count| spec(json!({ "$setElementOrder/containers": containers(count) }))),
        (0..2000_usize).prop_map(move |count| spec(json!({ "containers": vec![json!({}); count] }))),
        (0..2000_usize).prop_map(move |count| spec(json!({ "$retainKeys": vec!["a"; count], "$patch": "other" }))),
        (0..300_usize).prop_map(|count| {
            let finalizers: Vec<String> = (0..count).map(|index| format!("example.com/f{index}")).collect();
            json!({ "metadata": { "finalizers": finalizers, "$deleteFromPrimitiveList/finalizers": finalizers } })
        }),
    ]
}

/// Appends a field of the protobuf encoding.
fn field(message: &mut Vec<u8>, number: u8, content: &[u8]) {
    message.push(number << 3 | 2);
    let mut length = content.len();
    while length >= 0x80 {
        message.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    message.push(length as u8);
    message.extend(content);
}

/// Generates Pods as protobuf, with many empty messages or with any content.
fn pods() -> impl Strategy<Value = Vec<u8>> {
    let content = prop_oneof![
        (1..16_u8, 0..2000_usize).prop_map(|(number, count)| {
            let mut spec = Vec::new();
            repeat_n(number, count).for_each(|number| field(&mut spec, number, &[]));
            let mut pod = Vec::new();
            field(&mut pod, 2, &spec);
            pod
        }),
        prop::collection::vec(any::<u8>(), 0..2000),
    ];
    content.prop_map(|content| {
        let (mut types, mut envelope) = (Vec::new(), b"k8s\0".to_vec());
        field(&mut types, 1, b"v1");
        field(&mut types, 2, b"Pod");
        field(&mut envelope, 1, &types);
        field(&mut envelope, 2, &content);
        envelope
    })
}

/// Generates schemas of a spec whose default multiplies the values of an object.
fn multiplying_schemas() -> impl Strategy<Value = Value> {
    let items =
        |items: Value| json!({ "type": "object", "properties": { "items": { "type": "array", "items": items } } });
    prop_oneof![
        (0..300_000_usize).prop_map(move |length| {
            let default = "x".repeat(length);
            items(json!({ "type": "object", "properties": { "a": { "type": "string", "default": default } } }))
        }),
        (0..300_000_usize).prop_map(move |length| items(json!({ "type": "string", "default": "x".repeat(length) }))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_objects(spec in specs()) {
        check(&[widgets()], &Call::new("POST", WIDGETS, JSON, widget(&spec)), false)?;
        let strict = format!("{WIDGETS}?fieldValidation=Strict");
        check(&[widgets()], &Call::new("POST", &strict, JSON, widget(&spec)), false)?;
    }

    #[test]
    fn yaml_objects(free in aliases()) {
        check(&[widgets()], &Call::new("POST", WIDGETS, YAML, yaml_widget(&free)), true)?;
    }

    #[test]
    fn merge_patches(spec in specs()) {
        let patch = format!(r#"{{"spec":{spec}}}"#);
        check(&existing_widget(), &Call::new("PATCH", &existing("a"), MERGE, patch), false)?;
    }

    #[test]
    fn json_patches(operations in operations()) {
        let patch = json!(operations).to_string();
        check(&existing_widget(), &Call::new("PATCH", &existing("a"), JSON_PATCH, patch), true)?;
    }

    #[test]
    fn strategic_merge_patches(patch in strategic_patches()) {
        const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
        let labels = json!({ "app": "a" });
        let spec = json!({ "containers": [{ "name": "c0", "image": "i" }] });
        let template = json!({ "metadata": { "labels": labels }, "spec": spec });
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "a" },
            "spec": { "selector": { "matchLabels": labels }, "template": template },
        });
        let existing = Call::new("POST", DEPLOYMENTS, JSON, deployment.to_string());
        check(&[existing], &Call::new("PATCH", &format!("{DEPLOYMENTS}/a"), STRATEGIC, patch.to_string()), false)?;
    }

    #[test]
    fn apply_patches(spec in specs(), free in aliases()) {
        let path = |manager: &str| format!("{}?fieldManager={manager}", existing("a"));
        check(&[widgets()], &Call::new("PATCH", &path("m"), APPLY, widget(&spec)), false)?;
        check(&[widgets()], &Call::new("PATCH", &path("m"), APPLY, yaml_widget(&free)), true)?;
    }

    #[test]
    fn conflicting_apply_patches(long in 1..1000_usize, count in 0..1000_usize) {
        let applied = |value: &str| {
            let fields: Vec<String> = (0..count).map(|index| format!("\"f{index}\":\"{value}\"")).collect();
            widget(&format!(r#"{{"owned":{{"{}":{{{}}}}}}}"#, "x".repeat(long), fields.join(",")))
        };
        let path = |manager: &str| format!("{}?fieldManager={manager}", existing("a"));
        let first = Call::new("PATCH", &path("first"), APPLY, applied("a"));
        check(&[widgets(), first], &Call::new("PATCH", &path("second"), APPLY, applied("b")), false)?;
    }

    #[test]
    fn protobuf_objects(pod in pods()) {
        let path = "/api/v1/namespaces/default/pods";
        check(&[], &Call::new("POST", path, "application/vnd.kubernetes.protobuf", pod), false)?;
    }

    #[test]
    fn objects_of_multiplying_definitions(schema in multiplying_schemas(), count in 0..15_000_usize) {
        for items in [repeated("{}", count), repeated("null", count)] {
            let object = widget(&format!(r#"{{"items":[{items}]}}"#));
            check(&[definition(schema.clone())], &Call::new("POST", WIDGETS, JSON, object), true)?;
        }
    }

    #[test]
    fn definitions(long in 1..8000_usize, count in 0..500_usize) {
        let invalid = |index: usize| (format!("f{index}"), json!({ "type": "array" }));
        let properties: serde_json::Map<String, Value> = (0..count).map(invalid).collect();
        let map = json!({ "type": "object", "properties": properties });
        let schema = json!({ "type": "object", "properties": { "x".repeat(long): map } });
        check(&[], &definition(schema), false)?;
    }

    #[test]
    fn delete_options(spec in specs()) {
        let options = format!(r#"{{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{spec}}}"#);
        check(&existing_widget(), &Call::new("DELETE", &existing("a"), JSON, options.clone()), false)?;
        check(&existing_widget(), &Call::new("DELETE", WIDGETS, JSON, options), false)?;
    }
}
