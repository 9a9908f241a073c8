//! The operator: its children, its status, and the running controller on the in-memory API server.

mod children;
mod cluster;
mod conflicts;
mod default_logger;
mod fixture;
mod invalid;
mod lifecycle;
mod observability;
mod status;
mod writes;
