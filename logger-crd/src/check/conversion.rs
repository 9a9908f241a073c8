//! How versions are converted: not at all, or by a webhook.

use super::{definition::Fields, options::Options, path::Path};
use crate::{
    finding::Finding,
    names::{dns_1035_label, dns_1123_subdomain},
};

const STRATEGIES: [&str; 2] = ["None", "Webhook"];

/// Versions of the review that the server can send.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

pub(super) fn check(conversion: Fields<'_>, options: &Options, at: &Path<'_>) -> Vec<Finding> {
    let strategy = conversion.text("strategy");
    let mut findings = Vec::new();
    match strategy {
        "" => findings.push(Finding::required(at.child("strategy"), "")),
        known if STRATEGIES.contains(&known) => {}
        other => findings.push(Finding::not_supported(at.child("strategy"), other, STRATEGIES)),
    }
    let webhook = conversion.child("webhook");
    let client = webhook.and_then(|webhook| webhook.child("clientConfig"));
    let reviews: Vec<&str> =
        webhook.into_iter().flat_map(|webhook| webhook.texts("conversionReviewVersions")).collect();
    let (client_at, reviews_at) = (at.child("webhookClientConfig"), at.child("conversionReviewVersions"));
    if strategy == "Webhook" {
        match client {
            None => findings.push(Finding::required(client_at, "required when strategy is set to Webhook")),
            Some(client) => findings.extend(check_client(client, options, &client_at)),
        }
        findings.extend(check_reviews(&reviews, options, &reviews_at));
        return findings;
    }
    let why = "should not be set when strategy is not set to Webhook";
    findings.extend(client.map(|_| Finding::forbidden(client_at, why)));
    if !reviews.is_empty() {
        findings.push(Finding::forbidden(reviews_at, why));
    }
    findings
}

fn check_client(client: Fields<'_>, options: &Options, at: &Path<'_>) -> Vec<Finding> {
    let mut findings = match (client.get("url").and_then(|url| url.as_str()), client.child("service")) {
        (Some(url), None) => check_url(url, &at.child("url")),
        (None, Some(service)) => check_service(service, &at.child("service")),
        _ => vec![Finding::required(at, "exactly one of url or service is required")],
    };
    let bundle = client.text("caBundle");
    if !bundle.is_empty() && !options.allow_invalid_ca_bundle && !is_pem(bundle) {
        let why = "unable to load root certificates: unable to parse bytes as PEM block";
        findings.push(Finding::invalid(at.child("caBundle"), bundle, why));
    }
    findings
}

/// Whether a text in base64 has a certificate in PEM.
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

fn check_url(url: &str, at: &Path<'_>) -> Vec<Finding> {
    const FORM: &str = "; desired format: https://host[/path]";
    let (before, fragment) = url.split_once('#').unwrap_or((url, ""));
    if let Some(why) = unparsable(url) {
        return vec![Finding::required(at, format!("url must be a valid URL: {why}{FORM}"))];
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
    let mut findings = Vec::new();
    if scheme != "https" {
        findings.push(Finding::invalid(at, scheme, format!("'https' is the only allowed URL scheme{FORM}")));
    }
    if host.is_empty() {
        findings.push(Finding::invalid(at, "", format!("host must be specified{FORM}")));
    }
    let refused = [
        (user, "user information is not permitted in the URL"),
        (fragment, "fragments are not permitted in the URL"),
        (query, "query parameters are not permitted in the URL"),
    ];
    let refused = refused.into_iter().filter(|(part, _)| !part.is_empty());
    findings.extend(refused.map(|(part, why)| Finding::invalid(at, part, why)));
    findings
}

/// Why Go cannot parse a URL.
fn unparsable(url: &str) -> Option<String> {
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

fn check_service(service: Fields<'_>, at: &Path<'_>) -> Vec<Finding> {
    // The server mistakes one for the other when it tells which is missing.
    let swapped = [("name", "namespace"), ("namespace", "name")];
    let absent = swapped.into_iter().filter(|(field, _)| service.text(field).is_empty());
    let mut findings: Vec<Finding> = absent.map(|(_, told)| Finding::required(at.child(told), "")).collect();
    let port = service.integer("port").unwrap_or_default();
    if !(1..=65535).contains(&port) {
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        findings.push(Finding::invalid(at.child("port"), port, why));
    }
    findings.extend(check_service_path(service.text("path"), &at.child("path")));
    findings
}

fn check_service_path(path: &str, at: &Path<'_>) -> Vec<Finding> {
    match path {
        "" | "/" => return Vec::new(),
        "//" => return vec![Finding::invalid(at, path, "segment[0] may not be empty")],
        _ => {}
    }
    let mut findings = Vec::new();
    if !path.starts_with('/') {
        findings.push(Finding::invalid(at, path, "must start with a '/'"));
    }
    // The first character is taken off, whatever it is.
    let rest = path.char_indices().nth(1).map_or("", |(second, _)| &path[second..]);
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    for (index, step) in rest.split('/').enumerate() {
        if step.is_empty() {
            findings.push(Finding::invalid(at, path, format!("segment[{index}] may not be empty")));
            continue;
        }
        let wrong = dns_1123_subdomain(step).into_iter();
        findings.extend(wrong.map(|why| Finding::invalid(at, path, format!("segment[{index}]: {why}"))));
    }
    findings
}

fn check_reviews(reviews: &[&str], options: &Options, at: &Path<'_>) -> Vec<Finding> {
    if reviews.is_empty() {
        return vec![Finding::required(at, "")];
    }
    let mut findings = Vec::new();
    for (index, version) in reviews.iter().enumerate() {
        if reviews[..index].contains(version) {
            findings.push(Finding::invalid(at.index(index), *version, "duplicate version"));
            continue;
        }
        let wrong = dns_1035_label(version).into_iter();
        findings.extend(wrong.map(|why| Finding::invalid(at.index(index), *version, why)));
    }
    if options.require_known_review && !has_known_review(reviews.iter().copied()) {
        let why = format!("must include at least one of {}", REVIEWS.join(", "));
        findings.push(Finding::invalid(at, reviews.to_vec(), why));
    }
    findings
}

/// Whether the server can send a review of one of these versions.
pub(super) fn has_known_review<'a>(mut reviews: impl Iterator<Item = &'a str>) -> bool {
    reviews.any(|version| REVIEWS.contains(&version))
}
