//! Resources: defaulting, validation, merging and field ownership of the objects of each kind.

pub(crate) mod admission_policy;
pub(crate) mod amounts;
pub(crate) mod built_in;
pub(crate) mod certificate_signing_request;
pub(crate) mod definition;
pub(crate) mod events;
pub(crate) mod limit_range;
pub(crate) mod managed_fields;
pub(crate) mod metadata;
pub(crate) mod namespace;
pub(crate) mod patch;
pub(crate) mod pod_subresources;
pub(crate) mod printer_columns;
pub(crate) mod priority_class;
pub(crate) mod quota;
pub(crate) mod registry;
pub(crate) mod request_size;
pub(crate) mod scale;
pub(crate) mod selector;
pub(crate) mod service_allocation;
pub(crate) mod stored_representation;
pub(crate) mod strategic_merge;
pub(crate) mod strategy;
pub(crate) mod topology;
pub(crate) mod versions;
pub(crate) mod webhook_conversions;
