//! The Rust fields of the paths of a schema, for diagnostics.

use std::collections::BTreeMap;

use kubewright_crd::structural::Structural;
use kubewright_names::extension::Extension;

use crate::diagnostic::RustItem;

/// The Rust type of a version, and the Rust fields of the paths of its schema.
pub(crate) struct RustPaths {
    /// The type.
    pub(crate) item: RustItem,
    /// The field, such as `my_types::v1::LoggerSpec::time_interval`, of each path whose field is known.
    pub(crate) fields: BTreeMap<String, String>,
    /// The source location, such as `src/v1.rs:12`, of each path whose field has a known one.
    pub(crate) locations: BTreeMap<String, String>,
}

impl RustPaths {
    pub(super) fn new(item: RustItem, schema: &Structural) -> Self {
        let locations = schema.extensions.get(&Extension::Location).into_iter().flatten();
        let locations = locations.filter_map(|(path, location)| Some((path.clone(), location.as_str()?.to_owned())));
        RustPaths { item, fields: schema.rust_fields.clone(), locations: locations.collect() }
    }

    /// Returns the source location of a field below a path.
    pub(super) fn location_below(&self, path: &str) -> Option<String> {
        let is_below = |below: &str| below.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[', '{']));
        self.locations.iter().find(|(below, _)| is_below(below)).map(|(_, location)| location.clone())
    }

    /// Returns the Rust field of a path, or the path below the type.
    pub(super) fn item_at(&self, path: &str) -> RustItem {
        let item = self.fields.get(path).map_or_else(|| self.item.at(path), |field| self.item.with_path(field));
        item.with_location(self.locations.get(path))
    }
}
