//! What a typed client's request came to, said with the cause and the way out.

use std::error::Error as StdError;
use std::fmt;

use kube::core::Status;
use kube::core::response::reason;

/// A proxy may answer with a whole page: so much of it is told.
const LONGEST_PAGE: usize = 200;

/// A request that failed: what was asked of which resource, and why it was refused or did not arrive.
///
/// It prints on one line: the request, the innermost cause, and a way out where one is known. So it has no
/// [`source`](StdError::source) to print again; [`kube_error`](Self::kube_error) gives what is below.
#[derive(Debug)]
pub struct Error(Box<Failed>);

/// A request and what came of it.
#[derive(Debug)]
struct Failed {
    verb: &'static str,
    /// Such as `loggers.example.com`.
    resource: String,
    /// What part of the object it was about, if not all of it.
    subresource: Option<String>,
    /// Namespace the request was made in, if in one.
    namespace: Option<String>,
    /// Name of the object, or empty.
    name: String,
    source: Cause,
}

#[derive(Debug)]
enum Cause {
    Kube(Box<kube::Error>),
    Unnamed,
    /// What was to be sent is for this namespace.
    Elsewhere(String),
    /// The kind does not grant the verb.
    NotGranted,
}

impl Error {
    /// What kube's client said to a request, such as `create` of `widgets.example.com`; the name may be empty.
    pub fn new(verb: &'static str, resource: impl Into<String>, name: &str, source: kube::Error) -> Self {
        Self::of(verb, resource.into(), name, Cause::Kube(Box::new(source)))
    }

    fn of(verb: &'static str, resource: String, name: &str, source: Cause) -> Self {
        let name = name.to_owned();
        Error(Box::new(Failed { verb, resource, subresource: None, namespace: None, name, source }))
    }

    /// The same, of a subresource.
    pub fn of_subresource(mut self, subresource: Option<&str>) -> Self {
        self.0.subresource = subresource.map(str::to_owned);
        self
    }

    /// The same, with the namespace the request was made in.
    pub fn in_namespace(mut self, namespace: Option<&str>) -> Self {
        self.0.namespace = namespace.map(str::to_owned);
        self
    }

    pub(crate) fn unnamed(verb: &'static str, resource: String) -> Self {
        Self::of(verb, resource, "", Cause::Unnamed)
    }

    pub(crate) fn not_granted(verb: &'static str, resource: String, name: &str) -> Self {
        Self::of(verb, resource, name, Cause::NotGranted)
    }

    pub(crate) fn elsewhere(verb: &'static str, resource: String, name: &str, namespace: &str) -> Self {
        Self::of(verb, resource, name, Cause::Elsewhere(namespace.to_owned()))
    }

    /// What kube's client said; `None` if the request was not sent, because the object has no name or is for another
    /// namespace, or because the kind does not grant the verb.
    pub fn kube_error(&self) -> Option<&kube::Error> {
        match &self.0.source {
            Cause::Kube(error) => Some(error),
            Cause::Unnamed | Cause::Elsewhere(_) | Cause::NotGranted => None,
        }
    }

    /// What the API server answered; `None` if the request never got an answer.
    pub fn status(&self) -> Option<&Status> {
        match self.kube_error()? {
            kube::Error::Api(status) => Some(status),
            _ => None,
        }
    }

    /// The object (or its namespace, or its kind) is not there.
    pub fn is_not_found(&self) -> bool {
        self.is(reason::NOT_FOUND, 404)
    }

    /// An object of this name is there already.
    pub fn is_already_exists(&self) -> bool {
        self.status().is_some_and(Status::is_already_exists)
    }

    /// Someone else changed the object since it was read.
    pub fn is_conflict(&self) -> bool {
        self.is(reason::CONFLICT, 409)
    }

    /// The user may not do this.
    pub fn is_forbidden(&self) -> bool {
        self.is(reason::FORBIDDEN, 403)
    }

    /// The object breaks a rule of its schema.
    pub fn is_invalid(&self) -> bool {
        self.is(reason::INVALID, 422)
    }

    /// The reason counts; the code does where the server gave no reason that is known, as a proxy does. This is
    /// `Status::is_not_found` and its like, which in kube 5.0 never look at the code.
    fn is(&self, reason: &str, code: u16) -> bool {
        let is =
            |status: &Status| status.reason == reason || (!reason::is_known(&status.reason) && status.code == code);
        self.status().is_some_and(is)
    }

    /// The path itself is unknown, not the object: the server says so without naming one.
    pub(crate) fn is_unserved(&self) -> bool {
        let names_none = |status: &Status| {
            let details = status.details.as_ref();
            details.is_none_or(|details| details.name.is_empty() && details.kind.is_empty())
        };
        self.is_not_found() && self.status().is_some_and(names_none)
    }

    /// What to do about it, where that is known.
    fn way_out(&self) -> Option<String> {
        match self.kube_error()? {
            kube::Error::Api(status) => self.way_out_of(status),
            kube::Error::BuildRequest(_) => None,
            kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => Some(format!(
                "something else answered: does the kubeconfig name the API server, and is the installed \
                 CustomResourceDefinition the generated one? (`kubectl cluster-info`, `kubectl get crd {} -o yaml`)",
                self.0.resource
            )),
            _ => Some("is the API server up, and does the kubeconfig name it? (`kubectl cluster-info`)".into()),
        }
    }

    fn way_out_of(&self, status: &Status) -> Option<String> {
        match status {
            _ if self.is_unserved() && self.is_of_kubernetes() => Some(format!(
                "the API server does not serve {}: `kubectl api-resources` tells what it does",
                self.0.resource
            )),
            _ if self.is_unserved() => Some(format!(
                "the API server does not serve {0}: is its CustomResourceDefinition installed? \
                 (`kubectl get crd {0}`; apply the generated file in config/crd/bases, or what kube's derive makes)",
                self.0.resource
            )),
            _ if self.is_forbidden() => {
                Some(format!("have it granted: `kubectl auth can-i {}` tells whether it is", self.in_kubectl()))
            }
            _ if self.is_without_namespace(status) => Some("create the namespace, or name another".into()),
            _ if self.is_conflict() && self.0.verb == "apply" => {
                Some("apply the value that is there, leave the field out, or take it over with `.force()`".into())
            }
            _ if self.is_conflict() => Some("read it again and repeat the change on what is there".into()),
            Status { code: 401, .. } => Some("log in again, or name another kubeconfig".into()),
            _ => None,
        }
    }

    /// A group without a dot is one of Kubernetes' own: no definition brings it.
    fn is_of_kubernetes(&self) -> bool {
        self.0.resource.split_once('.').is_none_or(|(_, group)| !group.contains('.'))
    }

    /// The request as `kubectl auth can-i` takes it.
    fn in_kubectl(&self) -> String {
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

    /// It is the namespace that is not there.
    fn is_without_namespace(&self, status: &Status) -> bool {
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
        match (&self.0.source, self.status()) {
            (Cause::NotGranted, _) => write!(f, ": the kind's `#[genclient]` does not grant it")?,
            (Cause::Unnamed, _) => write!(f, ": metadata.name is not set")?,
            (Cause::Elsewhere(of), _) => {
                let in_ = self.0.namespace.as_deref().unwrap_or_default();
                write!(f, ": it is for namespace `{of}`, and the client for `{in_}`")?;
            }
            (_, Some(status)) => write!(f, ": {}", said(status))?,
            (Cause::Kube(error), None) => write!(f, ": {}", one_line(&innermost(error.as_ref()).to_string()))?,
        }
        match self.way_out() {
            Some(way_out) => write!(f, "; {way_out}"),
            None => Ok(()),
        }
    }
}

/// What the server said. What is no `Status`, such as a proxy's page, is told by its code and how it begins.
fn said(status: &Status) -> String {
    let message = one_line(&status.message);
    if reason::is_known(&status.reason) {
        return message;
    }
    let beginning: String = message.chars().take(LONGEST_PAGE).collect();
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

/// The first cause: what is above it only says that something below failed.
fn innermost<'a>(mut error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error
}

impl StdError for Error {}
