//! OpenAPI: what the server says its kinds look like.
//!
//! Enough for clients that ask: `kubectl explain`, and `--validate`, which only wants to know that patches take
//! `fieldValidation`. That strategic merge patches are taken is not said, since the schemas name no merge keys; kubectl then
//! goes by the types it is built with.

mod enums;
mod gnostic;
mod operations;
mod schemas;
mod v2;

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
    wire::request::Query,
};

const JSON: &str = "application/json";
/// What version 2 is kept under, in JSON and in protobuf.
const V2: [&str; 2] = ["v2", "v2 in protobuf"];

/// Documents that were asked for, each with what it was made from, for as long as that stays.
#[derive(Debug, Default)]
pub(crate) struct Library(BTreeMap<String, (String, Document)>);

/// `/openapi/v3`: where the documents are, with a hash each that changes when they do.
pub(crate) fn index(state: &State, library: &mut Library) -> ApiResponse {
    let mut paths = Map::new();
    for (group, version) in served(state) {
        let path = prefix(&group, &version);
        let url = address(&path, document(state, library, &group, &version).hash());
        paths.insert(path, json!({ "serverRelativeURL": url }));
    }
    ApiResponse::Text(StatusCode::OK, json!({ "paths": paths }).to_string().into())
}

/// `/openapi/v3/..`: the document of one group version. A request with its current hash can be cached; one with an old
/// hash is redirected.
pub(crate) fn v3(state: &State, library: &mut Library, (group, version): (&str, &str), parts: &Parts) -> ApiResponse {
    if !served(state).contains(&(group.to_owned(), version.to_owned())) {
        return ApiResponse::Empty(StatusCode::NOT_FOUND);
    }
    if accepted(parts, &[&[JSON]]).is_none() {
        return ApiResponse::Empty(StatusCode::NOT_ACCEPTABLE);
    }
    let document = document(state, library, group, version);
    match Query::parse(parts.uri.query().unwrap_or_default()).get("hash") {
        None => document.answer(parts, Caching::AskAgain),
        Some(hash) if hash == document.hash() => document.answer(parts, Caching::Forever),
        Some(_) => {
            let place = address(&prefix(group, version), document.hash());
            document.moved(place)
        }
    }
}

/// `/openapi/v2`: the schemas and operations of all kinds, in JSON or in protobuf.
pub(crate) fn v2(state: &State, library: &mut Library, parts: &Parts) -> ApiResponse {
    let Some(form) = accepted(parts, &[&[JSON], &gnostic::MEDIA_TYPES]) else {
        return ApiResponse::Empty(StatusCode::NOT_ACCEPTABLE);
    };
    let all = served(state);
    let fingerprint = all.iter().map(|(group, version)| fingerprint(state, group, version)).collect();
    let made = |state: &State| match form {
        0 => Document::json(&whole(state)),
        _ => Document::new(gnostic::MEDIA_TYPES[0], gnostic::document(&whole(state)).into()),
    };
    kept(state, library, V2[form], fingerprint, made).answer(parts, Caching::AskAgain)
}

/// The first of these forms, each of several names, that a client accepts.
fn accepted(parts: &Parts, forms: &[&[&str]]) -> Option<usize> {
    let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let types = accept.split(',').map(|clause| clause.split(';').next().unwrap_or_default().trim());
    let form = |type_: &str| match type_ {
        "" | "*" | "*/*" | "application/*" => Some(0),
        type_ => forms.iter().position(|names| names.contains(&type_)),
    };
    types.filter_map(form).next()
}

/// The document of one version of a group.
fn document(state: &State, library: &mut Library, group: &str, version: &str) -> Document {
    let fingerprint = fingerprint(state, group, version);
    kept(state, library, &prefix(group, version), fingerprint, |state| {
        Document::json(&of_version(state, group, version))
    })
}

/// A document that is there already, unless it would be another now.
fn kept(
    state: &State,
    library: &mut Library,
    name: &str,
    fingerprint: String,
    make: impl FnOnce(&State) -> Document,
) -> Document {
    if let Some((_, document)) = library.0.get(name).filter(|(of, _)| *of == fingerprint) {
        return document.clone();
    }
    let document = make(state);
    let there: BTreeSet<String> = served(state).iter().map(|(group, version)| prefix(group, version)).collect();
    library.0.retain(|name, _| V2.contains(&name.as_str()) || there.contains(name));
    library.0.insert(name.to_owned(), (fingerprint, document.clone()));
    document
}

fn of_version(state: &State, group: &str, version: &str) -> Value {
    let mut paths = Map::new();
    let mut components = schemas::common();
    for kind in kinds_of(state, group, version) {
        paths.extend(operations::of(kind));
        components.extend(schemas::of(state, kind));
    }
    enums::tell(&mut components);
    let is_custom = kinds_of(state, group, version).all(|resource| resource.is_custom);
    json!({
        "openapi": "3.0.0",
        "info": if is_custom { json!({ "title": "Kubernetes CRD Swagger", "version": "v0.1.0" }) } else { info() },
        "paths": paths,
        "components": { "schemas": components },
    })
}

/// Version 2, of all kinds.
fn whole(state: &State) -> Value {
    let mut paths = Map::new();
    let mut definitions = schemas::common();
    for kind in state.registry.iter() {
        paths.extend(operations::of(kind).into_iter().map(|(name, path)| (name, v2::path(&path))));
        definitions.extend(schemas::of(state, kind));
    }
    enums::tell(&mut definitions);
    let definitions: Map<String, Value> =
        definitions.into_iter().map(|(name, schema)| (name, v2::schema(schema))).collect();
    json!({ "swagger": "2.0", "info": info(), "paths": paths, "definitions": definitions })
}

fn info() -> Value {
    json!({ "title": "Kubernetes", "version": "1.36" })
}

/// The groups and versions there are.
fn served(state: &State) -> BTreeSet<(String, String)> {
    state.registry.iter().map(|kind| (kind.group.clone(), kind.version.clone())).collect()
}

fn kinds_of<'a>(state: &'a State, group: &'a str, version: &'a str) -> impl Iterator<Item = &'a Resource> {
    let is = move |kind: &&Resource| kind.group == group && kind.version == version;
    state.registry.iter().map(AsRef::as_ref).filter(is)
}

/// What the document of a version is made from: kinds of Kubernetes never change, a definition has a generation.
fn fingerprint(state: &State, group: &str, version: &str) -> String {
    let of_kind = |kind: &Resource| {
        let definition = schemas::definition(state, kind);
        let generation = definition.as_ref().and_then(|definition| definition.metadata.generation).unwrap_or_default();
        let uid = definition.as_ref().map_or("", |definition| definition.uid()).to_owned();
        format!("{} {uid} {generation}\n", kind.plural)
    };
    kinds_of(state, group, version).map(of_kind).collect()
}

/// Where the document of a version is, as long as it has this hash.
fn address(prefix: &str, hash: &str) -> String {
    format!("/openapi/v3/{prefix}?hash={hash}")
}

/// `api/v1`, `apis/apps/v1`
fn prefix(group: &str, version: &str) -> String {
    format!("{}/{}", if group.is_empty() { "api" } else { "apis" }, group_version(group, version))
}
