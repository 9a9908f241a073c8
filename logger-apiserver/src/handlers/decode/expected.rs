//! The type that a body for Kubernetes' own kinds has to be of.

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

/// What a body is to be: one of Kubernetes' own types.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) group: &'a str,
    pub(crate) version: &'a str,
    pub(crate) kind: &'a str,
}

impl<'a> Expected<'a> {
    /// The type of the objects of a kind.
    pub(crate) fn of(kind: &'a Resource) -> Self {
        Self { group: &kind.group, version: &kind.version, kind: &kind.kind }
    }

    pub(crate) fn api_version(self) -> String {
        group_version(self.group, self.version)
    }

    /// Rejects a body of another type.
    pub(crate) fn check(self, fields: &Map<String, Value>) -> Result<()> {
        let Some(why) = self.mistake(fields) else {
            return Ok(());
        };
        let version = text(fields, "apiVersion").rsplit('/').next().unwrap_or_default();
        let kind = text(fields, "kind");
        let version = if version.is_empty() { self.version } else { version };
        let kind = if kind.is_empty() { self.kind } else { kind };
        Err(self.unhandled(kind, version, &why))
    }

    /// What is wrong with the type a body says it is of. What it does not say is as it should be; what it says is looked up
    /// among the types of Go.
    pub(crate) fn mistake(self, fields: &Map<String, Value>) -> Option<String> {
        let own = self.api_version();
        let said = |field, own| Some(text(fields, field)).filter(|text| !text.is_empty()).unwrap_or(own);
        let (api_version, kind) = (said("apiVersion", own.as_str()), said("kind", self.kind));
        if api_version == own && kind == self.kind {
            return None;
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_known = built_in::all().any(|known| {
            known.type_info().schema.is_some() && (known.group, known.version, known.kind) == (group, version, kind)
        });
        Some(if is_known {
            let package = go::package(self.group);
            format!("converting ({version}.{kind}) to ({package}.{}): unknown conversion", self.kind)
        } else {
            let scheme = "scheme \"pkg/runtime/scheme.go:111\"";
            format!("no kind {kind:?} is registered for version {api_version:?} in {scheme}")
        })
    }

    /// A body of this kind and version cannot be read as what it is to be.
    pub(crate) fn unhandled(self, kind: &str, version: &str, why: &str) -> ApiError {
        let expected = self.kind;
        ApiError::bad_request(format!("{kind} in version {version:?} cannot be handled as a {expected}: {why}"))
    }
}
