//! Traits and plain data of Kubernetes API types: deep copy, objects, scheme and kind metadata.
//!
//! ```
//! mod v1 {
//!     use kubewright_core::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
//!     use kubewright_core::{ApiObject, ApiType};
//!     use serde::{Deserialize, Serialize};
//!
//!     /// A Widget rotates.
//!     #[derive(Clone, Debug, ApiObject)]
//!     #[genclient]
//!     #[k8s(short_names = ["wg"])]
//!     pub struct Widget {
//!         pub metadata: ObjectMeta,
//!         pub spec: WidgetSpec,
//!     }
//!
//!     /// The desired state of a Widget.
//!     #[derive(Clone, Debug, Deserialize, Serialize, ApiType)]
//!     #[serde(rename_all = "camelCase")]
//!     pub struct WidgetSpec {
//!         /// Rotations per minute.
//!         pub speed: i32,
//!     }
//!
//!     kubewright_core::group_version! { group = "widgets.example.com", version = "v1", kinds = [Widget] }
//! }
//!
//! assert_eq!(v1::GROUP_VERSION.api_version, "widgets.example.com/v1");
//! ```
//!
//! A crate of API types depends on this crate, or on `kubewright`, which re-exports it, and on serde. The derives are
//! re-exported here, and their output refers to all items through this crate.

pub mod adopt;
pub mod apply;
pub mod built_in;
pub mod condition;
pub mod conversion;
pub mod deep_copy;
pub mod defaults;
pub mod description;
pub mod grammar;
pub mod group_version;
pub mod meta;
pub mod nullable;
pub mod object;
pub mod schema;
pub mod scheme;
pub mod unstructured;
#[cfg(feature = "validation")]
pub mod validation;
pub mod verbs;
pub mod wire;

pub use built_in::BuiltIn;
pub use condition::{ConditionStatus, Conditions, new_condition};
pub use conversion::{ConversionError, Converter};
pub use deep_copy::DeepCopy;
pub use group_version::{GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource};
#[doc(hidden)]
pub use logger_derive::grammar;
pub use logger_derive::{
    ApiObject, ApiType, ApplyConfiguration, Convert, CrdSchema, DeepCopy, Object, ObjectList, adopt, defaults,
    group_version,
};
pub use nullable::Nullable;
pub use object::{ExtensionMethod, IndexedBy, Kind, KindList, Listed, Object, Registered};
pub use scheme::{RootType, Scheme};
pub use unstructured::{MixedList, Unstructured};
#[cfg(feature = "validation")]
pub use validation::Validate;

pub use k8s_openapi;
pub use schemars;
pub use serde;
pub use serde_json;
