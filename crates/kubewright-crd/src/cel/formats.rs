//! Text formats that rules parse: durations, timestamps, URLs, IP addresses, regular expressions and named formats.
//!
//! These are pure functions on text, independent of CEL values.

pub(crate) mod base64;
pub(crate) mod format_string;
pub(crate) mod ip;
pub(crate) mod named_format;
pub(crate) mod regex;
pub(crate) mod time;
pub(crate) mod url;
