//! Two types of the same name in different modules.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{ApplyConfiguration, CrdSchema, DeepCopy, Object, ObjectList};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
#[genclient]
pub struct Relay {
    pub metadata: ObjectMeta,
    pub spec: RelaySpec,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, ObjectList)]
pub struct RelayList {
    pub metadata: ListMeta,
    pub items: Vec<Relay>,
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct RelaySpec {
    pub source: source::Config,
    pub target: target::Config,
    pub from_mode: source::Mode,
    pub to_mode: target::Mode,
}

pub mod source {
    use super::*;

    #[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
    pub struct Config {
        pub url: String,
    }

    #[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
    pub enum Mode {
        Pull,
        Push,
    }
}

pub mod target {
    use super::*;

    #[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
    pub struct Config {
        pub path: String,
    }

    #[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
    pub enum Mode {
        Append,
        Replace,
    }
}

kubewright_core::group_version! { group = "r32.reports.example", version = "v1", kinds = [Relay, RelayList] }
