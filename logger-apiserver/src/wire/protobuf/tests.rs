//! Objects in protobuf: as a real server wrote them, as anything may write them, and cut off.

use base64::{Engine, engine::general_purpose::STANDARD};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::ApiServer;

/// An answer of a real server, in both forms; `tests/protobuf` records them.
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

fn read(bytes: &[u8]) -> Result<Value, String> {
    Envelope::open(bytes)?.fields("", "").map(Value::Object)
}

#[test]
fn what_a_real_server_writes_is_read_as_the_json_it_writes() {
    for (mut recorded, bytes) in recorded() {
        // In JSON alone a claim in a template says its type.
        if let Some(claim) = recorded.json.pointer_mut("/spec/volumeClaimTemplates/0").and_then(Value::as_object_mut) {
            claim.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind"));
        }
        assert_eq!(read(&bytes).unwrap(), recorded.json, "{}", recorded.path);
    }
}

#[test]
fn what_a_real_server_writes_is_written_byte_by_byte() {
    for (recorded, bytes) in recorded() {
        let written = encode(&recorded.json).unwrap();
        assert_eq!(STANDARD.encode(&written), recorded.protobuf, "{}: {:?}", recorded.path, read(&written));
        assert_eq!(written, bytes);
    }
}

#[test]
fn what_is_no_protobuf_is_refused_in_words_of_go() {
    for (body, why) in [
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
        assert_eq!(Envelope::open(body).map(drop), Err(why.to_owned()), "{body:?}");
    }
}

#[test]
fn every_cut_of_what_a_real_server_writes_is_read_or_refused() {
    for (_, bytes) in recorded() {
        for end in 0..bytes.len() {
            drop(read(&bytes[..end]));
        }
    }
}

#[test]
fn values_are_bounded_in_number_and_depth() {
    let definition = |content: Vec<u8>| {
        let object = json!({ "apiVersion": "v1", "kind": "PodList", "metadata": {} });
        let mut bytes = encode(&object).unwrap();
        bytes.truncate(bytes.len() - 4);
        let mut writer = Writer::beginning_with(&bytes);
        writer.bytes(2, &content);
        writer.written()
    };
    let pods = [0x12, 0x00].repeat(1 << 20);
    assert!(read(&definition(pods)).unwrap_err().contains("values; send less at once"));

    let mut schema = Writer::default().written();
    for _ in 0..200 {
        let mut outer = Writer::default();
        // `not` has a schema in it.
        outer.bytes(28, &schema);
        schema = outer.written();
    }
    let type_ = Types::all().schema().unwrap();
    assert!(Values::default().message(type_, &schema).unwrap_err().contains("deep in each other"));
}

#[test]
fn what_has_no_type_is_not_written() {
    assert_eq!(encode(&json!({ "apiVersion": "example.com/v1", "kind": "Widget" })), None);
    assert_eq!(encode(&json!([])), None);
}

/// What is answered to a sample that is sent so; what is made up each time is left out, wherever it is said.
async fn made(path: &str, media_type: &str, body: Vec<u8>) -> Value {
    let request = http::Request::post(format!("{path}?dryRun=All&fieldManager=test"));
    let request = request.header(http::header::CONTENT_TYPE, media_type).body(kube::client::Body::from(body)).unwrap();
    let response = ApiServer::new().client().send(request).await.unwrap();
    let body = response.into_body().collect_bytes().await.unwrap();
    // Of a group that is not served there is no Status, but a text.
    let answer: Value = serde_json::from_slice(&body).unwrap_or_else(|_| json!({ "kind": "Status" }));
    let made_up = ["/metadata/uid", "/metadata/creationTimestamp", "/metadata/managedFields/0/time", "/spec/clusterIP"];
    let made_up = made_up.iter().filter_map(|place| answer.pointer(place)?.as_str());
    let text = made_up.fold(answer.to_string(), |text, made_up| text.replace(made_up, ""));
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn what_is_sent_in_protobuf_is_what_is_sent_in_json() {
    let samples: Vec<Value> = serde_saphyr::from_str(include_str!("../../../tests/protobuf/samples.yaml")).unwrap();
    let mut compared = 0;
    for sample in samples {
        let (path, object) = (sample["path"].as_str().unwrap(), &sample["object"]);
        let json = made(path, "application/json", object.to_string().into_bytes()).await;
        if json["kind"] != "Status" {
            assert_eq!(made(path, MEDIA_TYPE, encode(object).unwrap()).await, json, "{path}");
            compared += 1;
        }
    }
    assert!(compared > 15, "only {compared} samples are of kinds that are served");
}

/// JSON of a type as Go writes it, from bytes that choose.
fn sample(type_: &types::Type, choices: &mut impl Iterator<Item = u8>, depth: u32) -> Vec<u8> {
    let mut writer = Writer::default();
    for field in &type_.fields {
        let choice = choices.next().unwrap_or(0);
        let times = match field.holds {
            _ if choice.is_multiple_of(3) || depth > 6 => 0,
            types::Holds::One | types::Holds::Pointer => 1,
            types::Holds::List | types::Holds::Map => usize::from(choice % 4),
        };
        for index in 0..times {
            let mut value = Writer::default();
            let number = if field.holds == types::Holds::Map { 2 } else { field.number };
            sample_value(field.of, number, choices, depth, &mut value);
            match field.holds {
                types::Holds::Map => {
                    let mut entry = Writer::default();
                    entry.bytes(1, format!("k{index}").as_bytes());
                    let entry = [entry.written(), value.written()].concat();
                    writer.bytes(field.number, &entry);
                }
                _ => writer = Writer::beginning_with(&[writer.written(), value.written()].concat()),
            }
        }
    }
    writer.written()
}

fn sample_value(of: types::Of, number: u32, choices: &mut impl Iterator<Item = u8>, depth: u32, writer: &mut Writer) {
    let choice = choices.next().unwrap_or(0);
    match of {
        types::Of::Bool => writer.varint(number, u64::from(choice % 2)),
        types::Of::Int32 => writer.varint(number, i64::from(i32::from(choice) - 128) as u64),
        types::Of::Int64 => writer.varint(number, i64::from(choice) as u64 * 0x0100_0000_0001),
        types::Of::Float64 => writer.fixed64(number, (f64::from(choice) / 4.0).to_bits()),
        types::Of::Text => writer.bytes(number, ["", "a\u{e9}"][usize::from(choice % 2)].as_bytes()),
        types::Of::Bytes => writer.bytes(number, &[choice, 0, 255][..usize::from(choice % 4).min(3)]),
        types::Of::Message(index) => writer.bytes(number, &sample(Types::all().at(index), choices, depth + 1)),
        types::Of::Special(special) => writer.bytes(number, &special.write(&sample_special(special, choice))),
    }
}

fn sample_special(special: types::Special, choice: u8) -> Value {
    use types::Special::{IntOrString, MicroTime, Quantity, Raw, SchemaOrBool, SchemaOrSchemas, SchemaOrTexts, Time};
    match special {
        Quantity => json!(choice.to_string()),
        Raw => json!({ "a": [choice, "b", null] }),
        IntOrString if choice.is_multiple_of(2) => json!("50%"),
        IntOrString => json!(i32::from(choice) - 128),
        Time => json!("2024-01-02T03:04:05Z"),
        MicroTime => json!("2024-01-02T03:04:05.000007Z"),
        SchemaOrBool if choice.is_multiple_of(2) => json!(choice.is_multiple_of(4)),
        SchemaOrSchemas if choice.is_multiple_of(2) => json!([{ "type": "string" }, {}]),
        SchemaOrTexts if choice.is_multiple_of(2) => json!(["a", ""]),
        SchemaOrBool | SchemaOrSchemas | SchemaOrTexts => json!({ "minimum": 1.5 }),
    }
}

proptest! {
    #[test]
    fn what_is_read_is_written_and_read_as_the_same(kind in 0_usize..12, choices in prop::collection::vec(any::<u8>(), 0..600)) {
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
        prop_assert_eq!(read(&written).unwrap(), object);
    }

    #[test]
    fn any_bytes_are_read_or_refused(content in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = encode(&json!({ "apiVersion": "v1", "kind": "Pod" })).unwrap();
        bytes.extend(content);
        drop(read(&bytes));
    }
}
