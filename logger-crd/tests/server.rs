//! What a real API server says to the shapes, and whether Kubernetes' own types are as it describes them.
//!
//! Without a control plane it is skipped with one line that says how to get one; with `LOGGER_REQUIRE_CONTROL_PLANE=1`, as
//! in CI, that is a failure.

#[path = "server/parity.rs"]
mod parity;
#[path = "shapes/mod.rs"]
mod table;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use envtest::{Assets, ControlPlane};
use http::{Request, StatusCode};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Some(assets) = envtest::find_or_skip("shapes")? else {
        return Ok(ExitCode::SUCCESS);
    };
    let control_plane = Arc::new(ControlPlane::start(&assets)?);
    let trial = |name: &str, run: fn(&Assets, &ControlPlane) -> Result<(), Failed>| {
        let (assets, control_plane) = (assets.clone(), Arc::clone(&control_plane));
        Trial::test(name, move || run(&assets, &control_plane))
    };
    let trials = vec![
        trial("the_server_says_of_each_shape_what_is_recorded", shapes),
        trial("the_overlay_is_as_derived", overlay_is_as_derived),
        trial("kubernetes_own_types_are_as_the_server_describes_them", parity::holds),
    ];
    Ok(libtest_mimic::run(args, trials).exit_code())
}

fn overlay_is_as_derived(assets: &Assets, control_plane: &ControlPlane) -> Result<(), Failed> {
    let derived = overlay::overlay(&overlay::documents(assets, control_plane.kubeconfig())?);
    match derived == logger_crd::structural::overlay::DATA {
        true => Ok(()),
        false => Err("run `cargo xtask overlay`".into()),
    }
}

fn shapes(_: &Assets, control_plane: &ControlPlane) -> Result<(), Failed> {
    let said = tokio::runtime::Runtime::new()?.block_on(said_of_all(control_plane))?;
    let recorded = table::recorded();
    if std::env::var_os("SHAPES").is_some_and(|word| word == "record") {
        return Ok(std::fs::write(table::file(), said)?);
    }
    if said == recorded {
        return Ok(());
    }
    let differs = said.lines().zip(recorded.lines()).find(|(said, recorded)| said != recorded);
    Err(format!("the first line that differs: {differs:#?}\nif all is right: SHAPES=record cargo test -p logger-crd --test server").into())
}

async fn client(control_plane: &ControlPlane) -> Result<Client, Failed> {
    let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

async fn said_of_all(control_plane: &ControlPlane) -> Result<String, Failed> {
    let client = client(control_plane).await?;
    let rows: Vec<_> = table::rows().into_iter().map(|row| (row.outcome().ok(), row)).collect();
    let mut refused = Vec::new();
    for (i, (structural, row)) in rows.iter().enumerate() {
        let Some(structural) = structural else { continue };
        if let Err(failed) = define(&client, i, &structural.schema).await {
            refused.push(format!("{}: {failed}", row.name));
        }
    }
    if !refused.is_empty() {
        return Err(format!("the server does not take {refused:#?}").into());
    }
    let said = rows.iter().enumerate().map(|(i, (structural, row))| said_of(&client, i, structural.is_some(), row));
    Ok(futures::future::try_join_all(said).await?.concat())
}

/// What is recorded of one shape.
async fn said_of(client: &Client, i: usize, is_structural: bool, row: &table::Row) -> Result<String, String> {
    let mut text = format!("## {}\n{}", row.name, row.told());
    if is_structural {
        established(client, i).await.map_err(|failed| format!("{}: {failed}", row.name))?;
        for value in &row.values {
            text += &format!("value {value} {}\n", answer(client, i, value).await?);
        }
    }
    Ok(text + "\n")
}

/// Posts a definition; the server takes it and warns of nothing.
async fn define(client: &Client, i: usize, schema: &Value) -> Result<(), String> {
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

/// Waits until the kind is served. Its schema is structural.
async fn established(client: &Client, i: usize) -> Result<(), String> {
    for _ in 0..600 {
        let (_, _, crd) = send(client, "GET", &format!("{CRDS}/row{i}s.shapes.example.org"), &Value::Null).await?;
        let conditions = crd["status"]["conditions"].as_array().cloned().unwrap_or_default();
        if let Some(condition) = conditions.iter().find(|one| one["type"] == "NonStructuralSchema") {
            return Err(condition["message"].to_string());
        }
        let list = format!("/apis/shapes.example.org/v1/row{i}s");
        let is_established = conditions.iter().any(|one| one["type"] == "Established" && one["status"] == "True");
        if is_established && send(client, "GET", &list, &Value::Null).await?.0.is_success() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("it was not established within 30 seconds".to_owned())
}

/// What the server says to a value, and what it keeps of it.
async fn answer(client: &Client, i: usize, value: &Value) -> Result<String, String> {
    let object = json!({
        "apiVersion": "shapes.example.org/v1", "kind": format!("Row{i}"), "metadata": {"name": "it"}, "it": value,
    });
    let path = format!("/apis/shapes.example.org/v1/row{i}s?dryRun=All");
    let (status, _, body) = send(client, "POST", &path, &object).await?;
    Ok(match status {
        StatusCode::CREATED if body.get("it") == Some(value) => "is taken".to_owned(),
        StatusCode::CREATED => format!("is taken as {}", body.get("it").map_or("nothing".to_owned(), Value::to_string)),
        _ => {
            let causes = body["details"]["causes"].as_array().cloned().unwrap_or_default();
            let said = |cause: &Value| {
                format!("{}: {}", cause["field"].as_str().unwrap_or(""), cause["message"].as_str().unwrap_or(""))
            };
            let causes: Vec<String> = causes.iter().map(said).collect();
            let text =
                if causes.is_empty() { body["message"].as_str().unwrap_or("").to_owned() } else { causes.join("; ") };
            format!("is refused: {}", text.replace('\n', " "))
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
    let answer = client.send(request.map_err(|error| error.to_string())?).await.map_err(|error| error.to_string())?;
    let (status, warnings) = (answer.status(), answer.headers().get_all("Warning").iter());
    let warnings = warnings.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    let bytes = answer.into_body().collect_bytes().await.map_err(|error| error.to_string())?;
    Ok((status, warnings, serde_json::from_slice(&bytes).unwrap_or_default()))
}
