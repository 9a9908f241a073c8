//! The promises of `logger-runtime`, each shown by a test of that name, on the embedded API server behind a line that fails.

mod client;
mod line;
