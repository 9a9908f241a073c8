//! Access and token reviews. Without authorization by roles everything is allowed.

use http::{Method, StatusCode};
use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        object::now,
    },
    authentication::authenticator::Reviewed,
    authorization::{
        attributes::Attributes,
        rbac::{MissingRole, errors},
        rules::list,
        user::User,
    },
    handlers::decode::Expected,
    response::api_response::ApiResponse,
    storage::state::State,
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
        state: &State,
        user: &User,
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
        let fields = fields.map_err(|error| body::unrecognized(self.kind, &error.into_message(), body))?;
        Expected { group: self.group, version: Self::VERSION, kind: self.kind }.check(&fields)?;
        let spec = fields.get("spec").cloned().unwrap_or_else(|| json!({}));
        self.check(namespace, &spec)?;
        let mut review = json!({ "kind": self.kind, "apiVersion": api_version, "metadata": {} });
        if let Some(namespace) = namespace {
            review["metadata"]["namespace"] = json!(namespace);
        }
        review["status"] = self.status(state, user, &spec);
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

    fn status(&self, state: &State, user: &User, spec: &Value) -> Value {
        match self.kind {
            "SelfSubjectReview" => json!({ "userInfo": user_info(user) }),
            "TokenReview" => token(state, spec),
            "SelfSubjectRulesReview" => rules(state, user, text(spec, "namespace")),
            "SelfSubjectAccessReview" => access(state, user, spec),
            _ => {
                let groups = spec["groups"].as_array().into_iter().flatten();
                let groups = groups.filter_map(|group| group.as_str().map(str::to_owned)).collect();
                // Unlike those of a request, the groups are exactly these.
                access(state, &User { name: text(spec, "user").to_owned(), groups, ..User::default() }, spec)
            }
        }
    }
}

/// Returns the status of a token review.
fn token(state: &State, spec: &Value) -> Value {
    let audiences = spec["audiences"].as_array().into_iter().flatten();
    let audiences: Vec<String> = audiences.filter_map(|audience| audience.as_str().map(str::to_owned)).collect();
    match state.authenticator.review(&state.store, text(spec, "token"), &audiences) {
        Reviewed::Authenticated(user, audiences) => {
            json!({ "authenticated": true, "user": user_info(&user), "audiences": audiences })
        }
        Reviewed::Rejected(error) => json!({ "user": {}, "error": error }),
    }
}

/// Returns a user without empty fields.
fn user_info(user: &User) -> Value {
    let mut info = json!({ "username": user.name });
    if !user.uid.is_empty() {
        info["uid"] = json!(user.uid);
    }
    if !user.groups.is_empty() {
        info["groups"] = json!(user.groups);
    }
    if !user.extra.is_empty() {
        info["extra"] = json!(user.extra);
    }
    info
}

/// Returns the status of an access review.
fn access(state: &State, user: &User, spec: &Value) -> Value {
    let decision = state.decide(user, &attributes(spec));
    let mut status = json!({ "allowed": decision.allowed });
    if !decision.reason.is_empty() {
        status["reason"] = json!(decision.reason);
    }
    status
}

/// Returns the attributes that an access review asks for.
fn attributes(spec: &Value) -> Attributes {
    let resource = &spec["resourceAttributes"];
    if resource.is_null() {
        let path = &spec["nonResourceAttributes"];
        let verb = text(path, "verb").to_owned();
        return Attributes { verb, path: Some(text(path, "path").to_owned()), ..Attributes::default() };
    }
    let attribute = |name: &str| text(resource, name).to_owned();
    Attributes {
        verb: attribute("verb"),
        group: attribute("group"),
        resource: attribute("resource"),
        subresource: attribute("subresource"),
        namespace: attribute("namespace"),
        name: attribute("name"),
        path: None,
    }
}

/// Returns the status of a rules review.
fn rules(state: &State, user: &User, namespace: &str) -> Value {
    if !state.rbac {
        return json!({
            "resourceRules": [{ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] }],
            "nonResourceRules": [{ "verbs": ["*"], "nonResourceURLs": ["*"] }],
            "incomplete": false,
        });
    }
    let (rules, missing) = state.store.bindings().rules_for(user, namespace);
    let (mut of_resources, mut of_paths) = (Vec::new(), Vec::new());
    for rule in rules {
        if !list(&rule.resources).is_empty() {
            of_resources.push(json!(PolicyRule { non_resource_urls: None, ..rule.clone() }));
        }
        if !list(&rule.non_resource_urls).is_empty() {
            of_paths.push(json!({ "verbs": rule.verbs, "nonResourceURLs": rule.non_resource_urls }));
        }
    }
    let mut status = json!({ "resourceRules": of_resources, "nonResourceRules": of_paths, "incomplete": false });
    if let Some(errors) = errors(&missing, MissingRole::lister_error) {
        status["evaluationError"] = json!(errors);
    }
    status
}

/// Returns a text field, or an empty text.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
