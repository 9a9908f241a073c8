//! Access and token reviews. Everything is allowed, since the server authorizes every request.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        object::now,
    },
    handlers::decode::Expected,
    response::api_response::ApiResponse,
    wire::{body, request::Target},
};

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// A kind of review, which can only be created and is not stored.
#[derive(Debug)]
pub(crate) struct Review {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) namespaced: bool,
}

/// All reviews, by group and plural as in discovery.
pub(crate) const ALL: [Review; 6] = [
    Review { group: AUTHENTICATION, kind: "SelfSubjectReview", namespaced: false },
    Review { group: AUTHENTICATION, kind: "TokenReview", namespaced: false },
    Review { group: AUTHORIZATION, kind: "LocalSubjectAccessReview", namespaced: true },
    Review { group: AUTHORIZATION, kind: "SelfSubjectAccessReview", namespaced: false },
    Review { group: AUTHORIZATION, kind: "SelfSubjectRulesReview", namespaced: false },
    Review { group: AUTHORIZATION, kind: "SubjectAccessReview", namespaced: false },
];

impl Review {
    /// The version of all reviews.
    pub(crate) const VERSION: &'static str = "v1";

    pub(crate) fn plural(&self) -> String {
        format!("{}s", self.singular())
    }

    pub(crate) fn singular(&self) -> String {
        self.kind.to_lowercase()
    }

    /// Returns the review of a path.
    pub(crate) fn find(target: &Target) -> Option<&'static Self> {
        let is = |review: &&Self| {
            review.group == target.group
                && target.version == Self::VERSION
                && review.plural() == target.plural
                && review.namespaced == target.namespace.is_some()
        };
        ALL.iter().find(is)
    }

    /// Handles the creation of a review.
    pub(crate) fn respond(
        &self,
        namespace: Option<&str>,
        method: &Method,
        content_type: &str,
        body: &[u8],
    ) -> Result<ApiResponse> {
        if *method != Method::POST {
            return Err(ApiError::method_not_allowed());
        }
        let api_version = format!("{}/{}", self.group, Self::VERSION);
        body::check_media_type(content_type, false)?;
        let fields = body::fields(content_type, body, &api_version, self.kind);
        let fields = fields.map_err(|error| body::unrecognized(self.kind, &error.into_message(), body))?.fields;
        Expected { group: self.group, version: Self::VERSION, kind: self.kind }.check(&fields)?;
        let spec = fields.get("spec").cloned().unwrap_or_else(|| json!({}));
        self.check(namespace, &spec)?;
        let mut review = json!({ "kind": self.kind, "apiVersion": api_version, "metadata": {} });
        if let Some(namespace) = namespace {
            review["metadata"]["namespace"] = json!(namespace);
        }
        review["status"] = self.status(&spec);
        match self.kind {
            "SelfSubjectReview" => review["metadata"]["creationTimestamp"] = json!(now()),
            // The response does not repeat the spec.
            "SelfSubjectRulesReview" => review["spec"] = json!({}),
            _ => review["spec"] = spec,
        }
        Ok(ApiResponse::Value(StatusCode::CREATED, review))
    }

    /// Validates the spec of a review.
    fn check(&self, namespace: Option<&str>, spec: &Value) -> Result<()> {
        let is_empty = |field: &str| spec[field].as_str().is_none_or(str::is_empty);
        match self.kind {
            "SelfSubjectReview" => Ok(()),
            "TokenReview" if is_empty("token") => {
                Err(ApiError::bad_request("token is required for TokenReview in authentication"))
            }
            "SelfSubjectRulesReview" if is_empty("namespace") => Err(ApiError::bad_request("no namespace on request")),
            "TokenReview" | "SelfSubjectRulesReview" => Ok(()),
            _ => {
                let errors = self.errors(namespace, spec);
                if errors.is_empty() { Ok(()) } else { Err(ApiError::invalid_of("", AUTHORIZATION, "", &errors)) }
            }
        }
    }

    /// Returns the validation errors of an access review.
    fn errors(&self, namespace: Option<&str>, spec: &Value) -> Vec<FieldError> {
        const EXACTLY_ONE: &str = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        let mut errors = Vec::new();
        if spec["resourceAttributes"].is_null() && spec["nonResourceAttributes"].is_null() {
            errors.push(FieldError::invalid("spec.resourceAttributes", "null", EXACTLY_ONE));
        }
        let has_no_subject =
            spec["user"].as_str().is_none_or(str::is_empty) && spec["groups"].as_array().is_none_or(Vec::is_empty);
        if has_no_subject && !self.kind.starts_with("Self") {
            let detail = "at least one of user or group must be specified";
            errors.push(FieldError::invalid("spec.user", "\"\"", detail));
        }
        let requested = spec["resourceAttributes"]["namespace"].as_str().unwrap_or_default();
        if namespace.is_some_and(|namespace| namespace != requested) && spec["resourceAttributes"].is_object() {
            let field = "spec.resourceAttributes.namespace";
            errors.push(FieldError::invalid(field, format!("{requested:?}"), "must match metadata.namespace"));
        }
        errors
    }

    fn status(&self, spec: &Value) -> Value {
        let user = json!({ "username": "admin", "groups": ["system:masters", "system:authenticated"] });
        match self.kind {
            "SelfSubjectReview" => json!({ "userInfo": user }),
            "TokenReview" => {
                let audiences = spec.get("audiences").filter(|audiences| audiences.is_array()).cloned();
                let audiences = audiences.unwrap_or_else(|| json!(["https://kubernetes.default.svc"]));
                json!({ "authenticated": true, "user": user, "audiences": audiences })
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
