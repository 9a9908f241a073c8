//! What decoding in pieces promises, over random JSON cut at random places.

use k8s_openapi::api::core::v1::ConfigMap;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Hands over the text in pieces of these lengths, the last one again and again.
fn list(text: &[u8], lengths: &[usize], fields: ManagedFields) -> Result<(Vec<Value>, ListMeta), BadAnswer> {
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

fn events(text: &[u8], length: usize) -> Result<Vec<WatchEvent<ConfigMap>>, BadAnswer> {
    let (mut events, mut decoder) = (Vec::new(), WatchDecoder::new(ManagedFields::Dropped));
    for mut piece in text.chunks(length) {
        while let Some(event) = decoder.next(&mut piece)? {
            events.push(event);
        }
    }
    Ok(events)
}

/// Keys and texts that may be taken for something else.
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

/// An answer as text, with the objects in it.
fn answer() -> impl Strategy<Value = (String, Vec<Value>)> {
    (vec(object(value()), 0..4), object(value()), any::<bool>()).prop_map(|(items, mut around, pretty)| {
        around["metadata"] = json!({ "resourceVersion": "7", "continue": "more" });
        around["items"] = items.clone().into();
        let text = if pretty { serde_json::to_string_pretty(&around) } else { serde_json::to_string(&around) };
        (text.unwrap(), items)
    })
}

/// As it should be decoded.
fn stripped(mut object: Value) -> Value {
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
    fn objects_in_pieces_are_those_of_the_whole((text, items) in answer(), lengths in vec(1_usize..40, 1..20)) {
        let (kept, meta) = list(text.as_bytes(), &lengths, ManagedFields::Kept).unwrap();
        prop_assert_eq!(&kept, &items);
        prop_assert_eq!((meta.version.as_str(), meta.continue_token.as_deref()), ("7", Some("more")));
        let (dropped, _) = list(text.as_bytes(), &lengths, ManagedFields::Dropped).unwrap();
        prop_assert_eq!(dropped, items.iter().cloned().map(stripped).collect::<Vec<_>>());
        for item in items {
            let decoded: Value = object_of(&item).unwrap();
            prop_assert_eq!(decoded, stripped(item));
        }
    }

    #[test]
    fn what_is_taken_is_what_the_whole_decodes_to(
        (text, _) in answer(), at in any::<prop::sample::Index>(), put in vec(r#"["\\{}\[\],:0a ]"#, 0..3), cut in 0_usize..3,
        lengths in vec(1_usize..40, 1..20),
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, put.concat().into_bytes());
        if let Ok((objects, _)) = list(&bytes, &lengths, ManagedFields::Kept) {
            // What is passed over is not looked at for its encoding.
            let whole: Value = serde_json::from_str(&String::from_utf8_lossy(&bytes)).expect("it was taken");
            let items = whole["items"].as_array().cloned().unwrap_or_default();
            prop_assert_eq!(objects, items);
        }
        // Without the fields, and as events: no matter what, but no panic.
        drop(list(&bytes, &lengths, ManagedFields::Dropped));
        drop(events(&bytes, lengths[0]));
    }
}

fn object_of(value: &Value) -> Result<Value, BadAnswer> {
    super::object(value.to_string().as_bytes(), ManagedFields::Dropped)
}

const TRICKY: &str = r#" {"kind":"WidgetList","x\"items":[{"a":1}],"items":[{"metadata":{"managedFields":[{"a":"]}\""}],"name":"ü\\\"}"},
 "spec":{"metadata":{"managedFields":[1]}}} , {"metadata":{"name":"b","managedFields":{}}}],"metadata":{"resourceVersion":"7"}} "#;

#[test]
fn a_cut_at_every_byte_changes_nothing() {
    let whole: Value = serde_json::from_str(TRICKY).unwrap();
    let expected: Vec<_> = whole["items"].as_array().unwrap().iter().cloned().map(stripped).collect();
    for at in 1..TRICKY.len() {
        let (objects, meta) = list(TRICKY.as_bytes(), &[at, TRICKY.len()], ManagedFields::Dropped).unwrap();
        assert_eq!(objects, expected, "cut at {at}");
        assert_eq!(meta.version, "7");
    }
}

#[test]
fn an_answer_cut_short_is_an_error_wherever_it_is_cut() {
    let end = TRICKY.trim_end().len();
    for at in 0..end {
        assert!(list(&TRICKY.as_bytes()[..at], &[], ManagedFields::Dropped).is_err(), "cut at {at}");
    }
    assert!(matches!(list(b"", &[], ManagedFields::Dropped), Err(BadAnswer::Truncated)));
}

#[test]
fn bad_answers_are_told_by_type_and_in_few_words() {
    let error = |text: &str| list(text.as_bytes(), &[3], ManagedFields::Dropped).unwrap_err();
    assert!(matches!(error("<html>no</html>"), BadAnswer::NoJson));
    assert!(matches!(error(r#"{"metadata":{},"items":[]} {"#), BadAnswer::NoJson | BadAnswer::Truncated));
    for text in [r#"{"items":[1]}"#, r#"{"items":[{},]}"#, r#"{"items":[{}{}]}"#, r#"{"items":[],"items":[]}"#] {
        assert!(matches!(error(text), BadAnswer::NoObjects | BadAnswer::NoJson), "{text}: {:?}", error(text));
    }
    let long = format!(r#"{{"metadata":{{"name":{{"{}":1}}}}}}"#, "x".repeat(10_000));
    let text = super::object::<ConfigMap>(long.as_bytes(), ManagedFields::Dropped).unwrap_err().to_string();
    assert!(text.len() <= LONGEST_TOLD, "{text}");
}

#[test]
fn a_list_without_items_is_empty() {
    for items in [r#","items":null"#, r#","items":[ ]"#] {
        let text = format!(r#"{{"metadata":{{"resourceVersion":"3","continue":"","shardInfo":{{}}}}{items}}}"#);
        let (objects, meta) = list(text.as_bytes(), &[5], ManagedFields::Dropped).unwrap();
        let expected = ListMeta { version: "3".into(), continue_token: None, sharded: true };
        assert_eq!((objects, meta), (vec![], expected));
    }
}

#[test]
fn events_come_out_as_soon_as_they_are_whole_wherever_the_bytes_are_cut() {
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
            matches!(bookmark, WatchEvent::Bookmark { ends_initial_events: true, version } if version.as_str() == "6")
        );
        assert!(matches!(unknown, WatchEvent::Unknown(name) if name == "FUTURE"));
        assert!(matches!(error, WatchEvent::Error(status) if status.code == 410));
    }
}

#[test]
fn an_event_cut_short_is_none_and_a_plain_status_is_an_error() {
    assert!(events(br#"{"type":"ADDED","object":{"meta"#, 9).unwrap().is_empty());
    let status = events(br#"{"kind":"Status","code":410,"reason":"Expired"}"#, 9).unwrap();
    assert!(matches!(status.as_slice(), [WatchEvent::Error(status)] if status.code == 410));
    assert!(matches!(events(b"<html>", 9), Err(BadAnswer::NoJson)));
    let other = events(br#"{"type":"ADDED","object":{"kind":"Secret","metadata":{}}}"#, 9);
    assert!(matches!(other, Err(BadAnswer::Undecodable(_))), "{other:?}");
}

#[test]
fn what_is_no_list_is_no_empty_list() {
    let no_lists = [
        "{}",
        r#"{"metadata":{}}"#,
        r#"{"kind":"Status","metadata":{}}"#,
        r#"{"items":[]}"#,
        r#"{"metadata":{},"items":3}"#,
    ];
    for answer in no_lists {
        assert!(list(answer.as_bytes(), &[], ManagedFields::Dropped).is_err(), "{answer}");
    }
    for empty in [r#"{"metadata":{},"items":null}"#, r#"{"metadata":{},"items":[]}"#] {
        assert!(list(empty.as_bytes(), &[], ManagedFields::Dropped).unwrap().0.is_empty(), "{empty}");
    }
}

#[test]
fn no_more_than_one_object_is_kept_as_text() {
    let item = json!({ "metadata": { "name": "x".repeat(100) } }).to_string();
    let text = format!(r#"{{"metadata":{{}},"items":[{}]}}"#, vec![item.as_str(); 1000].join(","));
    let mut decoder = ListDecoder::<Value>::new(ManagedFields::Dropped);
    for piece in text.as_bytes().chunks(64) {
        decoder.push(piece, drop).unwrap();
        assert!(decoder.frames.object().len() <= item.len());
        assert!(decoder.frames.around().len() < 64);
    }
}
