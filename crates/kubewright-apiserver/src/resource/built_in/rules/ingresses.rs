//! Validation of ingresses: hosts, paths and backends.

use std::net::IpAddr;

use kubewright_crd::names;

use super::{Change, Errors, FieldValue, formats};

pub(in crate::resource::built_in) fn ingress(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    let (rules, default) = (spec.at("rules"), spec.at("defaultBackend"));
    if rules.is_empty() && !default.is_set() {
        errors.push(crate::api::error::FieldError::invalid(
            "spec",
            "null",
            "either `defaultBackend` or `rules` must be specified",
        ));
    }
    if default.is_set() {
        backend(&default, errors);
    }
    rules.items().for_each(|rule| self::rule(&rule, errors));
    spec.at("tls").items().flat_map(|tls| tls.at("hosts").items()).for_each(|host| host_name(&host, errors));
    errors.extend(spec.at("ingressClassName").validate(names::dns_1123_subdomain));
}

fn rule(rule: &FieldValue<'_>, errors: &mut Errors) {
    let host = rule.at("host");
    if !host.is_empty() {
        if host.text().parse::<IpAddr>().is_ok() {
            errors.push(host.invalid("must be a DNS name, not an IP address"));
        } else {
            host_name(&host, errors);
        }
    }
    let paths = rule.at("http").at("paths");
    if rule.at("http").is_set() && paths.is_empty() {
        errors.push(paths.required(""));
    }
    paths.items().for_each(|http_path| path(&http_path, errors));
}

/// Validates a host name, which can start with a wildcard.
fn host_name(host: &FieldValue<'_>, errors: &mut Errors) {
    let rest = host.text().strip_prefix("*.").unwrap_or(host.text());
    errors.extend(names::dns_1123_subdomain(rest).into_iter().map(|detail| host.invalid_text(detail)));
}

fn path(http_path: &FieldValue<'_>, errors: &mut Errors) {
    const INVALID_PARTS: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
    const INVALID_SUFFIXES: [&str; 2] = ["/..", "/."];
    let (path, type_) = (http_path.at("path"), http_path.at("pathType"));
    match type_.text() {
        _ if !type_.is_set() => return errors.push(type_.required("pathType must be specified")),
        "Exact" | "Prefix" => {
            if !path.text().starts_with('/') {
                errors.push(path.invalid_text("must be an absolute path"));
            }
            let parts = INVALID_PARTS.iter().filter(|part| path.text().contains(**part));
            errors.extend(parts.map(|part| path.invalid(format!("must not contain '{part}'"))));
            let suffixes = INVALID_SUFFIXES.iter().filter(|part| path.text().ends_with(**part));
            errors.extend(suffixes.map(|part| path.invalid(format!("cannot end with '{part}'"))));
        }
        "ImplementationSpecific" => {
            if !path.is_empty() && !path.text().starts_with('/') {
                errors.push(path.invalid("must be an absolute path"));
            }
        }
        _ => errors.push(type_.unsupported(&["Exact", "ImplementationSpecific", "Prefix"])),
    }
    backend(&http_path.at("backend"), errors);
}

/// Validates a backend: a resource, or a service with a port name or number.
fn backend(backend: &FieldValue<'_>, errors: &mut Errors) {
    let (resource, service) = (backend.at("resource"), backend.at("service"));
    match (resource.is_set(), service.is_set()) {
        (true, true) => return errors.push(backend.invalid_text("cannot set both resource and service backends")),
        (false, false) => return errors.push(backend.invalid_text("resource or service backend is required")),
        (true, false) => return,
        (false, true) => {}
    }
    let host = service.at("name");
    if host.is_empty() {
        errors.push(host.required(""));
    }
    errors.extend(host.validate(names::dns_1123_label));
    let (name, number) = (service.at("port").at("name"), service.at("port").at("number"));
    match (name.is_empty(), number.value.as_i64().unwrap_or_default()) {
        (true, 0) => errors.push(backend.required("port name or number is required")),
        (true, port) if !formats::is_port(port) => errors.push(number.invalid(formats::PORT_RANGE)),
        (true, _) => {}
        (false, 0) => errors.extend(name.validate(formats::port_name)),
        (false, _) => errors.push(backend.invalid_text("cannot set both port name & port number")),
    }
}
