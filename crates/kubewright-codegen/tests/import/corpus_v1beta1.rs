//! Version `v1beta1` of group `corpus.example.com`, imported with `cargo xtask crd import`.
// Documentation and names are those of the definition.
#![allow(missing_docs, rustdoc::bare_urls, rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]
#![allow(rustdoc::invalid_rust_codeblocks)]
#![allow(clippy::doc_lazy_continuation, clippy::doc_link_with_quotes, clippy::needless_doctest_main, clippy::doc_markdown)]
#![allow(clippy::doc_overindented_list_items, clippy::enum_variant_names, clippy::large_enum_variant)]
#![allow(clippy::struct_excessive_bools, clippy::struct_field_names, clippy::too_long_first_doc_paragraph)]
#![allow(deprecated)]

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::ApiObject;

/// Gadget is as it was.
#[deprecated(note = r#"corpus.example.com/v1beta1 Gadget is gone; use "v1""#)]
#[derive(Clone, Debug, Default, PartialEq, ApiObject)]
#[k8s(
    plural = "gadgets",
    singular = "gadgetry",
    short_names = ["gd"],
    categories = ["all"],
    scope = "Namespaced",
    unserved
)]
pub struct Gadget {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    pub data: Option<BTreeMap<String, String>>,
}

kubewright_core::group_version! {
    group = "corpus.example.com", version = "v1beta1", kinds = [Gadget]
}
