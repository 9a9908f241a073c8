//! The attributes of a request that rules are matched against.

use http::request::Parts;

use crate::{
    api::error::ApiError,
    authorization::user::User,
    wire::{
        request,
        request_info::{RequestInfo, Verb},
    },
};

/// What a request does. A field is empty if it does not apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) verb: String,
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The path of a request that is not for a resource.
    pub(crate) path: Option<String>,
}

impl Attributes {
    /// Returns the attributes of a request.
    pub(crate) fn from_parts(parts: &Parts) -> Self {
        let info = RequestInfo::new(&parts.method, &parts.uri);
        if info.resource.is_empty() {
            let verb = parts.method.as_str().to_ascii_lowercase();
            return Self { verb, path: Some(request::decode(&info.path, false)), ..Self::default() };
        }
        let name = Some(info.name.clone()).filter(|name| !name.is_empty()).or_else(|| selected_name(&info));
        Self {
            verb: info.verb.as_str().to_owned(),
            // A namespace is also inside itself, so that a role in it can grant access to it.
            namespace: if info.resource == "namespaces" { info.name } else { info.namespace },
            subresource: info.subresource.split('/').next().unwrap_or_default().to_owned(),
            group: info.group,
            resource: info.resource,
            name: name.unwrap_or_default(),
            path: None,
        }
    }

    /// Returns the error for a denied request, with the text of the real server.
    pub(crate) fn forbidden(&self, user: &User, reason: &str) -> ApiError {
        let message = self.denial(user).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let detail = if reason.is_empty() { message } else { format!("{message}: {reason}") };
        ApiError::access_denied(&self.group, &self.resource, &self.name, &detail)
    }

    fn denial(&self, user: &User) -> String {
        let Self { verb, group, namespace, .. } = self;
        let user = &user.name;
        if let Some(path) = &self.path {
            return format!("User {user:?} cannot {verb} path {path:?}");
        }
        let resource = self.combined_resource();
        let scope = match namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {namespace:?}"),
        };
        format!("User {user:?} cannot {verb} resource {resource:?} in API group {group:?} {scope}")
    }

    /// Returns the resource as rules name it: `pods`, `pods/log`.
    pub(crate) fn combined_resource(&self) -> String {
        match self.subresource.as_str() {
            "" => self.resource.clone(),
            subresource => format!("{}/{subresource}", self.resource),
        }
    }
}

/// Returns the name that a list or a watch of a single object selects.
fn selected_name(info: &RequestInfo) -> Option<String> {
    if !matches!(info.verb, Verb::List | Verb::Watch) {
        return None;
    }
    let mut requirements = info.option("fieldSelector")?.split(',');
    let name = |requirement: &str| {
        let value = requirement.strip_prefix("metadata.name=")?;
        Some(value.strip_prefix('=').unwrap_or(value).to_owned())
    };
    let is_path_segment = |name: &String| !matches!(name.as_str(), "." | "..") && !name.contains(['/', '%']);
    requirements.find_map(name).filter(is_path_segment)
}

/// Returns the attributes of a read, for tests.
#[cfg(test)]
pub(crate) fn of_uri(method: &str, uri: &str) -> Attributes {
    let request = http::Request::builder().method(method).uri(uri).body(()).unwrap();
    Attributes::from_parts(&request.into_parts().0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denial(method: &str, uri: &str) -> String {
        of_uri(method, uri).forbidden(&User::new("jane", Vec::new()), "").message()
    }

    #[test]
    fn denials_have_the_text_of_the_real_server() {
        let user = "User \"jane\" cannot";
        for (method, uri, text) in [
            (
                "GET",
                "/apis/example.com/v1/namespaces/ns/loggers",
                format!(
                    "loggers.example.com is forbidden: {user} list resource \"loggers\" in API group \"example.com\" \
                     in the namespace \"ns\""
                ),
            ),
            (
                "GET",
                "/apis/example.com/v1/loggers?watch=1",
                format!(
                    "loggers.example.com is forbidden: {user} watch resource \"loggers\" in API group \"example.com\" \
                     at the cluster scope"
                ),
            ),
            (
                "GET",
                "/api/v1/namespaces/ns/pods/web/log",
                format!(
                    "pods \"web\" is forbidden: {user} get resource \"pods/log\" in API group \"\" in the namespace \
                     \"ns\""
                ),
            ),
            (
                "DELETE",
                "/api/v1/namespaces/ns",
                format!(
                    "namespaces \"ns\" is forbidden: {user} delete resource \"namespaces\" in API group \"\" in the \
                     namespace \"ns\""
                ),
            ),
            ("GET", "/metrics", format!("forbidden: {user} get path \"/metrics\"")),
            ("POST", "/a%3Cb", format!("forbidden: {user} post path \"/a&lt;b\"")),
        ] {
            assert_eq!(denial(method, uri), text);
        }
    }

    #[test]
    fn lists_of_a_single_name_have_its_name() {
        let name = |method: &str, query: &str| of_uri(method, &format!("/api/v1/pods?fieldSelector={query}")).name;
        assert_eq!(name("GET", "metadata.name%3Dweb"), "web");
        assert_eq!(name("GET", "spec.nodeName%3Dn,metadata.name%3D%3Dweb"), "web");
        for query in ["metadata.name!%3Dweb", "metadata.namespace%3Dweb", "metadata.name%3D.."] {
            assert_eq!(name("GET", query), "", "{query}");
        }
        assert_eq!(name("DELETE", "metadata.name%3Dweb"), "", "deletecollection");
    }
}
