//! Metadata of kinds as plain constant data: declared by the derives, and the only input of the generator.
//!
//! [`ApiKind`] has what a kind is, and [`ApiGroup`] the kinds of a version. A new attribute is a row of the grammar and
//! a key in `attr` of the derives, a field of [`ApiKind`], and what its emitters make of it.

mod group;
mod kind;
mod lifecycle;
mod location;
mod policy;
mod scope;
mod verb;

pub use group::{ApiGroup, ApiList, TypeMeta};
pub use kind::{ApiKind, Conversion, DeclaredCrd, Definition, Method, PrintColumn, Scale};
pub use lifecycle::{Lifecycle, Release, Replacement};
pub use location::Location;
pub use policy::{Policy, PolicyDefault, PolicyParams, PolicyRule, PolicySettings, PolicyVariable};
pub use scope::{HasScope, Scope};
pub use verb::ClientVerb;
