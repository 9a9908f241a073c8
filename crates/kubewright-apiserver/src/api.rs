//! Plain data of the API machinery: kinds, objects and errors.

pub(crate) mod depth;
pub(crate) mod endpoint;
pub(crate) mod error;
pub(crate) mod go;
pub(crate) mod kind;
pub(crate) mod memory;
pub(crate) mod object;
pub(crate) mod types;
pub(crate) mod webhook;
