//! The JSON form of root kinds and lists: `apiVersion` and `kind` written and checked, what is unset left out.

mod de;
mod omit_none;
mod plain;
mod ser;

pub use de::{Root, deserialize, read, required};
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
pub use omit_none::OmitNone;
pub use plain::Plain;
pub use ser::RootSerializer;
