//! The server: routing of requests, construction, and serving on a socket.

pub(crate) mod access;
pub(crate) mod api_server;
pub(crate) mod bootstrap;
pub(crate) mod builder;
pub(crate) mod dispatch;
#[cfg(feature = "serve")]
pub mod serve;
