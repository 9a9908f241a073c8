//! The CEL type system: types, type parameters, and the types that a schema declares.

mod cel_type;
mod declaration;
mod substitutions;

pub(crate) use cel_type::{
    AUTHORIZER, CIDR, DECISION, GROUP_CHECK, IP, NAMED_FORMAT, ObjectType, PATH_CHECK, QUANTITY, RESOURCE_CHECK,
    SEMVER, Type, URL,
};
pub(crate) use declaration::{DeclKind, DeclType};
pub(crate) use substitutions::Substitutions;
