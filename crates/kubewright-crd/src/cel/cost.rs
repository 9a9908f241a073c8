//! Static cost estimation: the maximum cost of a rule, computed from the size limits of its schema.

mod ast_node;
mod calls;
mod constants;
mod estimate;
mod estimator;
mod schema_sizes;

pub(crate) use constants::{LIST_CREATE_BASE_COST, MAP_CREATE_BASE_COST, STRUCT_CREATE_BASE_COST};
pub(crate) use estimator::{budget_exceeded, estimate_cost};
