//! The error of a request: what was requested, why it failed and, where one is known, a suggestion.

mod causes;
mod object_error;
#[cfg(feature = "informers")]
mod skipped_objects;
mod user_code;

use std::{error::Error as StdError, fmt};

use kube::core::{Status, response::reason};

pub use causes::{BoxError, WithCauses};
pub use object_error::ObjectError;
#[cfg(feature = "informers")]
pub(crate) use skipped_objects::SkippedObjects;
pub(crate) use user_code::catch_panic;
pub use user_code::{UserCodePanicked, panic_message};

/// How many characters of a response that is not a `Status`, such as a proxy's page, a message contains.
const MAX_BODY_CHARS: usize = 200;

/// A failed request: the verb, the resource and the cause.
///
/// It is displayed on one line: the request, the root cause and, where one is known, a suggestion. It therefore has no
/// [`source`](StdError::source); [`kube_error`](Self::kube_error) returns the underlying error.
#[derive(Debug)]
pub struct Error(Box<FailedRequest>);

#[derive(Debug)]
struct FailedRequest {
    verb: &'static str,
    /// Such as `loggers.example.com`.
    resource: String,
    /// The subresource of the request, if it is for one.
    subresource: Option<String>,
    /// The namespace of the request, if it has one.
    namespace: Option<String>,
    /// Name of the object, or empty.
    name: String,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    Kube(Box<kube::Error>),
    MissingName,
    /// The object to be sent is for this namespace, which is not the client's.
    NamespaceMismatch(String),
    /// The owner is in this namespace, and the object in another one, or in none.
    InvalidOwner(String),
    VerbNotGranted,
    /// The controller does not watch the kind.
    NotWatched,
}

impl Error {
    /// Creates the error of a request that kube's client reports as failed, such as `create` of `widgets.example.com`.
    /// The name can be empty.
    pub fn new(verb: &'static str, resource: impl Into<String>, name: &str, source: kube::Error) -> Self {
        Self::with_cause(verb, resource.into(), name, Cause::Kube(Box::new(source)))
    }

    fn with_cause(verb: &'static str, resource: String, name: &str, cause: Cause) -> Self {
        let name = name.to_owned();
        Error(Box::new(FailedRequest { verb, resource, subresource: None, namespace: None, name, cause }))
    }

    /// Sets the subresource of the request.
    #[must_use]
    pub fn with_subresource(mut self, subresource: Option<&str>) -> Self {
        self.0.subresource = subresource.map(str::to_owned);
        self
    }

    /// Sets the namespace of the request.
    #[must_use]
    pub fn with_namespace(mut self, namespace: Option<&str>) -> Self {
        self.0.namespace = namespace.map(str::to_owned);
        self
    }

    pub(crate) fn missing_name(verb: &'static str, resource: String) -> Self {
        Self::with_cause(verb, resource, "", Cause::MissingName)
    }

    pub(crate) fn verb_not_granted(verb: &'static str, resource: String, name: &str) -> Self {
        Self::with_cause(verb, resource, name, Cause::VerbNotGranted)
    }

    #[cfg_attr(not(feature = "informers"), expect(dead_code, reason = "only controllers watch kinds"))]
    pub(crate) fn not_watched(verb: &'static str, resource: String) -> Self {
        Self::with_cause(verb, resource, "", Cause::NotWatched)
    }

    pub(crate) fn namespace_mismatch(verb: &'static str, resource: String, name: &str, namespace: &str) -> Self {
        Self::with_cause(verb, resource, name, Cause::NamespaceMismatch(namespace.to_owned()))
    }

    #[cfg_attr(not(feature = "informers"), expect(dead_code, reason = "only controllers set owners"))]
    pub(crate) fn invalid_owner(verb: &'static str, resource: String, name: &str, owner_namespace: &str) -> Self {
        Self::with_cause(verb, resource, name, Cause::InvalidOwner(owner_namespace.to_owned()))
    }

    /// Returns the error of kube's client; `None` if the request was not sent: the object has no name, an invalid owner
    /// or is for another namespace, the kind does not grant the verb, or the controller does not watch it.
    pub fn kube_error(&self) -> Option<&kube::Error> {
        match &self.0.cause {
            Cause::Kube(error) => Some(error),
            Cause::MissingName
            | Cause::NamespaceMismatch(_)
            | Cause::InvalidOwner(_)
            | Cause::VerbNotGranted
            | Cause::NotWatched => None,
        }
    }

    /// Returns the `Status` that the API server responded with; `None` if there was no response.
    pub fn status(&self) -> Option<&Status> {
        match self.kube_error()? {
            kube::Error::Api(status) => Some(status),
            _ => None,
        }
    }

    /// Returns the error of one object of a list or watch; `None` if the request itself failed.
    pub fn object_error(&self) -> Option<&ObjectError> {
        match self.kube_error()? {
            kube::Error::Service(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// Returns whether the object, its namespace or its kind does not exist.
    pub fn is_not_found(&self) -> bool {
        self.has_reason(reason::NOT_FOUND, 404)
    }

    /// Returns whether an object of this name already exists.
    pub fn is_already_exists(&self) -> bool {
        self.status().is_some_and(Status::is_already_exists)
    }

    /// Returns whether the object was changed by another client since it was read.
    pub fn is_conflict(&self) -> bool {
        self.has_reason(reason::CONFLICT, 409)
    }

    /// Returns whether the user lacks the permission for the request.
    pub fn is_forbidden(&self) -> bool {
        self.has_reason(reason::FORBIDDEN, 403)
    }

    /// Returns whether the object violates a rule of its schema.
    pub fn is_invalid(&self) -> bool {
        self.has_reason(reason::INVALID, 422)
    }

    /// Returns whether the owner of the object cannot be its owner: it is namespaced, and the object is cluster-scoped
    /// or in another namespace. The garbage collector would delete the object.
    pub fn is_invalid_owner(&self) -> bool {
        matches!(self.0.cause, Cause::InvalidOwner(_))
    }

    /// Matches the reason, or the code if the server sent no known reason, as proxies do. This differs from
    /// `Status::is_not_found` and the like, which ignore the code in kube 5.0.
    fn has_reason(&self, reason: &str, code: u16) -> bool {
        let matches =
            |status: &Status| status.reason == reason || (!reason::is_known(&status.reason) && status.code == code);
        self.status().is_some_and(matches)
    }

    /// Returns whether the path is unknown to the server, and not the object: its response then names no object.
    pub(crate) fn is_resource_not_served(&self) -> bool {
        let names_none = |status: &Status| {
            let details = status.details.as_ref();
            details.is_none_or(|details| details.name.is_empty() && details.kind.is_empty())
        };
        self.is_not_found() && self.status().is_some_and(names_none)
    }

    fn suggestion(&self) -> Option<String> {
        match self.kube_error()? {
            kube::Error::Service(error) if error.is::<UserCodePanicked>() => None,
            kube::Error::Service(_) if self.object_error().is_some() => self.suggestion_for_object(),
            kube::Error::Api(status) => self.suggestion_for_status(status),
            kube::Error::BuildRequest(_) => None,
            kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => Some(format!(
                "something else answered: does the kubeconfig name the API server, and is the installed \
                 CustomResourceDefinition the generated one? (`kubectl cluster-info`, `kubectl get crd {} -o yaml`)",
                self.0.resource
            )),
            _ => Some("is the API server up, and does the kubeconfig name it? (`kubectl cluster-info`)".into()),
        }
    }

    fn suggestion_for_object(&self) -> Option<String> {
        match self.object_error()? {
            ObjectError::Decode { .. } if self.is_builtin() => Some("correct the object".to_owned()),
            ObjectError::Decode { .. } => Some(format!(
                "correct the object, or install the generated CustomResourceDefinition \
                 (`kubectl get crd {} -o yaml` shows the installed one)",
                self.0.resource
            )),
            ObjectError::Panicked(_) => None,
        }
    }

    fn suggestion_for_status(&self, status: &Status) -> Option<String> {
        match status {
            _ if self.is_resource_not_served() && self.is_builtin() => Some(format!(
                "the API server does not serve {}: `kubectl api-resources` lists the resources it serves",
                self.0.resource
            )),
            _ if self.is_resource_not_served() => Some(format!(
                "the API server does not serve {0}: is its CustomResourceDefinition installed? \
                 (`kubectl get crd {0}`; apply the file generated in config/crd/bases, or the output of kube's derive)",
                self.0.resource
            )),
            _ if self.is_forbidden() => {
                Some(format!("grant the permission and check it with `kubectl auth can-i {}`", self.kubectl_request()))
            }
            _ if self.is_namespace_not_found(status) => Some("create the namespace, or name another".into()),
            _ if self.is_conflict() && self.0.verb == "apply" => {
                Some("apply the current value, omit the field, or take it over with `.force()`".into())
            }
            _ if self.is_conflict() => Some("read it again and repeat the change".into()),
            Status { code: 401, .. } => Some("log in again, or use another kubeconfig".into()),
            _ => None,
        }
    }

    /// Returns whether the group is built in: it has no dot, so no CustomResourceDefinition defines it.
    fn is_builtin(&self) -> bool {
        self.0.resource.split_once('.').is_none_or(|(_, group)| !group.contains('.'))
    }

    /// Formats the request as arguments of `kubectl auth can-i`.
    fn kubectl_request(&self) -> String {
        let verb = match self.0.verb {
            "delete" if self.0.name.is_empty() => "deletecollection",
            "apply" => "patch",
            verb => verb,
        };
        let subresource = self.0.subresource.as_ref().map_or_else(String::new, |name| format!(" --subresource={name}"));
        let request = format!("{verb} {}{subresource}", self.0.resource);
        match &self.0.namespace {
            Some(namespace) => format!("{request} --namespace {namespace}"),
            None => request,
        }
    }

    fn is_namespace_not_found(&self, status: &Status) -> bool {
        let kind = status.details.as_ref().map(|details| details.kind.as_str());
        self.is_not_found() && kind == Some("namespaces") && self.0.resource != "namespaces"
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} ", self.0.verb)?;
        if let Some(subresource) = &self.0.subresource {
            write!(f, "the {subresource} of ")?;
        }
        f.write_str(&self.0.resource)?;
        if !self.0.name.is_empty() {
            write!(f, " `{}`", self.0.name)?;
        }
        match (&self.0.cause, self.status()) {
            (Cause::VerbNotGranted, _) => write!(f, ": the kind's `#[genclient]` does not grant it")?,
            (Cause::NotWatched, _) => {
                write!(f, ": the controller does not watch them; add their informer with `owns`")?
            }
            (Cause::MissingName, _) => write!(f, ": metadata.name is not set")?,
            (Cause::NamespaceMismatch(requested), _) => {
                let client = self.0.namespace.as_deref().unwrap_or_default();
                write!(f, ": it is for namespace `{requested}`, but the client is for `{client}`")?;
            }
            (Cause::InvalidOwner(owner), _) => match self.0.namespace.as_deref() {
                None => write!(
                    f,
                    ": a cluster-scoped object cannot have a namespaced owner, and the owner is in namespace `{owner}`; \
                     use a finalizer of the owner to delete it"
                )?,
                Some(_) => write!(
                    f,
                    ": an owner must be in the namespace of the object or cluster-scoped, and the owner is in namespace \
                     `{owner}`"
                )?,
            },
            (_, Some(status)) => write!(f, ": {}", status_message(status))?,
            (Cause::Kube(error), None) => write!(f, ": {}", one_line(&root_cause(error.as_ref()).to_string()))?,
        }
        match self.suggestion() {
            Some(suggestion) => write!(f, "; {suggestion}"),
            None => Ok(()),
        }
    }
}

/// Returns the message of the server. A response that is not a `Status`, such as a proxy's page, gives its code and its
/// first characters.
fn status_message(status: &Status) -> String {
    let message = one_line(&status.message);
    if reason::is_known(&status.reason) {
        return message;
    }
    let beginning: String = message.chars().take(MAX_BODY_CHARS).collect();
    match beginning.as_str() {
        "" => format!("HTTP {}", status.code),
        text if text.starts_with(&status.code.to_string()) => beginning,
        _ => format!("HTTP {}: {beginning}", status.code),
    }
}

fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Returns the innermost error: those around it only report that it occurred.
fn root_cause<'a>(mut error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error
}

impl StdError for Error {}
