//! Objects in protobuf: recorded from a real server, generated, and truncated.

use base64::{Engine, engine::general_purpose::STANDARD};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::{ApiServer, api::types};

/// A response of a real server in both encodings, recorded by `tests/protobuf`.
#[derive(Deserialize)]
struct Recorded {
    path: String,
    json: Value,
    protobuf: String,
}

fn recorded() -> Vec<(Recorded, Vec<u8>)> {
    let all: Vec<Recorded> = serde_json::from_str(include_str!("../../../tests/protobuf/recorded.json")).unwrap();
    let bytes = |recorded: Recorded| {
        let bytes = STANDARD.decode(&recorded.protobuf).unwrap();
        (recorded, bytes)
    };
    all.into_iter().map(bytes).collect()
}

fn decode(bytes: &[u8]) -> Result<Value, String> {
    Envelope::open(bytes)?.fields("", "").map(Value::Object)
}

#[test]
fn recorded_objects_decode_as_the_recorded_json() {
    for (mut recorded, bytes) in recorded() {
        // Only in JSON does a claim in a template have a type.
        if let Some(claim) = recorded.json.pointer_mut("/spec/volumeClaimTemplates/0").and_then(Value::as_object_mut) {
            claim.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind"));
        }
        assert_eq!(decode(&bytes).unwrap(), recorded.json, "{}", recorded.path);
    }
}

#[test]
fn recorded_objects_are_encoded_byte_for_byte() {
    for (recorded, bytes) in recorded() {
        let written = encode(&recorded.json).unwrap();
        assert_eq!(STANDARD.encode(&written), recorded.protobuf, "{}: {:?}", recorded.path, decode(&written));
        assert_eq!(written, bytes);
    }
}

#[test]
fn invalid_protobuf_is_rejected_with_the_errors_of_go() {
    for (body, message) in [
        (&b""[..], "empty data"),
        (b"{}", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (b"k8s\0", "empty body"),
        (b"k8s\0\x0a", "unexpected EOF"),
        (b"k8s\0\x0a\x05v1", "unexpected EOF"),
        (b"k8s\0\x08\x01", "proto: wrong wireType = 0 for field TypeMeta"),
        (b"k8s\0\x00\x00", "proto: Unknown: illegal tag 0 (wire type 0)"),
        (b"k8s\0\x0c", "proto: Unknown: wiretype end group for non-group"),
        (b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "proto: integer overflow"),
        (b"k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "proto: negative length found during unmarshaling"),
    ] {
        assert_eq!(Envelope::open(body).map(drop), Err(message.to_owned()), "{body:?}");
    }
}

#[test]
fn truncated_objects_are_decoded_or_rejected() {
    for (_, bytes) in recorded() {
        for end in 0..bytes.len() {
            drop(decode(&bytes[..end]));
        }
    }
}

#[test]
fn values_are_bounded_in_number_and_depth() {
    let definition = |content: Vec<u8>| {
        let object = json!({ "apiVersion": "v1", "kind": "PodList", "metadata": {} });
        let mut bytes = encode(&object).unwrap();
        bytes.truncate(bytes.len() - 4);
        let mut writer = Writer::with_prefix(&bytes);
        writer.bytes(2, &content);
        writer.into_bytes()
    };
    let pods = [0x12, 0x00].repeat(1 << 20);
    assert!(decode(&definition(pods)).unwrap_err().contains("values; send fewer objects"));

    let mut schema = Writer::default().into_bytes();
    for _ in 0..200 {
        let mut outer = Writer::default();
        // The field `not` is a schema.
        outer.bytes(28, &schema);
        schema = outer.into_bytes();
    }
    let type_ = Types::all().schema().unwrap();
    assert!(Values::default().message(type_, &schema).unwrap_err().contains("nesting exceeds"));
}

#[test]
fn objects_of_unknown_types_are_not_encoded() {
    assert_eq!(encode(&json!({ "apiVersion": "example.com/v1", "kind": "Widget" })), None);
    assert_eq!(encode(&json!([])), None);
}

/// Creates a sample in a dry run and returns the response, without values that are generated for each request.
async fn create(path: &str, media_type: &str, body: Vec<u8>) -> Value {
    let request = http::Request::post(format!("{path}?dryRun=All&fieldManager=test"));
    let request = request.header(http::header::CONTENT_TYPE, media_type).body(kube::client::Body::from(body)).unwrap();
    let response = ApiServer::new().client().send(request).await.unwrap();
    let body = response.into_body().collect_bytes().await.unwrap();
    // For a group that is not served, the response is plain text and not a `Status`.
    let object: Value = serde_json::from_slice(&body).unwrap_or_else(|_| json!({ "kind": "Status" }));
    let generated =
        ["/metadata/uid", "/metadata/creationTimestamp", "/metadata/managedFields/0/time", "/spec/clusterIP"];
    let generated = generated.iter().filter_map(|pointer| object.pointer(pointer)?.as_str());
    let text = generated.fold(object.to_string(), |text, value| text.replace(value, ""));
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn protobuf_and_json_requests_have_the_same_effect() {
    let samples: Vec<Value> = serde_saphyr::from_str(include_str!("../../../tests/protobuf/samples.yaml")).unwrap();
    let mut compared = 0;
    for sample in samples {
        let (path, object) = (sample["path"].as_str().unwrap(), &sample["object"]);
        let json = create(path, "application/json", object.to_string().into_bytes()).await;
        if json["kind"] != "Status" {
            assert_eq!(create(path, MEDIA_TYPE, encode(object).unwrap()).await, json, "{path}");
            compared += 1;
        }
    }
    assert!(compared > 15, "only {compared} samples are of served kinds");
}

/// Generates a message of a type from random bytes.
fn sample(type_: &types::Type, choices: &mut impl Iterator<Item = u8>, depth: u32) -> Vec<u8> {
    let mut writer = Writer::default();
    for field in &type_.fields {
        let choice = choices.next().unwrap_or(0);
        let times = match field.cardinality {
            _ if choice.is_multiple_of(3) || depth > 6 => 0,
            types::Cardinality::One | types::Cardinality::Pointer => 1,
            types::Cardinality::List | types::Cardinality::Map => usize::from(choice % 4),
        };
        for index in 0..times {
            let mut value = Writer::default();
            let number = if field.cardinality == types::Cardinality::Map { 2 } else { field.number };
            sample_value(field.value_type, number, choices, depth, &mut value);
            match field.cardinality {
                types::Cardinality::Map => {
                    let mut entry = Writer::default();
                    entry.bytes(1, format!("k{index}").as_bytes());
                    let entry = [entry.into_bytes(), value.into_bytes()].concat();
                    writer.bytes(field.number, &entry);
                }
                _ => writer = Writer::with_prefix(&[writer.into_bytes(), value.into_bytes()].concat()),
            }
        }
    }
    writer.into_bytes()
}

fn sample_value(
    value_type: types::ValueType,
    number: u32,
    choices: &mut impl Iterator<Item = u8>,
    depth: u32,
    writer: &mut Writer,
) {
    let choice = choices.next().unwrap_or(0);
    match value_type {
        types::ValueType::Bool => writer.varint(number, u64::from(choice % 2)),
        types::ValueType::Int32 => writer.varint(number, i64::from(i32::from(choice) - 128) as u64),
        types::ValueType::Int64 => writer.varint(number, i64::from(choice) as u64 * 0x0100_0000_0001),
        types::ValueType::Float64 => writer.fixed64(number, (f64::from(choice) / 4.0).to_bits()),
        types::ValueType::String => writer.bytes(number, ["", "a\u{e9}"][usize::from(choice % 2)].as_bytes()),
        types::ValueType::Bytes => writer.bytes(number, &[choice, 0, 255][..usize::from(choice % 4).min(3)]),
        types::ValueType::Message(index) => writer.bytes(number, &sample(Types::all().at(index), choices, depth + 1)),
        types::ValueType::Special(special) => writer.bytes(number, &special.write(&sample_special(special, choice))),
    }
}

fn sample_special(special: types::Special, choice: u8) -> Value {
    use types::Special::{
        IntOrString, MicroTime, Quantity, Raw, SchemaOrArray, SchemaOrBool, SchemaOrStringArray, Time,
    };
    match special {
        Quantity => json!(choice.to_string()),
        Raw => json!({ "a": [choice, "b", null] }),
        IntOrString if choice.is_multiple_of(2) => json!("50%"),
        IntOrString => json!(i32::from(choice) - 128),
        Time => json!("2024-01-02T03:04:05Z"),
        MicroTime => json!("2024-01-02T03:04:05.000007Z"),
        SchemaOrBool if choice.is_multiple_of(2) => json!(choice.is_multiple_of(4)),
        SchemaOrArray if choice.is_multiple_of(2) => json!([{ "type": "string" }, {}]),
        SchemaOrStringArray if choice.is_multiple_of(2) => json!(["a", ""]),
        SchemaOrBool | SchemaOrArray | SchemaOrStringArray => json!({ "minimum": 1.5 }),
    }
}

proptest! {
    #[test]
    fn decoded_objects_round_trip(kind in 0_usize..12, choices in prop::collection::vec(any::<u8>(), 0..600)) {
        const KINDS: [(&str, &str); 12] = [
            ("v1", "Pod"), ("v1", "Secret"), ("v1", "Service"), ("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"),
            ("batch/v1", "CronJob"), ("networking.k8s.io/v1", "Ingress"), ("policy/v1", "PodDisruptionBudget"),
            ("rbac.authorization.k8s.io/v1", "ClusterRole"), ("events.k8s.io/v1", "Event"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"), ("v1", "Status"),
        ];
        let (api_version, kind) = KINDS[kind];
        let type_ = Types::all().of_kind(api_version, kind).unwrap();
        let bytes = sample(type_, &mut choices.into_iter(), 0);
        let mut object = Values::default().message(type_, &bytes).unwrap();
        object.insert("apiVersion".to_owned(), json!(api_version));
        object.insert("kind".to_owned(), json!(kind));
        let object = Value::Object(object);
        let written = encode(&object).unwrap();
        prop_assert_eq!(decode(&written).unwrap(), object);
    }

    #[test]
    fn arbitrary_bytes_are_decoded_or_rejected(content in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = encode(&json!({ "apiVersion": "v1", "kind": "Pod" })).unwrap();
        bytes.extend(content);
        drop(decode(&bytes));
    }
}
