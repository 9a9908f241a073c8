//! The kinds of the operator: custom kinds with kube's derive, and some of Kubernetes' own.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state of a Widget: the text that it shows.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "widgets.example.dev", version = "v1", kind = "Widget", namespaced, status = "WidgetStatus")]
#[kube(shortname = "wg", printcolumn(name = "Shows", type_ = "string", json_path = ".status.shows"))]
pub struct WidgetSpec {
    pub text: String,
    pub style: Style,
}

/// How a text is shown.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub enum Style {
    Plain,
    Loud,
}

/// The observed state of a Widget.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WidgetStatus {
    pub config_map: String,
    pub shows: String,
}

/// The desired state of all Widgets in a cluster.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "widgets.example.dev", version = "v1", kind = "Theme")]
pub struct ThemeSpec {
    pub font: String,
}

/// A visit to a Widget. Another program writes these objects; this one only reads them.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "widgets.example.dev", version = "v1", kind = "Visit", root = "WidgetVisit", namespaced)]
pub struct VisitSpec {
    pub widget: String,
}

kubewright_core::adopt! {
    built_in = [
        k8s_openapi::api::apps::v1::Deployment,
        k8s_openapi::api::core::v1::ConfigMap,
        k8s_openapi::api::core::v1::Namespace,
        k8s_openapi::api::rbac::v1::ClusterRole,
    ],
    custom_resources = [Widget(status), Theme, WidgetVisit(readonly)],
}
