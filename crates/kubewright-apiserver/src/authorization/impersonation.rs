//! Impersonation: a request in the name of another user, if the requesting user may do that.

use http::HeaderMap;

use crate::{
    api::error::{ApiError, Result},
    authorization::{
        attributes::Attributes,
        policies::Decision,
        user::{User, service_account},
    },
};

const AUTHENTICATION: &str = "authentication.k8s.io";

/// The user and groups that the headers of a request name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Impersonation {
    name: String,
    groups: Vec<String>,
}

impl Impersonation {
    /// Reads the headers `Impersonate-User` and `Impersonate-Group`.
    ///
    /// # Errors
    /// They name groups but no user.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>> {
        let values = |name: &str| -> Vec<String> {
            let values = headers.get_all(name).into_iter();
            values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
        };
        let name = values("impersonate-user").into_iter().next().filter(|name| !name.is_empty());
        let groups = values("impersonate-group");
        match name {
            Some(name) => Ok(Some(Self { name, groups })),
            None if groups.is_empty() => Ok(None),
            None => {
                let groups: Vec<String> = groups.iter().map(|group| format!("{group:?}")).collect();
                Err(ApiError::bad_request(format!(
                    "requested &user.DefaultInfo{{Name:\"\", UID:\"\", Groups:[]string{{{}}}, \
                     Extra:map[string][]string(nil)}} without impersonating a user name",
                    groups.join(", ")
                )))
            }
        }
    }

    /// Returns the impersonated user, if `authorize` allows the requesting user to impersonate it for this request: by
    /// constrained impersonation, or by the verb `impersonate`.
    ///
    /// # Errors
    /// Neither is allowed. The error is that of constrained impersonation.
    pub(crate) fn check(
        self,
        user: &User,
        request: &Attributes,
        mut authorize: impl FnMut(&Attributes) -> Decision,
    ) -> Result<User> {
        let mut check = |attributes: &Attributes| {
            let decision = authorize(attributes);
            if decision.allowed { Ok(()) } else { Err(attributes.forbidden(user, &decision.reason)) }
        };
        let denied = match self.check_constrained(user, request, &mut check) {
            Some(Ok(())) => return Ok(self.into_user()),
            Some(Err(error)) => Some(error),
            None => None,
        };
        let legacy = self.identities("impersonate", "").iter().try_for_each(check);
        legacy.map_err(|error| denied.unwrap_or(error))?;
        Ok(self.into_user())
    }

    /// Checks the permissions of constrained impersonation (KEP-5284); `None` if it does not apply. Nodes and service
    /// accounts are impersonated without groups.
    fn check_constrained(
        &self,
        user: &User,
        request: &Attributes,
        check: &mut impl FnMut(&Attributes) -> Result<()>,
    ) -> Option<Result<()>> {
        let mode = match (node(&self.name), service_account(&self.name)) {
            (None, None) => "user-info",
            _ if !self.groups.is_empty() => return None,
            (Some(_), _) => "arbitrary-node",
            (None, Some(_)) => "serviceaccount",
        };
        let on = Attributes { verb: format!("impersonate-on:{mode}:{}", request.verb), ..request.clone() };
        let identities = self.identities(&format!("impersonate:{mode}"), AUTHENTICATION);
        let mut check_all = || -> Result<()> {
            check(&on)?;
            for identity in &identities {
                if identity.resource == "groups"
                    && let Some(detail) = never_constrained(&identity.name)
                {
                    return Err(identity.forbidden(user, detail));
                }
                check(identity)?;
            }
            Ok(())
        };
        Some(check_all())
    }

    /// Returns the permissions for the name and for each group.
    fn identities(&self, verb: &str, group: &str) -> Vec<Attributes> {
        let identity = |resource: &str, namespace: &str, name: &str| Attributes {
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Attributes::default()
        };
        let user = match (service_account(&self.name), node(&self.name)) {
            (Some((namespace, name)), _) => identity("serviceaccounts", namespace, name),
            // Only constrained impersonation distinguishes nodes.
            (None, Some(node)) if group == AUTHENTICATION => identity("nodes", "", node),
            (None, _) => identity("users", "", &self.name),
        };
        let groups = self.groups.iter().map(|group| identity("groups", "", group));
        std::iter::once(user).chain(groups).collect()
    }

    /// Returns the impersonated user, without a check.
    pub(crate) fn into_user(self) -> User {
        let mut groups = self.groups;
        if groups.is_empty() && node(&self.name).is_some() {
            groups.push("system:nodes".to_owned());
        }
        User::new(self.name, groups)
    }
}

/// Returns the name of the node from the name of its user.
fn node(user: &str) -> Option<&str> {
    user.strip_prefix("system:node:").filter(|name| !name.is_empty())
}

/// Returns why constrained impersonation never includes a group.
fn never_constrained(group: &str) -> Option<&'static str> {
    match group {
        "" => Some("impersonating the empty string group is not allowed"),
        "system:masters" => Some("impersonating the system:masters group is not allowed"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::authorization::attributes::of_uri;

    fn impersonation(name: &str, groups: &[&str]) -> Impersonation {
        Impersonation { name: name.to_owned(), groups: groups.iter().map(|group| (*group).to_owned()).collect() }
    }

    /// Returns the checks of an impersonation for which only those with these verbs are allowed, and its outcome.
    fn checks(impersonation: Impersonation, allowed: &[&str]) -> (Vec<String>, Result<User>) {
        let mut checks = Vec::new();
        let user = User::new("jane", Vec::new());
        let outcome = impersonation.check(&user, &of_uri("GET", "/api/v1/pods"), |attributes| {
            let Attributes { verb, group, resource, namespace, name, .. } = attributes;
            checks.push(format!("{verb} {resource}.{group} {namespace}/{name}"));
            Decision { allowed: allowed.contains(&verb.as_str()), reason: String::new() }
        });
        (checks, outcome)
    }

    #[test]
    fn constrained_impersonation_is_checked_before_the_verb_impersonate() {
        let (checks, outcome) = checks(impersonation("system:serviceaccount:ns:sa", &[]), &["impersonate"]);
        assert_eq!(checks, ["impersonate-on:serviceaccount:list pods. /", "impersonate serviceaccounts. ns/sa"]);
        let groups = "system:serviceaccounts,system:serviceaccounts:ns,system:authenticated";
        assert_eq!(outcome.unwrap().groups.join(","), groups);
    }

    #[test]
    fn every_group_is_checked() {
        let allowed = ["impersonate-on:user-info:list", "impersonate:user-info"];
        let (checks, outcome) = checks(impersonation("john", &["dev", "ops"]), &allowed);
        assert_eq!(
            checks,
            [
                "impersonate-on:user-info:list pods. /",
                "impersonate:user-info users.authentication.k8s.io /john",
                "impersonate:user-info groups.authentication.k8s.io /dev",
                "impersonate:user-info groups.authentication.k8s.io /ops",
            ]
        );
        assert_eq!(outcome.unwrap().groups, ["dev", "ops", "system:authenticated"]);
    }

    #[test]
    fn a_denial_is_that_of_constrained_impersonation() {
        let message = |impersonation, allowed: &[&str]| checks(impersonation, allowed).1.unwrap_err().message();
        assert_eq!(
            message(impersonation("john", &[]), &[]),
            "pods is forbidden: User \"jane\" cannot impersonate-on:user-info:list resource \"pods\" in API group \"\" \
             at the cluster scope"
        );
        // A service account with groups is impersonated by the verb `impersonate` only.
        assert_eq!(
            message(impersonation("system:serviceaccount:ns:sa", &["dev"]), &[]),
            "serviceaccounts \"sa\" is forbidden: User \"jane\" cannot impersonate resource \"serviceaccounts\" in API \
             group \"\" in the namespace \"ns\""
        );
        let constrained = ["impersonate-on:user-info:list", "impersonate:user-info"];
        assert_eq!(
            message(impersonation("john", &["system:masters"]), &constrained),
            "groups.authentication.k8s.io \"system:masters\" is forbidden: User \"jane\" cannot impersonate:user-info \
             resource \"groups\" in API group \"authentication.k8s.io\" at the cluster scope: impersonating the \
             system:masters group is not allowed"
        );
    }

    #[test]
    fn groups_without_a_user_are_rejected() {
        let mut headers = HeaderMap::new();
        assert_eq!(Impersonation::of(&headers).unwrap(), None);
        headers.append("impersonate-group", HeaderValue::from_static("dev"));
        assert_eq!(
            Impersonation::of(&headers).unwrap_err().message(),
            "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"dev\"}, \
             Extra:map[string][]string(nil)} without impersonating a user name"
        );
        headers.append("impersonate-user", HeaderValue::from_static("john"));
        headers.append("impersonate-group", HeaderValue::from_static("ops"));
        assert_eq!(Impersonation::of(&headers).unwrap(), Some(impersonation("john", &["dev", "ops"])));
    }
}
