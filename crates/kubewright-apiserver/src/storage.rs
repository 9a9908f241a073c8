//! The storage of objects: in memory, with a log of changes, and in a data directory.

#[cfg(feature = "data-dir")]
pub(crate) mod data_dir;
pub(crate) mod encoded_events;
pub(crate) mod notifications;
pub(crate) mod shared;
pub(crate) mod state;
pub(crate) mod store;
