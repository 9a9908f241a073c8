//! The metadata of lists and tables.

use serde::Serialize;

/// The metadata of a list.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListMetadata {
    pub(crate) resource_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) r#continue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remaining_item_count: Option<usize>,
}
