//! Parsing of paths and queries, as in kube-apiserver.

use std::collections::BTreeMap;

use crate::api::error::{ApiError, Result};

/// The endpoint of a path.
#[derive(Debug, PartialEq)]
pub(crate) enum Route {
    /// `/healthz`, `/livez`, `/readyz`, or one check of them.
    Health {
        endpoint: String,
        check: Option<String>,
    },
    /// `/openapi/v2`.
    OpenApiV2,
    /// `/openapi/v3`.
    OpenApiIndex,
    /// `/openapi/v3/api/v1`, `/openapi/v3/apis/<group>/<version>`.
    OpenApi {
        group: String,
        version: String,
    },
    Version,
    /// `/`.
    Root,
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/<group>`.
    Group(String),
    /// `/api/v1`, `/apis/<group>/<version>`.
    Resources {
        group: String,
        version: String,
    },
    Resource(Target),
    Unknown,
}

/// A resource, or one of its objects.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Target {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

impl Route {
    /// Parses a path.
    pub(crate) fn parse(path: &str) -> Self {
        let parts: Vec<String> =
            path.split('/').filter(|part| !part.is_empty()).map(|part| decode(part, false)).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            [endpoint @ ("healthz" | "livez" | "readyz"), check @ ..] => {
                Self::Health { endpoint: (*endpoint).to_owned(), check: (!check.is_empty()).then(|| check.join("/")) }
            }
            ["openapi", "v2"] => Self::OpenApiV2,
            ["openapi", "v3"] => Self::OpenApiIndex,
            ["openapi", "v3", "api", version] => Self::OpenApi { group: String::new(), version: (*version).to_owned() },
            ["openapi", "v3", "apis", group, version] => {
                Self::OpenApi { group: (*group).to_owned(), version: (*version).to_owned() }
            }
            ["version"] => Self::Version,
            [] => Self::Root,
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).to_owned()),
            ["api", version] => Self::Resources { group: String::new(), version: (*version).to_owned() },
            ["apis", group, version] => Self::Resources { group: (*group).to_owned(), version: (*version).to_owned() },
            ["api", version, rest @ ..] => Self::resource("", version, rest),
            ["apis", group, version, rest @ ..] => Self::resource(group, version, rest),
            _ => Self::Unknown,
        }
    }

    fn resource(group: &str, version: &str, parts: &[&str]) -> Self {
        let (namespace, parts) = match parts {
            // The subresources of a namespace are not resources inside it.
            ["namespaces", _, "status" | "finalize", ..] => (None, parts),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some((*namespace).to_owned()), rest),
            _ => (None, parts),
        };
        let part = |index: usize| parts.get(index).map(|part| (*part).to_owned());
        Self::Resource(Target {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace,
            plural: part(0).unwrap_or_default(),
            name: part(1),
            subresource: parts.get(2..).filter(|rest| !rest.is_empty()).map(|rest| rest.join("/")),
        })
    }
}

/// The query parameters of a request. Unless all values are requested, the first value of a duplicate parameter counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(BTreeMap<String, Vec<String>>);

impl Query {
    /// Parses a query string.
    pub(crate) fn parse(query: &str) -> Self {
        let mut values = BTreeMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            values.entry(decode(name, true)).or_insert_with(Vec::new).push(decode(value, true));
        }
        Self(values)
    }

    /// Returns the first value of a parameter, if it is not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).first().map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns all values of a parameter.
    pub(crate) fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns whether the parameter is present, even if it is empty.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns an integer parameter, or the error for an invalid one.
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>> {
        let parse = |text: &str| {
            let invalid = |_| ApiError::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"));
            text.parse().map_err(invalid)
        };
        self.get(name).map(parse).transpose()
    }

    /// Returns a boolean parameter, as Kubernetes parses it: any value except `false` and `0` is true.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.all(name).first().is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }
}

/// Decodes percent encoding. Invalid escapes are preserved.
pub(crate) fn decode(text: &str, plus_is_space: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail.get(..2).filter(|_| *first == b'%').and_then(hex_byte);
        bytes.push(match escaped {
            Some(byte) => byte,
            None if *first == b'+' && plus_is_space => b' ',
            None => *first,
        });
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(digits[0])? * 16 + digit(digits[1])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_namespaces_and_paths_of_namespaces_are_distinguished() {
        let target = |path| match Route::parse(path) {
            Route::Resource(target) => target,
            other => panic!("{path} is {other:?}"),
        };
        let status = target("/api/v1/namespaces/n/status");
        assert_eq!((status.namespace.as_deref(), status.name.as_deref()), (None, Some("n")));
        let object = target("/apis/example.com/v1/namespaces/n/widgets/w");
        assert_eq!((object.namespace.as_deref(), object.name.as_deref()), (Some("n"), Some("w")));
        assert_eq!(target("/api/v1/namespaces/n").plural, "namespaces");
    }

    #[test]
    fn queries_are_decoded() {
        let query = Query::parse("labelSelector=a%20in+%28b%29&watch&x=%zz");
        assert_eq!(query.get("labelSelector"), Some("a in (b)"));
        assert!(query.flag("watch"));
        assert_eq!(query.get("x"), Some("%zz"));
    }
}
