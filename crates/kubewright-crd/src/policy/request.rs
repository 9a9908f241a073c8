//! The request that a policy evaluates its expressions on.

use serde_json::Value;

use crate::cel::{Authorizer, policy::Inputs};

/// A request: the values of the variables of expressions. The default has none of them.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// `object`: the object after the request; null on DELETE.
    pub object: &'a Value,
    /// `oldObject`: the object before the request; null on CREATE.
    pub old_object: &'a Value,
    /// `request`: the attributes of the request, as the `AdmissionRequest` of a webhook has them.
    pub request: &'a Value,
    /// `params`: the parameters of the binding; null without any.
    pub params: &'a Value,
    /// `namespaceObject`: the namespace of the object; null for a cluster-scoped object.
    pub namespace: &'a Value,
    /// `authorizer`: checks permissions. Expressions that read it fail without one.
    pub authorizer: Option<&'a dyn Authorizer>,
}

impl Default for Request<'_> {
    fn default() -> Self {
        let null = &Value::Null;
        Request { object: null, old_object: null, request: null, params: null, namespace: null, authorizer: None }
    }
}

impl<'a> Request<'a> {
    pub(super) fn inputs(&self) -> Inputs<'a> {
        Inputs {
            object: self.object,
            old_object: self.old_object,
            request: self.request,
            params: self.params,
            namespace: self.namespace,
            authorizer: self.authorizer,
        }
    }
}
