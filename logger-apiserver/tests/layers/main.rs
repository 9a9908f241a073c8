//! The layers over a client: faults, actions and reactors, each promise by name; the clock is paused

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and the helpers of tests are part of them")]

mod faults;
mod reactors;
