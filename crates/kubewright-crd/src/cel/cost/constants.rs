//! Base costs of cel-go (`common/cost.go`) and of the Kubernetes libraries.

/// The cost of creating a list.
pub(crate) const LIST_CREATE_BASE_COST: u64 = 10;
/// The cost of creating a map.
pub(crate) const MAP_CREATE_BASE_COST: u64 = 30;
/// The cost of creating a message.
pub(crate) const STRUCT_CREATE_BASE_COST: u64 = 40;
/// The cost of traversing a string, for each character.
pub(super) const STRING_TRAVERSAL_COST_FACTOR: f64 = 0.1;
/// The cost of matching a regular expression, for each character of the pattern.
pub(super) const REGEX_STRING_LENGTH_COST_FACTOR: f64 = 0.25;
/// The maximum pattern length of a named format.
pub(super) const MAX_NAMED_FORMAT_PATTERN: f64 = 128.0;
