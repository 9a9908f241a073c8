//! What a typed client's request came to, said with the cause and the way out.

use std::error::Error as StdError;
use std::fmt;

use kube::core::Status;

/// A request that failed: what was asked of which resource, and why it was refused or did not arrive.
///
/// It prints on one line: the request, the innermost cause, and a way out where one is known. So it has no
/// [`source`](StdError::source) to print again; [`kube_error`](Self::kube_error) gives what is below.
#[derive(Debug)]
pub struct Error {
    verb: &'static str,
    /// Such as `loggers.example.com`.
    resource: String,
    /// Name of the object, or empty.
    name: String,
    source: Cause,
}

#[derive(Debug)]
enum Cause {
    Kube(Box<kube::Error>),
    Unnamed,
}

impl Error {
    /// What kube's client said to a request, such as `create` of `widgets.example.com`; the name may be empty.
    pub fn new(verb: &'static str, resource: impl Into<String>, name: &str, source: kube::Error) -> Self {
        Error {
            verb,
            resource: resource.into(),
            name: name.to_owned(),
            source: Cause::Kube(Box::new(source)),
        }
    }

    pub(crate) fn unnamed(verb: &'static str, resource: String) -> Self {
        Error {
            verb,
            resource,
            name: String::new(),
            source: Cause::Unnamed,
        }
    }

    /// What kube's client said; `None` if the request was not sent because the object has no name.
    pub fn kube_error(&self) -> Option<&kube::Error> {
        match &self.source {
            Cause::Kube(error) => Some(error),
            Cause::Unnamed => None,
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
        self.status().is_some_and(Status::is_not_found)
    }

    /// An object of this name is there already.
    pub fn is_already_exists(&self) -> bool {
        self.status().is_some_and(Status::is_already_exists)
    }

    /// Someone else changed the object since it was read.
    pub fn is_conflict(&self) -> bool {
        self.status().is_some_and(Status::is_conflict)
    }

    /// The user may not do this.
    pub fn is_forbidden(&self) -> bool {
        self.status().is_some_and(Status::is_forbidden)
    }

    /// The object breaks a rule of its schema.
    pub fn is_invalid(&self) -> bool {
        self.status().is_some_and(Status::is_invalid)
    }

    /// What to do about it, where that is known.
    fn way_out(&self) -> Option<String> {
        match self.status() {
            Some(status) if is_unserved(status) => Some(format!(
                "the API server does not serve {0}: is its CustomResourceDefinition installed? \
                 (`kubectl get crd {0}`; apply the generated file in config/crd/bases)",
                self.resource
            )),
            Some(status) if status.is_forbidden() => Some(format!(
                "grant it: `kubectl auth can-i {} {}` tells who may",
                self.verb, self.resource
            )),
            Some(status) if status.is_conflict() => Some("read it again and repeat the change on what is there".into()),
            Some(status) if status.code == 401 => Some("log in again, or name another kubeconfig".into()),
            Some(_) => None,
            None if matches!(self.source, Cause::Unnamed) => None,
            None => Some("is the API server up, and does the kubeconfig name it? (`kubectl cluster-info`)".into()),
        }
    }
}

/// The path itself is unknown, not the object: the server says so without naming one.
fn is_unserved(status: &Status) -> bool {
    status.code == 404
        && status
            .details
            .as_ref()
            .is_none_or(|details| details.name.is_empty() && details.kind.is_empty())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}", self.verb, self.resource)?;
        if !self.name.is_empty() {
            write!(f, " `{}`", self.name)?;
        }
        match (&self.source, self.status()) {
            (Cause::Unnamed, _) => write!(f, ": metadata.name is not set")?,
            (_, Some(status)) => write!(f, ": {}", status.message.trim())?,
            (Cause::Kube(error), None) => write!(f, ": {}", innermost(error.as_ref()))?,
        }
        match self.way_out() {
            Some(way_out) => write!(f, "; {way_out}"),
            None => Ok(()),
        }
    }
}

/// The first cause: what is above it only says that something below failed.
pub(crate) fn innermost<'a>(mut error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error
}

impl StdError for Error {}
