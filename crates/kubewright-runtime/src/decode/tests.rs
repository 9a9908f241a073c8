//! Tests of the streaming decoder, over random JSON split at random positions.

use k8s_openapi::api::core::v1::ConfigMap;
use proptest::{
    collection::{btree_map, vec},
    prelude::*,
};
use serde_json::{Value, json};

use super::*;

/// Decodes the text in pieces of these lengths. The last length repeats.
fn list(text: &[u8], lengths: &[usize], fields: ManagedFields) -> Result<(Vec<Value>, ListMeta), DecodeError> {
    let (mut objects, mut decoder, mut rest) = (Vec::new(), ListDecoder::new(fields), text);
    let mut lengths = lengths.iter();
    let mut length = rest.len().max(1);
    while !rest.is_empty() {
        length = lengths.next().map_or(length, |length| (*length).max(1)).min(rest.len());
        decoder.push(&rest[..length], |object| objects.push(object))?;
        rest = &rest[length..];
    }
    decoder.finish().map(|meta| (objects, meta))
}

fn events(text: &[u8], length: usize) -> Result<Vec<WatchEvent<ConfigMap>>, DecodeError> {
    let (mut events, mut decoder) = (Vec::new(), WatchDecoder::new(ManagedFields::Drop));
    for mut piece in text.chunks(length) {
        while let Some(event) = decoder.next(&mut piece)? {
            events.push(event);
        }
    }
    Ok(events)
}

/// Keys and texts that resemble the syntax or the keys of an envelope.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,3}",
        Just("metadata".to_owned()),
        Just("managedFields".to_owned()),
        Just("items".to_owned()),
        r#"["\\{}\[\],: ü\n🦀]{0,6}"#,
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| prop_oneof![vec(inner.clone(), 0..4).prop_map(Value::from), object(inner)])
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    btree_map(text(), inner, 0..5).prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

/// The text of a list response, and the objects in it.
fn response() -> impl Strategy<Value = (String, Vec<Value>)> {
    (vec(object(value()), 0..4), object(value()), any::<bool>()).prop_map(|(items, mut around, pretty)| {
        around["metadata"] = json!({ "resourceVersion": "7", "continue": "more" });
        around["items"] = items.clone().into();
        let text = if pretty { serde_json::to_string_pretty(&around) } else { serde_json::to_string(&around) };
        (text.unwrap(), items)
    })
}

/// The expected result of decoding with dropped managed fields.
fn without_managed_fields(mut object: Value) -> Value {
    if let Some(fields) = object.pointer_mut("/metadata/managedFields")
        && (fields.is_array() || fields.is_object())
        && object["metadata"].is_object()
    {
        object["metadata"]["managedFields"] = Value::Null;
    }
    object
}

proptest! {
    #[test]
    fn objects_in_pieces_equal_those_of_the_complete_text(
        (text, items) in response(), lengths in vec(1_usize..40, 1..20),
    ) {
        let (complete, meta) = list(text.as_bytes(), &lengths, ManagedFields::Keep).unwrap();
        prop_assert_eq!(&complete, &items);
        prop_assert_eq!((meta.resource_version.as_str(), meta.continue_token.as_deref()), ("7", Some("more")));
        let (dropped, _) = list(text.as_bytes(), &lengths, ManagedFields::Drop).unwrap();
        prop_assert_eq!(dropped, items.iter().cloned().map(without_managed_fields).collect::<Vec<_>>());
        for item in items {
            let decoded: Value = object_of(&item).unwrap();
            prop_assert_eq!(decoded, without_managed_fields(item));
        }
    }

    #[test]
    fn accepted_text_equals_the_complete_decoding(
        (text, _) in response(), at in any::<prop::sample::Index>(), put in vec(r#"["\\{}\[\],:0a ]"#, 0..3),
        cut in 0_usize..3,
        lengths in vec(1_usize..40, 1..20),
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, put.concat().into_bytes());
        if let Ok((objects, _)) = list(&bytes, &lengths, ManagedFields::Keep) {
            // Skipped bytes are not checked for valid UTF-8.
            let complete: Value = serde_json::from_str(&String::from_utf8_lossy(&bytes)).expect("it was accepted");
            let items = complete["items"].as_array().cloned().unwrap_or_default();
            prop_assert_eq!(objects, items);
        }
        // Without managed fields, and as events: any result, but no panic.
        drop(list(&bytes, &lengths, ManagedFields::Drop));
        drop(events(&bytes, lengths[0]));
    }
}

fn object_of(value: &Value) -> Result<Value, DecodeError> {
    super::object(value.to_string().as_bytes(), ManagedFields::Drop)
}

const TRICKY: &str = r#" {"kind":"WidgetList","x\"items":[{"a":1}],"items":[{"metadata":{"managedFields":[{"a":"]}\""}],"name":"ü\\\"}"},
 "spec":{"metadata":{"managedFields":[1]}}} , {"metadata":{"name":"b","managedFields":{}}}],"metadata":{"resourceVersion":"7"}} "#;

#[test]
fn a_split_at_any_byte_does_not_change_the_result() {
    let complete: Value = serde_json::from_str(TRICKY).unwrap();
    let expected: Vec<_> = complete["items"].as_array().unwrap().iter().cloned().map(without_managed_fields).collect();
    for at in 1..TRICKY.len() {
        let (objects, meta) = list(TRICKY.as_bytes(), &[at, TRICKY.len()], ManagedFields::Drop).unwrap();
        assert_eq!(objects, expected, "split at {at}");
        assert_eq!(meta.resource_version, "7");
    }
}

#[test]
fn a_response_truncated_at_any_byte_is_an_error() {
    let end = TRICKY.trim_end().len();
    for at in 0..end {
        assert!(list(&TRICKY.as_bytes()[..at], &[], ManagedFields::Drop).is_err(), "cut at {at}");
    }
    assert!(matches!(list(b"", &[], ManagedFields::Drop), Err(DecodeError::Truncated)));
}

#[test]
fn invalid_responses_give_short_errors_by_type() {
    let error = |text: &str| list(text.as_bytes(), &[3], ManagedFields::Drop).unwrap_err();
    assert!(matches!(error("<html>no</html>"), DecodeError::NotJson));
    assert!(matches!(error(r#"{"metadata":{},"items":[]} {"#), DecodeError::NotJson | DecodeError::Truncated));
    for text in [r#"{"items":[1]}"#, r#"{"items":[{},]}"#, r#"{"items":[{}{}]}"#, r#"{"items":[],"items":[]}"#] {
        assert!(matches!(error(text), DecodeError::NotAnObject | DecodeError::NotJson), "{text}: {:?}", error(text));
    }
    let long = format!(r#"{{"metadata":{{"name":{{"{}":1}}}}}}"#, "x".repeat(10_000));
    let text = super::object::<ConfigMap>(long.as_bytes(), ManagedFields::Drop).unwrap_err().to_string();
    assert!(text.len() <= MAX_ERROR_LEN, "{text}");
}

#[test]
fn a_list_without_items_is_empty() {
    for items in [r#","items":null"#, r#","items":[ ]"#] {
        let text = format!(r#"{{"metadata":{{"resourceVersion":"3","continue":"","shardInfo":{{}}}}{items}}}"#);
        let (objects, meta) = list(text.as_bytes(), &[5], ManagedFields::Drop).unwrap();
        let expected = ListMeta { resource_version: "3".into(), continue_token: None, sharded: true };
        assert_eq!((objects, meta), (vec![], expected));
    }
}

#[test]
fn events_are_decoded_at_their_last_byte_wherever_the_bytes_are_split() {
    let text = concat!(
        r#"{"type":"ADDED","object":{"metadata":{"managedFields":[{"manager":"x"}],"name":"a","resourceVersion":"4"}}}"#,
        "\n",
        r#"{"object":{"metadata":{"name":"a","resourceVersion":"5"}},"type":"DELETED"}"#,
        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6","annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
        r#"{"type":"FUTURE","object":{"kind":"ConfigMap"}}"#,
        r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#,
    );
    for length in 1..text.len() {
        let events = events(text.as_bytes(), length).unwrap();
        let [added, deleted, bookmark, unknown, error] = events.as_slice() else { panic!("{events:?}") };
        assert!(matches!(added, WatchEvent::Added(map, version)
            if map.metadata.managed_fields.is_none() && map.metadata.name.as_deref() == Some("a") && version.as_str() == "4"));
        assert!(matches!(deleted, WatchEvent::Deleted(_, version) if version.as_str() == "5"));
        assert!(
            matches!(bookmark, WatchEvent::Bookmark { initial_events_end: true, version } if version.as_str() == "6")
        );
        assert!(matches!(unknown, WatchEvent::Unknown(name) if name == "FUTURE"));
        assert!(matches!(error, WatchEvent::Error(status) if status.code == 410));
    }
}

#[test]
fn a_truncated_event_is_not_returned_and_a_plain_status_is_an_error() {
    assert!(events(br#"{"type":"ADDED","object":{"meta"#, 9).unwrap().is_empty());
    let status = events(br#"{"kind":"Status","code":410,"reason":"Expired"}"#, 9).unwrap();
    assert!(matches!(status.as_slice(), [WatchEvent::Error(status)] if status.code == 410));
    assert!(matches!(events(b"<html>", 9), Err(DecodeError::NotJson)));
    let other = events(br#"{"type":"ADDED","object":{"kind":"Secret","metadata":{}}}"#, 9);
    assert!(matches!(other, Err(DecodeError::Deserialize(_))), "{other:?}");
}

#[test]
fn a_response_that_is_not_a_list_is_not_an_empty_list() {
    let not_lists = [
        "{}",
        r#"{"metadata":{}}"#,
        r#"{"kind":"Status","metadata":{}}"#,
        r#"{"items":[]}"#,
        r#"{"metadata":{},"items":3}"#,
    ];
    for response in not_lists {
        assert!(list(response.as_bytes(), &[], ManagedFields::Drop).is_err(), "{response}");
    }
    for empty in [r#"{"metadata":{},"items":null}"#, r#"{"metadata":{},"items":[]}"#] {
        assert!(list(empty.as_bytes(), &[], ManagedFields::Drop).unwrap().0.is_empty(), "{empty}");
    }
}

#[test]
fn at_most_one_object_is_buffered_as_text() {
    let item = json!({ "metadata": { "name": "x".repeat(100) } }).to_string();
    let text = format!(r#"{{"metadata":{{}},"items":[{}]}}"#, vec![item.as_str(); 1000].join(","));
    let mut decoder = ListDecoder::<Value>::new(ManagedFields::Drop);
    for piece in text.as_bytes().chunks(64) {
        decoder.push(piece, drop).unwrap();
        assert!(decoder.framer.object().len() <= item.len());
        assert!(decoder.framer.envelope().len() < 64);
    }
}
