//! Kinds of kube's derive: one with a status, one without.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Widget", namespaced, status = "WidgetStatus")]
pub struct WidgetSpec {
    pub speed: i32,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct WidgetStatus {
    pub ready: bool,
}

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Theme")]
pub struct ThemeSpec {
    pub font: String,
}
