//! Addresses of the web, read as Go's `net/url` reads them.

use std::{collections::BTreeMap, rc::Rc};

use crate::cel::value::{Failure, Outcome, Value};

/// A URL in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cel) struct Url {
    scheme: String,
    /// With the port.
    host: String,
    /// With its escapes.
    path: String,
    query: String,
    rest: String,
}

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<Outcome<Value<'a>>> {
    match (function, args) {
        ("url", [Value::String(text)]) => {
            let wrong =
                |why| Failure::new(format!("URL parse error during conversion from string: parse {text:?}: {why}"));
            Some(parse(text).map(|url| Value::Url(Rc::new(url))).map_err(wrong))
        }
        ("isURL", [Value::String(text)]) => Some(Ok(Value::Bool(parse(text).is_ok()))),
        (_, [Value::Url(url)]) => of_url(function, url).map(Ok),
        _ => None,
    }
}

fn of_url<'a>(function: &str, url: &Url) -> Option<Value<'a>> {
    Some(match function {
        "getScheme" => Value::text(&url.scheme),
        "getHost" => Value::text(&url.host),
        "getHostname" => Value::text(host_and_port(&url.host).0),
        "getPort" => Value::text(host_and_port(&url.host).1),
        "getEscapedPath" => Value::text(&url.path),
        "getQuery" => query(&url.query),
        _ => return None,
    })
}

/// A URL that says more than a relative path; why it is none otherwise.
pub(super) fn parse(text: &str) -> Result<Url, &'static str> {
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
    query.clone_into(&mut url.query);
    fragment.clone_into(&mut url.rest);
    if !rest.starts_with('/') {
        if url.scheme.is_empty() {
            return Err("invalid URI for request");
        }
        url.rest = format!("{rest}#{fragment}");
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
    url.path = escaped(path);
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

fn host_and_port(host: &str) -> (&str, &str) {
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

fn escaped(path: &str) -> String {
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

fn query<'a>(text: &str) -> Value<'a> {
    let mut query: BTreeMap<String, Vec<Value<'a>>> = BTreeMap::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decode = |part: &str| unescape(&part.replace('+', " "));
        if let (Some(key), Some(value)) = (decode(key), decode(value)) {
            query.entry(key).or_default().push(Value::text(value));
        }
    }
    Value::map(query.into_iter().map(|(key, values)| (Value::text(key), Value::list(values))).collect())
}
