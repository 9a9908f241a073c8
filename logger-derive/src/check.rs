//! The rules across attributes and fields, one file for each attribute or type, and one function for each rule.

mod adopt;
mod api_type;
mod apply;
mod conversion;
mod convert;
mod deep_copy;
mod defaults;
mod group_version;
mod indexes;
mod kind;
mod lifecycle;
mod list;
mod methods;
mod policy;
mod root;
mod schema;
mod serde;
mod verbs;

pub(crate) use adopt::adopt;
pub(crate) use api_type::{api_type, kind_attributes, unused_convert};
pub(crate) use apply::apply;
pub(crate) use convert::convert;
pub(crate) use deep_copy::deep_copy;
pub(crate) use defaults::defaults;
pub(crate) use group_version::group_version;
pub(crate) use kind::kind;
pub(crate) use list::list;
pub(crate) use schema::schema;
