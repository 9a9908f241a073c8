//! Sets of requests: what faults and reactors are for.

use crate::testing::request_info::{RequestInfo, Verb};

/// A set of requests: by verb, resource, subresource, namespace and name. What is not said is any.
///
/// ```
/// use logger_apiserver::{Requests, Verb};
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
    /// Every request, discovery included.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Those to this resource, by its plural, and to its subresources.
    #[must_use]
    pub fn to(resource: impl Into<String>) -> Self {
        Self { resource: Some(resource.into()), ..Self::default() }
    }

    /// Of these, those with this verb.
    #[must_use]
    pub fn verb(self, verb: Verb) -> Self {
        Self { verb: Some(verb), ..self }
    }

    /// Of these, those to this group; empty is the core group.
    #[must_use]
    pub fn group(self, group: impl Into<String>) -> Self {
        Self { group: Some(group.into()), ..self }
    }

    /// Of these, those to this subresource; empty is the resource itself.
    #[must_use]
    pub fn subresource(self, subresource: impl Into<String>) -> Self {
        Self { subresource: Some(subresource.into()), ..self }
    }

    /// Of these, those in this namespace; empty is those of cluster-scoped kinds or over all namespaces.
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), ..self }
    }

    /// Of these, those that name this object.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Whether a request is one of these.
    #[must_use]
    pub fn contain(&self, request: &RequestInfo) -> bool {
        let is = |wanted: &Option<String>, has: &str| wanted.as_deref().is_none_or(|wanted| wanted == has);
        self.verb.is_none_or(|verb| verb == request.verb)
            && is(&self.group, &request.group)
            && is(&self.resource, &request.resource)
            && is(&self.subresource, &request.subresource)
            && is(&self.namespace, &request.namespace)
            && is(&self.name, &request.name)
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
    fn each_part_that_is_said_must_be_so() {
        let uri = "/apis/example.com/v1/namespaces/n/loggers/audit/status".parse().unwrap();
        let request = RequestInfo::new(&Method::PUT, &uri);
        let these = Requests::to("loggers");
        for requests in [
            Requests::all(),
            Verb::Update.into(),
            these.clone().group("example.com").namespace("n").name("audit").subresource("status"),
        ] {
            assert!(requests.contain(&request), "{requests:?}");
        }
        for requests in [
            Verb::Get.into(),
            Requests::to("books"),
            these.clone().group(""),
            these.clone().namespace(""),
            these.clone().name("b"),
            these.subresource(""),
        ] {
            assert!(!requests.contain(&request), "{requests:?}");
        }
    }
}
