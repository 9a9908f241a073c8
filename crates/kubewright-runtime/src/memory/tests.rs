//! Tests of compact objects: what they preserve, and objects that cannot be decoded.
#![cfg(feature = "compact")]

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use k8s_openapi::{NamespaceResourceScope, api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Resource,
    core::{Expression, Selector},
};
use proptest::{collection::btree_map, prelude::*};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::{codec::Codec, *};
use crate::{
    object::{ObjectKey, ResourceVersion},
    reflector::Event,
    store::{Index, Store},
};

/// More objects than the training of a dictionary needs.
const MANY: usize = 2000;

/// A kind whose state is a number. It can decode only what `text` serializes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Counter {
    metadata: ObjectMeta,
    #[serde(serialize_with = "text", deserialize_with = "number")]
    state: i32,
    #[serde(default)]
    padding: String,
}

/// Serializes negative numbers so that they cannot be decoded.
fn text<S: serde::Serializer>(state: &i32, serializer: S) -> Result<S::Ok, S::Error> {
    if *state < 0 { serializer.serialize_i32(*state) } else { serializer.serialize_str(&state.to_string()) }
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

impl Resource for Counter {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(_: &()) -> Cow<'_, str> {
        "Counter".into()
    }

    fn group(_: &()) -> Cow<'_, str> {
        "example.com".into()
    }

    fn version(_: &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural(_: &()) -> Cow<'_, str> {
        "counters".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

fn counter(name: &str, state: i32) -> Counter {
    let metadata = ObjectMeta {
        namespace: Some("default".to_owned()),
        name: Some(name.to_owned()),
        resource_version: Some("7".to_owned()),
        ..ObjectMeta::default()
    };
    Counter { metadata, state, padding: "a counter for tests of compact objects".to_owned() }
}

fn codec<K: crate::ApiObject>() -> Arc<Codec<K>> {
    Arc::new(Codec::new())
}

fn pack<K: crate::ApiObject>(codec: &Arc<Codec<K>>, object: K) -> Stored<K> {
    Packer::Compact(Arc::clone(codec)).pack(object, Origin::Listed, None)
}

/// Packs many objects, so that the dictionary is trained.
fn train(codec: &Arc<Codec<Counter>>) {
    (0..MANY).for_each(|number| drop(pack(codec, counter(&format!("counter-{number}"), 1))));
    assert!(codec.has_dictionary());
}

fn is_compact<K>(stored: &Stored<K>) -> bool {
    matches!(stored, Stored::Compact(_))
}

/// Returns the object, decoded from its bytes if it is compact.
fn decoded<K: crate::ApiObject>(stored: &Stored<K>) -> K {
    match stored {
        Stored::Decoded(object) => K::clone(object),
        Stored::Compact(object) => object.decode().unwrap(),
    }
}

/// A counter that is too large to be hot, so that each read decodes it.
fn cold(name: &str, state: i32) -> Counter {
    let mut random = fastrand::Rng::with_seed(3);
    Counter { padding: (0..600_000).map(|_| random.alphanumeric()).collect(), ..counter(name, state) }
}

#[test]
fn objects_are_the_same_before_and_after_the_training_of_the_dictionary() {
    let codec = codec();
    for number in 0..MANY {
        let object = counter(&format!("counter-{number}"), 1);
        let stored = pack(&codec, object.clone());
        assert!(is_compact(&stored));
        assert_eq!(decoded(&stored), object);
        assert_eq!((stored.key(), stored.uid(), stored.version()), (("default", &*name(number)), None, Some("7")));
    }
    assert!(codec.has_dictionary() && codec.undecodable().len() == 0);
}

fn name(number: usize) -> String {
    format!("counter-{number}")
}

#[test]
fn an_object_that_was_read_is_hot() {
    let codec = codec();
    let stored = pack(&codec, counter("a", 1));
    let (first, second) = (stored.load().unwrap(), stored.clone().into_loaded().unwrap());
    assert!(Arc::ptr_eq(&first, &second));
    let large = pack(&codec, cold("b", 1));
    assert!(!Arc::ptr_eq(&large.load().unwrap(), &large.load().unwrap()), "it is too large");
}

#[test]
fn an_object_that_is_delivered_does_not_become_hot() {
    let codec = codec();
    let object = |number| Counter { padding: "a".repeat(250_000), ..counter(&name(number), 1) };
    let stored: Vec<_> = (0..9).map(|number| pack(&codec, object(number))).collect();
    let Stored::Compact(last) = &stored[8] else { panic!("it is not compact") };
    assert!(!Arc::ptr_eq(&last.peek().unwrap(), &last.peek().unwrap()), "there is no room for it");
    assert!(Arc::ptr_eq(&last.load().unwrap(), &last.peek().unwrap()), "it was read");
}

#[test]
fn large_objects_are_stored() {
    let codec = codec();
    train(&codec);
    let mut object = counter("large", 1);
    object.padding = "0123456789abcdef".repeat(100_000);
    let stored = pack(&codec, object.clone());
    assert!(is_compact(&stored));
    assert_eq!(stored.load().as_deref(), Some(&object));
}

#[test]
fn a_type_that_cannot_decode_what_it_serializes_is_held_decoded() {
    let codec = codec();
    let stored = pack(&codec, counter("a", -1));
    assert!(!is_compact(&stored) && !is_compact(&pack(&codec, counter("b", 1))));
    assert_eq!(stored.load().map(|object| object.state), Some(-1));
}

#[test]
fn an_object_that_cannot_be_decoded_remains_stored_and_is_reported_until_it_changes() {
    let codec = codec();
    train(&codec);
    let stored = pack(&codec, cold("a", -1));
    assert!(is_compact(&stored) && codec.undecodable().len() == 0);
    assert!(stored.load().is_none() && stored.load().is_none());
    let errors: Vec<_> = codec.undecodable().errors().iter().map(ToString::to_string).collect();
    assert!(errors.len() == 1 && errors[0].starts_with("cannot decode `default/a`"), "{errors:?}");
    assert_eq!(stored.key(), ("default", "a"));
    let found: Found<Counter> = [&stored, &pack(&codec, counter("b", 2))].into_iter().collect();
    assert_eq!(found.load().iter().map(|object| object.state).collect::<Vec<_>>(), [2]);
    assert!(is_compact(&pack(&codec, counter("a", 2))));
    assert_eq!(codec.undecodable().len(), 0);
    assert!(stored.load().is_none());
    Packer::Compact(Arc::clone(&codec)).forget(|| ObjectKey::namespaced("default", "a"));
    assert_eq!(codec.undecodable().len(), 0);
}

#[test]
fn a_store_retains_an_object_that_cannot_be_decoded_and_its_indexes_remain_correct() {
    let store = Store::with_memory(Memory::Compact);
    let by_state = Index::<Counter, i32>::new("by_state", |counter| vec![counter.state]);
    store.add_index(by_state).unwrap();
    let apply = |mut object: Counter, version: &str| {
        object.metadata.resource_version = Some(version.to_owned());
        store.apply(Event::Applied { object: Arc::new(object), version: ResourceVersion::new(version) })
    };
    (0..MANY).for_each(|number| drop(apply(counter(&name(number), 1), "1")));
    apply(cold("a", 7), "2");
    assert_eq!(store.by_index(&by_state, &7).len(), 1);
    apply(cold("a", -1), "3");
    assert!(store.get("default", "a").is_none() && store.by_index(&by_state, &7).is_empty());
    assert_eq!((store.len(), store.list().len(), store.undecodable().len()), (MANY + 1, MANY, 1));
    apply(cold("a", 9), "4");
    assert_eq!((store.by_index(&by_state, &9).len(), store.undecodable().len()), (1, 0));
    let mut values = store.index_values(&by_state);
    values.sort_unstable();
    assert_eq!(values, [1, 9]);
}

#[test]
fn the_received_text_is_stored_unless_the_type_has_few_of_its_fields() {
    let object = counter("a", 1);
    let received = serde_json::to_string(&object).unwrap().replacen(':', ": ", 1);
    let long = received.replacen('{', r#"{"unknown":"a field that the type does not have, with a long value","#, 1);
    for (text, is_stored) in [(&received, true), (&long, false)] {
        let packer = Packer::<Counter>::new(Memory::Compact);
        let pack = || packer.pack(object.clone(), Origin::Listed, Some(text.as_bytes()));
        (0..MANY).for_each(|_| drop(pack()));
        let Stored::Compact(stored) = pack() else { panic!("the object is compact") };
        assert_eq!(stored.json_len() == text.len(), is_stored, "{text}");
        assert_eq!(stored.decode().as_ref(), Ok(&object));
    }
}

#[test]
fn labels_match_as_those_of_decoded_objects_do() {
    let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    };
    let states = [None, Some(labels(&[])), Some(labels(&[("app", "web")])), Some(labels(&[("app", ""), ("b", "c")]))];
    let values = || ["web".to_owned(), "db".to_owned()].into();
    let selectors: Vec<Selector> = vec![
        Selector::default(),
        Expression::Equal("app".into(), "web".into()).into(),
        Expression::NotEqual("app".into(), "web".into()).into(),
        Expression::In("app".into(), values()).into(),
        Expression::NotIn("app".into(), values()).into(),
        Expression::Exists("b".into()).into(),
        [Expression::DoesNotExist("b".into()), Expression::Exists("app".into())].into_iter().collect(),
    ];
    let codec = codec();
    for state in &states {
        let mut object = counter("a", 1);
        object.metadata.labels.clone_from(state);
        let (compact, decoded) = (pack(&codec, object.clone()), Stored::from(Arc::new(object)));
        for selector in &selectors {
            let matcher = LabelMatcher::new(selector);
            assert_eq!(compact.matches(&matcher), decoded.matches(&matcher), "{state:?} and {selector}");
        }
    }
}

fn map() -> impl Strategy<Value = Option<BTreeMap<String, String>>> {
    prop::option::of(btree_map("[a-z./]{0,8}", any::<String>(), 0..5))
}

proptest! {
    #[test]
    fn random_objects_are_preserved(data in prop::collection::vec((map(), map(), any::<String>()), 1..40)) {
        let codec = codec();
        for (labels, data, name) in data {
            let mut object = ConfigMap { data, ..ConfigMap::default() };
            object.metadata.labels = labels;
            object.metadata.name = Some(name);
            let stored = pack(&codec, object.clone());
            prop_assert_eq!(decoded(&stored), object);
        }
    }
}
