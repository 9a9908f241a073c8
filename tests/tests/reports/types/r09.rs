//! A type that is decoded from a string and encoded by hand.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Clock {
    pub metadata: ObjectMeta,
    pub spec: ClockSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct ClockSpec {
    pub start: Hour,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema)]
#[serde(try_from = "String")]
pub struct Hour {
    pub hour: u8,
    pub minute: u8,
}

impl TryFrom<String> for Hour {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (hour, minute) = text.split_once(':').ok_or("missing :")?;
        let number = |text: &str| text.parse().map_err(|_| "not a number".to_owned());
        Ok(Hour { hour: number(hour)?, minute: number(minute)? })
    }
}

impl Serialize for Hour {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{:02}:{:02}", self.hour, self.minute))
    }
}

kubewright_core::group_version! { group = "r09.reports.example", version = "v1", kinds = [Clock] }
