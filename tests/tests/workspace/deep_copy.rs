//! Deep copies of every type shape: copies stay equal while the original is changed through every path.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use k8s_openapi::{
    ByteString,
    api::core::v1::PodTemplateSpec,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::JSON,
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{
            Condition, FieldsV1, LabelSelector, LabelSelectorRequirement, ListMeta, ManagedFieldsEntry, ObjectMeta,
            OwnerReference, Time,
        },
        runtime::RawExtension,
        util::intstr::IntOrString,
    },
    jiff::Timestamp,
};
use kubewright_core::DeepCopy;
use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::*,
};
use serde_json::{Value, json};

type Alias<T> = Option<Vec<T>>;

#[derive(Clone, Debug, Default, PartialEq, DeepCopy)]
struct Shapes {
    numbers: (u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, bool, char),
    wide: (u128, i128, usize, isize),
    text: String,
    boxed: Option<Box<Shapes>>,
    list: Vec<Shapes>,
    deque: VecDeque<String>,
    nested: BTreeMap<String, Vec<BTreeMap<String, Option<String>>>>,
    hashed: HashMap<String, Variant>,
    set: BTreeSet<String>,
    array: [String; 2],
    alias: Alias<String>,
    generic: Generic<String, Variant>,
    unit: Unit,
    json: Value,
    meta: ObjectMeta,
    template: PodTemplateSpec,
    port: Option<IntOrString>,
    #[deep_copy(clone)]
    by_clone: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, DeepCopy)]
enum Variant {
    #[default]
    Unit,
    Tuple(String, Vec<i32>),
    Struct {
        name: String,
        inner: Box<Variant>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, DeepCopy)]
struct Generic<A, B>(A, Vec<B>);

#[derive(Clone, Debug, Default, PartialEq, DeepCopy)]
struct Unit;

impl Shapes {
    /// Builds shapes from these words, nested to this depth.
    fn new(words: &[String], depth: usize) -> Self {
        let word = |i: usize| words.get(i % words.len().max(1)).cloned().unwrap_or_default();
        let inner = (depth > 0).then(|| Shapes::new(words.get(1..).unwrap_or_default(), depth - 1));
        let variant = match words.len() % 3 {
            0 => Variant::Unit,
            1 => Variant::Tuple(word(0), vec![depth as i32]),
            _ => Variant::Struct { name: word(0), inner: Box::new(Variant::Tuple(word(1), vec![])) },
        };
        Shapes {
            numbers: (1, 2, 3, 4, -1, -2, -3, words.len() as i64, 0.5, 1.5, words.len().is_multiple_of(2), 'x'),
            wide: (u128::MAX, i128::MIN, words.len(), -1),
            text: word(0),
            list: inner.iter().cloned().collect(),
            boxed: inner.map(Box::new),
            deque: words.iter().cloned().collect(),
            nested: words.iter().map(|w| (w.clone(), vec![BTreeMap::from([(word(0), Some(w.clone()))])])).collect(),
            hashed: words.iter().map(|w| (w.clone(), variant.clone())).collect(),
            set: words.iter().cloned().collect(),
            array: [word(0), word(1)],
            alias: (!words.is_empty()).then(|| words.to_vec()),
            generic: Generic(word(2), vec![variant]),
            unit: Unit,
            json: json!({"words": words, "deep": [{"depth": depth}]}),
            meta: ObjectMeta {
                name: Some(word(0)),
                labels: Some([(word(0), word(1))].into()),
                ..ObjectMeta::default()
            },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta { name: Some(word(1)), ..ObjectMeta::default() }),
                spec: None,
            },
            port: Some(IntOrString::String(word(3))),
            by_clone: words.to_vec(),
        }
    }

    /// Changes every value in place, through every path.
    fn mutate(&mut self) {
        let change = |text: &mut String| text.push('~');
        self.numbers.7 += 1;
        self.wide.2 += 1;
        change(&mut self.text);
        self.boxed.iter_mut().for_each(|inner| inner.mutate());
        self.list.iter_mut().for_each(Shapes::mutate);
        self.deque.iter_mut().for_each(change);
        self.nested.values_mut().flatten().flat_map(|map| map.values_mut()).flatten().for_each(change);
        self.hashed.values_mut().for_each(Variant::mutate);
        self.set.insert("~".to_owned());
        self.array.iter_mut().for_each(change);
        self.alias.iter_mut().flatten().for_each(change);
        change(&mut self.generic.0);
        self.generic.1.iter_mut().for_each(Variant::mutate);
        self.json["deep"][0]["depth"] = json!("~");
        self.meta.labels.iter_mut().flat_map(|labels| labels.values_mut()).for_each(change);
        self.template.metadata.iter_mut().filter_map(|meta| meta.name.as_mut()).for_each(change);
        if let Some(IntOrString::String(port)) = &mut self.port {
            change(port);
        }
        self.by_clone.iter_mut().for_each(change);
    }
}

impl Variant {
    fn mutate(&mut self) {
        match self {
            Variant::Unit => {}
            Variant::Tuple(text, numbers) => {
                text.push('~');
                numbers.push(7);
            }
            Variant::Struct { name, inner } => {
                name.push('~');
                inner.mutate();
            }
        }
    }
}

fn shapes() -> impl Strategy<Value = Shapes> {
    (vec("[a-c]{0,3}", 0..6), 0usize..4).prop_map(|(words, depth)| Shapes::new(&words, depth))
}

proptest! {
    #[test]
    fn changing_the_original_does_not_change_the_copy(mut original in shapes()) {
        let (copy, expected) = (original.deep_copy(), original.clone());
        original.mutate();
        prop_assert_eq!(&copy, &expected);
        prop_assert_ne!(copy, original);
    }

    #[test]
    fn deep_copy_into_replaces_any_previous_value(original in shapes(), mut target in shapes()) {
        original.deep_copy_into(&mut target);
        prop_assert_eq!(&target, &original);
        target.mutate();
        prop_assert_eq!(original.deep_copy(), original);
    }
}

/// The types that most objects contain, which are all copied in place.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy)]
struct CommonTypes {
    meta: ObjectMeta,
    list: ListMeta,
    conditions: Vec<Condition>,
    selector: LabelSelector,
    port: IntOrString,
    limits: BTreeMap<String, Quantity>,
    extension: RawExtension,
    default: JSON,
    secret: BTreeMap<String, ByteString>,
}

fn text() -> impl Strategy<Value = String> {
    "[a-c]{0,3}"
}

fn texts() -> impl Strategy<Value = BTreeMap<String, String>> {
    btree_map(text(), text(), 0..4)
}

fn time() -> impl Strategy<Value = Time> {
    (0i64..9).prop_map(|second| Time(Timestamp::constant(second, 0)))
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..9).prop_map(Value::from),
        text().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect()))
        ]
    })
}

prop_compose! {
    fn entry()(manager in option::of(text()), fields_v1 in option::of(json().prop_map(FieldsV1)), time in option::of(time()))
        -> ManagedFieldsEntry {
        ManagedFieldsEntry { manager, fields_v1, time, operation: Some("Apply".to_owned()), ..Default::default() }
    }
}

prop_compose! {
    fn owner()(name in text(), controller in any::<Option<bool>>()) -> OwnerReference {
        OwnerReference { kind: name.clone(), uid: name.clone(), name, controller, ..OwnerReference::default() }
    }
}

prop_compose! {
    fn meta()(
        (name, uid, generate_name) in (option::of(text()), option::of(text()), option::of(text())),
        (labels, annotations) in (option::of(texts()), option::of(texts())),
        (creation_timestamp, deletion_timestamp) in (option::of(time()), option::of(time())),
        generation in any::<Option<i64>>(),
        finalizers in option::of(vec(text(), 0..3)),
        managed_fields in option::of(vec(entry(), 0..3)),
        owner_references in option::of(vec(owner(), 0..3)),
    ) -> ObjectMeta {
        ObjectMeta {
            name: name.clone(), namespace: uid.clone(), resource_version: generate_name.clone(), self_link: name, uid,
            generate_name, labels, annotations, creation_timestamp, deletion_timestamp, generation,
            deletion_grace_period_seconds: generation, finalizers, managed_fields, owner_references,
        }
    }
}

prop_compose! {
    fn condition()((type_, reason, message) in (text(), text(), text()), last_transition_time in time(), observed_generation in any::<Option<i64>>())
        -> Condition {
        Condition { status: type_.clone(), type_, reason, message, last_transition_time, observed_generation }
    }
}

prop_compose! {
    fn selector()(match_labels in option::of(texts()), requirements in option::of(vec((text(), option::of(vec(text(), 0..3))), 0..3)))
        -> LabelSelector {
        let requirement = |(key, values): (String, _)| LabelSelectorRequirement { operator: key.clone(), key, values };
        LabelSelector { match_labels, match_expressions: requirements.map(|all| all.into_iter().map(requirement).collect()) }
    }
}

prop_compose! {
    fn common_types()(
        meta in meta(),
        continue_ in option::of(text()),
        conditions in vec(condition(), 0..3),
        selector in selector(),
        port in prop_oneof![(0..9).prop_map(IntOrString::Int), text().prop_map(IntOrString::String)],
        limits in texts(),
        (extension, default) in (json(), json()),
    ) -> CommonTypes {
        CommonTypes {
            meta, conditions, selector, port,
            list: ListMeta { resource_version: continue_.clone(), continue_, ..ListMeta::default() },
            secret: limits.clone().into_iter().map(|(key, value)| (key, ByteString(value.into_bytes()))).collect(),
            limits: limits.into_iter().map(|(key, value)| (key, Quantity(value))).collect(),
            extension: RawExtension(extension),
            default: JSON(default),
        }
    }
}

proptest! {
    #[test]
    fn deep_copy_into_replaces_any_previous_value_of_common_types(from in common_types(), mut target in common_types()) {
        prop_assert_eq!(&from.deep_copy(), &from);
        from.deep_copy_into(&mut target);
        prop_assert_eq!(target, from);
    }

    #[test]
    fn deep_copy_into_the_same_shape_allocates_nothing(from in common_types()) {
        let mut target = from.deep_copy();
        let counted = allocation_counter::measure(|| from.deep_copy_into(&mut target));
        prop_assert_eq!(counted.count_total, 0);
    }
}

trait Shape {
    fn area(&self) -> i32;
    fn deep_copy_shape(&self) -> Box<dyn Shape>;
}

kubewright_core::deep_copy_dyn!(Shape, deep_copy_shape);

#[derive(DeepCopy)]
#[deep_copy(dyn(Shape))]
struct Square {
    side: Box<i32>,
}

impl Shape for Square {
    fn area(&self) -> i32 {
        *self.side * *self.side
    }

    fn deep_copy_shape(&self) -> Box<dyn Shape> {
        self.deep_copy_shape()
    }
}

#[test]
fn trait_objects_are_deep_copied() {
    let mut square = Square { side: Box::new(2) };
    let shapes: Vec<Box<dyn Shape>> = vec![square.deep_copy_shape()];
    let copies = shapes.deep_copy();
    *square.side = 3;
    assert_eq!((copies[0].area(), shapes[0].area(), square.area()), (4, 4, 9));
}
