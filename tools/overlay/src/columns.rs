//! Which columns a real server shows of its own kinds.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use http::{Request, header};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// What most columns of names and of ages say, so that it is there once.
const SHARED: [(&str, &str); 2] = [("Name", "=name"), ("Age", "=age")];

/// The file: its origin, the two descriptions that all kinds share, and of each resource (`plural.group`) its columns, in the version
/// that its group prefers. What has no columns of its own is left out.
///
/// # Errors
/// The server cannot be asked, or its answer cannot be read.
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
                table["columnDefinitions"].as_array().cloned().with_context(|| format!("{path} is no table"))?;
            if has_its_own(&columns) {
                tables.insert(resource, columns);
            }
        }
        text(version["gitVersion"].as_str().unwrap_or_default(), &tables)
    })
}

/// Every resource that is listed, and where.
async fn resources(client: &Client) -> Result<Vec<(String, String)>> {
    let groups = get(client, "/apis", "").await?;
    let preferred = |group: &Value| group.pointer("/preferredVersion/groupVersion")?.as_str().map(str::to_owned);
    let named = groups["groups"].as_array().into_iter().flatten().filter_map(preferred);
    let places = named.map(|group_version| format!("/apis/{group_version}"));
    let mut found = Vec::new();
    for place in [String::from("/api/v1")].into_iter().chain(places) {
        let group = place.strip_prefix("/apis/").and_then(|rest| rest.split('/').next());
        for resource in get(client, &place, "").await?["resources"].as_array().into_iter().flatten() {
            let name = resource["name"].as_str().unwrap_or_default();
            let is_listed = resource["verbs"].as_array().is_some_and(|verbs| verbs.contains(&json!("list")));
            if is_listed && !name.contains('/') {
                let full = group.map_or_else(|| name.to_owned(), |group| format!("{name}.{group}"));
                found.push((full, format!("{place}/{name}")));
            }
        }
    }
    Ok(found)
}

/// Whether there is more than the name and the time that are shown of any kind.
fn has_its_own(columns: &[Value]) -> bool {
    columns.len() > 2 || columns.iter().all(|column| column["name"] != "Created At")
}

fn text(version: &str, tables: &BTreeMap<String, Vec<Value>>) -> Result<String> {
    let of_config_maps = tables.get("configmaps").context("the server has no ConfigMaps")?;
    let shared = SHARED.map(|(name, _)| {
        let column = of_config_maps.iter().find(|column| column["name"] == name);
        column.map(|column| column["description"].clone()).unwrap_or_default()
    });
    let about = json!({
        "what": "The columns of tables of Kubernetes' own kinds: name, type, format, priority, description.",
        "origin": format!("answers of kube-apiserver {version}, derived by `cargo xtask overlay`"),
        "license": "Apache-2.0, The Kubernetes Authors",
    });
    let lines = |columns: &Vec<Value>| {
        let lines: Vec<String> = columns.iter().map(|column| line(column, &shared)).collect();
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

fn line(column: &Value, shared: &[Value; 2]) -> String {
    let said = SHARED.iter().zip(shared).find(|(_, text)| column["description"] == **text);
    let description = said.map_or_else(|| column["description"].clone(), |((_, mark), _)| json!(mark));
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
    serde_json::from_slice(&body).with_context(|| format!("GET {path}: the answer is not JSON"))
}
