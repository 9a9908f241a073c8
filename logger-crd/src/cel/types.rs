//! The CEL type system: types, type parameters, and the types that a schema declares.

mod cel_type;
mod declaration;
mod substitutions;

pub(crate) use cel_type::{CIDR, IP, NAMED_FORMAT, ObjectType, QUANTITY, SEMVER, Type, URL};
pub(crate) use declaration::{DeclKind, DeclType};
pub(crate) use substitutions::Substitutions;
