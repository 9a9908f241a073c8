//! The endpoints that describe the server: discovery, OpenAPI, health checks and access reviews.

pub(crate) mod discovery;
pub(crate) mod health;
pub(crate) mod openapi;
pub(crate) mod review;
