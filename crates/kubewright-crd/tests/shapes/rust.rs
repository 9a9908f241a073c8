//! Shapes that Rust types take.

#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroI32, NonZeroU32};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Row, row};

macro_rules! types {
    ($($(#[$attribute:meta])* $kind:ident $name:ident $body:tt)*) => {
        $(
            #[derive(Serialize, Deserialize, JsonSchema)]
            $(#[$attribute])*
            $kind $name $body
        )*
    };
}

types! {
    #[derive(Default)]
    struct Point { x: i32, label: Option<String> }
    enum Mixed { Off, On { level: i32 } }
    enum MixedInWords { Off {}, On { level: i32 } }
    enum Data { /// By size.
        Size { bytes: i32 }, Name(String), At(Point) }
    enum Other { Up { by: i32 }, Down(String) }
    #[serde(tag = "type")]
    enum Internal { Plain, Sized { size: i32, note: Option<String> }, Pointed(Point) }
    #[serde(tag = "type")]
    enum InternalUnits { A, B }
    #[serde(tag = "type")]
    enum InternalClash { A { size: i32 }, B { size: String } }
    #[serde(tag = "type")]
    enum InternalWidths { A { size: u8 }, B { /// In bytes.
        size: i64 } }
    #[serde(tag = "kind", content = "value")]
    enum Adjacent { A { x: i32 }, B { y: String }, C }
    #[serde(tag = "kind", content = "value")]
    enum AdjacentClash { A(i32), B { y: String } }
    #[serde(untagged)]
    enum Port { Number(i32), Name(String) }
    #[serde(untagged)]
    enum TextOrStruct { Text(String), Struct(Point) }
    #[serde(untagged)]
    enum Structs { Short { /// Docs of one.
        a: i32 }, Long { /// Docs of the other.
        a: i32, b: String }, Third { c: bool } }
    #[serde(untagged)]
    enum Clash { A { a: i32 }, B { a: String } }
    #[serde(untagged)]
    enum Whole { Bool(bool), Text(String) }
    enum Units { A, B }
    enum DocumentedUnits { /// First.
        A, /// Second.
        B }
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Key { Red, Blue }
    struct TwoFlat { #[serde(flatten)] data: Data, #[serde(flatten)] other: Other }
    struct FlatEnum { name: String, #[serde(flatten)] data: Data }
    struct FlatOption { name: String, #[serde(flatten)] data: Option<Data> }
    struct FlatTagged { name: String, #[serde(flatten)] data: Option<Internal> }
    struct FlatStruct { name: String, #[serde(flatten)] point: Point }
    struct FlatOptionalStruct { name: String, #[serde(flatten)] point: Option<Point> }
    struct FlatMap { name: String, #[serde(flatten)] rest: BTreeMap<String, String> }
    struct FlatAny { name: String, #[serde(flatten)] rest: BTreeMap<String, Value> }
    struct Tree { name: String, #[serde(default)] children: Vec<Tree> }
    #[schemars(extend("x-kubewright-depth" = 2))]
    struct Cut { name: String, #[serde(default)] children: Vec<Cut> }
    struct Chicken { egg: Option<Box<Egg>> }
    struct Egg { chicken: Option<Box<Chicken>> }
    struct Narrowed { #[schemars(length(min = 2, max = 6))] name: Short, /// Docs of the field.
        #[serde(default)] point: Option<Point> }
    struct WithDefault { #[serde(default)] point: Point }
    struct WriteOnly { name: String, #[serde(skip_deserializing, default)] seen: Option<i32>, #[serde(skip_serializing)] sent: String }
    #[serde(deny_unknown_fields)]
    struct Closed { #[serde(alias = "old")] name: String }
    struct Allowed { #[schemars(extend("x-kubewright-float" = true))] ratio: f64 }
    struct Options { words: Vec<Option<i32>>, map: BTreeMap<String, Option<i32>>, unit: Option<Units> }
    struct Empty {}
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Short(#[schemars(length(min = 4, max = 20))] String);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Unit;

pub(super) fn rows() -> Vec<Row> {
    [enums(), untagged(), flattened(), maps(), numbers(), others()].into_iter().flatten().collect()
}

fn enums() -> Vec<Row> {
    vec![
        row::<Mixed>("enum with unit and data variants", vec![]),
        row::<MixedInWords>(
            "enum with an empty struct variant",
            vec![
                json!({"Off": {}}),
                json!({"On": {"level": 1}}),
                json!({"On": {}}),
                json!("Off"),
                json!({"Off": {}, "On": {"level": 1}}),
            ],
        ),
        row::<Data>(
            "externally tagged enum",
            vec![
                json!({"Name": "a"}),
                json!({"Size": {"bytes": 1}}),
                json!({"At": {}}),
                json!({}),
                json!({"Name": "a", "Size": {"bytes": 1}}),
            ],
        ),
        row::<Internal>(
            "internally tagged enum",
            vec![
                json!({"type": "Plain"}),
                json!({"type": "Sized", "size": 1}),
                json!({"type": "Pointed", "x": 1}),
                json!({"type": "Sized"}),
                json!({"type": "Else"}),
                json!({"size": 1}),
            ],
        ),
        row::<InternalUnits>(
            "internally tagged enum of units",
            vec![json!({"type": "A"}), json!({"type": "C"}), json!({})],
        ),
        row::<InternalClash>("internally tagged enum, one field of two types", vec![]),
        row::<InternalWidths>(
            "internally tagged enum, one field of two widths",
            vec![
                json!({"type": "A", "size": 255}),
                json!({"type": "A", "size": 256}),
                json!({"type": "B", "size": 256}),
            ],
        ),
        row::<Adjacent>(
            "adjacently tagged enum",
            vec![
                json!({"kind": "A", "value": {"x": 1}}),
                json!({"kind": "C"}),
                json!({"kind": "A", "value": {"y": "a"}}),
                json!({"kind": "B"}),
            ],
        ),
        row::<AdjacentClash>("adjacently tagged enum, contents of two types", vec![]),
        row::<Units>("enum of units", vec![json!("A"), json!("C"), json!(null)]),
        row::<DocumentedUnits>("enum of units with descriptions", vec![json!("B"), json!(1)]),
        row::<Option<Units>>("optional enum of units", vec![json!("A"), json!(null)]),
        row::<Result<i32, String>>("result", vec![json!({"Ok": 1}), json!({"Ok": 1, "Err": "a"})]),
    ]
}

fn untagged() -> Vec<Row> {
    vec![
        row::<Port>("untagged integer or string", vec![json!(80), json!("http"), json!(1.5), json!(true)]),
        row::<TextOrStruct>("untagged string or struct", vec![]),
        row::<Structs>(
            "untagged structs, one field with two descriptions",
            vec![json!({"a": 1}), json!({"a": 1, "b": "b"}), json!({"c": true}), json!({"b": "b"}), json!({"a": "1"})],
        ),
        row::<Clash>("untagged structs, one field of two types", vec![]),
        row::<Whole>("untagged bool or string", vec![]),
    ]
}

fn flattened() -> Vec<Row> {
    vec![
        row::<FlatStruct>("flattened struct", vec![json!({"name": "a", "x": 1}), json!({"name": "a"})]),
        row::<FlatOptionalStruct>(
            "flattened optional struct",
            vec![json!({"name": "a"}), json!({"name": "a", "label": "half of it"})],
        ),
        row::<FlatEnum>("flattened enum", vec![json!({"name": "a", "Name": "b"}), json!({"name": "a"})]),
        row::<TwoFlat>(
            "two flattened enums",
            vec![
                json!({"Name": "a", "Down": "b"}),
                json!({"Name": "a"}),
                json!({"Name": "a", "Down": "b", "Up": {"by": 1}}),
            ],
        ),
        row::<FlatOption>(
            "flattened optional enum",
            vec![
                json!({"name": "a"}),
                json!({"name": "a", "Name": "b"}),
                json!({"name": "a", "Name": "b", "Size": {"bytes": 1}}),
            ],
        ),
        row::<FlatTagged>(
            "flattened optional tagged enum",
            vec![
                json!({"name": "a"}),
                json!({"name": "a", "type": "Sized", "size": 1}),
                json!({"name": "a", "type": "Sized"}),
                json!({"name": "a", "size": 1}),
            ],
        ),
        row::<FlatMap>("flattened map of strings", vec![]),
        row::<FlatAny>("flattened map of anything", vec![json!({"name": "a", "more": [1]})]),
    ]
}

fn maps() -> Vec<Row> {
    vec![
        row::<BTreeMap<i32, String>>(
            "map with integer keys",
            vec![json!({"-1": "a"}), json!({"a": "a"}), json!({"1": 1})],
        ),
        row::<Vec<BTreeMap<i32, String>>>("list of maps with integer keys", vec![]),
        row::<BTreeMap<u8, Point>>("map with unsigned keys", vec![json!({"1": {"x": 1}}), json!({"-1": {"x": 1}})]),
        row::<BTreeMap<Key, i32>>("map with enum keys", vec![json!({"Red": 1}), json!({"Green": 1})]),
        row::<BTreeMap<bool, i32>>("map with bool keys", vec![json!({"true": 1})]),
        row::<BTreeMap<String, Point>>("map of structs", vec![json!({"a": {"x": 1}}), json!({"a": {}})]),
        row::<BTreeMap<String, Value>>("map of anything", vec![json!({"a": [1]})]),
        row::<serde_json::Map<String, Value>>("JSON object", vec![json!({"a": [1]}), json!("a")]),
        row::<Options>(
            "nulls in lists and maps",
            vec![json!({"words": [1, null], "map": {"a": null}}), json!({"words": [], "map": {}, "unit": null})],
        ),
    ]
}

fn numbers() -> Vec<Row> {
    vec![
        row::<u8>("u8", vec![json!(255), json!(256), json!(-1)]),
        row::<i16>("i16", vec![json!(-32768), json!(32768)]),
        row::<u32>("u32", vec![json!(4_294_967_295_u32), json!(4_294_967_296_u64), json!(-1)]),
        row::<u64>("u64", vec![json!(9_223_372_036_854_775_807_i64), json!(18_446_744_073_709_551_615_u64), json!(-1)]),
        row::<usize>("usize", vec![json!(1)]),
        row::<i128>("i128", vec![]),
        row::<u128>("u128", vec![]),
        row::<NonZeroU32>("NonZeroU32", vec![json!(1), json!(0)]),
        row::<NonZeroI32>("NonZeroI32", vec![json!(-1), json!(0)]),
        row::<f64>("float", vec![]),
        row::<Allowed>("float, allowed", vec![json!({"ratio": 0.5}), json!({"ratio": 1})]),
    ]
}

fn others() -> Vec<Row> {
    vec![
        row::<(i32, String)>("tuple", vec![]),
        row::<[i32; 2]>("array", vec![json!([1, 2]), json!([1])]),
        row::<()>("unit", vec![]),
        row::<Unit>("unit struct", vec![]),
        row::<Empty>("empty struct", vec![json!({}), json!({"a": 1})]),
        row::<Value>("serde_json::Value", vec![json!({"a": [1]}), json!("a"), json!(1)]),
        row::<Tree>("recursive type", vec![]),
        row::<Chicken>("types that contain each other", vec![]),
        row::<Cut>(
            "recursive type, cut",
            vec![
                json!({"name": "a", "children": [{"name": "b", "children": [{"any": 1}]}]}),
                json!({"name": "a", "children": [{}]}),
            ],
        ),
        row::<Vec<u8>>("Vec<u8>", vec![]),
        row::<[u8; 4]>("[u8; 4]", vec![]),
        row::<std::time::Duration>("std::time::Duration", vec![]),
        row::<Option<std::time::SystemTime>>("std::time::SystemTime", vec![]),
        row::<std::net::IpAddr>("IpAddr", vec![json!("10.0.0.1"), json!("::1"), json!("a"), json!("10.0.0.256")]),
        row::<std::net::Ipv4Addr>("Ipv4Addr", vec![json!("10.0.0.1"), json!("::1")]),
        row::<char>("char", vec![json!("ü"), json!("ab")]),
        row::<BTreeSet<String>>("set", vec![json!(["a"]), json!(["a", "a"])]),
        row::<BTreeSet<Option<i32>>>("set of optional items", vec![json!([1, null])]),
        row::<Narrowed>(
            "constraints of field and type",
            vec![json!({"name": "abcd"}), json!({"name": "abc"}), json!({"name": "abcdefg"})],
        ),
        row::<WithDefault>("Option in a default", vec![json!({}), json!({"point": {"x": 1}})]),
        row::<WriteOnly>(
            "fields that are only deserialized or only serialized",
            vec![json!({"name": "a", "sent": "b", "seen": 1}), json!({"name": "a"})],
        ),
        row::<Closed>("deny_unknown_fields and alias", vec![json!({"name": "a", "more": 1}), json!({"old": "a"})]),
    ]
}
