//! What is declared, with its spans: the input of checks and emitters.
//!
//! A model can be invalid: parsing it reports errors of syntax only.

pub(crate) mod adopt;
mod api_type;
mod apply;
mod convert;
mod deep_copy;
pub(crate) mod defaults;
mod group_version;
pub(crate) mod json;
mod kind;
mod list;
mod policy;
mod root;
pub(crate) mod rust_type;
mod schema;
mod serde;
mod verbs;

pub(crate) use adopt::{Adoption, CustomResource};
pub(crate) use api_type::ApiType;
pub(crate) use apply::{AppliedBody, AppliedField, AppliedType};
pub(crate) use convert::{ConvertBody, ConvertField, ConvertType, ConvertVariant, Payload};
pub(crate) use deep_copy::{CopiedBody, CopiedField, CopiedType};
pub(crate) use defaults::{DefaultedType, FieldDefault};
pub(crate) use group_version::Declaration;
pub(crate) use kind::{Kind, release};
pub(crate) use list::List;
pub(crate) use policy::Policy;
pub(crate) use root::{Body, Root, RootField};
pub(crate) use schema::{SchemaBody, SchemaField, SchemaFields, SchemaType};
pub(crate) use serde::{SerdeAttrs, SerdeItem};
pub(crate) use verbs::method_verb;
