//! The JSON encoding of root kinds and lists, with `apiVersion` and `kind`, and without unset fields.

mod de;
mod omit_none;
mod plain;
mod ser;

pub use de::{Root, deserialize, read, required};
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
pub use omit_none::OmitNone;
pub use plain::Plain;
pub use ser::RootSerializer;
