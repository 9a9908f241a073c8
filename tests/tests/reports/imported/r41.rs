//! Version `v1` of group `r41.reports.example`, imported with `cargo xtask crd import`.
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
#[k8s(plural = "filters")]
pub struct Filter {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    pub spec: Option<FilterSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct FilterSpec {
    #[schema(no_format, values = [301, 302])]
    pub code: Option<i64>,
    pub format: Option<Format>,
    #[schema(
        values = ["self",
        "Self",
        "crate",
        "super",
        "type",
        "1",
        "1.0",
        "a-b",
        "a_b"]
    )]
    pub mode: Option<String>,
    pub operator: Option<SpecOperator>,
    #[schema(values = ["http", "HTTP", "Http"])]
    pub scheme: Option<String>,
    #[schema(no_format, values = [-1, 0, 1])]
    pub step: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ApiType)]
pub enum Format {
    #[serde(rename = "")]
    Empty,
    #[serde(rename = "logfmt")]
    Logfmt,
    #[serde(rename = "json")]
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ApiType)]
pub enum SpecOperator {
    #[serde(rename = "=")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
    #[serde(rename = "=~")]
    EqualSign,
    #[serde(rename = "!~")]
    NotSign,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = "<=")]
    LessEqual,
    #[serde(rename = ">=")]
    GreaterEqual,
}

kubewright::core::group_version! {
    group = "r41.reports.example", version = "v1", kinds = [Filter]
}
