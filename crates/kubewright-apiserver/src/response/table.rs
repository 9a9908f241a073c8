//! Tables: the columns and rows that `kubectl get` prints.
//!
//! Custom kinds have the printer columns of their definition, built-in kinds those recorded from a real server
//! (`table/columns.json`). Other kinds have the columns name and age.

mod autoscalers;
mod built_in;
mod cluster;
mod control_plane;
mod custom;
mod duration;
mod events;
mod network;
mod pods;
mod row;
pub(crate) mod scale;
mod storage;
mod workloads;

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    api::object::{Encodable, Object},
    handlers::list::Page,
    resource::{printer_columns::built_in as printer_columns, registry::Resource},
    response::list_metadata::ListMetadata,
    wire::negotiation::{IncludeObject, TableOptions},
};

use row::Row;

/// A `Table` of `meta.k8s.io`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Table<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: ListMetadata,
    /// Only the first table of a watch has column definitions.
    column_definitions: Option<Vec<Value>>,
    rows: Option<Vec<TableRow<'a>>>,
}

#[derive(Serialize)]
struct TableRow<'a> {
    cells: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Value>,
    object: Option<Encodable<'a>>,
}

impl<'a> Table<'a> {
    /// Creates the table of a list with its metadata.
    pub(crate) fn from_list(kind: &'a Resource, options: TableOptions, page: &'a Page, metadata: ListMetadata) -> Self {
        let rows: Vec<TableRow<'_>> = page.items.iter().map(|object| row(kind, options, object)).collect();
        // In Go, a table without specific columns has nil rows if it is empty.
        let is_nil = rows.is_empty() && !kind.is_custom && printer_columns::find(&kind.group_resource()).is_none();
        Self::new(options, metadata, Some(headers(kind)), (!is_nil).then_some(rows))
    }

    /// Creates the table of one object, for a response or an event of a watch.
    pub(crate) fn from_object(
        kind: &'a Resource,
        options: TableOptions,
        object: &'a Object,
        with_headers: bool,
    ) -> Self {
        let metadata =
            ListMetadata { resource_version: object.resource_version().to_owned(), ..ListMetadata::default() };
        Self::new(options, metadata, with_headers.then(|| headers(kind)), Some(vec![row(kind, options, object)]))
    }

    /// Creates the table of a bookmark, an object with metadata only. The bookmark that ends the initial events is
    /// identified by its metadata, which is included even if objects are not requested.
    pub(crate) fn from_bookmark(
        kind: &'a Resource,
        options: TableOptions,
        object: &'a Object,
        with_headers: bool,
    ) -> Self {
        let include = if object.metadata.annotations.is_some() { IncludeObject::Metadata } else { options.include };
        Self::from_object(kind, TableOptions { include, ..options }, object, with_headers)
    }

    fn new(
        options: TableOptions,
        metadata: ListMetadata,
        column_definitions: Option<Vec<Value>>,
        rows: Option<Vec<TableRow<'a>>>,
    ) -> Self {
        Self { kind: "Table", api_version: options.version.api_version(), metadata, column_definitions, rows }
    }
}

/// Returns the definitions of the columns.
fn headers(kind: &Resource) -> Vec<Value> {
    match kind.custom() {
        Some(custom) => custom.columns.headers.clone(),
        None => printer_columns::find(&kind.group_resource()).map_or_else(printer_columns::fallback, <[Value]>::to_vec),
    }
}

fn row<'a>(kind: &'a Resource, options: TableOptions, object: &'a Object) -> TableRow<'a> {
    let row = Row::new(object);
    let resource = kind.group_resource();
    let cells = match kind.custom() {
        Some(resource) => custom::cells(&resource.columns, kind, &row),
        None => built_in::cells(&resource, &row).unwrap_or_else(|| vec![json!(object.name()), row.created_at()]),
    };
    let conditions = if resource == "pods" { pods::conditions(&row) } else { Vec::new() };
    let object = match options.include {
        IncludeObject::None => None,
        IncludeObject::Metadata => Some(object.partial_object_metadata(options.version)),
        IncludeObject::Object => Some(object.encodable_as(kind)),
    };
    TableRow { cells, conditions, object }
}
