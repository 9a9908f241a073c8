//! The program of the agent as a process: kills at random points, a graceful stop, and bad input.
//!
//! `KILLS=1000` selects the number of kills, 20 by default. A seed determines them. It is printed, and taken from
//! `KILL_SEED` if that is set.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod crash;
mod errors;
mod memory;
mod process;
mod stop;
