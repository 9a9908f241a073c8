//! The corpus of definitions on the real server: its answers are those that are recorded, and the checker's.
//!
//! With `RECORD_DEFINITIONS=1` they are recorded anew.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use envtest::ControlPlane;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, PostParams};
use kube::client::Body;
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tests::definitions::{Answer, Case, FINE, cases, disagreement, record, recorded};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

pub fn trials(control_plane: &Arc<ControlPlane>) -> impl Iterator<Item = Trial> + use<> {
    let trial = super::trial(control_plane, "definitions::the_checker_agrees_with_the_server", |control_plane| {
        let runtime = tokio::runtime::Runtime::new()?;
        runtime.block_on(async { agree(super::client(control_plane).await?).await })
    });
    [trial].into_iter()
}

async fn agree(client: Client) -> Result<(), Failed> {
    let cases = cases();
    let mut answers = BTreeMap::new();
    for case in &cases {
        let answer = match &case.old {
            None => created(&client, case).await,
            Some(old) => updated(&client, case, old).await,
        };
        let answer = answer.map_err(|error| format!("{}: {error}", case.name))?;
        answers.insert(case.name.clone(), answer);
    }
    if std::env::var_os("RECORD_DEFINITIONS").is_some() {
        record(&answers);
    }
    let mut wrong: Vec<String> = cases.iter().filter_map(|case| disagreement(case, &answers[&case.name])).collect();
    let recorded = recorded();
    let changed = answers.iter().filter(|(name, answer)| recorded.get(*name) != Some(*answer));
    wrong.extend(changed.map(|(name, answer)| format!("{name}\n  the server answers by now: {answer:?}")));
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n")).into())
    }
}

async fn created(client: &Client, case: &Case) -> Result<Answer> {
    answer(client, "POST", &format!("{PATH}?dryRun=All"), &case.new).await
}

/// Installs the old definition, asks for the update without doing it, and removes what was installed.
async fn updated(client: &Client, case: &Case, old: &Value) -> Result<Answer> {
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let mut old: CustomResourceDefinition = serde_json::from_value(old.clone())?;
    old.status = None;
    let name = old.metadata.name.clone().ok_or("a definition has a name")?;
    api.create(&PostParams::default(), &old).await?;
    let established = await_condition(api.clone(), &name, conditions::is_crd_established());
    tokio::time::timeout(Duration::from_secs(30), established).await??;
    let answer = loop {
        let mut new = case.new.clone();
        new["metadata"]["resourceVersion"] = api.get_metadata(&name).await?.metadata.resource_version.into();
        let answer = answer(client, "PUT", &format!("{PATH}/{name}?dryRun=All"), &new).await?;
        // The server's controllers write to the status still.
        if answer.code != 409 {
            break answer;
        }
    };
    remove(&api, &name).await?;
    Ok(answer)
}

/// Deletes a definition, and asks until it is gone: a watch that begins too late would wait for minutes.
async fn remove(api: &Api<CustomResourceDefinition>, name: &str) -> Result<()> {
    api.delete(name, &DeleteParams::default()).await?;
    for _ in 0..600 {
        if api.get_opt(name).await?.is_none() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("{name} is still there").into())
}

async fn answer(client: &Client, method: &str, uri: &str, body: &Value) -> Result<Answer> {
    let request = http::Request::builder().method(method).uri(uri).header("content-type", "application/json");
    let response = client.send(request.body(Body::from(serde_json::to_vec(body)?))?).await?;
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter().filter_map(|value| warning(value.to_str().ok()?));
    let warnings: Vec<String> = warnings.collect();
    let body = response.into_body().collect_bytes().await?;
    let status: Value = serde_json::from_slice(&body)?;
    let text = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
    let causes = status["details"]["causes"].as_array().into_iter().flatten();
    let causes = causes.map(|cause| (text(cause, "field"), text(cause, "reason"), text(cause, "message"))).collect();
    match code {
        200..300 => Ok(Answer { code: FINE, causes: Vec::new(), warnings }.sorted()),
        400 => Ok(Answer { code, causes: Vec::new(), warnings: Vec::new() }),
        _ => Ok(Answer { code, causes, warnings }.sorted()),
    }
}

/// `299 - "text"`
fn warning(header: &str) -> Option<String> {
    let quoted = header.strip_prefix("299 - ")?;
    let text = quoted.strip_prefix('"')?.strip_suffix('"')?;
    Some(text.replace("\\\"", "\"").replace("\\\\", "\\"))
}
