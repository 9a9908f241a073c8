//! Version `v1` of group `r42.reports.example`, imported with `cargo xtask crd import`.
// Documentation and names are those of the definition.
#![allow(
    missing_docs,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags
)]
#![allow(rustdoc::invalid_rust_codeblocks)]
#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_link_with_quotes,
    clippy::needless_doctest_main,
    clippy::doc_markdown
)]
#![allow(
    clippy::doc_overindented_list_items,
    clippy::enum_variant_names,
    clippy::large_enum_variant
)]
#![allow(
    clippy::struct_excessive_bools,
    clippy::struct_field_names,
    clippy::too_long_first_doc_paragraph
)]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright::core::{ApiObject, ApiType};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, ApiObject)]
#[genclient]
#[k8s(plural = "routers")]
pub struct Router {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    pub spec: Option<RouterSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
pub struct RouterSpec {
    pub backend: Option<SpecBackend>,
    #[serde(rename = "foo-bar")]
    pub foo_bar: Option<RouterSpecFooBar>,
    pub foo_bar_: Option<RouterSpecFooBar2>,
    #[serde(rename = "foo_bar")]
    pub foo_bar__: Option<RouterSpecFooBar3>,
    pub rules: Option<Vec<Rule>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct SpecBackend {
    pub r#match: Option<Vec<MatchItem>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct MatchItem {
    pub header: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct RouterSpecFooBar {
    pub b: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct RouterSpecFooBar2 {
    pub a: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct RouterSpecFooBar3 {
    pub c: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Rule {
    pub backend: Option<RuleBackend>,
    pub r#match: Option<RuleMatch>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct RuleBackend {
    pub r#match: Option<BackendMatch>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct BackendMatch {
    #[schema(no_format)]
    pub weight: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct RuleMatch {
    pub path: Option<String>,
}

kubewright::core::group_version! {
    group = "r42.reports.example", version = "v1", kinds = [Router]
}
