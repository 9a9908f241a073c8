//! Version `v1` of group `pumps.example.com`, imported with `cargo xtask crd import`.
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
#[k8s(plural = "pumps")]
pub struct Pump {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    pub spec: Option<PumpSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct PumpSpec {
    pub marks: kubewright::core::Nullable<Vec<String>>,
}

kubewright::core::group_version! {
    group = "pumps.example.com", version = "v1", kinds = [Pump]
}
