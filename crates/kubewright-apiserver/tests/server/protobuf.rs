//! The recorded JSON and protobuf encodings of a real kube-apiserver.
//! `PROTOBUF=record cargo test -p kubewright-apiserver --test server protobuf` creates the objects of
//! `samples.yaml` and records both encodings of each, and of lists and discovery documents. The tests of `src/protobuf`
//! compare ours with them.

use std::{error::Error, fs, path::PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use envtest::ControlPlane;
use http::{Request, header};
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value, json};

const SAMPLES: &str = "samples.yaml";
const RECORDED: &str = "recorded.json";

/// The paths that are recorded in addition to the samples.
const OTHERS: [&str; 6] = [
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/pods/absent",
    "/apis/apps/v1",
    "/apis",
    "/apis/apps",
    "/api/v1/namespaces/default/events?limit=1",
];

/// Returns the path of a file in the directory of the samples.
fn path(file: &str) -> Result<PathBuf, Box<dyn Error>> {
    Ok(envtest::workspace_root()?.join("crates/kubewright-apiserver/tests/protobuf").join(file))
}

/// Reads the objects to create, with the paths of their collections.
fn samples() -> Result<Vec<(String, Value)>, Box<dyn Error>> {
    let samples: Vec<Value> = serde_saphyr::from_str(&fs::read_to_string(path(SAMPLES)?)?)?;
    let sample = |mut sample: Value| {
        let path = sample["path"].as_str().ok_or("a sample has no path")?.to_owned();
        Ok((path, sample["object"].take()))
    };
    samples.into_iter().map(sample).collect()
}

#[tokio::test]
async fn every_sample_is_recorded() -> Result<(), Box<dyn Error>> {
    if std::env::var_os("PROTOBUF").is_some_and(|what| what == "record") {
        let assets = envtest::find()?.ok_or(envtest::HOW_TO_GET)?;
        let control_plane = ControlPlane::start(&assets)?;
        record(&control_plane).await?;
    }
    let recorded: Vec<Value> = serde_json::from_str(&fs::read_to_string(path(RECORDED)?)?)?;
    let is_recorded = |kind: &Value| recorded.iter().any(|recorded| recorded["json"]["kind"] == *kind);
    for (path, object) in samples()? {
        assert!(is_recorded(&object["kind"]), "{path}: not recorded; record it with PROTOBUF=record");
    }
    Ok(())
}

async fn record(control_plane: &ControlPlane) -> Result<(), Box<dyn Error>> {
    let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    let mut paths = Vec::new();
    for (path, object) in samples()? {
        let body = Body::from(serde_json::to_vec(&object)?);
        let request = Request::post(&path).header(header::CONTENT_TYPE, "application/json").body(body)?;
        let response = client.send(request).await?;
        let is_created = response.status().is_success();
        let body = response.into_body().collect_bytes().await?;
        assert!(is_created, "{path}: {}", String::from_utf8_lossy(&body));
        let name = object["metadata"]["name"].as_str().ok_or("a sample has no name")?;
        paths.push(format!("{path}/{name}"));
    }
    paths.extend(OTHERS.map(str::to_owned));
    let mut recorded = Vec::new();
    for path in paths {
        recorded.push(both_encodings(&client, &path).await?);
    }
    let mut text = serde_json::to_string_pretty(&recorded)?;
    text.push('\n');
    Ok(fs::write(path(RECORDED)?, text)?)
}

/// Returns both encodings of one state. The requests are repeated if the object changes between them.
async fn both_encodings(client: &Client, path: &str) -> Result<Value, Box<dyn Error>> {
    for _ in 0..10 {
        let before = get(client, path, "application/json").await?;
        let protobuf = get(client, path, "application/vnd.kubernetes.protobuf").await?;
        let after = get(client, path, "application/json").await?;
        if before == after {
            let json: Value = serde_json::from_slice(&before)?;
            return Ok(json!({ "path": path, "json": json, "protobuf": STANDARD.encode(protobuf) }));
        }
    }
    Err(format!("{path} does not stop changing").into())
}

async fn get(client: &Client, path: &str, accept: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let request = Request::get(path).header(header::ACCEPT, accept).body(Body::empty())?;
    Ok(client.send(request).await?.into_body().collect_bytes().await?.to_vec())
}
