//! The roles and bindings of a cluster, and the decisions that follow from them.
//!
//! Guarantees:
//! - A decision is a function of the roles and bindings, the user and the attributes of a request.
//! - Roles and bindings only add permissions: a further binding or rule never denies what was allowed.
//! - A role in a namespace never allows anything outside of it.

use std::{
    collections::BTreeMap,
    fmt::{self, Display},
};

use k8s_openapi::api::rbac::v1::{PolicyRule, RoleRef, Subject};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    api::object::Object,
    authorization::{CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GROUP, attributes::Attributes, rules, user::User},
};

const ROLES: &str = "roles.rbac.authorization.k8s.io";
const ROLE_BINDINGS: &str = "rolebindings.rbac.authorization.k8s.io";

/// All roles and bindings, by name or by namespace and name.
#[derive(Debug, Default)]
pub(crate) struct RoleBindings {
    cluster_roles: BTreeMap<String, Vec<PolicyRule>>,
    roles: BTreeMap<String, BTreeMap<String, Vec<PolicyRule>>>,
    cluster_role_bindings: BTreeMap<String, Binding>,
    role_bindings: BTreeMap<String, BTreeMap<String, Binding>>,
}

#[derive(Debug)]
struct Binding {
    role: RoleRef,
    subjects: Vec<Subject>,
}

/// Whether a request is allowed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) allowed: bool,
    /// The binding that allows the request, or the roles that do not exist.
    pub(crate) reason: String,
}

impl Decision {
    /// Returns the decision to allow a request.
    pub(crate) fn allow(reason: impl Into<String>) -> Self {
        Self { allowed: true, reason: reason.into() }
    }
}

/// A role of a binding that does not exist.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MissingRole<'a>(&'a RoleRef);

impl MissingRole<'_> {
    /// Returns the error of a role registry, which names the resource of the request (`qualifiedResourceFromContext`).
    pub(crate) fn registry_error(&self, resource: &str) -> String {
        self.error(resource)
    }

    /// Returns the error of a role lister, which names the singular: `clusterrole`.
    pub(crate) fn lister_error(&self) -> String {
        self.error(&self.0.kind.to_lowercase())
    }

    fn error(&self, resource: &str) -> String {
        format!("{resource}.{GROUP} {:?} not found", self.0.name)
    }
}

/// A binding that applies to a user. It is displayed as the source of its rules.
struct Grant<'a> {
    /// The namespace of the binding; empty for a binding of the cluster.
    namespace: &'a str,
    name: &'a str,
    role: &'a RoleRef,
    subject: &'a Subject,
}

impl Display for Grant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RoleRef { kind, name: role, .. } = self.role;
        match self.namespace {
            "" => write!(f, "ClusterRoleBinding {:?}", self.name)?,
            namespace => write!(f, "RoleBinding {:?}", format!("{}/{namespace}", self.name))?,
        }
        write!(f, " of {kind} {role:?} to {}", describe(self.subject, self.namespace))
    }
}

/// Returns the text for a subject of a binding in this namespace.
fn describe(subject: &Subject, namespace: &str) -> String {
    let Subject { kind, name, .. } = subject;
    if kind != "ServiceAccount" {
        return format!("{kind} {name:?}");
    }
    let namespace = subject.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or(namespace);
    format!("{kind} {:?}", format!("{name}/{namespace}"))
}

impl RoleBindings {
    /// Adds or replaces a role or a binding. Objects of other resources (`plural.group`) are ignored.
    pub(crate) fn set(&mut self, resource: &str, object: &Object) {
        let (namespace, name) = (|| object.namespace().to_owned(), || object.name().to_owned());
        match resource {
            CLUSTER_ROLES => drop(self.cluster_roles.insert(name(), field(object, "rules"))),
            ROLES => drop(self.roles.entry(namespace()).or_default().insert(name(), field(object, "rules"))),
            CLUSTER_ROLE_BINDINGS => drop(self.cluster_role_bindings.insert(name(), binding(object))),
            ROLE_BINDINGS => drop(self.role_bindings.entry(namespace()).or_default().insert(name(), binding(object))),
            _ => {}
        }
    }

    /// Removes a role or a binding.
    pub(crate) fn remove(&mut self, resource: &str, namespace: &str, name: &str) {
        match resource {
            CLUSTER_ROLES => drop(self.cluster_roles.remove(name)),
            ROLES => remove(&mut self.roles, namespace, name),
            CLUSTER_ROLE_BINDINGS => drop(self.cluster_role_bindings.remove(name)),
            ROLE_BINDINGS => remove(&mut self.role_bindings, namespace, name),
            _ => {}
        }
    }

    /// Returns whether a user may do something (`RBACAuthorizer`, after the check for `system:masters`).
    pub(crate) fn authorize(&self, user: &User, attributes: &Attributes) -> Decision {
        if user.is_privileged() {
            return Decision::allow("");
        }
        let mut missing = Vec::new();
        for grant in self.grants(user, &attributes.namespace) {
            match self.rules_of(grant.role, grant.namespace) {
                Ok(rules) if rules.iter().any(|rule| rules::allows(rule, attributes)) => {
                    return Decision::allow(format!("RBAC: allowed by {grant}"));
                }
                Ok(_) => {}
                Err(role) => missing.push(role),
            }
        }
        let reason =
            errors(&missing, MissingRole::lister_error).map(|errors| format!("RBAC: {errors}")).unwrap_or_default();
        Decision { allowed: false, reason }
    }

    /// Returns all rules that apply to a user in a namespace, and the roles that do not exist.
    pub(crate) fn rules_for<'a>(
        &'a self,
        user: &'a User,
        namespace: &'a str,
    ) -> (Vec<&'a PolicyRule>, Vec<MissingRole<'a>>) {
        let (mut rules, mut missing) = (Vec::new(), Vec::new());
        for grant in self.grants(user, namespace) {
            match self.rules_of(grant.role, grant.namespace) {
                Ok(granted) => rules.extend(granted),
                Err(role) => missing.push(role),
            }
        }
        (rules, missing)
    }

    /// Returns the rules of the role of a binding in a namespace.
    pub(crate) fn rules_of<'a>(
        &'a self,
        role: &'a RoleRef,
        namespace: &str,
    ) -> Result<&'a [PolicyRule], MissingRole<'a>> {
        let rules = match role.kind.as_str() {
            "ClusterRole" => self.cluster_roles.get(&role.name),
            _ => self.roles.get(namespace).and_then(|roles| roles.get(&role.name)),
        };
        rules.map(Vec::as_slice).ok_or(MissingRole(role))
    }

    /// Returns the bindings of the cluster and of a namespace that apply to a user.
    fn grants<'a>(&'a self, user: &'a User, namespace: &'a str) -> impl Iterator<Item = Grant<'a>> {
        let cluster = self.cluster_role_bindings.iter().map(|(name, binding)| ("", name, binding));
        let local = self.role_bindings.get(namespace).into_iter().flatten();
        let local = local.map(move |(name, binding)| (namespace, name, binding));
        cluster.chain(local).filter_map(move |(namespace, name, Binding { role, subjects })| {
            let subject = subjects.iter().find(|subject| user.is_subject(subject, namespace))?;
            Some(Grant { namespace, name, role, subject })
        })
    }
}

/// Formats the errors of missing roles without duplicates, several of them in brackets; `None` if there are none.
pub(crate) fn errors<'a>(missing: &[MissingRole<'a>], text: impl Fn(&MissingRole<'a>) -> String) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for text in missing.iter().map(text) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [] => None,
        [name] => Some(name.clone()),
        several => Some(format!("[{}]", several.join(", "))),
    }
}

fn binding(object: &Object) -> Binding {
    Binding { role: field(object, "roleRef"), subjects: field(object, "subjects") }
}

/// Decodes a root field of a validated object. A missing field is empty.
pub(crate) fn field<T: DeserializeOwned + Default>(object: &Object, name: &str) -> T {
    let value = object.body.get(name).cloned().unwrap_or(Value::Null);
    serde_json::from_value(value).unwrap_or_default()
}

fn remove<T>(objects: &mut BTreeMap<String, BTreeMap<String, T>>, namespace: &str, name: &str) {
    if let Some(local) = objects.get_mut(namespace) {
        local.remove(name);
        if local.is_empty() {
            objects.remove(namespace);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::authorization::attributes::of_uri;

    const ACCOUNT: &str = "system:serviceaccount:ns:operator";

    fn object(namespace: &str, name: &str, fields: Value) -> Object {
        let mut fields = fields.as_object().unwrap().clone();
        fields.insert("metadata".to_owned(), json!({ "name": name, "namespace": namespace }));
        Object::from_json(fields).unwrap()
    }

    /// A role that allows these verbs of pods.
    fn role(verbs: &[&str]) -> Value {
        json!({ "rules": [{ "apiGroups": [""], "resources": ["pods"], "verbs": verbs }] })
    }

    fn binding_of(kind: &str, role: &str, user: &str) -> Value {
        json!({
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
        })
    }

    fn decision(bindings: &RoleBindings, user: &str, uri: &str) -> Decision {
        bindings.authorize(&User::new(user, Vec::new()), &of_uri("GET", uri))
    }

    fn denied(reason: &str) -> Decision {
        Decision { allowed: false, reason: reason.to_owned() }
    }

    #[test]
    fn a_role_in_a_namespace_never_allows_anything_outside_of_it() {
        let mut bindings = RoleBindings::default();
        bindings.set(ROLES, &object("ns", "reader", role(&["list"])));
        bindings.set(ROLE_BINDINGS, &object("ns", "readers", binding_of("Role", "reader", "jane")));
        let reason = "RBAC: allowed by RoleBinding \"readers/ns\" of Role \"reader\" to User \"jane\"";
        assert_eq!(decision(&bindings, "jane", "/api/v1/namespaces/ns/pods"), Decision::allow(reason));
        for uri in ["/api/v1/pods", "/api/v1/namespaces/other/pods", "/version"] {
            assert_eq!(decision(&bindings, "jane", uri), denied(""), "{uri}");
        }
        assert_eq!(decision(&bindings, "john", "/api/v1/namespaces/ns/pods"), denied(""));
        bindings.remove(ROLE_BINDINGS, "ns", "readers");
        assert_eq!(decision(&bindings, "jane", "/api/v1/namespaces/ns/pods"), denied(""));
    }

    #[test]
    fn the_reason_names_the_binding_the_role_and_the_subject() {
        let mut bindings = RoleBindings::default();
        bindings.set(CLUSTER_ROLES, &object("", "reader", role(&["list"])));
        let mut bound = binding_of("ClusterRole", "reader", "jane");
        bindings.set(CLUSTER_ROLE_BINDINGS, &object("", "readers", bound.clone()));
        let reason = "RBAC: allowed by ClusterRoleBinding \"readers\" of ClusterRole \"reader\" to User \"jane\"";
        assert_eq!(decision(&bindings, "jane", "/api/v1/pods"), Decision::allow(reason));
        bound["subjects"] = json!([{ "kind": "ServiceAccount", "name": "operator" }]);
        bindings.set(ROLE_BINDINGS, &object("ns", "operators", bound));
        let reason =
            "RBAC: allowed by RoleBinding \"operators/ns\" of ClusterRole \"reader\" to ServiceAccount \"operator/ns\"";
        assert_eq!(decision(&bindings, ACCOUNT, "/api/v1/namespaces/ns/pods"), Decision::allow(reason));
    }

    #[test]
    fn missing_roles_are_the_reason_of_a_denial() {
        let mut bindings = RoleBindings::default();
        bindings.set(CLUSTER_ROLE_BINDINGS, &object("", "a", binding_of("ClusterRole", "gone", "jane")));
        bindings.set(CLUSTER_ROLE_BINDINGS, &object("", "b", binding_of("ClusterRole", "gone", "jane")));
        let missing = "clusterrole.rbac.authorization.k8s.io \"gone\" not found";
        assert_eq!(decision(&bindings, "jane", "/api/v1/pods"), denied(&format!("RBAC: {missing}")));
        bindings.set(ROLE_BINDINGS, &object("ns", "c", binding_of("Role", "gone", "jane")));
        let both = format!("RBAC: [{missing}, role.rbac.authorization.k8s.io \"gone\" not found]");
        assert_eq!(decision(&bindings, "jane", "/api/v1/namespaces/ns/pods"), denied(&both));
    }

    #[test]
    fn the_group_of_administrators_needs_no_role() {
        let allowed = RoleBindings::default().authorize(&User::administrator(), &of_uri("DELETE", "/api/v1/nodes"));
        assert_eq!(allowed, Decision::allow(""));
    }

    /// Returns bindings, each with a namespace (0 for the cluster), verbs and a user.
    fn role_bindings(grants: &[(usize, Vec<usize>, usize)]) -> RoleBindings {
        let mut bindings = RoleBindings::default();
        for (index, (namespace, verbs, user)) in grants.iter().enumerate() {
            let name = format!("binding-{index}");
            let verbs: Vec<&str> = verbs.iter().map(|verb| ["get", "list", "watch"][*verb]).collect();
            bindings.set(CLUSTER_ROLES, &object("", &name, role(&verbs)));
            let bound = binding_of("ClusterRole", &name, ["jane", "john"][*user]);
            match ["", "a", "b"][*namespace] {
                "" => bindings.set(CLUSTER_ROLE_BINDINGS, &object("", &name, bound)),
                namespace => bindings.set(ROLE_BINDINGS, &object(namespace, &name, bound)),
            }
        }
        bindings
    }

    proptest! {
        #[test]
        fn roles_and_bindings_only_add_permissions(
            grants in prop::collection::vec((0..3_usize, prop::collection::vec(0..3_usize, 1..3), 0..2_usize), 1..6),
        ) {
            let (some, all) = (role_bindings(&grants[1..]), role_bindings(&grants));
            let user = User::new("jane", Vec::new());
            for namespace in ["", "a", "b"] {
                for verb in ["get", "list", "watch"] {
                    let attributes = Attributes {
                        verb: verb.to_owned(),
                        resource: "pods".to_owned(),
                        namespace: namespace.to_owned(),
                        ..Attributes::default()
                    };
                    let allowed = all.authorize(&user, &attributes).allowed;
                    prop_assert!(allowed || !some.authorize(&user, &attributes).allowed);
                    // The decision of a straightforward search.
                    let expected = grants.iter().any(|(bound, verbs, user)| {
                        (*bound == 0 || ["", "a", "b"][*bound] == namespace)
                            && *user == 0
                            && verbs.iter().any(|granted| ["get", "list", "watch"][*granted] == verb)
                    });
                    prop_assert_eq!(allowed, expected);
                }
            }
        }
    }
}
