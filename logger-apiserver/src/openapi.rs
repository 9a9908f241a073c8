//! OpenAPI: what the server says its kinds look like
//!
//! Enough for clients that ask: `kubectl explain`, and `--validate`, which only wants to know that patches take
//! `fieldValidation`. That strategic merge patches are taken is not said, since the schemas name no merge keys; kubectl then
//! goes by the types it is built with.

mod operations;
mod schemas;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    call::State,
    document,
    kinds::{Kind, group_version},
    status::{Refusal, Result},
};

/// `/openapi/v3`: where the documents are, with a hash each that changes when they do.
pub(crate) fn index(state: &State) -> Value {
    let paths: Map<String, Value> = served(state)
        .into_iter()
        .map(|(group, version)| {
            let path = prefix(group, version);
            let url = format!("/openapi/v3/{path}?hash={}", fingerprint(state, group, version));
            (path, json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths })
}

/// `/openapi/v3/..`: the document of one version of a group.
pub(crate) fn v3(state: &State, group: &str, version: &str) -> Result<Value> {
    let mut paths = Map::new();
    let mut components = Map::new();
    for kind in kinds_of(state, group, version) {
        paths.extend(operations::of(kind));
        components.extend(schemas::of(state, kind));
    }
    if paths.is_empty() {
        return Err(Refusal::PageNotFound);
    }
    components.extend(schemas::common());
    Ok(json!({
        "openapi": "3.0.0",
        "info": info(),
        "paths": paths,
        "components": { "schemas": components },
    }))
}

/// `/openapi/v2`: the schemas of all kinds, without operations.
pub(crate) fn v2(state: &State) -> Value {
    let mut definitions = schemas::common();
    for kind in state.kinds.iter() {
        definitions.extend(schemas::of(state, kind));
    }
    let mut definitions = Value::Object(definitions);
    schemas::move_references(&mut definitions);
    json!({ "swagger": "2.0", "info": info(), "paths": {}, "definitions": definitions })
}

/// Whether a client takes it as JSON. Others are sent away with 406, and do without.
pub(crate) fn is_v2_accepted(accept: &str) -> bool {
    let types = || accept.split(',').map(|clause| clause.split(';').next().unwrap_or_default().trim());
    accept.trim().is_empty() || types().any(|type_| matches!(type_, "*/*" | "application/*" | "application/json"))
}

fn info() -> Value {
    json!({ "title": "Kubernetes", "version": "1.36" })
}

/// The groups and versions there are.
fn served(state: &State) -> BTreeSet<(&str, &str)> {
    state.kinds.iter().map(|kind| (kind.group.as_str(), kind.version.as_str())).collect()
}

fn kinds_of<'a>(state: &'a State, group: &'a str, version: &'a str) -> impl Iterator<Item = &'a Kind> {
    let is = move |kind: &&Kind| kind.group == group && kind.version == version;
    state.kinds.iter().map(AsRef::as_ref).filter(is)
}

/// What the document of a version is made from: kinds of Kubernetes never change, a definition has a generation.
fn fingerprint(state: &State, group: &str, version: &str) -> String {
    let of_kind = |kind: &Kind| {
        let definition = schemas::definition(state, kind);
        let generation = definition.as_ref().and_then(|definition| definition.metadata.generation).unwrap_or_default();
        let uid = definition.as_ref().map_or("", |definition| definition.uid()).to_owned();
        format!("{} {uid} {generation}\n", kind.plural)
    };
    let text: String = kinds_of(state, group, version).map(of_kind).collect();
    document::hash(&text)
}

/// `api/v1`, `apis/apps/v1`
fn prefix(group: &str, version: &str) -> String {
    format!("{}/{}", if group.is_empty() { "api" } else { "apis" }, group_version(group, version))
}
