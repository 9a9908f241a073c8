//! The string formats that the API server supports.
//!
//! After `apiextensions-apiserver/pkg/apiserver/validation/formats.go` and `kube-openapi/pkg/validation/strfmt` of
//! 1.36. Hyphens in the name of a format are ignored: `date-time` is `datetime`.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::LazyLock,
};

use kubewright_names::validation::{is_dns_1123_label, is_dns_1123_subdomain};
use regex::Regex;

type Validate = fn(&str) -> bool;

const FORMATS: [(&str, Validate); 27] = [
    ("bsonobjectid", is_object_id),
    ("byte", is_base64),
    ("cidr", is_cidr),
    ("creditcard", is_credit_card),
    ("date", is_date),
    ("datetime", is_date_time),
    ("duration", is_duration),
    ("email", is_email),
    ("hexcolor", is_hex_color),
    ("hostname", is_hostname),
    ("ipv4", is_ipv4),
    ("ipv6", is_ipv6),
    ("isbn", |text| is_isbn10(text) || is_isbn13(text)),
    ("isbn10", is_isbn10),
    ("isbn13", is_isbn13),
    ("k8slongname", is_dns_1123_subdomain),
    ("k8sshortname", is_dns_1123_label),
    ("mac", is_mac),
    ("password", |_| true),
    ("rgbcolor", is_rgb_color),
    ("ssn", is_ssn),
    ("uri", is_uri),
    ("uuid", |text| is_uuid(text, None)),
    ("uuid3", |text| is_uuid(text, Some('3'))),
    ("uuid4", |text| is_uuid(text, Some('4'))),
    ("uuid5", |text| is_uuid(text, Some('5'))),
    ("", |_| true),
];

/// Whether the server supports a format for values of a type. It ignores other formats.
pub(crate) fn is_supported_for(type_: &str, format: &str) -> bool {
    match type_ {
        "" | "string" => is_supported(format),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}

/// Whether the server supports a format of strings.
pub(crate) fn is_supported(format: &str) -> bool {
    !format.is_empty() && validate_fn(format).is_some()
}

/// Whether a string has a format. Every string has an unknown format.
pub(super) fn matches(format: &str, text: &str) -> bool {
    validate_fn(format).is_none_or(|validate| validate(text))
}

fn validate_fn(format: &str) -> Option<Validate> {
    let name = format.replace('-', "");
    FORMATS.iter().find(|(known, _)| *known == name).map(|(_, validate)| *validate)
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).expect("the pattern is valid"));
    };
}

fn is_object_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/');
    !text.is_empty() && text.len().is_multiple_of(4) && padding <= 2 && are_digits
}

fn is_credit_card(text: &str) -> bool {
    pattern!(
        CARD,
        r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$"
    );
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let value = |(index, digit): (usize, u8)| {
        let value = u32::from(digit - b'0') * if index % 2 == 1 { 2 } else { 1 };
        if value > 9 { value - 9 } else { value }
    };
    CARD.is_match(&digits) && digits.bytes().rev().enumerate().map(value).sum::<u32>().is_multiple_of(10)
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u32>().ok();
    let has_layout = bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(i, byte)| if i == 4 || i == 7 { *byte == b'-' } else { byte.is_ascii_digit() });
    let (true, Some(year), Some(month), Some(day)) = (has_layout, number(0..4), number(5..7), number(8..10)) else {
        return false;
    };
    (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day)
}

fn days_in(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_date_time(text: &str) -> bool {
    pattern!(TIME, r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$");
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    let Some(found) = is_date(date).then(|| TIME.captures(time)).flatten() else {
        return false;
    };
    &found[1] <= "23" && &found[2] <= "59" && &found[3] <= "59"
}

/// Go's syntax (`1h30m`), or numbers with units anywhere in the string (`22 hours`).
fn is_duration(text: &str) -> bool {
    pattern!(GO, r"^[+-]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$");
    pattern!(PART, r"([0-9]+)\s*([A-Za-zµ]+)");
    const UNITS: [&[&str]; 8] = [
        &["ns", "nano"],
        &["us", "µs", "micro"],
        &["ms", "milli"],
        &["s", "sec"],
        &["m", "min"],
        &["h", "hr", "hour"],
        &["d", "day"],
        &["w", "wk", "week"],
    ];
    let is_unit = |unit: &str| {
        UNITS.iter().any(|names| names.contains(&unit) || names.last().is_some_and(|last| unit.starts_with(last)))
    };
    if GO.is_match(text) && is_in_duration_range(text) {
        return true;
    }
    let mut found = false;
    for part in PART.captures_iter(text) {
        if part[1].parse::<i64>().is_err() {
            return false;
        }
        found |= is_unit(&part[2].to_lowercase());
    }
    found
}

/// Go stores a duration as an `int64` of nanoseconds.
fn is_in_duration_range(text: &str) -> bool {
    pattern!(PART, r"([0-9]*)(\.[0-9]*)?(ns|us|µs|μs|ms|s|m|h)");
    let nanoseconds = |part: regex::Captures<'_>| {
        let unit = match &part[3] {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            _ => 3600e9,
        };
        let number = format!("0{}{}", &part[1], part.get(2).map_or("", |fraction| fraction.as_str()));
        number.trim_end_matches('.').parse::<f64>().unwrap_or(f64::INFINITY) * unit
    };
    PART.captures_iter(text).map(nanoseconds).sum::<f64>() < 9.223_372_036_854_775e18
}

/// An address of RFC 5322, with or without a display name: `Jo <jo@example.com>`.
fn is_email(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    let Some(open) = text.strip_suffix('>').and_then(|rest| rest.rfind('<')) else {
        return is_address(text);
    };
    let (name, address) = (text[..open].trim_matches([' ', '\t']), &text[open + 1..text.len() - 1]);
    is_phrase(name) && is_address(address)
}

fn is_phrase(name: &str) -> bool {
    name.is_empty() || is_quoted(name) || name.split([' ', '\t']).all(|word| word.is_empty() || is_dotted(word, true))
}

fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_local = if local.starts_with('"') { is_quoted(local) } else { is_dotted(local, false) };
    let literal = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_domain = match literal {
        Some(address) => {
            let ipv6 = address.strip_prefix("IPv6:").unwrap_or(address);
            address.parse::<Ipv4Addr>().is_ok() || ipv6.parse::<Ipv6Addr>().is_ok()
        }
        None => is_dotted(domain, false),
    };
    is_local && is_domain
}

/// A quoted string of RFC 5322.
fn is_quoted(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|_| text.len() > 1) else {
        return false;
    };
    let mut escaped = false;
    for c in inside.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return false,
            c if c.is_ascii_control() && c != '\t' => return false,
            _ => {}
        }
    }
    !escaped
}

/// Atoms of RFC 5322 separated by dots. If `loose`, dots can be anywhere.
fn is_dotted(text: &str, loose: bool) -> bool {
    let is_atom = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let is_word = |word: &str| (loose || !word.is_empty()) && word.chars().all(is_atom);
    !text.is_empty() && text.split('.').all(is_word)
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_hostname(text: &str) -> bool {
    pattern!(
        HOSTNAME,
        r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$"
    );
    HOSTNAME.is_match(text) && text.len() <= 255 && text.split('.').all(|part| part.len() <= 63)
}

/// An IPv4 address. Leading zeros are accepted.
fn parse_ipv4(text: &str) -> bool {
    let is_number = |part: &str| {
        let digits = part.trim_start_matches('0');
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && digits.len() <= 3
            && digits.parse::<u32>().unwrap_or_default() <= 255
    };
    text.split('.').count() == 4 && text.split('.').all(is_number)
}

/// An IPv6 address. The last two groups can be an IPv4 address.
fn parse_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
        || text.rsplit_once(':').is_some_and(|(groups, ipv4)| {
            ipv4.contains('.') && parse_ipv4(ipv4) && format!("{groups}:0.0.0.0").parse::<Ipv6Addr>().is_ok()
        })
}

fn is_ipv4(text: &str) -> bool {
    // As in Go, every valid address with a dot counts: also an IPv6 address that ends in an IPv4 address.
    parse_ipv4(text) || text.contains('.') && parse_ipv6(text)
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let is_number = !bits.is_empty() && bits.len() <= 8 && bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits = bits.parse::<u32>().unwrap_or(u32::MAX);
    is_number && (parse_ipv4(address) && bits <= 32 || parse_ipv6(address) && bits <= 128)
}

fn isbn_digits(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_whitespace() && *c != '-').collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = isbn_digits(text);
    let Some((last, first)) = digits.as_bytes().split_last().filter(|(_, first)| first.len() == 9) else {
        return false;
    };
    if !first.iter().all(u8::is_ascii_digit) || !(last.is_ascii_digit() || *last == b'X') {
        return false;
    }
    let check = if *last == b'X' { 10 } else { u32::from(last - b'0') };
    let sum: u32 = (1..).zip(first).map(|(factor, digit)| factor * u32::from(digit - b'0')).sum();
    (sum + 10 * check).is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let digits = isbn_digits(text);
    let sum: u32 =
        [1, 3].iter().cycle().zip(digits.bytes()).map(|(factor, digit)| factor * u32::from(digit & 15)).sum();
    digits.len() == 13 && digits.bytes().all(|digit| digit.is_ascii_digit()) && sum.is_multiple_of(10)
}

/// 6, 8 or 20 hexadecimal bytes: single ones separated by colons or hyphens, or pairs separated by dots.
fn is_mac(text: &str) -> bool {
    let hex = |part: &str, digits: usize| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let by = |separator: char, digits: usize| {
        let parts: Vec<&str> = text.split(separator).collect();
        parts.iter().all(|part| hex(part, digits)) && [6, 8, 20].contains(&(parts.len() * digits / 2))
    };
    by(':', 2) || by('-', 2) || by('.', 4)
}

fn is_rgb_color(text: &str) -> bool {
    pattern!(
        COLOR,
        r"^rgb\([\t\n\f\r ]*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*,[\t\n\f\r ]*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*,[\t\n\f\r ]*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*\)$"
    );
    COLOR.is_match(text)
}

fn is_ssn(text: &str) -> bool {
    pattern!(NUMBER, r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$");
    text.len() == 11 && NUMBER.is_match(text)
}

/// An absolute URI or an absolute path, as Go's `url.ParseRequestURI` accepts it.
pub(crate) fn is_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return false;
    }
    let (scheme, rest) = split_scheme(text);
    let Some(rest) = rest else { return false };
    let path = rest.split_once('?').map_or(rest, |(path, _)| path);
    if !path.starts_with('/') {
        return !scheme.is_empty();
    }
    match path.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        None => is_percent_encoded(path),
        Some(after) => {
            let end = after.find('/').unwrap_or(after.len());
            is_authority(&after[..end]) && is_percent_encoded(&after[end..])
        }
    }
}

/// Returns the scheme and the rest. The rest is `None` if the scheme before the colon is empty.
fn split_scheme(text: &str) -> (&str, Option<&str>) {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    match text.find(|c| !is_scheme(c)) {
        Some(0) if text.starts_with(':') => ("", None),
        Some(end) if text[end..].starts_with(':') && text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            (&text[..end], Some(&text[end + 1..]))
        }
        _ => ("", Some(text)),
    }
}

fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').map_or((None, text), |(user, host)| (Some(user), host));
    let is_user = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !user.is_none_or(|user| user.chars().all(is_user) && is_percent_encoded(user)) {
        return false;
    }
    let is_port = |port: &str| {
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
    };
    if let Some(inside) = host.strip_prefix('[') {
        let Some((address, port)) = inside.split_once(']') else { return false };
        let (address, _zone) = address.split_once("%25").unwrap_or((address, ""));
        return is_port(port) && address.parse::<Ipv6Addr>().is_ok();
    }
    let (name, port) = host.find(':').map_or((host, ""), |colon| host.split_at(colon));
    let is_name = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:[]<>\"%".contains(c);
    is_port(port) && name.chars().all(is_name) && !name.contains(['[', ']']) && has_valid_host_escapes(name)
}

/// Only non-ASCII bytes can be escaped in a host.
fn has_valid_host_escapes(name: &str) -> bool {
    is_percent_encoded(name)
        && name.match_indices('%').all(|(at, _)| name.as_bytes().get(at + 1).is_some_and(|digit| *digit >= b'8'))
}

fn is_percent_encoded(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_hexdigit);
    bytes.iter().enumerate().all(|(index, byte)| *byte != b'%' || is_digit(index + 1) && is_digit(index + 2))
}

fn is_uuid(text: &str, version: Option<char>) -> bool {
    pattern!(UUID, r"(?i-u)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$");
    if !UUID.is_match(text) {
        return false;
    }
    let digits: Vec<char> = text.chars().filter(|c| *c != '-').collect();
    let is_variant = version == Some('3') || "89abAB".contains(digits[16]);
    version.is_none_or(|version| digits[12] == version && is_variant)
}
