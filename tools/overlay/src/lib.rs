//! Derives facts of Kubernetes' own types that k8s-openapi's schemas lack from a real API server's OpenAPI, and from
//! their Go source.
//!
//! The output is `crates/kubewright-crd/src/structural/overlay.json` with one line for each type: `map`, its map type;
//! `required`; and for its `fields` `list` and `keys`, the list type and the map keys, `map`, `default` and `format`.
//!
//! Two kinds of defaults in the OpenAPI are artefacts of Go and are omitted: the zero value of a required field, which
//! Go always writes, and the empty object of a struct field that is not a pointer.
//!
//! Three further files belong to `kubewright-apiserver`: `src/openapi/enums.json`, the enum values of fields and their
//! descriptions; `src/table/columns.json`, the columns of `kubectl get`; and, from the tags of the Go structs
//! (`wire/main.go`), `src/api/types.json`, the order of the fields in JSON and the protobuf encoding of the types.

mod columns;
mod enums;
mod schemas;
mod server;
mod wire;

pub use columns::columns;
pub use enums::enums;
pub use schemas::overlay;
pub use server::{Documents, documents};
pub use wire::wire;
