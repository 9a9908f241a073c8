//! OpenAPI: the schemas and operations of the served kinds.
//!
//! The documents are sufficient for `kubectl explain` and for `kubectl --validate`, which only checks that patches have
//! the parameter `fieldValidation`. They do not declare strategic merge patches, since the schemas have no merge keys;
//! kubectl then uses its compiled-in types. The document of version 2 is empty: kubectl and Helm do not validate kinds
//! that it does not have.

mod enums;
mod operations;
mod schemas;

use std::collections::{BTreeMap, BTreeSet};

use http::{StatusCode, header::ACCEPT, request::Parts};
use serde_json::{Map, Value, json};

use crate::{
    api::kind::group_version,
    resource::registry::Resource,
    response::{
        api_response::ApiResponse,
        document::{Caching, Document},
    },
    storage::state::State,
    wire::{protobuf::Writer, request::Query},
};

const JSON: &str = "application/json";
/// The media types of version 2 in protobuf. Older clients ask for the first, newer ones for the second. The response
/// has the first.
const PROTOBUF: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];
const TITLE: &str = "Kubernetes";
const VERSION: &str = "1.36";

/// The documents that were requested, each with the fingerprint of the kinds that it was built from.
#[derive(Debug, Default)]
pub(crate) struct DocumentCache(BTreeMap<String, (String, Document)>);

/// Returns `/openapi/v3`: the URLs of the documents, which contain the hashes of their contents.
pub(crate) fn index(state: &State, cache: &mut DocumentCache) -> ApiResponse {
    let mut paths = Map::new();
    for (group, version) in served(state) {
        let path = prefix(&group, &version);
        let url = document_url(&path, document(state, cache, &group, &version).hash());
        paths.insert(path, json!({ "serverRelativeURL": url }));
    }
    ApiResponse::Text(StatusCode::OK, json!({ "paths": paths }).to_string().into())
}

/// Returns `/openapi/v3/..`: the document of one group version. The response to a request with the current hash can be
/// cached; a request with an old hash is redirected.
pub(crate) fn v3(
    state: &State,
    cache: &mut DocumentCache,
    (group, version): (&str, &str),
    parts: &Parts,
) -> ApiResponse {
    if !served(state).contains(&(group.to_owned(), version.to_owned())) {
        return ApiResponse::Empty(StatusCode::NOT_FOUND);
    }
    if accepted(parts, &[&[JSON]]).is_none() {
        return ApiResponse::Empty(StatusCode::NOT_ACCEPTABLE);
    }
    let document = document(state, cache, group, version);
    match Query::parse(parts.uri.query().unwrap_or_default()).get("hash") {
        None => document.respond(parts, Caching::NoCache).into(),
        Some(hash) if hash == document.hash() => document.respond(parts, Caching::Immutable).into(),
        Some(_) => {
            let url = document_url(&prefix(group, version), document.hash());
            document.redirect(url).into()
        }
    }
}

/// Returns `/openapi/v2`: a document without kinds, in JSON or in protobuf.
pub(crate) fn v2(parts: &Parts) -> ApiResponse {
    let document = match accepted(parts, &[&[JSON], &PROTOBUF]) {
        None => return ApiResponse::Empty(StatusCode::NOT_ACCEPTABLE),
        Some(0) => Document::json(&json!({ "swagger": "2.0", "info": info(), "paths": {} })),
        Some(_) => Document::new(PROTOBUF[0], empty_in_protobuf().into()),
    };
    document.respond(parts, Caching::NoCache).into()
}

/// Encodes an empty `openapi.v2.Document` of github.com/google/gnostic-models.
fn empty_in_protobuf() -> Vec<u8> {
    let mut info = Writer::default();
    info.bytes(1, TITLE.as_bytes());
    info.bytes(2, VERSION.as_bytes());
    let mut document = Writer::default();
    document.bytes(1, b"2.0");
    document.bytes(2, info.as_bytes());
    // The paths and the definitions.
    document.bytes(8, &[]);
    document.bytes(9, &[]);
    document.into_bytes()
}

/// Returns the index of the first format that a client accepts. Each format has several media types.
fn accepted(parts: &Parts, formats: &[&[&str]]) -> Option<usize> {
    let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let types = accept.split(',').map(|clause| clause.split(';').next().unwrap_or_default().trim());
    let format = |type_: &str| match type_ {
        "" | "*" | "*/*" | "application/*" => Some(0),
        type_ => formats.iter().position(|media_types| media_types.contains(&type_)),
    };
    types.filter_map(format).next()
}

/// Returns the document of one group version.
fn document(state: &State, cache: &mut DocumentCache, group: &str, version: &str) -> Document {
    let fingerprint = fingerprint(state, group, version);
    cached(state, cache, &prefix(group, version), fingerprint, |state| {
        Document::json(&of_version(state, group, version))
    })
}

/// Returns the cached document, or builds it if its kinds have changed.
fn cached(
    state: &State,
    cache: &mut DocumentCache,
    name: &str,
    fingerprint: String,
    build: impl FnOnce(&State) -> Document,
) -> Document {
    if let Some((_, document)) = cache.0.get(name).filter(|(cached, _)| *cached == fingerprint) {
        return document.clone();
    }
    let document = build(state);
    let served: BTreeSet<String> = served(state).iter().map(|(group, version)| prefix(group, version)).collect();
    cache.0.retain(|name, _| served.contains(name));
    cache.0.insert(name.to_owned(), (fingerprint, document.clone()));
    document
}

fn of_version(state: &State, group: &str, version: &str) -> Value {
    let mut paths = Map::new();
    let mut components = schemas::common();
    for kind in kinds_of(state, group, version) {
        paths.extend(operations::build(kind));
        components.extend(schemas::build(state, kind));
    }
    enums::add(&mut components);
    let is_custom = kinds_of(state, group, version).all(|resource| resource.is_custom);
    json!({
        "openapi": "3.0.0",
        "info": if is_custom { json!({ "title": "Kubernetes CRD Swagger", "version": "v0.1.0" }) } else { info() },
        "paths": paths,
        "components": { "schemas": components },
    })
}

fn info() -> Value {
    json!({ "title": TITLE, "version": VERSION })
}

/// Returns the served groups and versions.
fn served(state: &State) -> BTreeSet<(String, String)> {
    state.registry.iter().map(|kind| (kind.group.clone(), kind.version.clone())).collect()
}

fn kinds_of<'a>(state: &'a State, group: &'a str, version: &'a str) -> impl Iterator<Item = &'a Resource> {
    let is = move |kind: &&Resource| kind.group == group && kind.version == version;
    state.registry.iter().map(AsRef::as_ref).filter(is)
}

/// Returns the fingerprint of the kinds of a group version: built-in kinds never change, and a definition has a
/// generation.
fn fingerprint(state: &State, group: &str, version: &str) -> String {
    let of_kind = |kind: &Resource| {
        let definition = schemas::definition(state, kind);
        let generation = definition.as_ref().and_then(|definition| definition.metadata.generation).unwrap_or_default();
        let uid = definition.as_ref().map_or("", |definition| definition.uid()).to_owned();
        format!("{} {uid} {generation}\n", kind.plural)
    };
    kinds_of(state, group, version).map(of_kind).collect()
}

/// Returns the URL of the document of a group version with this hash.
fn document_url(prefix: &str, hash: &str) -> String {
    format!("/openapi/v3/{prefix}?hash={hash}")
}

/// Returns the prefix of the paths of a group version, such as `api/v1` or `apis/apps/v1`.
fn prefix(group: &str, version: &str) -> String {
    format!("{}/{}", if group.is_empty() { "api" } else { "apis" }, group_version(group, version))
}
