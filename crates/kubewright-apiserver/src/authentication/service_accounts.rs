//! The tokens of service accounts: issued for an account and optionally an object, and valid as long as both exist.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    jwt::{self, Invalid, Unverified},
    signing_key::{SigningKey, SigningKeyError},
};
use crate::{api::object::Object, authorization::user::User, resource::strategy::Objects};

/// The resource of service accounts.
pub(crate) const SERVICE_ACCOUNTS: &str = "serviceaccounts";
/// The issuer of tokens unless the server is configured otherwise, as in clusters of kubeadm.
pub(crate) const DEFAULT_ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
/// The tolerated difference between clocks.
const LEEWAY_SECONDS: i64 = 60;

/// The extra field with the ID of the credential.
pub(crate) const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
const INVALIDATED: &str = "service account token has been invalidated";

/// The claims of a token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) aud: Vec<String>,
    pub(crate) exp: i64,
    pub(crate) iat: i64,
    pub(crate) iss: String,
    pub(crate) jti: String,
    #[serde(rename = "kubernetes.io")]
    pub(crate) kubernetes: BoundObjects,
    pub(crate) nbf: i64,
    pub(crate) sub: String,
}

/// The service account of a token, and the objects that it is bound to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BoundObjects {
    pub(crate) namespace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<Reference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pod: Option<Reference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<Reference>,
    pub(crate) serviceaccount: Reference,
    /// When the client should have replaced the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) warnafter: Option<i64>,
}

/// An object in the claims of a token.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reference {
    pub(crate) name: String,
    /// Empty for the node of a pod that does not exist.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) uid: String,
}

impl Reference {
    pub(crate) fn to(object: &Object) -> Self {
        Self { name: object.name().to_owned(), uid: object.uid().to_owned() }
    }
}

/// A requested token.
#[derive(Debug)]
pub(crate) struct TokenSpec {
    pub(crate) bound: BoundObjects,
    pub(crate) audiences: Vec<String>,
    pub(crate) expiration_seconds: i64,
}

/// Issues and verifies tokens. The key is generated when it is needed first, unless the server is configured with one.
#[derive(Debug)]
pub(crate) struct TokenIssuer {
    pub(crate) issuer: String,
    key: OnceLock<Arc<SigningKey>>,
}

impl TokenIssuer {
    pub(crate) fn new(issuer: String, key: Option<Arc<SigningKey>>) -> Self {
        Self { issuer, key: key.map(OnceLock::from).unwrap_or_default() }
    }

    /// Returns the audiences of this server, those of tokens that are requested for no other one.
    pub(crate) fn audiences(&self) -> Vec<String> {
        vec![self.issuer.clone()]
    }

    /// Issues a token at a time, in seconds since 1970.
    ///
    /// # Errors
    /// The system provides no random numbers for the key or the signature.
    pub(crate) fn issue(&self, spec: TokenSpec, now: i64) -> Result<String, SigningKeyError> {
        let account = &spec.bound.serviceaccount.name;
        let claims = Claims {
            sub: format!("system:serviceaccount:{}:{account}", spec.bound.namespace),
            aud: spec.audiences,
            exp: now.saturating_add(spec.expiration_seconds),
            iat: now,
            iss: self.issuer.clone(),
            jti: uuid::Uuid::new_v4().to_string(),
            kubernetes: spec.bound,
            nbf: now,
        };
        jwt::sign(self.key()?, &json!(claims))
    }

    fn key(&self) -> Result<&SigningKey, SigningKeyError> {
        match self.key.get() {
            Some(key) => Ok(key),
            None => {
                let key = Arc::new(SigningKey::generate()?);
                Ok(self.key.get_or_init(|| key))
            }
        }
    }

    /// Verifies the issuer and the signature of a token. Returns `None` for a text that is no token of this issuer.
    pub(super) fn verify(&self, token: &str) -> Option<Result<Claims, String>> {
        let unverified = Unverified::parse(token).filter(|token| token.is_of(&self.issuer))?;
        match unverified.verify(self.key.get().map(Arc::as_ref)) {
            Ok(claims) => Some(Ok(claims)),
            Err(Invalid::Malformed) => None,
            Err(Invalid::UnknownKey) => Some(Err("invalid signature, no keys found".to_owned())),
            Err(Invalid::Signature) => Some(Err("go-jose/go-jose: error in cryptographic primitive".to_owned())),
        }
    }
}

impl Claims {
    /// Returns the user of a verified token, and the requested audiences that it is for.
    ///
    /// # Errors
    /// The token is for other audiences, is expired, or an object that it is bound to does not exist any more. The
    /// error is that of the real server.
    pub(super) fn authenticate(
        &self,
        objects: &dyn Objects,
        requested: &[String],
        now: Timestamp,
    ) -> Result<(User, Vec<String>), String> {
        let audiences: Vec<String> = self.aud.iter().filter(|audience| requested.contains(audience)).cloned().collect();
        if audiences.is_empty() {
            let (actual, requested) = (quoted(&self.aud), quoted(requested));
            return Err(format!("token audiences {actual} is invalid for the target audiences {requested}"));
        }
        self.check_times(now)?;
        self.kubernetes.check(objects, now)?;
        Ok((self.user(), audiences))
    }

    fn check_times(&self, now: Timestamp) -> Result<(), String> {
        let (now, leeway) = (now.as_second(), LEEWAY_SECONDS);
        let error = if now + leeway < self.nbf {
            "service account token is not valid yet"
        } else if now - leeway > self.exp {
            "service account token has expired"
        } else if now + leeway < self.iat {
            "service account token is issued in the future"
        } else {
            return Ok(());
        };
        Err(error.to_owned())
    }

    fn user(&self) -> User {
        let BoundObjects { namespace, node, pod, serviceaccount, .. } = &self.kubernetes;
        let mut extra = BTreeMap::from([(CREDENTIAL_ID.to_owned(), vec![format!("JTI={}", self.jti)])]);
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() {
                extra.insert(format!("authentication.kubernetes.io/{name}"), vec![value.to_owned()]);
            }
        };
        if let Some(node) = node {
            add("node-name", &node.name);
            add("node-uid", &node.uid);
        }
        if let Some(pod) = pod {
            add("pod-name", &pod.name);
            add("pod-uid", &pod.uid);
        }
        let name = format!("system:serviceaccount:{namespace}:{}", serviceaccount.name);
        User { uid: serviceaccount.uid.clone(), extra, ..User::new(name, Vec::new()) }
    }
}

impl BoundObjects {
    /// Checks that the objects still exist.
    fn check(&self, objects: &dyn Objects, now: Timestamp) -> Result<(), String> {
        let (namespace, account) = (&self.namespace, &self.serviceaccount);
        let Some(found) = objects.get(SERVICE_ACCOUNTS, namespace, &account.name) else {
            return Err(format!("{SERVICE_ACCOUNTS} {:?} not found", account.name));
        };
        if is_deleted(&found, now) {
            return Err(format!("service account {namespace}/{} has been deleted", account.name));
        }
        if found.uid() != account.uid {
            return Err(format!("service account UID ({}) does not match claim ({})", found.uid(), account.uid));
        }
        // The node of a pod may be deleted before the pod.
        let node = self.node.as_ref().filter(|_| self.pod.is_none());
        for (kind, resource, namespace, bound) in [
            ("secret", "secrets", namespace.as_str(), self.secret.as_ref()),
            ("pod", "pods", namespace.as_str(), self.pod.as_ref()),
            ("node", "nodes", "", node),
        ] {
            let Some(bound) = bound else { continue };
            let found = objects.get(resource, namespace, &bound.name).filter(|found| !is_deleted(found, now));
            let found = found.ok_or_else(|| INVALIDATED.to_owned())?;
            if found.uid() != bound.uid {
                let (found, uid) = (found.uid(), &bound.uid);
                return Err(format!("{kind} UID ({found}) does not match service account {kind} ref claim ({uid})"));
            }
        }
        Ok(())
    }
}

/// Returns whether an object should have been removed already.
fn is_deleted(object: &Object, now: Timestamp) -> bool {
    let deletion = object.metadata.deletion_timestamp.as_ref();
    deletion.is_some_and(|time| time.0.as_second() < now.as_second() - LEEWAY_SECONDS)
}

/// Formats texts as Go's `%q` does.
fn quoted(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", texts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authentication::fixture::Existing;

    const NOW: i64 = 1_800_000_000;
    const HERE: &str = "https://here";

    fn accounts() -> Existing {
        Existing::default().with(SERVICE_ACCOUNTS, "robot", None)
    }

    fn reference(resource: &str, name: &str) -> Reference {
        Reference { name: name.to_owned(), uid: format!("{resource}-{name}") }
    }

    fn bound() -> BoundObjects {
        BoundObjects {
            namespace: "ns".to_owned(),
            serviceaccount: reference(SERVICE_ACCOUNTS, "robot"),
            ..BoundObjects::default()
        }
    }

    fn issuer() -> TokenIssuer {
        TokenIssuer::new(HERE.to_owned(), None)
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn issue(issuer: &TokenIssuer, bound: BoundObjects, audience: &str) -> Claims {
        let spec = TokenSpec { bound, audiences: vec![audience.to_owned()], expiration_seconds: 600 };
        issuer.verify(&issuer.issue(spec, NOW).unwrap()).unwrap().unwrap()
    }

    fn outcome(claims: &Claims, objects: &Existing, second: i64) -> Result<User, String> {
        claims.authenticate(objects, &[HERE.to_owned()], at(second)).map(|(user, _)| user)
    }

    #[test]
    fn a_token_has_the_claims_of_its_account() {
        let claims = issue(&issuer(), bound(), HERE);
        let mut json = json!(claims);
        assert!(json["jti"].as_str().is_some_and(|id| id.len() == 36), "{json}");
        json["jti"] = json!("id");
        let expected = json!({
            "aud": [HERE], "exp": NOW + 600, "iat": NOW, "iss": HERE, "jti": "id", "nbf": NOW,
            "sub": "system:serviceaccount:ns:robot",
            "kubernetes.io": {
                "namespace": "ns", "serviceaccount": { "name": "robot", "uid": "serviceaccounts-robot" },
            },
        });
        assert_eq!(json, expected);
        let user = outcome(&claims, &accounts(), NOW).unwrap();
        assert_eq!(user.name, "system:serviceaccount:ns:robot");
        assert_eq!(user.uid, "serviceaccounts-robot");
        let groups = ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"];
        assert_eq!(user.groups, groups);
        assert_eq!(user.extra[CREDENTIAL_ID], [format!("JTI={}", claims.jti)]);
    }

    #[test]
    fn tokens_of_other_issuers_and_keys_are_distinguished() {
        let (issuer, other) = (issuer(), TokenIssuer::new("https://elsewhere".to_owned(), None));
        let spec = || TokenSpec { bound: bound(), audiences: vec![HERE.to_owned()], expiration_seconds: 600 };
        let token = issuer.issue(spec(), NOW).unwrap();
        assert_eq!(other.verify(&token), None);
        assert_eq!(issuer.verify("token"), None);
        let same_name = TokenIssuer::new(HERE.to_owned(), None);
        assert_eq!(same_name.verify(&token), Some(Err("invalid signature, no keys found".to_owned())));
        let (message, _) = token.rsplit_once('.').unwrap();
        let forged = issuer.verify(&format!("{message}.AAAA"));
        assert_eq!(forged, Some(Err("go-jose/go-jose: error in cryptographic primitive".to_owned())));
    }

    #[test]
    fn a_configured_key_verifies_tokens_of_an_earlier_server() {
        let key = Arc::new(SigningKey::generate().unwrap());
        let [first, second] = [key.clone(), key].map(|key| TokenIssuer::new(HERE.to_owned(), Some(key)));
        let spec = TokenSpec { bound: bound(), audiences: first.audiences(), expiration_seconds: 600 };
        let token = first.issue(spec, NOW).unwrap();
        assert!(matches!(second.verify(&token), Some(Ok(_))));
    }

    #[test]
    fn a_token_is_valid_for_its_time_and_its_audiences() {
        let (claims, objects) = (issue(&issuer(), bound(), HERE), accounts());
        for (second, error) in [
            (NOW - 61, Some("service account token is not valid yet")),
            (NOW - 60, None),
            (NOW + 660, None),
            (NOW + 661, Some("service account token has expired")),
        ] {
            assert_eq!(outcome(&claims, &objects, second).err().as_deref(), error, "{second}");
        }
        let vault = issue(&issuer(), bound(), "vault");
        let error = "token audiences [\"vault\"] is invalid for the target audiences [\"https://here\"]";
        assert_eq!(outcome(&vault, &objects, NOW).unwrap_err(), error);
        let requested = ["vault".to_owned(), HERE.to_owned()];
        assert_eq!(vault.authenticate(&objects, &requested, at(NOW)).unwrap().1, ["vault"]);
    }

    #[test]
    fn a_token_of_a_deleted_or_another_account_is_invalid() {
        let claims = issue(&issuer(), bound(), HERE);
        let error = |objects: &Existing| outcome(&claims, objects, NOW).err();
        assert_eq!(error(&Existing::default()).unwrap(), "serviceaccounts \"robot\" not found");
        let deleted = |second| Existing::default().with(SERVICE_ACCOUNTS, "robot", Some(second));
        assert_eq!(error(&deleted(NOW - 61)).unwrap(), "service account ns/robot has been deleted");
        assert_eq!(error(&deleted(NOW - 60)), None);
        let mut other = claims.clone();
        other.kubernetes.serviceaccount.uid = "1".to_owned();
        assert_eq!(
            outcome(&other, &accounts(), NOW).unwrap_err(),
            "service account UID (serviceaccounts-robot) does not match claim (1)"
        );
    }

    #[test]
    fn a_token_is_bound_to_a_pod_a_secret_or_a_node() {
        let cases = [
            ("pods", BoundObjects { pod: Some(reference("pods", "web")), ..bound() }),
            ("secrets", BoundObjects { secret: Some(reference("secrets", "web")), ..bound() }),
            ("nodes", BoundObjects { node: Some(reference("nodes", "web")), ..bound() }),
        ];
        for (resource, bound) in cases {
            let claims = issue(&issuer(), bound, HERE);
            let error = |objects: &Existing| outcome(&claims, objects, NOW).err();
            assert_eq!(error(&accounts()).as_deref(), Some(INVALIDATED), "{resource}");
            assert_eq!(error(&accounts().with(resource, "web", Some(NOW - 61))).as_deref(), Some(INVALIDATED));
            assert_eq!(error(&accounts().with(resource, "web", None)), None, "{resource}");
            let mut other = claims.clone();
            let BoundObjects { pod, secret, node, .. } = &mut other.kubernetes;
            [pod, secret, node].into_iter().flatten().for_each(|bound| bound.uid = "1".to_owned());
            let kind = resource.trim_end_matches('s');
            let error = format!("{kind} UID ({resource}-web) does not match service account {kind} ref claim (1)");
            assert_eq!(outcome(&other, &accounts().with(resource, "web", None), NOW).unwrap_err(), error);
        }
    }

    #[test]
    fn the_node_of_a_pod_may_be_deleted() {
        let (pod, node) = (Some(reference("pods", "web")), Some(reference("nodes", "n")));
        let claims = issue(&issuer(), BoundObjects { pod, node, ..bound() }, HERE);
        let user = outcome(&claims, &accounts().with("pods", "web", None), NOW).unwrap();
        let extra: Vec<(&str, &str)> =
            user.extra.iter().map(|(name, values)| (name.as_str(), values[0].as_str())).collect();
        assert_eq!(
            extra[1..],
            [
                ("authentication.kubernetes.io/node-name", "n"),
                ("authentication.kubernetes.io/node-uid", "nodes-n"),
                ("authentication.kubernetes.io/pod-name", "web"),
                ("authentication.kubernetes.io/pod-uid", "pods-web"),
            ]
        );
    }
}
