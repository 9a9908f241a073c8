//! What the API server would refuse in a definition, or warn of.
//!
//! The rules are those of kube-apiserver 1.36 (`apiextensions-apiserver/pkg/apis/apiextensions/validation` and
//! `.../pkg/apiserver/schema`), with its paths and texts, but for the order. Rules in CEL are read by [`cel`](crate::cel).

mod columns;
mod conversion;
mod decode;
mod defaults;
mod definition;
mod field_path;
mod formats;
mod internal;
mod json_path;
mod metadata;
mod names;
mod openapi;
mod options;
pub(crate) mod path;
mod rules;
mod spec;
mod structural;
mod subresources;
mod topology;
mod update;

use serde_json::Value;

pub use crate::finding::{Finding, Reason};
use definition::Definition;
use options::Options;

/// Judges a definition as a create would: all refusals, then the warnings.
///
/// A definition that is not of its type (`maxLength: "5"`) has that one finding, as the server reads no further.
#[must_use]
pub fn definition(crd: &Value) -> Vec<Finding> {
    let (crd, warnings) = match decode::read(crd) {
        Ok(read) => read,
        Err(unreadable) => return vec![*unreadable],
    };
    let definition = Definition::of(&crd);
    let mut findings = metadata::check(definition);
    findings.extend(spec::check(definition, &Options::of_create()));
    findings.extend(metadata::check_approval(definition, None));
    findings.extend(spec::check_preserve_unknown_fields(definition));
    findings.extend(update::check_stored_versions(definition, None));
    with_warnings(findings, warnings, || formats::warnings(definition, None))
}

/// Why a definition is not of its type, if it is not: the server answers such a body before it looks at any rule.
#[must_use]
pub fn unreadable(crd: &Value) -> Option<Finding> {
    decode::read(crd).err().map(|unreadable| *unreadable)
}

/// Judges a definition as an update of `old` would: what `old` gets away with already is let pass where the server does,
/// and what may not change is refused. The status is that of `old`, as it is on the server.
#[must_use]
pub fn update(new: &Value, old: &Value) -> Vec<Finding> {
    let (new, warnings) = match decode::read(new) {
        Ok(read) => read,
        Err(unreadable) => return vec![*unreadable],
    };
    let Ok((old, _)) = decode::read(old) else {
        return definition(&new);
    };
    let (new, old) = (Definition::of(&new), Definition::of(&old));
    let options = Options::of_update(new, old);
    let mut findings = metadata::check_update(new, old);
    findings.extend(spec::check(new, &options));
    findings.extend(update::check_immutable(new, old));
    findings.extend(update::check_stored_versions(new, Some(old)));
    findings.extend(metadata::check_approval(new, Some(old)));
    if !old.spec().flag("preserveUnknownFields") {
        findings.extend(spec::check_preserve_unknown_fields(new));
    }
    with_warnings(findings, warnings, || formats::warnings(new, Some(old)))
}

/// The server warns of unknown fields in any case, of unknown formats in what it takes.
fn with_warnings(
    mut findings: Vec<Finding>,
    of_fields: Vec<Finding>,
    of_formats: impl FnOnce() -> Vec<Finding>,
) -> Vec<Finding> {
    if findings.is_empty() {
        findings = of_formats();
    }
    findings.extend(of_fields);
    findings
}

#[cfg(test)]
mod tests;
