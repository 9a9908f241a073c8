//! Impersonation: a request in the name of another user, if the requesting user may do that, as in
//! `pkg/endpoints/filters/impersonation` of the API server.

use std::collections::BTreeMap;

use http::HeaderMap;

use crate::{
    api::error::{ApiError, Result},
    authorization::{
        attributes::Attributes,
        rbac::Decision,
        user::{User, service_account},
    },
};

const AUTHENTICATION: &str = "authentication.k8s.io";

/// The start of the names of headers with extra fields.
const EXTRA: &str = "impersonate-extra-";

/// The user that the headers of a request describe.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Impersonation {
    name: String,
    uid: String,
    groups: Vec<String>,
    extra: BTreeMap<String, Vec<String>>,
}

impl Impersonation {
    /// Reads the headers `Impersonate-User`, `Impersonate-Uid`, `Impersonate-Group` and `Impersonate-Extra-KEY`.
    ///
    /// # Errors
    /// They describe a user without its name.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Option<Self>> {
        let values = |name: &str| -> Vec<String> {
            let values = headers.get_all(name).into_iter();
            values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
        };
        let first = |name: &str| values(name).into_iter().next().unwrap_or_default();
        let keys = headers.keys().filter_map(|name| Some((name.as_str(), name.as_str().strip_prefix(EXTRA)?)));
        let found = Self {
            name: first("impersonate-user"),
            uid: first("impersonate-uid"),
            groups: values("impersonate-group"),
            extra: keys.map(|(name, key)| (percent_decoded(key), values(name))).collect(),
        };
        if found == Self::default() {
            Ok(None)
        } else if found.name.is_empty() {
            let found = found.go_syntax();
            Err(ApiError::bad_request(format!("requested {found} without impersonating a user name")))
        } else {
            Ok(Some(found))
        }
    }

    /// Returns the text that Go's verb `%#v` prints.
    fn go_syntax(&self) -> String {
        let list = |values: &[String]| {
            let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            if values.is_empty() { "[]string(nil)".to_owned() } else { format!("[]string{{{}}}", values.join(", ")) }
        };
        let extra: Vec<String> = self.extra.iter().map(|(key, values)| format!("{key:?}:{}", list(values))).collect();
        let extra = if extra.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", extra.join(", ")) };
        format!(
            "&user.DefaultInfo{{Name:{:?}, UID:{:?}, Groups:{}, Extra:map[string][]string{extra}}}",
            self.name,
            self.uid,
            list(&self.groups)
        )
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
    /// accounts are impersonated by their names alone.
    fn check_constrained(
        &self,
        user: &User,
        request: &Attributes,
        check: &mut impl FnMut(&Attributes) -> Result<()>,
    ) -> Option<Result<()>> {
        let mode = match (node(&self.name), service_account(&self.name)) {
            (None, None) => "user-info",
            _ if !self.has_name_only() => return None,
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

    fn has_name_only(&self) -> bool {
        self.uid.is_empty() && self.groups.is_empty() && self.extra.is_empty()
    }

    /// Returns the permissions for the name, for each group, for the UID and for each extra value.
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
        let uid = Some(&self.uid).filter(|uid| !uid.is_empty()).map(|uid| ("uids", "", uid));
        let extra = self.extra.iter().flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
        let extra = extra.map(|(key, value)| ("userextras", key.as_str(), value));
        let details = uid.into_iter().chain(extra).map(|(resource, subresource, name)| Attributes {
            group: AUTHENTICATION.to_owned(),
            subresource: subresource.to_owned(),
            ..identity(resource, "", name)
        });
        std::iter::once(user).chain(groups).chain(details).collect()
    }

    /// Returns the impersonated user, without a check.
    pub(crate) fn into_user(self) -> User {
        let mut groups = self.groups;
        if groups.is_empty() && node(&self.name).is_some() {
            groups.push("system:nodes".to_owned());
        }
        User { uid: self.uid, extra: self.extra, ..User::new(self.name, groups) }
    }
}

/// Decodes the key of an extra field, as Go's `url.PathUnescape`. One that cannot be decoded is used as it is.
fn percent_decoded(key: &str) -> String {
    let bytes = |hex: &str| u8::from_str_radix(hex, 16).ok();
    let mut parts = key.split('%');
    let mut decoded = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let Some(byte) = part.get(..2).and_then(bytes) else { return key.to_owned() };
        decoded.push(byte);
        decoded.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(decoded).unwrap_or_else(|_| key.to_owned())
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
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        Impersonation { name: name.to_owned(), groups, ..Impersonation::default() }
    }

    /// Returns the checks of an impersonation for which only those with these verbs are allowed, and its outcome.
    fn checks(impersonation: Impersonation, allowed: &[&str]) -> (Vec<String>, Result<User>) {
        let mut checks = Vec::new();
        let user = User::new("jane", Vec::new());
        let outcome = impersonation.check(&user, &of_uri("GET", "/api/v1/pods"), |attributes| {
            let Attributes { verb, group, namespace, name, .. } = attributes;
            checks.push(format!("{verb} {}.{group} {namespace}/{name}", attributes.combined_resource()));
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
    fn the_uid_and_every_extra_value_are_checked() {
        let mut headers = HeaderMap::new();
        let uid = "requested &user.DefaultInfo{Name:\"\", UID:\"42\", Groups:[]string(nil), \
                   Extra:map[string][]string{\"example.org/scopes\":[]string{\"view\"}}} without impersonating a user name";
        headers.append("impersonate-uid", HeaderValue::from_static("42"));
        headers.append("impersonate-extra-example.org%2Fscopes", HeaderValue::from_static("view"));
        assert_eq!(Impersonation::from_headers(&headers).unwrap_err().message(), uid);
        headers.append("impersonate-user", HeaderValue::from_static("john"));
        let (checks, outcome) = checks(Impersonation::from_headers(&headers).unwrap().unwrap(), &["impersonate"]);
        let expected = [
            "impersonate-on:user-info:list pods. /",
            "impersonate users. /john",
            "impersonate uids.authentication.k8s.io /42",
            "impersonate userextras/example.org/scopes.authentication.k8s.io /view",
        ];
        assert_eq!(checks, expected);
        let user = outcome.unwrap();
        assert_eq!((user.uid.as_str(), user.extra["example.org/scopes"].as_slice()), ("42", &["view".to_owned()][..]));
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
        assert_eq!(Impersonation::from_headers(&headers).unwrap(), None);
        headers.append("impersonate-group", HeaderValue::from_static("dev"));
        assert_eq!(
            Impersonation::from_headers(&headers).unwrap_err().message(),
            "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"dev\"}, \
             Extra:map[string][]string(nil)} without impersonating a user name"
        );
        headers.append("impersonate-user", HeaderValue::from_static("john"));
        headers.append("impersonate-group", HeaderValue::from_static("ops"));
        assert_eq!(Impersonation::from_headers(&headers).unwrap(), Some(impersonation("john", &["dev", "ops"])));
    }
}
