//! Dispatches requests to their handlers by route and method.

use std::{cell::RefCell, sync::Arc};

use bytes::Bytes;
use http::{
    HeaderName, Method, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT},
    request::Parts,
};

use crate::{
    api::{
        endpoint::{Endpoint, PodSubresource},
        error::{ApiError, Result},
        kind::ScalePaths,
    },
    authentication::service_accounts::SERVICE_ACCOUNTS,
    authorization::user::User,
    handlers::{
        apply, delete, get, list, pods,
        request::{self, ResourceRequest},
        scale, tokens,
        watch::Watch,
        webhooks::Session,
        write,
    },
    meta::{
        discovery::{self, aggregated},
        health,
        openapi::{self, DocumentCache},
        review::Review,
    },
    resource::{patch, registry::Resource},
    response::{api_response::ApiResponse, document::Caching},
    storage::state::State,
    wire::{
        body,
        content::Encoding,
        duplicate_fields::{self, Decoded},
        negotiation,
        request::{Query, Route, Target},
    },
};

/// The size up to which a body is decoded before the state is locked, in bytes. This bounds the memory of bodies that
/// are decoded concurrently.
const MAX_CONCURRENTLY_DECODED: usize = 64 << 10;

/// The route and the body of a request.
pub(crate) struct Input {
    route: Route,
    body: Bytes,
    /// The body, if it is decoded already.
    decoded: Option<serde_json::Result<Decoded>>,
}

impl Input {
    /// Parses what does not depend on the state, so that it is not locked meanwhile: the path, and the JSON of small
    /// objects.
    pub(crate) fn parse(parts: &Parts, body: Bytes) -> Self {
        let route = Route::parse(parts.uri.path());
        let is_decoded = body.len() <= MAX_CONCURRENTLY_DECODED && is_write_of_json(&route, parts);
        let decoded = is_decoded.then(|| duplicate_fields::json(&body));
        Self { route, body, decoded }
    }

    /// Returns whether the request is a health check, which is handled even after a failure.
    pub(crate) fn is_health_check(&self) -> bool {
        matches!(self.route, Route::Health { .. })
    }
}

/// Returns whether the body of a request is the JSON of a created or updated object.
fn is_write_of_json(route: &Route, parts: &Parts) -> bool {
    let Route::Resource(target) = route else { return false };
    matches!(parts.method, Method::POST | Method::PUT)
        && matches!(target.subresource.as_deref(), None | Some("status"))
        && matches!(content_type(parts), "" | body::JSON)
        && Review::find(target).is_none()
}

/// Handles a request. With a session, writes call webhooks.
pub(crate) fn handle(
    state: &mut State,
    cache: &mut DocumentCache,
    user: &Arc<User>,
    parts: &Parts,
    input: Input,
    webhooks: Option<&Arc<Session>>,
) -> Result<ApiResponse> {
    let Input { route, body, decoded } = input;
    if let Route::Resource(target) = route {
        return match Review::find(&target) {
            Some(_) if target.name.is_some() => Err(ApiError::unknown_resource()),
            Some(review) => {
                review.respond(state, user, target.namespace.as_deref(), &parts.method, content_type(parts), &body)
            }
            None => resource(state, target, user, parts, (body, decoded), webhooks),
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
    handle_non_resource(state, cache, route, parts)
}

/// Handles a request for a path that is not a resource: discovery, OpenAPI, version and health.
fn handle_non_resource(state: &State, cache: &mut DocumentCache, route: Route, parts: &Parts) -> Result<ApiResponse> {
    let is_aggregated = aggregated::is_requested(header(parts, &ACCEPT));
    let kinds = match &route {
        Route::OpenApiIndex => return Ok(openapi::index(state, cache)),
        Route::OpenApi { group, version } => return Ok(openapi::v3(state, cache, (group, version), parts)),
        Route::OpenApiV2 => return Ok(openapi::v2(state, cache, parts)),
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
            aggregated::document(&aggregated::core(kinds)?).respond(parts, Caching::Public)
        }
        Route::Groups if is_aggregated => {
            aggregated::document(&aggregated::groups(kinds)?).respond(parts, Caching::Public)
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

fn resource(
    state: &mut State,
    target: Target,
    user: &Arc<User>,
    parts: &Parts,
    (body, decoded): (Bytes, Option<serde_json::Result<Decoded>>),
    webhooks: Option<&Arc<Session>>,
) -> Result<ApiResponse> {
    let kind = find_kind(state, &target, &parts.method)?;
    let kind = webhooks.map_or_else(|| Arc::clone(&kind), |session| kind.bound_to(session.conversions()));
    let endpoint = endpoint(&kind, &target)?;
    let is_unsupported = match parts.method {
        Method::GET => false,
        Method::HEAD => !kind.is_custom,
        _ => kind.strategy.is_read_only,
    };
    if is_unsupported {
        return Err(ApiError::method_not_allowed());
    }
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let warnings = kind.warning().map(str::to_owned).into_iter().collect();
    let (representation, encoding) = negotiation::negotiate(header(parts, &ACCEPT), &query, kind.is_custom)?;
    let request = ResourceRequest {
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
        decoded: RefCell::new(decoded),
        strict_errors: RefCell::default(),
        warnings: RefCell::new(warnings),
        webhooks: webhooks.cloned(),
    };
    let outcome = perform(state, &parts.method, &request);
    if let Err(ApiError::WebhookPending) = outcome {
        return outcome;
    }
    match request.warnings.take() {
        warnings if warnings.is_empty() => outcome,
        warnings => Ok(ApiResponse::WithWarnings(Box::new(outcome.unwrap_or_else(ApiResponse::from)), warnings)),
    }
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

fn perform(state: &mut State, method: &Method, request: &ResourceRequest) -> Result<ApiResponse> {
    let kind = &request.kind;
    let named = request.name.is_some();
    if let Endpoint::Scale(paths) = &request.endpoint {
        return perform_scale(state, method, request, paths);
    }
    if let Endpoint::Pod(subresource) = request.endpoint
        && !subresource.is_part()
    {
        pods::create(state, method, request, subresource)?;
        return Ok(ApiResponse::success(StatusCode::CREATED));
    }
    if request.endpoint == Endpoint::Token {
        return Ok(ApiResponse::Value(StatusCode::CREATED, tokens::create(state, method, request)?));
    }
    if request.endpoint == Endpoint::Finalize && *method != Method::PUT {
        return Err(ApiError::method_not_allowed());
    }
    match *method {
        Method::GET | Method::HEAD if named => {
            Ok(ApiResponse::object(StatusCode::OK, request, &get::get(state, request)?))
        }
        Method::GET | Method::HEAD if request.query.flag("watch") && kind.strategy.is_read_only => {
            Err(ApiError::not_supported(kind, "watch"))
        }
        Method::GET | Method::HEAD if request.query.flag("watch") && request.encoding == Encoding::Yaml => {
            Err(ApiError::stream_not_acceptable())
        }
        Method::GET | Method::HEAD if request.query.flag("watch") => {
            Ok(ApiResponse::Watch(Box::new(Watch::new(state, request)?)))
        }
        Method::GET | Method::HEAD => Ok(ApiResponse::list(request, list::list(state, request)?)),
        Method::POST | Method::DELETE
            if matches!(request.endpoint, Endpoint::Status | Endpoint::Approval | Endpoint::Pod(_)) =>
        {
            Err(unsupported_verb(kind, method))
        }
        Method::POST if !named || kind.is_custom => {
            Ok(ApiResponse::object(StatusCode::CREATED, request, &write::create(state, request)?))
        }
        Method::PUT if named => {
            let (code, object) = write::update(state, request)?;
            Ok(ApiResponse::object(code, request, &object))
        }
        Method::PATCH if named && request.is_apply() => {
            let (code, object) = apply::apply(state, request)?;
            Ok(ApiResponse::object(code, request, &object))
        }
        Method::PATCH if named => Ok(ApiResponse::object(StatusCode::OK, request, &write::patch(state, request)?)),
        Method::PUT | Method::PATCH if kind.is_custom => Err(ApiError::bad_request("name must be provided")),
        Method::DELETE if named => Ok(ApiResponse::deleted(request, &delete::delete(state, request)?)),
        Method::DELETE if kind.strategy.allows_delete_collection => {
            Ok(ApiResponse::list(request, delete::delete_collection(state, request)?))
        }
        _ => Err(ApiError::method_not_allowed()),
    }
}

fn perform_scale(
    state: &mut State,
    method: &Method,
    request: &ResourceRequest,
    paths: &ScalePaths,
) -> Result<ApiResponse> {
    let scale = match *method {
        Method::GET | Method::HEAD => scale::get(state, request, paths),
        Method::PUT => scale::update(state, request, paths),
        Method::PATCH if request.is_apply() => scale::apply(state, request, paths),
        Method::PATCH => patch::check_media_type(&request.content_type, request.kind.is_custom)
            .and_then(|()| scale::patch(state, request, paths)),
        Method::POST | Method::DELETE => Err(unsupported_verb(&request.kind, method)),
        _ => Err(ApiError::method_not_allowed()),
    };
    Ok(ApiResponse::scale(request, &scale?))
}

/// Returns the error for creating or deleting a subresource.
fn unsupported_verb(kind: &Resource, method: &Method) -> ApiError {
    if !kind.is_custom {
        return ApiError::method_not_allowed();
    }
    ApiError::not_supported(kind, if *method == Method::POST { "create" } else { "delete" })
}
