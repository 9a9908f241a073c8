//! Types whose definition depends on the order of maps, if anything does.

use std::collections::HashMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Order {
    pub metadata: ObjectMeta,
    pub spec: OrderSpec,
}

#[kubewright_core::defaults]
#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct OrderSpec {
    #[default(with = ports)]
    pub ports: HashMap<String, i32>,
    #[serde(flatten)]
    pub mode: Option<Choice>,
    pub variants: Variants,
    #[schemars(example = serde_json::json!({"z": 1, "a": {"y": 2, "b": 3}}))]
    pub sample: HashMap<String, serde_json::Value>,
}

fn ports() -> HashMap<String, i32> {
    ["zeta", "alpha", "mike", "bravo"].into_iter().zip(1..).map(|(name, port)| (name.to_owned(), port)).collect()
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub enum Choice {
    Zoo { zebra: i32, ant: String },
    Aqua { shark: i32 },
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(tag = "type")]
pub enum Variants {
    Second { zulu: i32, alpha: String },
    First { yankee: i32, alpha: String },
}

kubewright_core::group_version! { group = "r20.reports.example", version = "v1", kinds = [Order] }
