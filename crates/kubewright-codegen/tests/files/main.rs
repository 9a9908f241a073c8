//! The files of definitions and policies: their options, differences and errors.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and the helpers of tests are part of them")]

mod definitions;
mod diff;
mod policies;
