//! What is on the wire: requests, media types, bodies and their encodings.

pub(crate) mod body;
pub(crate) mod content;
pub(crate) mod duplicate_fields;
pub(crate) mod negotiation;
pub(crate) mod protobuf;
pub(crate) mod request;
