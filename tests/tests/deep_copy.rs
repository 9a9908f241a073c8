//! Deep copies of every shape: copied, the original changed through every path, compared.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use logger_core::DeepCopy;
use proptest::collection::vec;
use proptest::prelude::*;
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
    /// Shapes made of these words, so many deep.
    fn of(words: &[String], depth: usize) -> Self {
        let word = |i: usize| words.get(i % words.len().max(1)).cloned().unwrap_or_default();
        let inner = (depth > 0).then(|| Shapes::of(words.get(1..).unwrap_or_default(), depth - 1));
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

    /// Changes what is there, in place, through every path that leads to it.
    fn scramble(&mut self) {
        let change = |text: &mut String| text.push('~');
        self.numbers.7 += 1;
        self.wide.2 += 1;
        change(&mut self.text);
        self.boxed.iter_mut().for_each(|inner| inner.scramble());
        self.list.iter_mut().for_each(Shapes::scramble);
        self.deque.iter_mut().for_each(change);
        self.nested.values_mut().flatten().flat_map(|map| map.values_mut()).flatten().for_each(change);
        self.hashed.values_mut().for_each(Variant::scramble);
        self.set.insert("~".to_owned());
        self.array.iter_mut().for_each(change);
        self.alias.iter_mut().flatten().for_each(change);
        change(&mut self.generic.0);
        self.generic.1.iter_mut().for_each(Variant::scramble);
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
    fn scramble(&mut self) {
        match self {
            Variant::Unit => {}
            Variant::Tuple(text, numbers) => {
                text.push('~');
                numbers.push(7);
            }
            Variant::Struct { name, inner } => {
                name.push('~');
                inner.scramble();
            }
        }
    }
}

fn shapes() -> impl Strategy<Value = Shapes> {
    (vec("[a-c]{0,3}", 0..6), 0usize..4).prop_map(|(words, depth)| Shapes::of(&words, depth))
}

proptest! {
    #[test]
    fn changing_the_original_never_changes_the_copy(mut original in shapes()) {
        let (copy, expected) = (original.deep_copy(), original.clone());
        original.scramble();
        prop_assert_eq!(&copy, &expected);
        prop_assert_ne!(copy, original);
    }

    #[test]
    fn copying_into_gives_the_same_whatever_was_there(original in shapes(), mut target in shapes()) {
        original.deep_copy_into(&mut target);
        prop_assert_eq!(&target, &original);
        target.scramble();
        prop_assert_eq!(original.deep_copy(), original);
    }
}

trait Shape {
    fn area(&self) -> i32;
    fn deep_copy_shape(&self) -> Box<dyn Shape>;
}

logger_core::deep_copy_dyn!(Shape, deep_copy_shape);

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
fn trait_objects_are_copied_by_the_trait() {
    let mut square = Square { side: Box::new(2) };
    let shapes: Vec<Box<dyn Shape>> = vec![square.deep_copy_shape()];
    let copies = shapes.deep_copy();
    *square.side = 3;
    assert_eq!((copies[0].area(), shapes[0].area(), square.area()), (4, 4, 9));
}
