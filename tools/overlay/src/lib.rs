//! Derives what Kubernetes' own types say beyond their schemas from a real API server's OpenAPI.
//!
//! The data is `logger-crd/src/structural/overlay.json`, one line for each type, and says of a type: `map`, how it merges as a
//! whole; `required`; and of its `fields`: `list` and `keys`, how the items merge, `map`, `default` and `format`.
//!
//! Two things in the OpenAPI are Go's and not the API's, and are left out: the zero value as the default of a field that is
//! required (Go writes it, so its generator says so), and the empty object as the default of a struct that is no pointer.

mod derive;
mod server;

pub use derive::overlay;
pub use server::{Documents, documents};
