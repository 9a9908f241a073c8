//! Request matchers of faults and reactors.

use crate::wire::request_info::{RequestInfo, Verb};

/// Matches requests by verb, group, resource, subresource, namespace and name. What is not specified matches any value.
///
/// ```
/// use kubewright_apiserver::{Requests, Verb};
///
/// let writes_of_status = Requests::to("loggers").verb(Verb::Update).subresource("status").namespace("default");
/// let lists: Requests = Verb::List.into();
/// # let _ = (writes_of_status, lists);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requests {
    verb: Option<Verb>,
    group: Option<String>,
    resource: Option<String>,
    subresource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
}

impl Requests {
    /// Matches every request, discovery included.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Matches requests to this resource (plural name) and its subresources.
    #[must_use]
    pub fn to(resource: impl Into<String>) -> Self {
        Self { resource: Some(resource.into()), ..Self::default() }
    }

    /// Restricts the match to this verb.
    #[must_use]
    pub fn verb(self, verb: Verb) -> Self {
        Self { verb: Some(verb), ..self }
    }

    /// Restricts the match to this API group; empty is the core group.
    #[must_use]
    pub fn group(self, group: impl Into<String>) -> Self {
        Self { group: Some(group.into()), ..self }
    }

    /// Restricts the match to this subresource; empty is the resource itself.
    #[must_use]
    pub fn subresource(self, subresource: impl Into<String>) -> Self {
        Self { subresource: Some(subresource.into()), ..self }
    }

    /// Restricts the match to this namespace; empty matches cluster-scoped requests and requests across all namespaces.
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), ..self }
    }

    /// Restricts the match to this object name.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns whether the request matches.
    #[must_use]
    pub fn contain(&self, request: &RequestInfo) -> bool {
        let matches =
            |expected: &Option<String>, actual: &str| expected.as_deref().is_none_or(|expected| expected == actual);
        self.verb.is_none_or(|verb| verb == request.verb)
            && matches(&self.group, &request.group)
            && matches(&self.resource, &request.resource)
            && matches(&self.subresource, &request.subresource)
            && matches(&self.namespace, &request.namespace)
            && matches(&self.name, &request.name)
    }
}

impl From<Verb> for Requests {
    fn from(verb: Verb) -> Self {
        Self::all().verb(verb)
    }
}

impl From<&Requests> for Requests {
    fn from(requests: &Requests) -> Self {
        requests.clone()
    }
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    #[test]
    fn each_specified_attribute_must_match() {
        let uri = "/apis/example.com/v1/namespaces/n/loggers/audit/status".parse().unwrap();
        let request = RequestInfo::new(&Method::PUT, &uri);
        let loggers = Requests::to("loggers");
        for requests in [
            Requests::all(),
            Verb::Update.into(),
            loggers.clone().group("example.com").namespace("n").name("audit").subresource("status"),
        ] {
            assert!(requests.contain(&request), "{requests:?}");
        }
        for requests in [
            Verb::Get.into(),
            Requests::to("books"),
            loggers.clone().group(""),
            loggers.clone().namespace(""),
            loggers.clone().name("b"),
            loggers.subresource(""),
        ] {
            assert!(!requests.contain(&request), "{requests:?}");
        }
    }
}
