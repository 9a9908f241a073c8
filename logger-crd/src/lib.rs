//! CustomResourceDefinitions as the API server reads them: made structural, checked, compared, applied to values.
//!
//! Pure functions on JSON, tied to no generator and no server: the code generator, the API server in memory and a user's
//! own tests ask the same ones.

pub mod cel;
pub mod check;
pub mod diff;
pub mod finding;
mod go;
pub mod judge;
pub mod names;
pub mod pattern;
pub mod quantity;
mod schema;
pub mod structural;
pub mod value;
