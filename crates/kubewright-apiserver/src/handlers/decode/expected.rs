//! The expected type of a body, for built-in kinds.

use serde_json::{Map, Value};

use super::text;
use crate::{
    api::{
        error::{ApiError, Result},
        go,
        kind::group_version,
    },
    resource::{built_in, registry::Resource},
};

/// The expected type of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) group: &'a str,
    pub(crate) version: &'a str,
    pub(crate) kind: &'a str,
}

impl<'a> Expected<'a> {
    /// Returns the type of the objects of a kind.
    pub(crate) fn new(kind: &'a Resource) -> Self {
        Self { group: &kind.group, version: &kind.version, kind: &kind.kind }
    }

    pub(crate) fn api_version(self) -> String {
        group_version(self.group, self.version)
    }

    /// Rejects a body of another type.
    pub(crate) fn check(self, fields: &Map<String, Value>) -> Result<()> {
        let Some(detail) = self.type_error(fields) else {
            return Ok(());
        };
        let version = text(fields, "apiVersion").rsplit('/').next().unwrap_or_default();
        let kind = text(fields, "kind");
        let version = if version.is_empty() { self.version } else { version };
        let kind = if kind.is_empty() { self.kind } else { kind };
        Err(self.unhandled(kind, version, &detail))
    }

    /// Returns the error for a body of another type. A missing `apiVersion` or `kind` defaults to the expected one;
    /// other types are looked up in the Go scheme.
    pub(crate) fn type_error(self, fields: &Map<String, Value>) -> Option<String> {
        let expected = self.api_version();
        let field_or = |field, default| Some(text(fields, field)).filter(|text| !text.is_empty()).unwrap_or(default);
        let (api_version, kind) = (field_or("apiVersion", expected.as_str()), field_or("kind", self.kind));
        if api_version == expected && kind == self.kind {
            return None;
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_known = built_in::all().any(|known| {
            (known.group, known.version, known.kind) == (group, version, kind) && known.type_info().schema.is_some()
        });
        Some(if is_known {
            let package = go::package(self.group);
            format!("converting ({version}.{kind}) to ({package}.{}): unknown conversion", self.kind)
        } else {
            let scheme = "scheme \"pkg/runtime/scheme.go:111\"";
            format!("no kind {kind:?} is registered for version {api_version:?} in {scheme}")
        })
    }

    /// Returns the error for a body of this kind and version that cannot be decoded as the expected type.
    pub(crate) fn unhandled(self, kind: &str, version: &str, detail: &str) -> ApiError {
        let expected = self.kind;
        ApiError::bad_request(format!("{kind} in version {version:?} cannot be handled as a {expected}: {detail}"))
    }
}
