//! URLs, parsed as Go's `net/url.ParseRequestURI` does.

use std::collections::BTreeMap;

/// The components of a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    /// The host with its port.
    pub(crate) host: String,
    /// The escaped path.
    pub(crate) escaped_path: String,
    raw_query: String,
    /// The fragment, behind the opaque part of a URL without a path. Only comparisons read it.
    opaque_and_fragment: String,
}

impl Url {
    pub(crate) fn hostname(&self) -> &str {
        split_port(&self.host).0
    }

    pub(crate) fn port(&self) -> &str {
        split_port(&self.host).1
    }

    /// The decoded parameters of the query, sorted by name. Invalid ones are ignored, as in Go.
    pub(crate) fn query(&self) -> BTreeMap<String, Vec<String>> {
        let mut query: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in self.raw_query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |part: &str| unescape(&part.replace('+', " "));
            if let (Some(key), Some(value)) = (decode(key), decode(value)) {
                query.entry(key).or_default().push(value);
            }
        }
        query
    }
}

/// Parses an absolute URL or an absolute path. The error is Go's message.
pub(crate) fn parse(text: &str) -> Result<Url, &'static str> {
    if text.is_empty() {
        return Err("empty url");
    }
    if text.chars().any(|c| c.is_ascii_control()) {
        return Err("net/url: invalid control character in URL");
    }
    let mut url = Url::default();
    let (scheme, rest) = scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    query.clone_into(&mut url.raw_query);
    fragment.clone_into(&mut url.opaque_and_fragment);
    if !rest.starts_with('/') {
        if url.scheme.is_empty() {
            return Err("invalid URI for request");
        }
        url.opaque_and_fragment = format!("{rest}#{fragment}");
        return Ok(url);
    }
    let mut path = rest;
    if !url.scheme.is_empty()
        && let Some(authority) = rest.strip_prefix("//")
    {
        let end = authority.find('/').unwrap_or(authority.len());
        url.host = host(&authority[..end])?;
        path = &authority[end..];
    }
    if unescape(path).is_none() {
        return Err("invalid URL escape");
    }
    url.escaped_path = escape_path(path);
    Ok(url)
}

fn scheme(text: &str) -> Result<(&str, &str), &'static str> {
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return Err("missing protocol scheme"),
            ':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn host(authority: &str) -> Result<String, &'static str> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if let Some(inner) = host.strip_prefix('[') {
        let (_, after) = inner.rsplit_once(']').ok_or("missing ']' in host")?;
        if !is_port(after) {
            return Err("invalid port after host");
        }
        return Ok(host.to_owned());
    }
    if host.rfind(':').is_some_and(|at| !is_port(&host[at..])) {
        return Err("invalid port after host");
    }
    if host.chars().any(|c| c == ' ' || matches!(c, '{' | '}' | '|' | '\\' | '^' | '`')) {
        return Err("invalid character in host name");
    }
    unescape(host).ok_or("invalid URL escape")
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|c| c.is_ascii_digit()))
}

fn split_port(host: &str) -> (&str, &str) {
    let (host, port) = match host.rfind(':') {
        Some(at) if is_port(&host[at..]) => (&host[..at], &host[at + 1..]),
        _ => (host, ""),
    };
    (host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(host), port)
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok())?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        rest = &after[2..];
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn escape_path(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@%!'()*[]".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}
