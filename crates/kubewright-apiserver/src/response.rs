//! Responses: negotiated representations, tables, documents and watch streams.

pub(crate) mod api_response;
pub(crate) mod body;
pub(crate) mod document;
mod list_metadata;
mod objects;
pub(crate) mod table;
pub(crate) mod watch;
