//! `spec.conversion`: how the API server converts objects between the versions of a kind.
//!
//! A kind whose versions differ needs a declaration. Without a conversion, the API server prunes what the schema of a
//! version does not have, and clients can receive values that their version does not permit.

mod difference;

use kubewright_core::meta::{ApiGroup, ApiKind, Conversion};
use serde_json::{Value, json};

use super::version::Version;
use crate::diagnostic::{Diagnostics, RustItem};
use difference::difference;

/// The versions of reviews that handlers read.
const REVIEW_VERSIONS: [&str; 1] = ["v1"];

/// Returns `spec.conversion`; `None` if the manifests of the operator add it, or if there is nothing to convert. Adds
/// an error if the versions differ and no conversion is declared. The versions belong to the kinds, in this order.
pub(super) fn conversion(
    kinds: &[(&ApiGroup, &'static ApiKind)],
    versions: &[Version],
    storage: usize,
    errors: &mut Diagnostics,
) -> Option<Value> {
    let none = || json!({"strategy": "None"});
    let (group, kind) = kinds.get(storage)?;
    match declared(kinds, errors) {
        Some(Conversion::Service { name, namespace, path, port }) => {
            let path = path.map_or_else(|| format!("/convert/{}.{}", kind.plural, group.group), str::to_owned);
            let mut service = json!({"name": name, "namespace": namespace, "path": path});
            if let Some(port) = port {
                service["port"] = json!(port);
            }
            let webhook = json!({"clientConfig": {"service": service}, "conversionReviewVersions": REVIEW_VERSIONS});
            Some(json!({"strategy": "Webhook", "webhook": webhook}))
        }
        Some(Conversion::Webhook) => None,
        Some(Conversion::None { .. }) => (versions.len() > 1).then(none),
        None if versions.iter().any(Version::overrides_conversion) => None,
        None => {
            check_equal(kinds, versions, storage, errors);
            (versions.len() > 1).then(none)
        }
    }
}

/// Returns the conversion that the versions declare. The location of a Service takes precedence over a webhook without
/// one, which every version that derives `Convert` declares.
fn declared(kinds: &[(&ApiGroup, &'static ApiKind)], errors: &mut Diagnostics) -> Option<Conversion> {
    let mut found: Option<(RustItem, Conversion)> = None;
    for (group, kind) in kinds {
        let Some(conversion) = kind.definition.conversion else { continue };
        let item = RustItem::from_kind(group, kind);
        match &found {
            None => found = Some((item, conversion)),
            Some((first, other)) => match (*other, conversion) {
                (Conversion::Webhook, Conversion::Service { .. }) => found = Some((item, conversion)),
                (Conversion::Service { .. }, Conversion::Webhook)
                | (Conversion::None { .. }, Conversion::None { .. }) => {}
                (first_conversion, conversion) if first_conversion == conversion => {}
                _ => {
                    let message = format!(
                        "its conversion differs from that of its version `{}`; declare the same `conversion(..)` on \
                         both, or on one of them",
                        first.path
                    );
                    errors.push(item, message);
                }
            },
        }
    }
    found.map(|(_, conversion)| conversion)
}

/// Adds an error with the first difference between the storage version and another one.
fn check_equal(
    kinds: &[(&ApiGroup, &'static ApiKind)],
    versions: &[Version],
    storage: usize,
    errors: &mut Diagnostics,
) {
    // A version with errors is missing; they are reported.
    let Some(stored) = versions.get(storage).filter(|_| versions.len() == kinds.len()) else { return };
    let name = |i: usize| kinds[i].0.version;
    for (i, version) in versions.iter().enumerate().filter(|(i, _)| *i != storage) {
        let Some(found) = difference(stored.schema(), version.schema(), name(storage), name(i)) else { continue };
        let has_field = if found.only_in_second { version } else { stored };
        let message = format!(
            "{}: its versions `{}` and `{}` differ, and no conversion is declared, so that the API server would lose \
             or change values; derive `Convert` on the kind in all versions, or declare one of \
             `#[k8s(conversion(webhook))]`, `#[k8s(conversion(service = \"..\", namespace = \"..\"))]` and \
             `#[k8s(conversion(none = \"reason\"))]` on it",
            found.what,
            stored.rust().item.path,
            version.rust().item.path,
        );
        errors.push(has_field.rust().item_at(&found.path), message);
        return;
    }
}
