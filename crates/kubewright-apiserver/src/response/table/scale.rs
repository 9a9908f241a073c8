//! The row of a Scale.

use k8s_openapi::api::autoscaling::v1::Scale;
use serde_json::{Value, json};

use super::row;
use crate::{
    resource::printer_columns::built_in as columns,
    resource::registry::Resource,
    wire::negotiation::{IncludeObject, TableOptions},
};

/// Returns the table of a Scale.
pub(crate) fn of_scale(kind: &Resource, options: TableOptions, scale: &Scale) -> Value {
    let metadata = &scale.metadata;
    let desired = scale.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or_default();
    let available = scale.status.as_ref().map_or(0, |status| status.replicas);
    let object = match options.include {
        IncludeObject::None => Value::Null,
        IncludeObject::Metadata => partial_object_metadata(scale, options.version.api_version()),
        IncludeObject::Object => json!(scale),
    };
    json!({
        "kind": "Table",
        "apiVersion": options.version.api_version(),
        "metadata": { "resourceVersion": metadata.resource_version },
        "columnDefinitions": headers(kind.is_custom),
        "rows": [{
            "cells": [metadata.name, desired, available, row::age(metadata.creation_timestamp.as_ref())],
            "object": object,
        }],
    })
}

/// Returns the `PartialObjectMetadata` of a Scale.
pub(crate) fn partial_object_metadata(scale: &Scale, api_version: &str) -> Value {
    json!({ "kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": scale.metadata })
}

/// The real server prints the Scales of custom kinds with the columns of custom kinds.
fn headers(is_custom: bool) -> [Value; 4] {
    let count = |name, description| columns::column(name, "integer", "", 0, description);
    if is_custom {
        let desired = count("Desired", "Number of desired replicas");
        return [columns::name(), desired, count("Available", "Number of actual replicas"), columns::age()];
    }
    let string_column = |mut column: Value, format: &str| {
        column["type"] = json!("string");
        column["format"] = json!(format);
        column
    };
    let desired = count("Desired", "replicas is the desired number of instances for the scaled object.");
    let available = count("Available", "replicas is the actual number of observed instances of the scaled object.");
    [string_column(columns::name(), ""), desired, available, string_column(columns::age(), "")]
}
