//! The rules across attributes and fields, one file for each attribute or type, and one function for each rule.

mod conversion;
mod convert;
mod indexes;
mod kind;
mod lifecycle;
mod list;
mod methods;
mod policy;
mod root;
mod schema;
mod verbs;

pub(crate) use convert::convert;
pub(crate) use kind::kind;
pub(crate) use list::list;
pub(crate) use root::serde_conflict;
pub(crate) use schema::schema;
pub(crate) use verbs::{check_conflicts, check_status_verbs};
