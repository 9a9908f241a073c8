//! How informers hold their objects in memory: decoded, or as compact bytes that are decoded when they are read.
//!
//! The feature `compact` adds `Compact` to [`Memory`], which an informer selects with
//! [`Config::memory`](crate::informer::Config::memory):
//!
//! ```
//! use k8s_openapi::api::core::v1::Pod;
//! use kubewright_runtime::{Memory, informer::Config};
//!
//! let config = Config::<Pod>::default().memory(Memory::Plain);
//! ```
//!
//! Queries, listers, indexes and event handlers are the same with both. With `Compact`:
//!
//! - an object is the JSON that its type serializes to, compressed with zstd and a dictionary. The dictionary is
//!   trained once, on the first objects;
//! - the namespace, name, UID, version and labels are not compressed, and indexes contain their values. So selectors,
//!   indexes and relists decode nothing but the objects that a query returns or that changed;
//! - the objects that were read or changed last are also decoded, up to 2 MiB of JSON. Reading one of them costs as
//!   much as with `Plain`;
//! - what a handler has not processed is compact as well, and is decoded when the handler is called;
//! - an object is decoded once for a list of the server, once for each index that is filled, and once for each handler.

#[cfg(feature = "compact")]
mod codec;
#[cfg(feature = "compact")]
mod compact_object;
#[cfg(feature = "compact")]
mod compression;
mod found;
#[cfg(feature = "compact")]
mod hot_objects;
mod label_matcher;
#[cfg(feature = "compact")]
mod label_table;
#[cfg(feature = "compact")]
mod packed_object;
mod packer;
mod stored;
#[cfg(test)]
mod tests;

#[cfg(feature = "compact")]
pub(crate) use compact_object::CompactObject;
pub(crate) use found::Found;
pub(crate) use label_matcher::LabelMatcher;
pub(crate) use packer::{Origin, Packer};
pub(crate) use stored::Stored;

/// How an informer holds its objects in memory. See the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Memory {
    /// Decoded. Reads share the stored objects, so they cost neither time nor memory.
    #[default]
    Plain,
    /// As compact bytes, which take about a tenth of the memory of large kinds. Reading an object that was not read
    /// lately decodes it, which takes some microseconds.
    ///
    /// The type must be able to decode what it serializes. If the first objects show that it is not, all objects are
    /// held decoded, with a warning in the log. An object that cannot be decoded later remains stored as bytes: queries
    /// and handlers omit it, and the informer reports it as a
    /// [skipped object](crate::SharedInformer::skipped_objects) until it changes. Fields with `#[serde(skip)]` are
    /// lost.
    #[cfg(feature = "compact")]
    Compact,
}
