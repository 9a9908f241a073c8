//! Derives what Kubernetes' own types say beyond their schemas from a real API server's OpenAPI, and from their Go source.
//!
//! The data is `logger-crd/src/structural/overlay.json`, one line for each type, and says of a type: `map`, how it merges as a
//! whole; `required`; and of its `fields`: `list` and `keys`, how the items merge, `map`, `default` and `format`.
//!
//! Two things in the OpenAPI are Go's and not the API's, and are left out: the zero value as the default of a field that is
//! required (Go writes it, so its generator says so), and the empty object as the default of a struct that is no pointer.
//!
//! Beside it are three files of `logger-apiserver`: `src/openapi/enums.json`, of each field that has an enum, where its values are and
//! what is told of them; `src/table/columns.json`, which columns `kubectl get` shows; and, from the tags of the Go structs
//! (`wire/main.go`), `src/protobuf/types.json`, how types are written in protobuf.

mod columns;
mod derive;
mod enums;
mod server;
mod wire;

pub use columns::columns;
pub use derive::overlay;
pub use enums::enums;
pub use server::{Documents, documents};
pub use wire::wire;
