//! What a request asks for: verb, resource, namespace, name and options.

use std::fmt;

use http::{Method, Request, Uri};

use crate::wire::request::{Query, Route, Target};

/// What is to be done, as RBAC rules and audit events name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Reads one object, or a path that is of no resource.
    Get,
    /// Reads a collection.
    List,
    /// Follows a collection.
    Watch,
    /// Makes an object.
    Create,
    /// Replaces an object.
    Update,
    /// Changes parts of an object; a server-side apply is a patch, too.
    Patch,
    /// Deletes one object.
    Delete,
    /// Deletes a collection.
    DeleteCollection,
}

impl Verb {
    /// As Kubernetes writes it: `get`, `deletecollection`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a request asks for, read from its method, path and query as kube-apiserver's `RequestInfo` is. A text is empty where
/// the path has no such part.
#[derive(Debug, Clone)]
pub struct RequestInfo {
    /// What is to be done.
    pub verb: Verb,
    /// The group, empty for the core group.
    pub group: String,
    /// The version in the path: `v1`.
    pub version: String,
    /// The plural: `loggers`. Empty where the path is of no resource, as `/version`.
    pub resource: String,
    /// `status`, `scale` ..; empty for the resource itself.
    pub subresource: String,
    /// The namespace in the path.
    pub namespace: String,
    /// The name in the path.
    pub name: String,
    /// The path as it was sent.
    pub path: String,
    query: Query,
}

impl RequestInfo {
    /// Reads a request.
    #[must_use]
    pub fn of<B>(request: &Request<B>) -> Self {
        Self::new(request.method(), request.uri())
    }

    /// Reads a method and a path with its query.
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

    /// The first value an option of the query has, if it has one and it is not empty: `resourceVersion`, `limit` ..
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.query.get(name)
    }

    /// Whether an option of the query is there, be it empty.
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
        for (mark, part) in [("/", &self.subresource), (".", &self.group), (" ", &self.namespace)] {
            if !part.is_empty() {
                write!(f, "{mark}{part}")?;
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
        let one = "/apis/example.com/v1/namespaces/n/loggers/audit";
        let all = "/apis/example.com/v1/namespaces/n/loggers";
        for (method, path, verb) in [
            ("GET", one, Verb::Get),
            ("GET", all, Verb::List),
            ("GET", &format!("{all}?watch=true"), Verb::Watch),
            ("GET", &format!("{all}?watch=false"), Verb::List),
            ("GET", &format!("{one}?watch=true"), Verb::Get),
            ("GET", "/version", Verb::Get),
            ("GET", "/apis/example.com/v1", Verb::Get),
            ("POST", all, Verb::Create),
            ("PUT", one, Verb::Update),
            ("PATCH", one, Verb::Patch),
            ("DELETE", one, Verb::Delete),
            ("DELETE", all, Verb::DeleteCollection),
        ] {
            assert_eq!(info(method, path).verb, verb, "{method} {path}");
        }
    }

    #[test]
    fn requests_print_as_what_they_ask_for() {
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
    fn options_are_those_of_the_query() {
        let info = info("GET", "/api/v1/pods?resourceVersion=0&labelSelector=a%3Db&continue=");
        assert_eq!((info.option("resourceVersion"), info.option("labelSelector")), (Some("0"), Some("a=b")));
        assert_eq!(
            (info.option("continue"), info.has_option("continue"), info.has_option("limit")),
            (None, true, false)
        );
    }
}
