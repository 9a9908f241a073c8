//! Names and values that YAML 1.1 does not read as strings.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Point {
    pub metadata: ObjectMeta,
    pub spec: PointSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct PointSpec {
    pub x: i32,
    pub y: i32,
    pub n: Option<i32>,
    pub on: bool,
    pub off: Option<bool>,
    pub yes: Option<bool>,
    pub no: Option<bool>,
    pub null: Option<String>,
    #[serde(rename = "true")]
    pub really: Option<bool>,
    #[serde(rename = "1_000")]
    pub thousand: Option<i32>,
    #[serde(rename = "2024-01-01")]
    pub day: Option<String>,
    #[serde(rename = "0x1f")]
    pub hex: Option<i32>,
    #[serde(rename = "1e3")]
    pub exponent: Option<i32>,
    #[serde(rename = "~")]
    pub tilde: Option<i32>,
    #[schema(values = ["on", "off", "y", "n", "Yes", "No", "2024-01-01", "0x10", "0o17", "017", "1_000", "12:30", "1e3", ".5", "", "null", "~", "=", "<<", "1.0"])]
    pub state: String,
}

kubewright_core::group_version! { group = "r19.reports.example", version = "v1", kinds = [Point] }
