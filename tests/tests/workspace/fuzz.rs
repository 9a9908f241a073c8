//! Parsers of foreign bytes: a mutation of a valid input causes no panic, and needs a bounded amount of memory.
//!
//! Each parser gets mutations of the same seeds for 2 s. `FUZZ=10m` gives it those of random seeds for that time. A
//! failure prints its seed, which `FUZZ_SEED` repeats.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use fastrand::Rng;
use http::{HeaderMap, Method, Request, header::CONTENT_TYPE};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_apiserver::ApiServer;
use kubewright_codegen::internal::{KubernetesTypes, import};
use kubewright_core::{Scheme, description::ConversionWebhookDescription};
use kubewright_crd::{definition, pattern::Pattern};
use kubewright_manager::{
    Webhooks,
    webhooks::{AdmissionRequest, Denied},
};
use logger_agent::{
    Draft, Journal, JournalConfig, Source,
    file_system::Disk,
    journal::Acknowledgement,
    metrics::Metrics,
    segment::Series,
    sources::{Activity, ActivitySource, Audit},
    verify::verify,
};
use serde_json::{Value, json, value::to_raw_value};
use tokio::runtime::{Builder, Runtime};
use tower::Service;

/// How long the mutations for one parser run unless `FUZZ` is set.
const TIME: Duration = Duration::from_secs(2);
/// The maximum size of a mutation in bytes.
const MAX_INPUT: usize = 64 << 10;
/// The maximum memory that a parser needs at a time, in bytes: a compiled pattern has up to 64 MiB.
const MAX_MEMORY: u64 = 192 << 20;
/// The maximum number of changes of a mutation.
const MAX_CHANGES: usize = 8;

/// Texts with a meaning in JSON, YAML, patterns, or the formats of files.
const TOKENS: [&str; 40] = [
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\\",
    "\0",
    "\n",
    "\r\n",
    "  ",
    "- ",
    "---\n",
    "&a ",
    "*a",
    "<<: ",
    "!!binary ",
    "|-\n",
    "null",
    "true",
    "~",
    "-1",
    "0",
    "1e400",
    "9223372036854775808",
    "-0.0",
    "0x1f",
    "\u{feff}",
    "\u{1f980}",
    "\\ud800",
    "(?i)",
    "{1000}",
    "\\pL",
    "(",
    ")*",
    "^",
    "$ref",
    "x-kubernetes-validations",
    "apiVersion",
];

/// Runs a parser with mutations of these inputs.
fn fuzz(inputs: &[Vec<u8>], mut parse: impl FnMut(&[u8])) {
    let time = tests::duration_of_env("FUZZ");
    let only = std::env::var("FUZZ_SEED").ok().map(|seed| seed.parse::<u64>().unwrap());
    let first = only.unwrap_or(if time.is_some() { fastrand::u64(..u64::MAX / 2) } else { 0 });
    let end = Instant::now() + time.unwrap_or(TIME);
    for seed in first.. {
        let input = mutation(&mut Rng::with_seed(seed), inputs);
        let parsed = catch_unwind(AssertUnwindSafe(|| allocation_counter::measure(|| parse(&input))));
        let text = || String::from_utf8_lossy(&input[..input.len().min(4096)]).into_owned();
        let memory = parsed.unwrap_or_else(|_| panic!("FUZZ_SEED={seed} panics: {}", text()));
        assert!(memory.bytes_max <= MAX_MEMORY, "FUZZ_SEED={seed} needs {} bytes: {}", memory.bytes_max, text());
        if only.is_some() || Instant::now() >= end {
            break;
        }
    }
}

/// Changes one of the inputs.
fn mutation(random: &mut Rng, inputs: &[Vec<u8>]) -> Vec<u8> {
    let mut input = inputs[random.usize(..inputs.len())].clone();
    for _ in 0..random.usize(1..=MAX_CHANGES) {
        let start = random.usize(..=input.len());
        let end = random.usize(start..=input.len().min(start + 64));
        match random.u8(..6) {
            0 if start < input.len() => input[start] ^= 1 << random.u8(..8),
            1 => drop(input.drain(start..end)),
            2 => {
                let repeated = input[start..end].repeat(random.usize(1..20));
                input.splice(start..start, repeated);
            }
            3 => {
                let other = &inputs[random.usize(..inputs.len())];
                let from = random.usize(..=other.len());
                let piece = other[from..random.usize(from..=other.len())].to_vec();
                input.splice(start..end, piece);
            }
            _ => {
                let token = TOKENS[random.usize(..TOKENS.len())];
                let count = if random.u8(..8) == 0 { random.usize(1..300) } else { 1 };
                input.splice(start..end, token.repeat(count).into_bytes());
            }
        }
    }
    input.truncate(MAX_INPUT);
    input
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn bytes(values: &[Value]) -> Vec<Vec<u8>> {
    values.iter().map(|value| value.to_string().into_bytes()).collect()
}

fn files(directory: &str) -> Vec<Vec<u8>> {
    let directory = tests::workspace_root().join(directory);
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().filter(|path| path.is_file()).map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn audit_events_and_activity() {
    let event = json!({"auditID": "a-1", "stage": "ResponseComplete", "verb": "get", "user": {"username": "\u{e9}"}});
    let list = json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": [event, event]});
    fuzz(&bytes(&[list, json!({"user": "a", "nested": [[1.5, null]]})]), |body| {
        for source in [&Audit as &dyn ActivitySource, &Activity] {
            let _ = source.drafts(&HeaderMap::new(), body);
        }
    });
}

#[test]
fn segments_of_a_journal() {
    let directory = tempfile::tempdir().unwrap();
    let series = || Series::new(directory.path(), "audit", "a-0").unwrap();
    let open = || {
        let config = JournalConfig::new(Duration::from_secs(60));
        Journal::open(Arc::new(Disk), series(), config, Arc::new(Metrics::default()))
    };
    let runtime = runtime();
    let (journal, thread) = open().unwrap();
    for number in 0..20 {
        let body = to_raw_value(&json!({"number": number, "text": "\u{1f980}"})).unwrap();
        let draft = Draft::new(Source::Activity, Some(number.to_string()), &body);
        let reservation = journal.reserve(1024).unwrap();
        runtime.block_on(journal.append(vec![draft], Acknowledgement::Durable, reservation)).unwrap();
    }
    drop(journal);
    runtime.block_on(thread.stop()).unwrap();
    let path = only_segment(directory.path());
    let segment = fs::read(&path).unwrap();
    fuzz(&[segment], |bytes| {
        fs::write(&path, bytes).unwrap();
        verify(&Disk, directory.path(), &mut |_| {}).unwrap();
        if let Ok((journal, thread)) = open() {
            drop(journal);
            runtime.block_on(thread.stop()).unwrap();
        }
        for entry in fs::read_dir(directory.path()).unwrap() {
            let other = entry.unwrap().path();
            if other.is_file() && other != path {
                fs::remove_file(other).unwrap();
            }
        }
    });
}

fn only_segment(directory: &Path) -> std::path::PathBuf {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut segments: Vec<_> = paths.filter(|path| fs::metadata(path).unwrap().len() > 100).collect();
    assert_eq!(segments.len(), 1, "{segments:?}");
    segments.remove(0)
}

#[test]
fn reviews_of_webhooks() {
    let set_level = |map: &mut ConfigMap, _: &AdmissionRequest| {
        map.data.get_or_insert_default().insert("level".to_owned(), "info".to_owned());
        Ok::<_, Denied>(())
    };
    let convert = |object: &mut Value, target: &str| {
        object["apiVersion"] = json!(target);
        Ok::<_, String>(())
    };
    let description = ConversionWebhookDescription::new("example.com", "Widget", "widgets");
    let webhooks = Webhooks::new().defaulter::<ConfigMap>(set_level).conversion(description, convert);
    let described = webhooks.describe();
    let admission = described.admission_webhooks[0].path.clone();
    let conversion = described.conversion_webhooks[0].path.clone();
    let (service, runtime) = (webhooks.into_service().unwrap(), runtime());
    let kind = json!({"group": "", "version": "v1", "kind": "ConfigMap"});
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}});
    let inputs = bytes(&[
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "1", "operation": "CREATE", "namespace": "default", "name": "a", "kind": kind, "object": object,
            "resource": {"group": "", "version": "v1", "resource": "configmaps"}, "userInfo": {"username": "a"},
        }}),
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": {
            "uid": "1", "desiredAPIVersion": "example.com/v2",
            "objects": [{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {}}],
        }}),
    ]);
    fuzz(&inputs, |body| {
        for path in [&admission, &conversion] {
            let request = Request::post(path).header(CONTENT_TYPE, "application/json");
            let request = request.body(Bytes::copy_from_slice(body)).unwrap();
            let response = runtime.block_on(service(request));
            assert!([200, 400].contains(&response.status().as_u16()), "{response:?}");
        }
    });
}

#[test]
fn definitions_that_are_validated_and_imported() {
    let inputs = [files("tests/corpus/import"), files("tests/corpus/definitions/valid")].concat();
    fuzz(&inputs, |text| {
        let Ok(definition) = serde_saphyr::from_str::<Value>(&String::from_utf8_lossy(text)) else { return };
        let _ = definition::validate(&definition);
        let _ = import(&[definition], KubernetesTypes::Reuse);
    });
}

#[test]
fn patterns() {
    let inputs = ["^[a-z]([-a-z0-9]*[a-z0-9])?$", r"\p{Greek}+|(?i:x{2,5})", r"[[:alpha:]\d]{1,10}", "(a|b)*?c"];
    let inputs: Vec<_> = inputs.iter().map(|pattern| pattern.as_bytes().to_vec()).collect();
    fuzz(&inputs, |text| {
        let pattern = String::from_utf8_lossy(&text[..text.len().min(256)]);
        if let Ok(pattern) = Pattern::new(&pattern) {
            pattern.is_match("a text with Greek \u{3b1}\u{3b2}, and digits 123");
        }
    });
}

#[test]
fn manifests() {
    let mut scheme = Scheme::new();
    logger_types::v1::add_to_scheme(&mut scheme).unwrap();
    logger_types::v2::add_to_scheme(&mut scheme).unwrap();
    fuzz(&files("config/samples"), |text| {
        let _ = scheme.decode_all(&String::from_utf8_lossy(text));
    });
}

#[test]
fn requests_to_the_api_server() {
    const JSON: &str = "application/json";
    const YAML: &str = "application/yaml";
    const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
    const MERGE_PATCH: &str = "application/merge-patch+json";
    const JSON_PATCH: &str = "application/json-patch+json";
    const STRATEGIC: &str = "application/strategic-merge-patch+json";
    const APPLY: &str = "application/apply-patch+yaml";
    let (mut server, runtime) = (ApiServer::new(), runtime());
    let collection = "/api/v1/namespaces/default/configmaps?fieldManager=a";
    let object = "/api/v1/namespaces/default/configmaps/a?fieldManager=a&force=true";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}});
    let mut send = move |method: &Method, uri: &str, media: &str, body: &[u8]| {
        let request = Request::builder().method(method).uri(uri).header(CONTENT_TYPE, media);
        let request = request.body(kube::client::Body::from(body.to_vec())).unwrap();
        runtime.block_on(server.call(request)).unwrap().status().as_u16()
    };
    assert_eq!(send(&Method::POST, collection, JSON, map.to_string().as_bytes()), 201);
    let inputs = bytes(&[
        map,
        json!([{"op": "replace", "path": "/data/a", "value": "c"}, {"op": "test", "path": "/metadata/name", "value": "a"}]),
        json!({"metadata": {"finalizers": null, "$patch": "merge"}, "data": {"a": null}}),
    ]);
    fuzz(&inputs, |body| {
        for media in [JSON, YAML, PROTOBUF] {
            let framed = [if media == PROTOBUF { b"k8s\0".as_slice() } else { b"" }, body].concat();
            for (method, uri) in [(Method::POST, collection), (Method::PUT, object)] {
                let status = send(&method, &format!("{uri}&dryRun=All"), media, &framed);
                assert_ne!(status, 500, "{method} {media}");
            }
        }
        for media in [MERGE_PATCH, JSON_PATCH, STRATEGIC, APPLY] {
            let status = send(&Method::PATCH, &format!("{object}&dryRun=All"), media, body);
            // As on the real server, an unknown field of an apply is an internal error.
            assert!(status != 500 || media == APPLY, "{media}");
        }
    });
}
