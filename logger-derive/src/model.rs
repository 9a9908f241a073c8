//! What is declared, with its spans: the input of checks and emitters. A model can be invalid: parsing it reports errors
//! of syntax only.

mod convert;
pub(crate) mod json;
mod kind;
mod list;
mod policy;
mod root;
pub(crate) mod rust_type;
mod schema;
mod verbs;

pub(crate) use convert::{ConvertBody, ConvertField, ConvertType, ConvertVariant, Payload};
pub(crate) use kind::{Kind, release};
pub(crate) use list::List;
pub(crate) use policy::Policy;
pub(crate) use root::{Body, Root, RootField};
pub(crate) use schema::{SchemaBody, SchemaField, SchemaFields, SchemaType};
pub(crate) use verbs::{granted_verbs, method_verb};
