//! Compares the responses of a real API server to the shapes with the recorded ones, and the schemas of built-in types
//! with its OpenAPI document.
//!
//! Without a control plane the tests are ignored, and one line describes how to get one. With
//! `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1`, as in CI, that is a failure.

#[path = "server/parity.rs"]
mod parity;
#[path = "shapes/mod.rs"]
mod shapes;

use std::{error::Error, process::ExitCode, time::Duration};

use envtest::{Assets, ControlPlane, Suite};
use http::{Request, StatusCode};
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use libtest_mimic::{Arguments, Failed};
use serde_json::{Value, json};

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let suite = Suite::new("shapes", |assets| Ok((assets.clone(), ControlPlane::start(assets)?)))?;
    let trial = |name: &str, run: fn(&Assets, &ControlPlane) -> Result<(), Failed>| {
        suite.test(name, move |(assets, control_plane)| run(assets, control_plane))
    };
    let trials = vec![
        trial("responses_are_as_recorded", compare_responses),
        trial("overlay_is_up_to_date", overlay_is_up_to_date),
        trial("built_in_types_have_the_schemas_of_the_server", parity::compare),
    ];
    Ok(suite.run(args, trials).exit_code())
}

fn overlay_is_up_to_date(assets: &Assets, control_plane: &ControlPlane) -> Result<(), Failed> {
    let generated = overlay::overlay(&overlay::documents(assets, control_plane.kubeconfig())?);
    match generated == kubewright_crd::structural::overlay::DATA {
        true => Ok(()),
        false => Err("run `cargo xtask overlay`".into()),
    }
}

fn compare_responses(_: &Assets, control_plane: &ControlPlane) -> Result<(), Failed> {
    let actual = tokio::runtime::Runtime::new()?.block_on(record_all(control_plane))?;
    let recorded = shapes::recorded();
    if std::env::var_os("SHAPES").is_some_and(|value| value == "record") {
        return Ok(std::fs::write(shapes::file(), actual)?);
    }
    if actual == recorded {
        return Ok(());
    }
    let difference = actual.lines().zip(recorded.lines()).find(|(actual, recorded)| actual != recorded);
    Err(format!(
        "first difference: {difference:#?}\nto update the record: SHAPES=record cargo test -p kubewright-crd --test server"
    )
    .into())
}

async fn client(control_plane: &ControlPlane) -> Result<Client, Failed> {
    let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

async fn record_all(control_plane: &ControlPlane) -> Result<String, Failed> {
    let client = client(control_plane).await?;
    let rows: Vec<_> = shapes::rows().into_iter().map(|row| (row.convert().ok(), row)).collect();
    let mut rejected = Vec::new();
    for (i, (structural, row)) in rows.iter().enumerate() {
        let Some(structural) = structural else { continue };
        if let Err(failed) = create_definition(&client, i, &structural.schema).await {
            rejected.push(format!("{}: {failed}", row.name));
        }
    }
    if !rejected.is_empty() {
        return Err(format!("the server rejects {rejected:#?}").into());
    }
    let records = rows.iter().enumerate().map(|(i, (structural, row))| record(&client, i, structural.is_some(), row));
    Ok(futures::future::try_join_all(records).await?.concat())
}

/// Returns the record of a shape.
async fn record(client: &Client, i: usize, is_structural: bool, row: &shapes::Row) -> Result<String, String> {
    let mut text = format!("## {}\n{}", row.name, row.summary());
    if is_structural {
        wait_until_established(client, i).await.map_err(|failed| format!("{}: {failed}", row.name))?;
        for value in &row.values {
            text += &format!("value {value} {}\n", response(client, i, value).await?);
        }
    }
    Ok(text + "\n")
}

/// Creates a definition. Warnings are errors.
async fn create_definition(client: &Client, i: usize, schema: &Value) -> Result<(), String> {
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("row{i}s.shapes.example.org")},
        "spec": {
            "group": "shapes.example.org",
            "names": {"kind": format!("Row{i}"), "plural": format!("row{i}s")},
            "scope": "Cluster",
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    let (status, warnings, body) = send(client, "POST", CRDS, &crd).await?;
    match (status, warnings.as_slice()) {
        (StatusCode::CREATED, []) => Ok(()),
        (StatusCode::CREATED, warnings) => Err(format!("warns: {warnings:?}")),
        _ => Err(format!("{status}: {}", body["message"])),
    }
}

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Waits until the kind is served, and checks that the server considers the schema as structural.
async fn wait_until_established(client: &Client, i: usize) -> Result<(), String> {
    for _ in 0..600 {
        let (_, _, crd) = send(client, "GET", &format!("{CRDS}/row{i}s.shapes.example.org"), &Value::Null).await?;
        let conditions = crd["status"]["conditions"].as_array().cloned().unwrap_or_default();
        if let Some(condition) = conditions.iter().find(|condition| condition["type"] == "NonStructuralSchema") {
            return Err(condition["message"].to_string());
        }
        let list = format!("/apis/shapes.example.org/v1/row{i}s");
        let is_established =
            conditions.iter().any(|condition| condition["type"] == "Established" && condition["status"] == "True");
        if is_established && send(client, "GET", &list, &Value::Null).await?.0.is_success() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("it was not established within 30 seconds".to_owned())
}

/// Returns whether the server accepts a value, and what it stores.
async fn response(client: &Client, i: usize, value: &Value) -> Result<String, String> {
    let object = json!({
        "apiVersion": "shapes.example.org/v1", "kind": format!("Row{i}"), "metadata": {"name": "it"}, "it": value,
    });
    let path = format!("/apis/shapes.example.org/v1/row{i}s?dryRun=All");
    let (status, _, body) = send(client, "POST", &path, &object).await?;
    Ok(match status {
        StatusCode::CREATED if body.get("it") == Some(value) => "is accepted".to_owned(),
        StatusCode::CREATED => {
            format!("is stored as {}", body.get("it").map_or("nothing".to_owned(), Value::to_string))
        }
        _ => {
            let causes = body["details"]["causes"].as_array().cloned().unwrap_or_default();
            let format_cause = |cause: &Value| {
                format!("{}: {}", cause["field"].as_str().unwrap_or(""), cause["message"].as_str().unwrap_or(""))
            };
            let causes: Vec<String> = causes.iter().map(format_cause).collect();
            let text =
                if causes.is_empty() { body["message"].as_str().unwrap_or("").to_owned() } else { causes.join("; ") };
            format!("is rejected: {}", text.replace('\n', " "))
        }
    })
}

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<(StatusCode, Vec<String>, Value), String> {
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string().into_bytes()) };
    let request = Request::builder().method(method).uri(path).header("Content-Type", "application/json").body(body);
    let response = client.send(request.map_err(|error| error.to_string())?).await.map_err(|error| error.to_string())?;
    let (status, warnings) = (response.status(), response.headers().get_all("Warning").iter());
    let warnings = warnings.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    let bytes = response.into_body().collect_bytes().await.map_err(|error| error.to_string())?;
    Ok((status, warnings, serde_json::from_slice(&bytes).unwrap_or_default()))
}
