//! The variable `authorizer` of expressions: the permissions of users, by roles.

use kubewright_crd::cel::{AccessDecision, AccessRequest, AccessSubject, AccessTarget, Authorizer, ResourceTarget};

use crate::{
    authorization::{attributes::Attributes, user::User},
    controllers::controlled_state::ControlledState,
};

/// Answers the checks of expressions for a user.
#[derive(Debug)]
pub(super) struct RoleAuthorizer<'a> {
    pub(super) state: &'a ControlledState,
    pub(super) user: &'a User,
}

impl Authorizer for RoleAuthorizer<'_> {
    fn authorize(&self, request: &AccessRequest) -> AccessDecision {
        let attributes = attributes(request);
        let decision = match &request.subject {
            AccessSubject::User => self.state.lock().decide(self.user, &attributes),
            AccessSubject::ServiceAccount { namespace, name } => {
                let user = User::new(format!("system:serviceaccount:{namespace}:{name}"), Vec::new());
                self.state.lock().decide(&user, &attributes)
            }
        };
        AccessDecision { allowed: decision.allowed, reason: decision.reason, error: None }
    }
}

/// Returns the attributes of a checked request. Selectors have no effect on roles.
fn attributes(request: &AccessRequest) -> Attributes {
    let verb = request.verb.clone();
    match &request.target {
        AccessTarget::Path(path) => Attributes { verb, path: Some(path.clone()), ..Attributes::default() },
        AccessTarget::Resource(ResourceTarget { group, resource, subresource, namespace, name, .. }) => Attributes {
            verb,
            group: group.clone(),
            resource: resource.clone(),
            subresource: subresource.clone(),
            namespace: namespace.clone(),
            name: name.clone(),
            path: None,
        },
    }
}
