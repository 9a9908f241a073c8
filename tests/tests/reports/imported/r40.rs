//! Version `v1` of group `r40.reports.example`, imported with `cargo xtask crd import`.
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

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright::core::{ApiObject, ApiType};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, ApiObject)]
#[genclient]
#[k8s(plural = "grids")]
pub struct Grid {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    pub spec: Option<GridSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
pub struct GridSpec {
    pub by_team: Option<BTreeMap<String, BTreeMap<String, Vec<ByTeamItemItemItem>>>>,
    #[schemars(extend("x-kubewright-override" = {"":{"additionalProperties":true}}))]
    pub free: Option<BTreeMap<String, Value>>,
    pub limits: Option<BTreeMap<String, i64>>,
    #[schema(each(each(each(allow_float, no_format))))]
    pub matrix: Option<Vec<Vec<Vec<f64>>>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct ByTeamItemItemItem {
    pub name: String,
    #[schema(no_format, min = -5, max = -1)]
    pub weight: Option<i64>,
}

kubewright::core::group_version! {
    group = "r40.reports.example", version = "v1", kinds = [Grid]
}
