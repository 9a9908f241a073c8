//! Dispatches requests to their handlers by route and method.

use std::sync::Arc;

use bytes::Bytes;
use http::{
    HeaderName, Method, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT},
    request::Parts,
};
use parking_lot::Mutex;

use crate::{
    api::{
        endpoint::{Endpoint, PodSubresource},
        error::{ApiError, Result},
        kind::ScalePaths,
    },
    authentication::service_accounts::SERVICE_ACCOUNTS,
    authorization::user::User,
    controllers::controlled_state::ControlledState,
    handlers::{
        delete::Delete,
        get, list, pods,
        request::{self, ResourceRequest, Webhooks},
        tokens,
        watch::Watch,
        write::{Verb, Write, Written, scale},
    },
    meta::{
        discovery::{self, aggregated},
        health,
        openapi::{self, DocumentCache},
        review::Review,
    },
    resource::registry::Resource,
    response::{api_response::ApiResponse, document::Caching},
    storage::state::State,
    wire::{
        content::Encoding,
        negotiation,
        request::{Query, Route, Target},
    },
};

/// The route and the body of a request.
pub(crate) struct Input {
    route: Route,
    body: Bytes,
}

impl Input {
    /// Parses what does not depend on the state, so that it is not locked meanwhile.
    pub(crate) fn parse(parts: &Parts, body: Bytes) -> Self {
        Self { route: Route::parse(parts.uri.path()), body }
    }

    /// Returns whether the request is a health check, which is handled even after a failure.
    pub(crate) fn is_health_check(&self) -> bool {
        matches!(self.route, Route::Health { .. })
    }
}

/// A request after its dispatch.
pub(crate) enum Dispatched {
    /// The response of a path that is not a resource, or of a review.
    Response(ApiResponse),
    /// A request for a served resource, which [`perform`] handles.
    Resource(Box<ResourceRequest>),
}

/// Finds what a request is for, and handles it if it is not for a resource.
pub(crate) fn dispatch(
    state: &mut State,
    cache: &mut DocumentCache,
    user: &Arc<User>,
    parts: &Parts,
    input: Input,
    webhooks: Option<Webhooks>,
) -> Result<Dispatched> {
    let Input { route, body } = input;
    if let Route::Resource(target) = route {
        return match Review::find(&target) {
            Some(_) if target.name.is_some() => Err(ApiError::unknown_resource()),
            Some(review) => review
                .respond(state, user, target.namespace.as_deref(), &parts.method, content_type(parts), &body)
                .map(Dispatched::Response),
            None => {
                let request = resource_request(state, target, user, parts, body, webhooks)?;
                Ok(Dispatched::Resource(Box::new(request)))
            }
        };
    }
    if route == Route::Unknown {
        return Err(ApiError::PageNotFound);
    }
    // The real server ignores the method for its lists of groups and its health checks.
    let any_method = matches!(
        route,
        Route::Root
            | Route::Groups
            | Route::Group(_)
            | Route::Health { .. }
            | Route::OpenApiV2
            | Route::OpenApiIndex
            | Route::OpenApi { .. }
    );
    if !any_method && !matches!(parts.method, Method::GET | Method::HEAD) {
        return Err(ApiError::method_not_allowed());
    }
    handle_non_resource(state, cache, route, parts).map(Dispatched::Response)
}

/// Handles a request for a path that is not a resource: discovery, OpenAPI, version and health.
fn handle_non_resource(state: &State, cache: &mut DocumentCache, route: Route, parts: &Parts) -> Result<ApiResponse> {
    let is_aggregated = aggregated::is_requested(header(parts, &ACCEPT));
    let kinds = match &route {
        Route::OpenApiIndex => return Ok(openapi::index(state, cache)),
        Route::OpenApi { group, version } => return Ok(openapi::v3(state, cache, (group, version), parts)),
        Route::OpenApiV2 => return Ok(openapi::v2(parts)),
        _ => &state.registry,
    };
    let is_discovery = matches!(route, Route::CoreVersions | Route::Groups | Route::Group(_) | Route::Resources { .. });
    if is_discovery && !is_aggregated {
        negotiation::negotiate(header(parts, &ACCEPT), &Query::default(), false)
            .map_err(|_| ApiError::not_acceptable())?;
    }
    Ok(match route {
        Route::Health { endpoint, check } => {
            let query = Query::parse(parts.uri.query().unwrap_or_default());
            health::respond(state, &endpoint, check.as_deref(), &query)?
        }
        Route::Version if !negotiation::accepts_json(header(parts, &ACCEPT)) => return Err(ApiError::json_only()),
        Route::Version => ApiResponse::value(discovery::version()),
        Route::CoreVersions if is_aggregated => {
            aggregated::document(&aggregated::core(kinds)?).respond(parts, Caching::Public).into()
        }
        Route::Groups if is_aggregated => {
            aggregated::document(&aggregated::groups(kinds)?).respond(parts, Caching::Public).into()
        }
        Route::Root => ApiResponse::value(discovery::paths(kinds)),
        Route::CoreVersions => ApiResponse::value(discovery::core_versions(header(parts, &HOST))),
        Route::Groups => ApiResponse::value(discovery::groups(kinds)),
        Route::Group(name) => ApiResponse::value(discovery::group(kinds, &name)?),
        Route::Resources { group, version } => ApiResponse::value(discovery::resources(kinds, &group, &version)?),
        _ => return Err(ApiError::PageNotFound),
    })
}

/// Returns the text of a header, or an empty string.
fn header<'a>(parts: &'a Parts, name: &HeaderName) -> &'a str {
    parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Returns the media type of the body, without parameters.
fn content_type(parts: &Parts) -> &str {
    header(parts, &CONTENT_TYPE).split(';').next().unwrap_or_default().trim()
}

fn resource_request(
    state: &State,
    target: Target,
    user: &Arc<User>,
    parts: &Parts,
    body: Bytes,
    webhooks: Option<Webhooks>,
) -> Result<ResourceRequest> {
    let kind = find_kind(state, &target, &parts.method)?;
    let endpoint = endpoint(&kind, &target)?;
    if parts.method == Method::HEAD && !kind.is_custom {
        return Err(ApiError::method_not_allowed());
    }
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let (representation, encoding) = negotiation::negotiate(header(parts, &ACCEPT), &query, kind.is_custom)?;
    let kind = match &webhooks {
        Some(webhooks) => kind.bound_to(&webhooks.conversions),
        None => kind,
    };
    Ok(ResourceRequest {
        user: user.clone(),
        representation,
        encoding,
        kind,
        namespace: target.namespace,
        name: target.name,
        endpoint,
        manager: request::manager(&query, header(parts, &USER_AGENT)),
        query,
        content_type: content_type(parts).to_owned(),
        body,
        strict_errors: Mutex::default(),
        warnings: Mutex::default(),
        webhooks,
    })
}

/// Returns the kind of a path, if it is served at that path.
fn find_kind(state: &State, target: &Target, method: &Method) -> Result<Arc<Resource>> {
    let Some(kind) = state.registry.get(&target.group, &target.version, &target.plural) else {
        return Err(if state.registry.has_built_in(&target.group) {
            ApiError::unknown_resource()
        } else {
            ApiError::PageNotFound
        });
    };
    // Only lists and watches span all namespaces.
    let all_namespaces =
        target.namespace.is_none() && target.name.is_none() && matches!(*method, Method::GET | Method::HEAD);
    if target.namespace.is_some() == kind.namespaced || all_namespaces && kind.namespaced {
        Ok(kind)
    } else if !kind.is_custom && kind.namespaced && target.name.is_none() {
        Err(ApiError::method_not_allowed())
    } else {
        Err(ApiError::PageNotFound)
    }
}

fn endpoint(kind: &Resource, target: &Target) -> Result<Endpoint> {
    match (target.subresource.as_deref(), &kind.scale) {
        (None, _) => Ok(Endpoint::Main),
        (Some("status"), _) if kind.has_status => Ok(Endpoint::Status),
        (Some("finalize"), _) if kind.strategy.has_finalize => Ok(Endpoint::Finalize),
        (Some("approval"), _) if kind.strategy.has_approval => Ok(Endpoint::Approval),
        (Some(name), _)
            if let Some(subresource) = PodSubresource::find(name)
                && kind.strategy.pod_subresources.contains(&subresource) =>
        {
            Ok(Endpoint::Pod(subresource))
        }
        (Some("token"), _) if !kind.is_custom && kind.group_resource() == SERVICE_ACCOUNTS => Ok(Endpoint::Token),
        (Some("scale"), Some(paths)) => Ok(Endpoint::Scale(paths.clone())),
        (Some(_), _) if kind.is_custom => Err(ApiError::not_found(kind, target.name.as_deref().unwrap_or_default())),
        (Some(_), _) => Err(ApiError::unknown_resource()),
    }
}

/// Handles a request for a resource.
///
/// # Errors
/// Those of the verb; with warnings, an error is a response as well.
pub(crate) async fn perform(
    state: &ControlledState,
    method: &Method,
    request: &ResourceRequest,
) -> Result<ApiResponse> {
    request.warnings.lock().extend(request.kind.warning().map(str::to_owned));
    let outcome = match &request.endpoint {
        Endpoint::Scale(paths) => perform_scale(state, method, request, paths).await,
        Endpoint::Pod(subresource) if !subresource.is_part() => {
            let created = state.change(|state| pods::create(state, method, request, *subresource));
            created.flatten().map(|()| ApiResponse::success(StatusCode::CREATED))
        }
        Endpoint::Token => {
            tokens::create(&state.lock(), method, request).map(|token| ApiResponse::Value(StatusCode::CREATED, token))
        }
        Endpoint::Finalize if *method != Method::PUT => Err(ApiError::method_not_allowed()),
        Endpoint::Main | Endpoint::Status | Endpoint::Finalize | Endpoint::Approval | Endpoint::Pod(_) => match *method
        {
            Method::GET | Method::HEAD => read(state, request).await,
            Method::DELETE => delete(state, request).await,
            _ => write(state, method, request).await,
        },
    };
    let warnings = std::mem::take(&mut *request.warnings.lock());
    match warnings.is_empty() {
        true => outcome,
        false => Ok(ApiResponse::WithWarnings(Box::new(outcome.unwrap_or_else(ApiResponse::from)), warnings)),
    }
}

async fn read(state: &ControlledState, request: &ResourceRequest) -> Result<ApiResponse> {
    if request.name.is_some() {
        return Ok(ApiResponse::object(StatusCode::OK, request, &get::get(state, request).await?));
    }
    if !request.query.flag("watch") {
        return Ok(ApiResponse::list(request, list::list(state, request).await?));
    }
    if request.encoding == Encoding::Yaml {
        return Err(ApiError::stream_not_acceptable());
    }
    Ok(ApiResponse::Watch(Box::new(Watch::new(state, request).await?)))
}

async fn delete(state: &ControlledState, request: &ResourceRequest) -> Result<ApiResponse> {
    let kind = &request.kind;
    if is_part(&request.endpoint) {
        return Err(unsupported_verb(kind, &Method::DELETE));
    }
    if request.name.is_some() {
        return Ok(ApiResponse::deleted(request, &Delete::new(state, request)?.named().await?));
    }
    if !kind.strategy.allows_delete_collection {
        return Err(ApiError::method_not_allowed());
    }
    Ok(ApiResponse::list(request, Delete::new(state, request)?.collection().await?))
}

async fn write(state: &ControlledState, method: &Method, request: &ResourceRequest) -> Result<ApiResponse> {
    let (kind, is_named) = (&request.kind, request.name.is_some());
    let verb = match *method {
        Method::POST if is_part(&request.endpoint) => return Err(unsupported_verb(kind, method)),
        Method::POST if !is_named || kind.is_custom => Verb::Create,
        Method::PUT if is_named => Verb::Update,
        Method::PATCH if is_named && request.is_apply() => Verb::Apply,
        Method::PATCH if is_named => Verb::Patch,
        Method::PUT | Method::PATCH if kind.is_custom => {
            return Err(ApiError::bad_request("name must be provided"));
        }
        _ => return Err(ApiError::method_not_allowed()),
    };
    let Written { object, is_created } = Write::new(state, request, verb)?.run().await?;
    let code = if is_created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(ApiResponse::object(code, request, &object))
}

/// Whether an endpoint is a part of an object, which is neither created nor deleted.
fn is_part(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Status | Endpoint::Approval | Endpoint::Pod(_))
}

async fn perform_scale(
    state: &ControlledState,
    method: &Method,
    request: &ResourceRequest,
    paths: &ScalePaths,
) -> Result<ApiResponse> {
    let kind = &request.kind;
    let verb = match *method {
        Method::GET | Method::HEAD => {
            let found = request.find(state).await?;
            let object = found.ok_or_else(|| ApiError::not_found(kind, request.name()))?;
            return Ok(ApiResponse::scale(request, &scale::get(kind, &object, paths)?));
        }
        Method::PUT => Verb::Update,
        Method::PATCH if request.is_apply() => Verb::Apply,
        Method::PATCH => Verb::Patch,
        Method::POST | Method::DELETE => return Err(unsupported_verb(kind, method)),
        _ => return Err(ApiError::method_not_allowed()),
    };
    let Written { object, .. } = Write::new(state, request, verb)?.run().await?;
    Ok(ApiResponse::scale(request, &scale::written(kind, &object, paths)?))
}

/// Returns the error for creating or deleting a subresource.
fn unsupported_verb(kind: &Resource, method: &Method) -> ApiError {
    if !kind.is_custom {
        return ApiError::method_not_allowed();
    }
    ApiError::not_supported(kind, if *method == Method::POST { "create" } else { "delete" })
}
