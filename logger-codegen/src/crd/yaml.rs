//! CRDs as text.

use logger_core::wire::Plain;
use serde_json::Value;

use crate::diagnostic::Diagnostics;

/// The document, keys sorted; `None`, with the reason noted, where YAML cannot hold it.
pub(super) fn write(value: &Value, item: &str, found: &mut Diagnostics) -> Option<String> {
    serde_saphyr::to_string(&Plain(value))
        .inspect_err(|error| found.push(item, format!("its CRD cannot be written as YAML: {error}")))
        .ok()
}
