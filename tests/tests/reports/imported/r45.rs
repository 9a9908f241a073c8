//! Version `v1` of group `r45.reports.example`, imported with `cargo xtask crd import`.
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
#[k8s(plural = "docs")]
pub struct Doc {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    pub spec: Option<DocSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct DocSpec {
    #[schemars(description = "#1 priority")]
    pub a: Option<String>,
    #[schemars(description = r"# Heading

Text.")]
    pub b: Option<String>,
    /// * one
    /// * two
    pub c: Option<String>,
    /// ends a comment */ and opens /* one
    pub d: Option<String>,
    #[cfg_attr(not(doctest), doc = " ```")]
    #[cfg_attr(not(doctest), doc = " fn main() {")]
    #[cfg_attr(not(doctest), doc = " ```")]
    #[cfg_attr(not(doctest), doc = "     indented code")]
    pub e: Option<String>,
    #[schemars(description = r"two trailing spaces  
and a tab	here")]
    pub f: Option<String>,
    #[schemars(description = "a return\r\nand {braces} \\u{1f600} \"quotes\"")]
    pub g: Option<String>,
    #[schemars(description = " leading space")]
    pub h: Option<String>,
    pub i: Option<String>,
}

kubewright::core::group_version! {
    group = "r45.reports.example", version = "v1", kinds = [Doc]
}
