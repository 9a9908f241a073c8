//! The table columns of built-in kinds.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result};
use http::{Request, header};
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value, json};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// The columns whose descriptions most kinds share, with the marks that stand for these descriptions.
const SHARED: [(&str, &str); 2] = [("Name", "=name"), ("Age", "=age")];

/// Resources whose columns are omitted: the in-memory API server does not serve them, or without their own columns.
const OMITTED: [&str; 4] = [
    "apiservices.apiregistration.k8s.io",
    "componentstatuses",
    "flowschemas.flowcontrol.apiserver.k8s.io",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
];

/// Returns the contents of the file: its origin, the two shared descriptions, and the columns of each resource
/// (`plural.group`) in the preferred version of its group. Resources with the default columns are omitted.
///
/// # Errors
/// Fails if a request fails or a response is malformed.
pub fn columns(kubeconfig: &Path) -> Result<String> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
        let client =
            Client::try_from(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)?;
        let version = get(&client, "/version", "").await?;
        let mut tables = BTreeMap::new();
        for (resource, path) in resources(&client).await? {
            let table = get(&client, &format!("{path}?limit=1"), TABLE).await?;
            let columns =
                table["columnDefinitions"].as_array().cloned().with_context(|| format!("{path} returned no table"))?;
            if has_custom_columns(&columns) && !OMITTED.contains(&resource.as_str()) {
                tables.insert(resource, columns);
            }
        }
        format_file(version["gitVersion"].as_str().unwrap_or_default(), &tables)
    })
}

/// Returns the name and the path of every resource that can be listed.
async fn resources(client: &Client) -> Result<Vec<(String, String)>> {
    let groups = get(client, "/apis", "").await?;
    let preferred = |group: &Value| group.pointer("/preferredVersion/groupVersion")?.as_str().map(str::to_owned);
    let named = groups["groups"].as_array().into_iter().flatten().filter_map(preferred);
    let paths = named.map(|group_version| format!("/apis/{group_version}"));
    let mut found = Vec::new();
    for path in [String::from("/api/v1")].into_iter().chain(paths) {
        let group = path.strip_prefix("/apis/").and_then(|rest| rest.split('/').next());
        for resource in get(client, &path, "").await?["resources"].as_array().into_iter().flatten() {
            let name = resource["name"].as_str().unwrap_or_default();
            let is_listed = resource["verbs"].as_array().is_some_and(|verbs| verbs.contains(&json!("list")));
            if is_listed && !name.contains('/') {
                let full = group.map_or_else(|| name.to_owned(), |group| format!("{name}.{group}"));
                found.push((full, format!("{path}/{name}")));
            }
        }
    }
    Ok(found)
}

/// Reports whether there are other columns than the default ones, name and creation time.
fn has_custom_columns(columns: &[Value]) -> bool {
    columns.len() > 2 || columns.iter().all(|column| column["name"] != "Created At")
}

/// Formats the file.
fn format_file(version: &str, tables: &BTreeMap<String, Vec<Value>>) -> Result<String> {
    let config_map_columns = tables.get("configmaps").context("the server has no ConfigMaps")?;
    let shared = SHARED.map(|(name, _)| {
        let column = config_map_columns.iter().find(|column| column["name"] == name);
        column.map(|column| column["description"].clone()).unwrap_or_default()
    });
    let about = json!({
        "what": "The columns of tables of Kubernetes' own kinds: name, type, format, priority, description.",
        "origin": format!("answers of kube-apiserver {version}, derived by `cargo xtask overlay`"),
        "license": "Apache-2.0, The Kubernetes Authors",
    });
    let lines = |columns: &Vec<Value>| {
        let lines: Vec<String> = columns.iter().map(|column| format_column(column, &shared)).collect();
        lines.join(",\n      ")
    };
    let tables: Vec<String> = tables
        .iter()
        .map(|(resource, columns)| format!("    {}: [\n      {}\n    ]", json!(resource), lines(columns)))
        .collect();
    let [name, age] = &shared;
    let columns = tables.join(",\n");
    Ok(format!(
        "{{\n  \"about\": {about},\n  \"name\": {name},\n  \"age\": {age},\n  \"columns\": {{\n{columns}\n  }}\n}}\n"
    ))
}

fn format_column(column: &Value, shared: &[Value; 2]) -> String {
    let mark = SHARED.iter().zip(shared).find(|(_, text)| column["description"] == **text);
    let description = mark.map_or_else(|| column["description"].clone(), |((_, mark), _)| json!(mark));
    let parts = [&column["name"], &column["type"], &column["format"], &column["priority"], &description];
    format!("[{}]", parts.map(ToString::to_string).join(", "))
}

async fn get(client: &Client, path: &str, accept: &str) -> Result<Value> {
    let mut request = Request::get(path);
    if !accept.is_empty() {
        request = request.header(header::ACCEPT, accept);
    }
    let response = client.send(request.body(Body::empty())?).await?;
    let body = response.into_body().collect_bytes().await?;
    serde_json::from_slice(&body).with_context(|| format!("GET {path}: the response is not JSON"))
}
