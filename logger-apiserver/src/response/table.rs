//! Tables: what `kubectl get` shows of objects, in columns and cells.
//!
//! Custom kinds have the columns their definition says, built-in kinds those a real server was seen to have
//! (`table/columns.json`); a kind that has none of either shows its name and its age.

mod autoscalers;
mod built_in;
mod cluster;
mod custom;
mod duration;
mod events;
mod network;
mod pods;
mod row;
pub(crate) mod scale;
mod workloads;

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    api::object::{Encodable, Object},
    handlers::list::Page,
    resource::{printer_columns::built_in as printer_columns, registry::Resource},
    wire::negotiation::{IncludeObject, TableOptions},
};

use row::Row;

/// A `Table` of `meta.k8s.io` on its way out.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Table<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Value,
    /// Of a watch, the first table alone has them.
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
    /// The table of a list; `metadata` is that of the list.
    pub(crate) fn of_list(kind: &'a Resource, style: TableOptions, page: &'a Page, metadata: Value) -> Self {
        let rows: Vec<TableRow<'_>> = page.items.iter().map(|object| row(kind, style, object)).collect();
        // In Go, a table without specific columns has nil rows if it is empty.
        let is_nil = rows.is_empty() && !kind.is_custom && printer_columns::of(&kind.group_resource()).is_none();
        Self::new(style, metadata, Some(headers(kind)), (!is_nil).then_some(rows))
    }

    /// The table of one object, alone or as an event of a watch.
    pub(crate) fn of_object(kind: &'a Resource, style: TableOptions, object: &'a Object, with_headers: bool) -> Self {
        let metadata = json!({ "resourceVersion": object.resource_version() });
        Self::new(style, metadata, with_headers.then(|| headers(kind)), Some(vec![row(kind, style, object)]))
    }

    /// The row of a bookmark, an object with metadata only. The bookmark that ends the initial events is identified by
    /// its metadata, so that is included even if objects are not requested.
    pub(crate) fn of_bookmark(kind: &'a Resource, style: TableOptions, object: &'a Object, with_headers: bool) -> Self {
        let include = if object.metadata.annotations.is_some() { IncludeObject::Metadata } else { style.include };
        Self::of_object(kind, TableOptions { include, ..style }, object, with_headers)
    }

    fn new(
        style: TableOptions,
        metadata: Value,
        column_definitions: Option<Vec<Value>>,
        rows: Option<Vec<TableRow<'a>>>,
    ) -> Self {
        Self { kind: "Table", api_version: style.version.api_version(), metadata, column_definitions, rows }
    }
}

/// The definitions of the columns.
fn headers(kind: &Resource) -> Vec<Value> {
    match kind.custom() {
        Some(custom) => custom.columns.headers.clone(),
        None => printer_columns::of(&kind.group_resource()).map_or_else(printer_columns::fallback, <[Value]>::to_vec),
    }
}

fn row<'a>(kind: &'a Resource, style: TableOptions, object: &'a Object) -> TableRow<'a> {
    let row = Row::of(object);
    let resource = kind.group_resource();
    let cells = match kind.custom() {
        Some(resource) => custom::cells(&resource.columns, kind, &row),
        None => built_in::cells(&resource, &row).unwrap_or_else(|| vec![json!(object.name()), row.created_at()]),
    };
    let conditions = if resource == "pods" { pods::conditions(&row) } else { Vec::new() };
    let object = match style.include {
        IncludeObject::None => None,
        IncludeObject::Metadata => Some(object.partial_object_metadata(style.version)),
        IncludeObject::Object => Some(object.encodable_as(kind)),
    };
    TableRow { cells, conditions, object }
}
