//! The promises of the controller, each shown by a test of that name, on the embedded API server with paused time.

mod events;
mod failures;
mod finalizers;
mod measures;
mod stage;
mod stopping;
mod syncing;
mod workers;
