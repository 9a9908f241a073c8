//! CustomResourceDefinitions: structural schemas, the API server's validation of definitions and objects, CEL, and
//! diffs.
//!
//! All functions are pure functions on JSON. The code generator, the in-memory API server and unit tests of users share
//! them, so that all three return the same errors.
//!
//! The modules are layers. A module imports only from modules in the rows above its own:
//!
//! | Layer | Modules |
//! |---|---|
//! | Go's formats, patterns and quantities, schema access | `go`, [`pattern`], [`quantity`], `schema` |
//! | field errors | [`field`] |
//! | rules (`x-kubernetes-validations`) | [`cel`] |
//! | admission policies | [`policy`] |
//! | values under a schema: pruning, defaulting, validation | [`value`] |
//! | structural schemas of Rust types; objects under the schema and the rules of a version | [`structural`], [`validator`] |
//! | definitions | [`definition`] |
//! | changes of definitions | [`diff`] |

pub mod cel;
pub mod definition;
pub mod diff;
pub mod field;
mod go;
pub mod pattern;
pub mod policy;
pub mod quantity;
mod schema;
pub mod structural;
pub mod validator;
pub mod value;

pub use kubewright_names::validation as names;
