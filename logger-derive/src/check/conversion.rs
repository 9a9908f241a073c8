//! The checks of `#[k8s(conversion(..))]`.

use kubewright_names::validation::{is_dns_1035_label, is_dns_1123_label, is_dns_1123_subdomain};
use quote::ToTokens;

use crate::{attr::k8s::Conversion, errors::Errors, model::Kind};

/// Checks that one conversion is declared, and that the location of a Service is one that the API server accepts.
pub(super) fn check(kind: &Kind, errors: &mut Errors) {
    let Some(conversion) = &kind.k8s.conversion else {
        return;
    };
    check_alternatives(kind, conversion, errors);
    let Conversion { service, namespace, path, port, .. } = conversion;
    if let Some(service) = service.as_ref().filter(|service| !is_dns_1035_label(&service.value())) {
        errors.push(
            service,
            "invalid name of a Service: expected at most 63 lower-case letters, digits and `-`, starting with a letter",
        );
    }
    if let Some(namespace) = namespace.as_ref().filter(|namespace| !is_dns_1123_label(&namespace.value())) {
        errors.push(namespace, "invalid namespace: expected at most 63 lower-case letters, digits and `-`");
    }
    if let Some(path) = path.as_ref().filter(|path| !is_url_path(&path.value())) {
        errors.push(
            path,
            "invalid path: expected `/` and segments of lower-case letters, digits, `-` and `.`, such as `/convert`",
        );
    }
    if let Some(port) = port.as_ref().filter(|port| !port.base10_parse::<u16>().is_ok_and(|port| port > 0)) {
        errors.push(port, "invalid port: expected 1 to 65535");
    }
}

fn check_alternatives(kind: &Kind, conversion: &Conversion, errors: &mut Errors) {
    let Conversion { webhook, none, service, namespace, .. } = conversion;
    match (webhook.is_present(), none, service) {
        (true, Some(none), _) => {
            errors.push(none, "`none` conflicts with `webhook`: objects are converted or not; keep one of the two");
        }
        (true, None, Some(service)) => errors.push(
            service,
            "`service` conflicts with `webhook`, for which the manifests of the operator contain the location; keep \
             one of the two",
        ),
        (false, Some(none), Some(_)) => {
            errors.push(none, "`none` conflicts with `service`: objects are converted or not; keep one of the two");
        }
        (false, Some(none), None) if none.value().trim().is_empty() => {
            errors.push(none, "empty reason; state why the differences between the versions lose nothing");
        }
        (false, Some(none), None) if kind.converts => errors.push(
            none,
            "conflicts with `#[convert(..)]`, which declares a conversion by a webhook; remove one of the two",
        ),
        (false, None, Some(service)) if namespace.is_none() => {
            errors.push(service, "missing the namespace of the Service; add `namespace = \"..\"`");
        }
        (false, None, None) if service_keys(conversion).next().is_none() && !kind.incomplete => errors.push(
            &kind.root.ident,
            "`conversion` without a key; use `webhook`, `service = \"..\"` with `namespace = \"..\"`, or `none = \
             \"reason\"`",
        ),
        _ => {}
    }
    if service.is_none() {
        for (name, key) in service_keys(conversion) {
            errors.push(key, format_args!("`{name}` is a property of a Service; add `service = \"..\"`"));
        }
    }
}

/// Whether it is a path of segments, as the API server requires.
fn is_url_path(path: &str) -> bool {
    path == "/" || path.strip_prefix('/').is_some_and(|path| path.split('/').all(is_dns_1123_subdomain))
}

/// Returns the keys that belong to `service`, with their names.
fn service_keys(conversion: &Conversion) -> impl Iterator<Item = (&'static str, &dyn ToTokens)> {
    let keys: [(_, Option<&dyn ToTokens>); 3] = [
        ("namespace", conversion.namespace.as_ref().map(|key| key as _)),
        ("path", conversion.path.as_ref().map(|key| key as _)),
        ("port", conversion.port.as_ref().map(|key| key as _)),
    ];
    keys.into_iter().filter_map(|(name, key)| Some((name, key?)))
}
