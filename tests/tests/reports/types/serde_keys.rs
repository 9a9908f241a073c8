//! Types with every attribute of serde that the derives honour, alone and with others.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{ApplyConfiguration, CrdSchema, DeepCopy, Object, ObjectList};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A case.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
#[genclient]
pub struct Dial {
    pub metadata: ObjectMeta,
    pub spec: DialSpec,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, ObjectList)]
pub struct DialList {
    pub metadata: ListMeta,
    pub items: Vec<Dial>,
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename = "spec", rename_all = "camelCase", expecting = "a dial")]
#[serde(bound = "")]
pub struct DialSpec {
    pub max_speed: i32,
    #[serde(rename = "Unit")]
    pub unit_name: String,
    #[serde(default)]
    pub marks: Vec<i32>,
    #[serde(default = "ten", skip_serializing_if = "is_ten")]
    pub step_size: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[cfg_attr(all(), serde(rename = "conditional"))]
    pub renamed_by_condition: Option<i32>,
    #[serde(skip)]
    pub cached: i32,
    #[serde(default = "ten", skip_serializing)]
    pub read_only: i32,
    #[serde(skip_deserializing)]
    pub write_only: i32,
    #[serde(skip_serializing, skip_deserializing)]
    pub skipped_twice: i32,
    pub level: Level,
    pub settings: Option<Settings>,
}

fn ten() -> i32 {
    10
}

fn is_ten(value: &i32) -> bool {
    *value == 10
}

/// Every key that changes the names or the presence of variants.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    VeryLow,
    #[serde(rename = "HIGH", alias = "high", alias = "High")]
    High,
    #[serde(skip)]
    Unknown,
}

/// Defaults of the type, beside a key in the same attribute.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(default, rename_all = "SCREAMING-KEBAB-CASE")]
pub struct Settings {
    pub first_value: i32,
    #[serde(default)]
    pub second_value: i32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub third_value: Vec<String>,
    #[serde(skip_serializing)]
    pub fourth_value: bool,
    #[schema(required)]
    pub fifth_value: i32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { first_value: 7, second_value: 8, third_value: vec!["a".into()], fourth_value: true, fifth_value: 9 }
    }
}

/// Two types whose names for serde are the same.
#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Pair {
    pub left: Left,
    pub right: Right,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename = "Side")]
pub struct Left {
    pub a: i32,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename = "Side")]
pub struct Right {
    pub b: i32,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[schemars(rename = "Side", crate = "kubewright_core::schemars")]
pub struct Named {
    pub c: i32,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[schemars(rename = "Side")]
pub struct AlsoNamed {
    pub d: i32,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Sides {
    pub named: Named,
    pub also: AlsoNamed,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[allow(clippy::enum_variant_names, reason = "the words of their JSON names")]
pub enum External {
    ByName {
        full_name: String,
    },
    #[serde(rename = "size", alias = "bySize", rename_all = "PascalCase")]
    BySize {
        max_size: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_size: Option<i32>,
    },
    ByLevel(Level),
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Internal {
    Open,
    #[serde(alias = "shut")]
    Closed {
        reason: String,
    },
    #[serde(skip_serializing)]
    Ajar {
        angle: i32,
    },
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(tag = "type")]
pub enum Fallback {
    Known {
        size: i32,
    },
    #[serde(other)]
    Other,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(tag = "kind", content = "value")]
pub enum Adjacent {
    Text(String),
    #[serde(alias = "Word")]
    Name(String),
    Nothing,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(untagged)]
pub enum Untagged {
    #[serde(alias = "unused")]
    Point {
        x: i32,
    },
    Line {
        from: i32,
        to: i32,
    },
}

/// A word, or any other one.
#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    Yes,
    No,
    #[serde(untagged)]
    Other(String),
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(tag = "type")]
pub enum Open {
    Known {
        size: i32,
    },
    #[serde(untagged)]
    Other {
        weight: i32,
    },
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(transparent)]
pub struct Transparent {
    pub inner: Level,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(from = "Fraction", into = "Fraction")]
pub struct Ratio(pub i32, pub i32);

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Fraction {
    pub numerator: i32,
    pub denominator: i32,
}

impl From<Fraction> for Ratio {
    fn from(fraction: Fraction) -> Self {
        Ratio(fraction.numerator, fraction.denominator)
    }
}

impl From<Ratio> for Fraction {
    fn from(Ratio(numerator, denominator): Ratio) -> Self {
        Fraction { numerator, denominator }
    }
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(try_from = "String", into = "String", rename_all = "camelCase")]
pub struct Code {
    pub first_part: u8,
}

impl TryFrom<String> for Code {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(|first_part| Code { first_part })
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.first_part.to_string()
    }
}

/// A type of another crate, and its encoding here.
#[derive(Clone, Debug, PartialEq, DeepCopy)]
pub struct Foreign {
    pub amount: i32,
    hidden: i32,
}

impl Foreign {
    pub fn new(amount: i32, hidden: i32) -> Self {
        Foreign { amount, hidden }
    }

    pub fn hidden(&self) -> &i32 {
        &self.hidden
    }
}

#[derive(Deserialize, CrdSchema, Serialize)]
#[serde(remote = "Foreign", rename_all = "UPPERCASE")]
pub struct ForeignDef {
    amount: i32,
    #[serde(getter = "Foreign::hidden")]
    hidden: i32,
}

impl From<ForeignDef> for Foreign {
    fn from(ForeignDef { amount, hidden }: ForeignDef) -> Self {
        Foreign { amount, hidden }
    }
}

/// Custom encodings, each with its schema.
#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Encodings {
    #[serde(with = "ForeignDef")]
    pub foreign: Foreign,
    #[serde(with = "text")]
    #[schemars(with = "String")]
    pub number: i32,
    #[serde(serialize_with = "text::serialize", deserialize_with = "text::deserialize", default = "ten")]
    #[schemars(with = "String")]
    pub two_functions: i32,
    #[serde(with = "text", default)]
    #[schemars(with = "Value")]
    pub any: i32,
    pub variant: Encoded,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub enum Encoded {
    #[serde(with = "text")]
    #[schemars(with = "String")]
    Number(i32),
}

pub mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &i32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Flattened types.
#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flattened {
    pub own_name: String,
    #[serde(flatten)]
    pub fraction: Fraction,
    #[serde(flatten)]
    pub choice: Option<External>,
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

kubewright_core::group_version! { group = "serde.reports.example", version = "v1", kinds = [Dial, DialList] }
