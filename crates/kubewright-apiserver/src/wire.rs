//! The wire format: requests, media types, bodies and their encodings.

pub(crate) mod body;
pub(crate) mod content;
pub(crate) mod negotiation;
pub(crate) mod parse;
pub(crate) mod protobuf;
pub(crate) mod request;
pub(crate) mod request_info;

/// The maximum size of a request body (`MaxRequestBodyBytes`).
pub(crate) const MAX_BODY_BYTES: usize = 3 << 20;
