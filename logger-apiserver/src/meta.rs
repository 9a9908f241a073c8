//! What the server serves about itself: discovery, OpenAPI, health and access reviews.

pub(crate) mod discovery;
pub(crate) mod health;
pub(crate) mod openapi;
pub(crate) mod review;
