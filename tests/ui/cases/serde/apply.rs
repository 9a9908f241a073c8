//! A type of another crate whose fields have an encoding here.

use kubewright_core::ApplyConfiguration;
use serde::{Deserialize, Serialize};

pub struct Foreign {
    pub size: i32,
}

#[derive(ApplyConfiguration, Deserialize, Serialize)]
#[serde(remote = "Foreign")]
pub struct ForeignDef {
    #[serde(default, alias = "length")]
    pub size: i32,
}

#[derive(ApplyConfiguration, Deserialize, Serialize)]
pub struct WidgetSpec {
    #[serde(with = "ForeignDef")]
    pub foreign: Foreign,
}

fn main() {}
