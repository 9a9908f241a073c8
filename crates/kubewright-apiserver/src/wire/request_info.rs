//! The attributes of a request: verb, resource, namespace, name and options.

use std::fmt;

use http::{Method, Request, Uri};
pub use kubewright_names::verb::Verb;

use crate::wire::request::{Query, Route, Target};

/// The attributes of a request, parsed from its method, path and query as kube-apiserver's `RequestInfo`. A field is
/// empty if the path does not have that part.
#[derive(Debug, Clone)]
pub struct RequestInfo {
    /// The verb.
    pub verb: Verb,
    /// The API group; empty for the core group.
    pub group: String,
    /// The API version in the path: `v1`.
    pub version: String,
    /// The plural resource name: `loggers`. Empty for non-resource paths such as `/version`.
    pub resource: String,
    /// The subresource: `status`, `scale`. Empty for the resource itself.
    pub subresource: String,
    /// The namespace in the path.
    pub namespace: String,
    /// The name in the path.
    pub name: String,
    /// The complete path, unchanged.
    pub path: String,
    query: Query,
}

impl RequestInfo {
    /// Parses the method, path and query of a request.
    #[must_use]
    pub fn from_request<B>(request: &Request<B>) -> Self {
        Self::new(request.method(), request.uri())
    }

    /// Parses a method and a path with its query.
    #[must_use]
    pub fn new(method: &Method, uri: &Uri) -> Self {
        let target = match Route::parse(uri.path()) {
            Route::Resource(target) => target,
            _ => Target::default(),
        };
        let query = Query::parse(uri.query().unwrap_or_default());
        Self {
            verb: verb(method, &target, &query),
            group: target.group,
            version: target.version,
            resource: target.plural,
            subresource: target.subresource.unwrap_or_default(),
            namespace: target.namespace.unwrap_or_default(),
            name: target.name.unwrap_or_default(),
            path: uri.path().to_owned(),
            query,
        }
    }

    /// Returns the first value of a query parameter such as `resourceVersion` or `limit`, unless it is missing or
    /// empty.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.query.get(name)
    }

    /// Returns whether the query has this parameter, with or without a value.
    #[must_use]
    pub fn has_option(&self, name: &str) -> bool {
        self.query.has(name)
    }
}

impl fmt::Display for RequestInfo {
    /// `get loggers/status.example.com default/audit`, or `get /version`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.resource.is_empty() {
            return write!(f, "{} {}", self.verb, self.path);
        }
        write!(f, "{} {}", self.verb, self.resource)?;
        for (separator, part) in [("/", &self.subresource), (".", &self.group), (" ", &self.namespace)] {
            if !part.is_empty() {
                write!(f, "{separator}{part}")?;
            }
        }
        match (self.name.is_empty(), self.namespace.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => write!(f, " {}", self.name),
            (false, false) => write!(f, "/{}", self.name),
        }
    }
}

fn verb(method: &Method, target: &Target, query: &Query) -> Verb {
    let is_collection = !target.plural.is_empty() && target.name.is_none();
    match *method {
        Method::POST => Verb::Create,
        Method::PUT => Verb::Update,
        Method::PATCH => Verb::Patch,
        Method::DELETE if is_collection => Verb::DeleteCollection,
        Method::DELETE => Verb::Delete,
        _ if is_collection && query.flag("watch") => Verb::Watch,
        _ if is_collection => Verb::List,
        _ => Verb::Get,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(method: &str, uri: &str) -> RequestInfo {
        RequestInfo::new(&method.parse().unwrap(), &uri.parse().unwrap())
    }

    #[test]
    fn verbs_are_those_of_rbac() {
        let object = "/apis/example.com/v1/namespaces/n/loggers/audit";
        let all = "/apis/example.com/v1/namespaces/n/loggers";
        for (method, path, verb) in [
            ("GET", object, Verb::Get),
            ("GET", all, Verb::List),
            ("GET", &format!("{all}?watch=true"), Verb::Watch),
            ("GET", &format!("{all}?watch=false"), Verb::List),
            ("GET", &format!("{object}?watch=true"), Verb::Get),
            ("GET", "/version", Verb::Get),
            ("GET", "/apis/example.com/v1", Verb::Get),
            ("POST", all, Verb::Create),
            ("PUT", object, Verb::Update),
            ("PATCH", object, Verb::Patch),
            ("DELETE", object, Verb::Delete),
            ("DELETE", all, Verb::DeleteCollection),
        ] {
            assert_eq!(info(method, path).verb, verb, "{method} {path}");
        }
    }

    #[test]
    fn request_info_displays_verb_resource_and_name() {
        for (uri, text) in [
            ("/apis/example.com/v1/namespaces/n/loggers/audit/status?x", "get loggers/status.example.com n/audit"),
            ("/api/v1/namespaces", "list namespaces"),
            ("/api/v1/namespaces/n", "get namespaces n"),
            ("/version", "get /version"),
        ] {
            assert_eq!(info("GET", uri).to_string(), text);
        }
    }

    #[test]
    fn options_are_query_parameters() {
        let info = info("GET", "/api/v1/pods?resourceVersion=0&labelSelector=a%3Db&continue=");
        assert_eq!((info.option("resourceVersion"), info.option("labelSelector")), (Some("0"), Some("a=b")));
        assert_eq!(
            (info.option("continue"), info.has_option("continue"), info.has_option("limit")),
            (None, true, false)
        );
    }
}
