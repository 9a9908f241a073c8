//! The options of validation: `validationOptions` of the server.

/// The types of OpenAPI schemas.
pub(super) const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

#[expect(clippy::struct_excessive_bools, reason = "the server has the same options")]
pub(super) struct Options {
    pub(super) require_open_api_schema: bool,
    pub(super) require_valid_property_type: bool,
    pub(super) require_structural_schema: bool,
    pub(super) require_pruned_defaults: bool,
    pub(super) require_atomic_set_type: bool,
    pub(super) require_map_list_keys_map_set_validation: bool,
    pub(super) require_recognized_conversion_review_version: bool,
    pub(super) allow_invalid_ca_bundle: bool,
    /// The versions that can have too many selectable fields. The top-level field is that of version `""`.
    pub(super) allow_too_many_selectable_fields: Vec<String>,
}

impl Options {
    pub(super) fn for_create() -> Self {
        Self {
            require_open_api_schema: true,
            require_valid_property_type: true,
            require_structural_schema: true,
            require_pruned_defaults: true,
            require_atomic_set_type: true,
            require_map_list_keys_map_set_validation: true,
            require_recognized_conversion_review_version: true,
            allow_invalid_ca_bundle: true,
            allow_too_many_selectable_fields: Vec::new(),
        }
    }
}
