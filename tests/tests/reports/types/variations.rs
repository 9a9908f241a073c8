//! Further inputs of the kinds that the reports are about.

macro_rules! kind {
    ($module:ident, { $($items:tt)* }) => {
        pub mod $module {
            use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
            use kubewright_core::{ApiObject, ApiType};
            use serde::{Deserialize, Serialize};

            #[derive(Clone, Debug, PartialEq, ApiObject)]
            #[k8s(scope = "Namespaced")]
            pub struct Report {
                pub metadata: ObjectMeta,
                pub spec: ReportSpec,
            }

            kubewright_core::group_version! { group = "reports.example", version = "v1", kinds = [Report] }

            $($items)*
        }
    };
}

// Types with the names of std, k8s-openapi and serde_json.
pub mod std_names {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_core::{ApiObject, ApiType};
    use serde::{Deserialize, Serialize};
    #[derive(Clone, Debug, PartialEq, ApiObject)]
    #[genclient]
    #[k8s(subresource(status))]
    pub struct Report {
        pub metadata: ObjectMeta,
        pub spec: ReportSpec,
        pub status: std::option::Option<Result>,
    }
    kubewright_core::group_version! { group = "names.reports.example", version = "v1", kinds = [Report] }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct ReportSpec {
        pub duration: Duration,
        #[schema(immutable)]
        pub option: Option,
        pub vec: Vec,
        pub string: String,
        pub value: Value,
        pub some: std::vec::Vec<Some>,
        pub boxed: Box,
        pub time: Time,
        pub default: Default,
        pub quantity: Quantity,
        #[schema(min = -1)]
        pub u8: i32,
        pub map: BTreeMap,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Duration {
        pub secs: i32,
        pub nanos: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Option {
        pub chosen: bool,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Vec {
        pub x: i32,
        pub y: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct String {
        pub length: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Value {
        pub amount: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub enum Some {
        None {},
        Ok { err: i32 },
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Box {
        pub width: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Time {
        pub hour: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Default {
        pub secs_since_epoch: i64,
        pub nanos_since_epoch: i64,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Quantity {
        pub number: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct BTreeMap {
        pub key: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Result {
        pub code: i32,
    }
}

// Negative numbers in every key.
kind!(numbers, {
    #[kubewright_core::defaults]
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct ReportSpec {
        #[schema(min = -10, max = -1, exclusive_min, exclusive_max)]
        #[default(-5)]
        pub a: i32,
        #[schema(multiple_of = 5, neq = -10)]
        pub b: i64,
        #[schema(values = [-1, -2])]
        pub c: i8,
        #[schema(each(min = -3, max = -1, neq = -2))]
        pub d: Vec<i16>,
        #[schema(allow_float, min = -0.5, max = -1e-3)]
        pub e: f64,
        #[schema(column(name = "F", priority = -1))]
        pub f: i32,
        #[apply(atomic)]
        #[schema(each_key(values = ["-1", "1"]))]
        pub g: std::collections::BTreeMap<i32, String>,
        #[schema(min = -9223372036854775808)]
        pub h: i64,
        #[schema(max = 18446744073709551615)]
        pub i: u64,
        pub j: isize,
        pub k: usize,
        pub l: std::num::NonZeroI8,
    }
});

// Choices in lists and maps without a maximum.
kind!(choices, {
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct ReportSpec {
        pub a: Vec<A>,
        pub b: std::collections::BTreeMap<String, A>,
        pub c: Vec<Vec<A>>,
        pub d: Vec<E>,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    #[schema(at_most_one_of = [a, b], at_least_one_of = [b, c, d], exactly_one_of = [c, d])]
    pub struct A {
        #[schema(dependent_required = [d])]
        pub a: Option<i32>,
        pub b: Option<String>,
        pub c: Option<Vec<String>>,
        pub d: Option<bool>,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    #[schemars(extend("x-kubewright-via" = "cel"))]
    pub enum E {
        X { a: i32 },
        Y { b: String },
        Z {},
    }
});

// JSON names with dots, slashes and dashes.
kind!(json_names, {
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    #[schema(exactly_one_of = [slash, tilde])]
    pub struct ReportSpec {
        #[serde(rename = "a.b")]
        #[schema(column = "Dot")]
        pub dot: String,
        #[serde(rename = "a/b")]
        #[schema(column = "Slash", immutable)]
        pub slash: Option<String>,
        #[serde(rename = "a-b")]
        #[schema(column = "Tilde", immutable, selectable)]
        pub tilde: Option<String>,
        #[serde(rename = "a.c")]
        pub parts: Vec<Part>,
        #[serde(rename = "a/list")]
        #[schema(list_type = map, list_map_keys = ["a.b/c"])]
        pub keyed: Vec<Part>,
        #[serde(rename = "__x__")]
        #[schema(immutable)]
        pub under: Option<i32>,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Part {
        #[serde(rename = "a.b/c")]
        pub name: String,
        #[serde(rename = "x.y")]
        pub size: Option<i32>,
    }
});

// JSON names that CEL cannot access.
kind!(unescaped_names, {
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct ReportSpec {
        #[serde(rename = "it's")]
        #[schema(column = "Quote")]
        pub quote: String,
        #[serde(rename = "a\"b")]
        #[schema(column = "Double")]
        pub double: String,
        #[serde(rename = "a b")]
        #[schema(column = "Space", immutable)]
        pub space: Option<String>,
        #[serde(rename = "a~b")]
        #[schema(column = "Tilde", selectable)]
        pub tilde: String,
        #[serde(rename = "a[0]")]
        #[schema(column = "Bracket")]
        pub bracket: String,
        #[serde(rename = "")]
        pub empty: Option<String>,
        #[serde(rename = "ä")]
        #[schema(column = "Umlaut")]
        pub umlaut: Option<String>,
        #[serde(rename = "a\\b")]
        #[schema(column = "Back")]
        pub back: String,
    }
});

// Recursion.
kind!(recursion, {
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct ReportSpec {
        #[schema(depth = 2)]
        pub a: Option<Box<A>>,
        #[schema(depth = 2)]
        pub b: Vec<B>,
        #[schema(depth = 2)]
        pub c: std::collections::BTreeMap<String, C>,
        #[schema(depth = 1)]
        pub d: D1,
        #[schema(depth = 2)]
        pub e: E,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct A {
        pub next: Option<Box<A>>,
        pub n: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct B {
        pub children: Vec<B>,
        pub n: Option<i32>,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct C {
        pub children: std::collections::BTreeMap<String, Vec<C>>,
        pub n: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct D1 {
        pub other: Option<Box<D2>>,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct D2 {
        pub first: Option<D1>,
        pub n: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub enum E {
        Leaf { value: i32 },
        Not(Box<E>),
        All { of_them: Vec<E> },
    }
});

// Conditions on fields, variants and attributes.
kind!(conditional, {
    #[kubewright_core::defaults]
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
    #[cfg_attr(all(), serde(rename_all = "camelCase"), schema(exactly_one_of = [first_one, second_one]))]
    pub struct ReportSpec {
        #[cfg(all())]
        #[cfg_attr(all(), schema(min = 1))]
        pub first_one: Option<i32>,
        #[cfg(any())]
        pub absent_one: NoSuchType,
        pub second_one: Option<E>,
        #[cfg(any())]
        #[default(1)]
        pub third: i32,
        #[cfg(all())]
        #[default(2)]
        pub third: i32,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub enum E {
        A,
        #[cfg(any())]
        B(NoSuchType),
        #[cfg(all())]
        C,
    }
});

// Keys that do not apply to the JSON type of the field.
kind!(wrong_keys, {
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct ReportSpec {
        #[schema(length = 1..)]
        pub a: Number,
        #[schema(min = 1)]
        pub b: Word,
        #[schema(items = 1..)]
        pub c: Item,
        #[schema(pattern = "a")]
        pub d: E,
        pub list: Vec<Item>,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Number(pub u8);
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Word(pub String);
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Item {
        pub name: String,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub enum E {
        X { a: i32 },
        Y { b: i32 },
    }
});

// Types whose fields are not in the schema, and so need none.
kind!(replaced, {
    use kubewright_core::DeepCopy;

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct ReportSpec {
        pub mail: Mail,
        pub seconds: Seconds,
        pub internal: Internal,
        pub encoded: Encoded,
        pub level: Level,
    }

    /// A type without a schema.
    #[derive(Clone, Debug, PartialEq, DeepCopy)]
    pub struct Parsed(pub String);

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    #[serde(from = "String", into = "String")]
    pub struct Mail {
        parsed: Parsed,
    }

    impl From<String> for Mail {
        fn from(text: String) -> Self {
            Mail { parsed: Parsed(text) }
        }
    }

    impl From<Mail> for String {
        fn from(mail: Mail) -> Self {
            mail.parsed.0
        }
    }

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    #[serde(try_from = "String", into = "String")]
    #[schema(pattern = "^[0-9]+s$")]
    pub struct Seconds(u64);

    impl TryFrom<String> for Seconds {
        type Error = std::num::ParseIntError;

        fn try_from(text: String) -> Result<Self, Self::Error> {
            text.trim_end_matches('s').parse().map(Seconds)
        }
    }

    impl From<Seconds> for String {
        fn from(Seconds(seconds): Seconds) -> Self {
            format!("{seconds}s")
        }
    }

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub enum Internal {
        Public,
        #[serde(skip)]
        Hidden(Parsed),
    }

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub enum Encoded {
        #[serde(with = "text")]
        #[schemars(with = "String")]
        Text(Parsed),
    }

    #[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub enum Level {
        #[serde(alias = "low")]
        Low = 2,
        High = 1,
    }

    pub mod text {
        use serde::{Deserialize, Deserializer, Serializer};

        use super::Parsed;

        pub fn serialize<S: Serializer>(parsed: &Parsed, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(&parsed.0)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Parsed, D::Error> {
            String::deserialize(deserializer).map(Parsed)
        }
    }
});

// Constraints of a newtype, of an enum and of their fields.
kind!(narrowed, {
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct ReportSpec {
        pub list: Vec<Item>,
        #[schema(length = 1..)]
        pub word: Word,
        pub e: Colors,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct Item {
        pub name: String,
    }
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    #[schema(length = ..=5)]
    pub struct Word(pub String);
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    #[schema(length = ..=5, pattern = "^R")]
    pub enum Colors {
        Red,
        Rose,
    }
});

// Every kind of fragment of a macro.
macro_rules! all_fragments {
    ($vis:vis, $kind:ident, $plural:literal, $ty:ty, $min:expr, $length:literal, $name:literal, $meta:meta, $path:path, $rule:literal, $default:expr, $tt:tt, $constant:path, $variant:ident, $field:ident, $short:literal, $group:literal) => {
        pub mod fragments {
            use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
            use kubewright_core::{ApiObject, ApiType};
            use serde::{Deserialize, Serialize};
            #[derive(Clone, Debug, PartialEq, ApiObject)]
            #[k8s(scope = "Namespaced", plural = $plural, short_names = [$short])]
            #[k8s(printcolumns = [string($name, ".spec.field")])]
            $vis struct $kind { pub metadata: ObjectMeta, pub spec: ReportSpec }
            kubewright_core::group_version! { group = $group, version = "v1", kinds = [$kind] }
            pub const CONSTANT: i32 = 3;
            #[kubewright_core::defaults]
            #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
            #[$meta]
            #[schema(validation(rule = $rule, message = $name))]
            $vis struct ReportSpec {
                #[schema(min = $min, neq = $tt, column = $name)] pub $field: $ty,
                #[serde(rename = $name)] #[schema(length = 1..=$length)] pub renamed: $path,
                #[default($default)] pub default: i32,
                #[default($constant)] pub constant: i32,
                #[schema(values = [$name, "b"])] pub values: Option<$path>,
                pub e: E,
            }
            #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
            pub enum E { #[serde(rename = $name)] $variant, Other }
        }
    };
}
all_fragments!(
    pub,
    Fragment,
    "fragmentses",
    Option<i32>,
    -5,
    9,
    "a name",
    serde(rename_all = "camelCase"),
    String,
    "true",
    1,
    7,
    CONSTANT,
    Var,
    field,
    "fr",
    "fragments.example"
);
