//! Version `v1` of group `r48.reports.example`, imported with `cargo xtask crd import`.
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
#[k8s(plural = "switchs")]
pub struct Switch {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    pub spec: Option<SwitchSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct SwitchSpec {
    #[schema(no_format, nullable)]
    pub level: Option<i64>,
    #[schemars(
        extend(
            "x-kubewright-override" = {"":{"enum":["up",
            "down",
            null],
            "nullable":true}}
        )
    )]
    pub state: Option<SpecState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ApiType)]
pub enum SpecState {
    #[serde(rename = "up")]
    Up,
    #[serde(rename = "down")]
    Down,
}

kubewright::core::group_version! {
    group = "r48.reports.example", version = "v1", kinds = [Switch]
}
