//! Users: a name and groups.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::Subject;

/// The group that may do anything.
const MASTERS: &str = "system:masters";
/// The group of every user except the anonymous one.
const AUTHENTICATED: &str = "system:authenticated";
/// The group of the anonymous user.
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";

/// The user of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    /// Empty if authentication provides none.
    pub(crate) uid: String,
    pub(crate) groups: Vec<String>,
    /// What else authentication provides, such as the ID of the credential.
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Creates a user with these groups and those that authentication adds: `system:authenticated`, and for a service
    /// account without groups those of its namespace.
    pub(crate) fn new(name: impl Into<String>, mut groups: Vec<String>) -> Self {
        let name = name.into();
        if groups.is_empty()
            && let Some((namespace, _)) = service_account(&name)
        {
            groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
        }
        Self::authenticated(name, groups)
    }

    /// Creates a user with these groups and the one that authentication adds to those of every credential.
    pub(crate) fn authenticated(name: String, mut groups: Vec<String>) -> Self {
        let has = |group: &str| groups.iter().any(|other| other == group);
        let added = match name == ANONYMOUS {
            true if has(UNAUTHENTICATED) => None,
            true => Some(UNAUTHENTICATED),
            false if has(AUTHENTICATED) || has(UNAUTHENTICATED) => None,
            false => Some(AUTHENTICATED),
        };
        groups.extend(added.map(str::to_owned));
        Self { name, groups, ..Self::default() }
    }

    /// Returns the user of a request without credentials.
    pub(crate) fn anonymous() -> Self {
        Self::new(ANONYMOUS, Vec::new())
    }

    /// Returns the administrator, whom a request without authentication belongs to.
    pub(crate) fn administrator() -> Self {
        Self::new("admin", vec![MASTERS.to_owned()])
    }

    /// Returns whether the user may do anything, with or without roles.
    pub(crate) fn is_privileged(&self) -> bool {
        self.has_group(MASTERS)
    }

    /// Returns whether a subject of a binding in this namespace is the user or one of its groups.
    pub(crate) fn is_subject(&self, subject: &Subject, namespace: &str) -> bool {
        match subject.kind.as_str() {
            "User" => subject.name == self.name,
            "Group" => self.has_group(&subject.name),
            "ServiceAccount" => {
                let namespace =
                    subject.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or(namespace);
                !namespace.is_empty() && service_account(&self.name) == Some((namespace, subject.name.as_str()))
            }
            _ => false,
        }
    }

    fn has_group(&self, group: &str) -> bool {
        self.groups.iter().any(|other| other == group)
    }
}

/// Returns the namespace and the name of a service account from the name of its user.
pub(crate) fn service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix("system:serviceaccount:")?.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(kind: &str, name: &str, namespace: Option<&str>) -> Subject {
        Subject {
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            ..Subject::default()
        }
    }

    #[test]
    fn users_get_the_groups_of_authentication() {
        let groups = |name: &str, groups: &[&str]| {
            User::new(name, groups.iter().map(|group| (*group).to_owned()).collect()).groups.join(",")
        };
        assert_eq!(groups("jane", &[]), "system:authenticated");
        assert_eq!(groups("jane", &["dev"]), "dev,system:authenticated");
        assert_eq!(groups("jane", &["system:unauthenticated"]), "system:unauthenticated");
        assert_eq!(groups(ANONYMOUS, &[]), "system:unauthenticated");
        assert_eq!(
            groups("system:serviceaccount:ns:sa", &[]),
            "system:serviceaccounts,system:serviceaccounts:ns,system:authenticated"
        );
        assert_eq!(groups("system:serviceaccount:ns:sa", &["dev"]), "dev,system:authenticated");
    }

    #[test]
    fn subjects_are_users_groups_and_service_accounts() {
        let account = User::new("system:serviceaccount:ns:sa", Vec::new());
        for (subject, namespace, expected) in [
            (subject("User", "system:serviceaccount:ns:sa", None), "", true),
            (subject("Group", "system:serviceaccounts:ns", None), "", true),
            (subject("Group", "system:masters", None), "", false),
            (subject("ServiceAccount", "sa", Some("ns")), "", true),
            (subject("ServiceAccount", "sa", Some("other")), "ns", false),
            // In a RoleBinding the namespace is optional.
            (subject("ServiceAccount", "sa", None), "ns", true),
            (subject("ServiceAccount", "sa", Some("")), "ns", true),
            (subject("ServiceAccount", "sa", None), "", false),
        ] {
            assert_eq!(account.is_subject(&subject, namespace), expected, "{subject:?} in {namespace:?}");
        }
    }
}
