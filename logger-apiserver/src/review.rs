//! Reviews: who asks what it may do is told that it may do anything, since nobody is refused here

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    body,
    object::now,
    request::Target,
    status::{Refusal, Result},
};

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// A kind that is asked for and not stored.
#[derive(Debug)]
pub(crate) struct Review {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) namespaced: bool,
}

/// By group and plural, as discovery lists them.
pub(crate) const ALL: [Review; 5] = [
    Review { group: AUTHENTICATION, kind: "SelfSubjectReview", namespaced: false },
    Review { group: AUTHORIZATION, kind: "LocalSubjectAccessReview", namespaced: true },
    Review { group: AUTHORIZATION, kind: "SelfSubjectAccessReview", namespaced: false },
    Review { group: AUTHORIZATION, kind: "SelfSubjectRulesReview", namespaced: false },
    Review { group: AUTHORIZATION, kind: "SubjectAccessReview", namespaced: false },
];

impl Review {
    /// The version that every one of them is served in.
    pub(crate) const VERSION: &'static str = "v1";

    pub(crate) fn plural(&self) -> String {
        format!("{}s", self.singular())
    }

    pub(crate) fn singular(&self) -> String {
        self.kind.to_lowercase()
    }

    /// The review a path is of.
    pub(crate) fn find(target: &Target) -> Option<&'static Self> {
        let is = |review: &&Self| {
            review.group == target.group
                && target.version == Self::VERSION
                && review.plural() == target.plural
                && review.namespaced == target.namespace.is_some()
        };
        ALL.iter().find(is).filter(|_| target.name.is_none())
    }

    /// What is answered to one that is asked for.
    pub(crate) fn answer(&self, method: &Method, content_type: &str, body: &[u8]) -> Result<Answer> {
        if *method != Method::POST {
            return Err(Refusal::method_not_allowed());
        }
        let api_version = format!("{}/{}", self.group, Self::VERSION);
        body::check_media_type(content_type, false)?;
        let asked = body::fields(content_type, body, &api_version, self.kind);
        let asked = asked.map_err(|mistake| body::unrecognized(self.kind, &mistake.into_text(), body))?;
        let mut answer = json!({ "kind": self.kind, "apiVersion": api_version, "metadata": {} });
        if self.group == AUTHENTICATION {
            answer["metadata"]["creationTimestamp"] = json!(now());
        } else {
            answer["spec"] = asked.get("spec").cloned().unwrap_or_else(|| json!({}));
        }
        answer["status"] = self.status();
        Ok(Answer::Value(StatusCode::CREATED, answer))
    }

    fn status(&self) -> Value {
        match self.kind {
            "SelfSubjectReview" => {
                json!({ "userInfo": { "username": "admin", "groups": ["system:masters", "system:authenticated"] } })
            }
            "SelfSubjectRulesReview" => json!({
                "resourceRules": [{ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] }],
                "nonResourceRules": [{ "verbs": ["*"], "nonResourceURLs": ["*"] }],
                "incomplete": false,
            }),
            _ => json!({ "allowed": true }),
        }
    }
}
