//! Coverage of roles: the permissions that a program used, compared with those that it declares.
//!
//! - a denied request is undeclared, and the report contains the code that declares it;
//! - a declared verb of a resource that no request needed is unused;
//! - requests of other users have no influence.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::{authorization::recorder::Authorization, resource::built_in};

/// The verbs of `kubewright_runtime::controller::Verb`, with their names in Rust.
const VERBS: [(&str, &str); 8] = [
    ("create", "Create"),
    ("delete", "Delete"),
    ("deletecollection", "DeleteCollection"),
    ("get", "Get"),
    ("list", "List"),
    ("patch", "Patch"),
    ("update", "Update"),
    ("watch", "Watch"),
];

/// The declared permissions of a user, to be compared with those that it used.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use k8s_openapi::api::{core::v1::Pod, rbac::v1::PolicyRule};
/// use kube::{Api, api::ListParams};
/// use kubewright_apiserver::{ApiServer, Coverage};
///
/// const OPERATOR: &str = "system:serviceaccount:default:operator";
/// let server = ApiServer::builder().rbac(true).build();
/// Api::<Pod>::all(server.client_as(OPERATOR, &[])).list(&ListParams::default()).await.unwrap_err();
/// let report = Coverage::new(OPERATOR, [PolicyRule::default()]).report(&server.authorizations());
/// assert!(report.to_string().contains(".allow(Allow::<Pod>::verbs([Verb::List]))"), "{report}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Coverage {
    user: String,
    declared: Vec<PolicyRule>,
    /// The custom kinds, by group and plural.
    kinds: BTreeMap<(String, String), String>,
}

/// The result of a comparison. As text, it lists what is undeclared, with the code that declares it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct CoverageReport {
    /// What was used and is not declared: for each resource, the denied verbs and the code to add.
    pub undeclared: Vec<String>,
    /// What is declared and was not used, such as `delete services` or `patch widgets.example.com/status`, sorted.
    pub unused: Vec<String>,
}

impl Coverage {
    /// Compares the requests of this user with these rules.
    #[must_use]
    pub fn new(user: impl Into<String>, declared: impl IntoIterator<Item = PolicyRule>) -> Self {
        Self { user: user.into(), declared: declared.into_iter().collect(), kinds: BTreeMap::new() }
    }

    /// Adds the type of a custom resource, for the code in reports. Those of built-in kinds are known.
    #[must_use]
    pub fn kind(mut self, group: &str, plural: &str, kind: &str) -> Self {
        self.kinds.insert((group.to_owned(), plural.to_owned()), kind.to_owned());
        self
    }

    /// Compares the authorizations of [`ApiServer::authorizations`](crate::ApiServer::authorizations) or of
    /// [`audited_authorizations`](crate::audited_authorizations).
    pub fn report(&self, authorizations: &[Authorization]) -> CoverageReport {
        let recorded: Vec<_> = authorizations.iter().filter(|authorization| authorization.user == self.user).collect();
        let is_used = |rule: &PolicyRule| recorded.iter().any(|used| used.allowed && used.is_granted_by(rule));
        let unused = self.declared.iter().flat_map(permissions).filter(|(_, rule)| !is_used(rule));
        let unused: BTreeSet<_> = unused.map(|(permission, _)| permission).collect();
        CoverageReport { undeclared: self.undeclared(&recorded), unused: unused.into_iter().collect() }
    }

    fn undeclared(&self, recorded: &[&Authorization]) -> Vec<String> {
        let (mut denied, mut unbound) = (BTreeMap::<_, BTreeSet<&str>>::new(), BTreeSet::new());
        for used in recorded.iter().filter(|used| !used.allowed) {
            if self.declared.iter().any(|rule| used.is_granted_by(rule)) {
                unbound.insert(not_bound(used));
            } else {
                let target = (&used.group, &used.resource, &used.subresource, &used.path);
                denied.entry(target).or_default().insert(&used.verb);
            }
        }
        let denied = denied.into_iter().map(|((group, resource, subresource, path), verbs)| {
            let verbs: Vec<_> = verbs.into_iter().collect();
            let target = if path.is_empty() { qualified(resource, subresource, group) } else { path.clone() };
            let code = match path.is_empty() {
                true => self.code(group, resource, subresource, &verbs),
                false => None,
            };
            let code = code.map_or_else(
                || format!("a role with the verbs {verbs:?}"),
                |code| format!("`{code}` to the controller that does it"),
            );
            format!("{} {target} is not declared; add {code}", verbs.join(", "))
        });
        denied.chain(unbound).collect()
    }

    /// Returns the code that declares these verbs; `None` if there is a verb that only roles have, such as `bind`.
    fn code(&self, group: &str, resource: &str, subresource: &str, verbs: &[&str]) -> Option<String> {
        let name = |verb: &&str| VERBS.iter().find(|(known, _)| known == verb).map(|(_, name)| format!("Verb::{name}"));
        let verbs = verbs.iter().map(name).collect::<Option<Vec<_>>>()?.join(", ");
        let kind = match self.kinds.get(&(group.to_owned(), resource.to_owned())) {
            Some(kind) => kind.clone(),
            None => {
                let mut built_in = built_in::all();
                let found = built_in.find(|kind| kind.group == group && kind.plural == resource);
                let unknown = || format!("/* the type of {} */", qualified(resource, "", group));
                found.map_or_else(unknown, |kind| kind.kind.to_owned())
            }
        };
        let subresource = match subresource {
            "" => String::new(),
            "status" => ".status()".to_owned(),
            other => format!(".subresource({other:?})"),
        };
        Some(format!(".allow(Allow::<{kind}>::verbs([{verbs}]){subresource})"))
    }
}

impl CoverageReport {
    /// Returns the unused permissions if nothing is undeclared.
    ///
    /// # Errors
    /// Returns the report itself if something is undeclared.
    pub fn check(self) -> Result<Vec<String>, Self> {
        if self.undeclared.is_empty() { Ok(self.unused) } else { Err(self) }
    }
}

impl std::error::Error for CoverageReport {}

impl fmt::Display for CoverageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.undeclared.as_slice() {
            [] => write!(f, "every used permission is declared"),
            undeclared => write!(f, "{}", undeclared.join("\n")),
        }
    }
}

/// Returns the error for a request that a rule would allow, if its role were bound where the request was made.
fn not_bound(used: &Authorization) -> String {
    let target = qualified(&used.resource, &used.subresource, &used.group);
    let place = match used.namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace `{namespace}`"),
    };
    format!("{} {target} is declared, but not {place}; restrict the requests, or bind the role there", used.verb)
}

/// Splits a rule into one for each verb, group and resource, or path, each with its description.
fn permissions(rule: &PolicyRule) -> Vec<(String, PolicyRule)> {
    let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
    let mut all = Vec::new();
    for verb in &rule.verbs {
        let verbs = vec![verb.clone()];
        for path in list(&rule.non_resource_urls) {
            let description = format!("{verb} {path}");
            let rule = PolicyRule { non_resource_urls: Some(vec![path]), ..PolicyRule::default() };
            all.push((description, PolicyRule { verbs: verbs.clone(), ..rule }));
        }
        for group in list(&rule.api_groups) {
            for resource in list(&rule.resources) {
                let (plural, subresource) = resource.split_once('/').unwrap_or((resource.as_str(), ""));
                let names = list(&rule.resource_names);
                let description = format!("{verb} {} {}", qualified(plural, subresource, &group), names.join(" "));
                let single_rule = PolicyRule {
                    api_groups: Some(vec![group.clone()]),
                    resources: Some(vec![resource.clone()]),
                    resource_names: rule.resource_names.clone(),
                    verbs: verbs.clone(),
                    non_resource_urls: None,
                };
                all.push((description.trim_end().to_owned(), single_rule));
            }
        }
    }
    all
}

/// Returns a resource as kubectl names it, such as `deployments.apps/scale`.
fn qualified(resource: &str, subresource: &str, group: &str) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    let slash = if subresource.is_empty() { "" } else { "/" };
    format!("{resource}{dot}{group}{slash}{subresource}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::authorization::rules;

    const OPERATOR: &str = "system:serviceaccount:ns:operator";

    fn used(verb: &str, group: &str, resource: &str, namespace: &str, allowed: bool) -> Authorization {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        Authorization {
            user: OPERATOR.to_owned(),
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            namespace: namespace.to_owned(),
            name: String::new(),
            path: String::new(),
            allowed,
        }
    }

    fn coverage() -> Coverage {
        let rules = rules::parse(json!([
            { "apiGroups": ["apps"], "resources": ["deployments", "deployments/scale"], "verbs": ["get", "list"] },
            { "apiGroups": [""], "resources": ["services"], "resourceNames": ["web"], "verbs": ["get"] },
            { "nonResourceURLs": ["/metrics"], "verbs": ["get"] },
        ]));
        Coverage::new(OPERATOR, rules).kind("example.org", "widgets", "Widget")
    }

    #[test]
    fn a_denied_request_is_undeclared_and_the_report_contains_the_code() {
        let report = coverage().report(&[
            used("patch", "apps", "deployments", "ns", false),
            used("get", "apps", "deployments", "ns", true),
            used("create", "apps", "deployments", "ns", false),
            used("patch", "example.org", "widgets/status", "ns", false),
            used("create", "", "pods/eviction", "ns", false),
            used("get", "example.net", "desks", "", false),
            used("bind", "rbac.authorization.k8s.io", "roles", "ns", false),
        ]);
        let code = |code: &str| format!("add `.allow({code})` to the controller that does it");
        let expected = [
            format!(
                "create pods/eviction is not declared; {}",
                code(r#"Allow::<Pod>::verbs([Verb::Create]).subresource("eviction")"#)
            ),
            format!(
                "create, patch deployments.apps is not declared; {}",
                code("Allow::<Deployment>::verbs([Verb::Create, Verb::Patch])")
            ),
            format!(
                "get desks.example.net is not declared; {}",
                code("Allow::</* the type of desks.example.net */>::verbs([Verb::Get])")
            ),
            format!(
                "patch widgets.example.org/status is not declared; {}",
                code("Allow::<Widget>::verbs([Verb::Patch]).status()")
            ),
            r#"bind roles.rbac.authorization.k8s.io is not declared; add a role with the verbs ["bind"]"#.to_owned(),
        ];
        assert_eq!(report.undeclared, expected);
        assert_eq!(report.to_string(), expected.join("\n"));
        assert_eq!(report.clone().check(), Err(report));
    }

    #[test]
    fn a_declared_permission_that_is_not_bound_names_the_place() {
        let report = coverage().report(&[used("list", "apps", "deployments", "", false)]);
        let expected = "list deployments.apps is declared, but not at the cluster scope; restrict the requests, or \
                        bind the role there";
        assert_eq!(report.undeclared, [expected]);
    }

    #[test]
    fn a_declared_permission_that_no_request_needed_is_unused() {
        let other = Authorization { user: "admin".to_owned(), ..used("get", "", "services", "ns", true) };
        let unused = coverage().report(&[used("list", "apps", "deployments", "ns", true), other]).check().unwrap();
        let expected = [
            "get /metrics",
            "get deployments.apps",
            "get deployments.apps/scale",
            "get services web",
            "list deployments.apps/scale",
        ];
        assert_eq!(unused, expected);
    }
}
