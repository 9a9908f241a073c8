//! Validation of `spec.conversion`.

use kubewright_names::validation::{dns_1035_label, dns_1123_subdomain};

use super::{crd::Fields, options::Options};
use crate::field::{FieldError, Path};

const STRATEGIES: [&str; 2] = ["None", "Webhook"];

/// The versions of `ConversionReview` that the server supports.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

pub(super) fn validate(conversion: Fields<'_>, options: &Options, at: &Path<'_>) -> Vec<FieldError> {
    let strategy = conversion.string("strategy");
    let mut errors = Vec::new();
    match strategy {
        "" => errors.push(FieldError::required(at.child("strategy"), "")),
        known if STRATEGIES.contains(&known) => {}
        other => errors.push(FieldError::not_supported(at.child("strategy"), other, STRATEGIES)),
    }
    let webhook = conversion.child("webhook");
    let client = webhook.and_then(|webhook| webhook.child("clientConfig"));
    let review_versions: Vec<&str> =
        webhook.into_iter().flat_map(|webhook| webhook.strings("conversionReviewVersions")).collect();
    let (client_at, review_versions_at) = (at.child("webhookClientConfig"), at.child("conversionReviewVersions"));
    if strategy == "Webhook" {
        match client {
            None => errors.push(FieldError::required(client_at, "required when strategy is set to Webhook")),
            Some(client) => errors.extend(validate_client_config(client, options, &client_at)),
        }
        errors.extend(validate_review_versions(&review_versions, options, &review_versions_at));
        return errors;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    errors.extend(client.map(|_| FieldError::forbidden(client_at, detail)));
    if !review_versions.is_empty() {
        errors.push(FieldError::forbidden(review_versions_at, detail));
    }
    errors
}

fn validate_client_config(client: Fields<'_>, options: &Options, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = match (client.get("url").and_then(|url| url.as_str()), client.child("service")) {
        (Some(url), None) => validate_url(url, &at.child("url")),
        (None, Some(service)) => validate_service(service, &at.child("service")),
        _ => vec![FieldError::required(at, "exactly one of url or service is required")],
    };
    let bundle = client.string("caBundle");
    if !bundle.is_empty() && !options.allow_invalid_ca_bundle && !is_pem(bundle) {
        let detail = "unable to load root certificates: unable to parse bytes as PEM block";
        errors.push(FieldError::invalid(at.child("caBundle"), bundle, detail));
    }
    errors
}

/// Whether a base64 string contains a PEM certificate.
pub(super) fn is_pem(bundle: &str) -> bool {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut text, mut bits, mut count) = (String::new(), 0_u32, 0);
    for value in bundle.bytes().filter_map(|byte| (0_u32..).zip(DIGITS).find(|(_, digit)| **digit == byte)) {
        bits = bits << 6 | value.0;
        count += 6;
        if count >= 8 {
            count -= 8;
            text.extend(char::from_u32(bits >> count & 0xff));
        }
    }
    text.contains("-----BEGIN CERTIFICATE-----") && text.contains("-----END CERTIFICATE-----")
}

fn validate_url(url: &str, at: &Path<'_>) -> Vec<FieldError> {
    const FORMAT: &str = "; desired format: https://host[/path]";
    let (before, fragment) = url.split_once('#').unwrap_or((url, ""));
    if let Some(detail) = parse_error(url) {
        return vec![FieldError::required(at, format!("url must be a valid URL: {detail}{FORMAT}"))];
    }
    let (before, query) = before.split_once('?').unwrap_or((before, ""));
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let (scheme, rest) = before.split_once(':').filter(|(scheme, _)| is_scheme(scheme)).unwrap_or(("", before));
    let scheme = scheme.to_lowercase();
    let authority = rest.strip_prefix("//").map_or("", |rest| rest.split('/').next().unwrap_or_default());
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let mut errors = Vec::new();
    if scheme != "https" {
        errors.push(FieldError::invalid(at, scheme, format!("'https' is the only allowed URL scheme{FORMAT}")));
    }
    if host.is_empty() {
        errors.push(FieldError::invalid(at, "", format!("host must be specified{FORMAT}")));
    }
    let forbidden = [
        (user, "user information is not permitted in the URL"),
        (fragment, "fragments are not permitted in the URL"),
        (query, "query parameters are not permitted in the URL"),
    ];
    let forbidden = forbidden.into_iter().filter(|(part, _)| !part.is_empty());
    errors.extend(forbidden.map(|(part, detail)| FieldError::invalid(at, part, detail)));
    errors
}

/// Returns the error of Go's `url.Parse`.
fn parse_error(url: &str) -> Option<String> {
    let quoted = crate::go::quoted(url);
    if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Some(format!("parse {quoted}: net/url: invalid control character in URL"));
    }
    if url.starts_with(':') {
        return Some(format!("parse {quoted}: missing protocol scheme"));
    }
    let authority =
        url.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.contains(' ') {
        return Some(format!("parse {quoted}: invalid character \" \" in host name"));
    }
    let port =
        if host.starts_with('[') { host.rsplit(']').next()? } else { &host[host.find(':').unwrap_or(host.len())..] };
    let is_port =
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
    (!is_port).then(|| format!("parse {quoted}: invalid port {} after host", crate::go::quoted(port)))
}

fn validate_service(service: Fields<'_>, at: &Path<'_>) -> Vec<FieldError> {
    // The server reports `namespace` for a missing `name`, and the other way round.
    let swapped = [("name", "namespace"), ("namespace", "name")];
    let missing = swapped.into_iter().filter(|(field, _)| service.string(field).is_empty());
    let mut errors: Vec<FieldError> =
        missing.map(|(_, reported)| FieldError::required(at.child(reported), "")).collect();
    let port = service.integer("port").unwrap_or_default();
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(at.child("port"), port, detail));
    }
    errors.extend(validate_service_path(service.string("path"), &at.child("path")));
    errors
}

fn validate_service_path(path: &str, at: &Path<'_>) -> Vec<FieldError> {
    match path {
        "" | "/" => return Vec::new(),
        "//" => return vec![FieldError::invalid(at, path, "segment[0] may not be empty")],
        _ => {}
    }
    let mut errors = Vec::new();
    if !path.starts_with('/') {
        errors.push(FieldError::invalid(at, path, "must start with a '/'"));
    }
    // The server removes the first character, even if it is not a slash.
    let rest = path.char_indices().nth(1).map_or("", |(second, _)| &path[second..]);
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    for (index, segment) in rest.split('/').enumerate() {
        if segment.is_empty() {
            errors.push(FieldError::invalid(at, path, format!("segment[{index}] may not be empty")));
            continue;
        }
        let messages = dns_1123_subdomain(segment).into_iter();
        errors.extend(messages.map(|detail| FieldError::invalid(at, path, format!("segment[{index}]: {detail}"))));
    }
    errors
}

fn validate_review_versions(review_versions: &[&str], options: &Options, at: &Path<'_>) -> Vec<FieldError> {
    if review_versions.is_empty() {
        return vec![FieldError::required(at, "")];
    }
    let mut errors = Vec::new();
    for (index, version) in review_versions.iter().enumerate() {
        if review_versions[..index].contains(version) {
            errors.push(FieldError::invalid(at.index(index), *version, "duplicate version"));
            continue;
        }
        let messages = dns_1035_label(version).into_iter();
        errors.extend(messages.map(|detail| FieldError::invalid(at.index(index), *version, detail)));
    }
    if options.require_recognized_conversion_review_version && !has_recognized_version(review_versions.iter().copied())
    {
        let detail = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
        errors.push(FieldError::invalid(at, review_versions.to_vec(), detail));
    }
    errors
}

/// Whether the server supports one of these versions.
pub(super) fn has_recognized_version<'a>(mut review_versions: impl Iterator<Item = &'a str>) -> bool {
    review_versions.any(|version| REVIEW_VERSIONS.contains(&version))
}
