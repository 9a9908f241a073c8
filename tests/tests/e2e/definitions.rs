//! The corpus of definitions on the real server: its answers equal the recorded ones and the checker's.
//!
//! `RECORD_DEFINITIONS=1` records them again.

use std::{collections::BTreeMap, error::Error, sync::Arc, time::Duration};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
    client::Body,
    runtime::wait::{await_condition, conditions},
};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tests::definitions::{ACCEPTED, Answer, Case, cases, difference, record, recorded};
use tokio::time::{sleep, timeout};

use super::{Suite, client_trial};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![client_trial(suite, "definitions::the_checker_agrees_with_the_server", compare)]
}

async fn compare(client: Client) -> Result<(), Failed> {
    let cases = cases();
    let mut answers = BTreeMap::new();
    for case in &cases {
        let answer = match &case.old {
            None => create(&client, case).await,
            Some(old) => update(&client, case, old).await,
        };
        let answer = answer.map_err(|error| format!("{}: {error}", case.name))?;
        answers.insert(case.name.clone(), answer);
    }
    if std::env::var_os("RECORD_DEFINITIONS").is_some() {
        record(&answers);
    }
    let mut wrong: Vec<String> = cases.iter().filter_map(|case| difference(case, &answers[&case.name])).collect();
    let recorded = recorded();
    let changed = answers.iter().filter(|(name, answer)| recorded.get(*name) != Some(*answer));
    wrong.extend(changed.map(|(name, answer)| format!("{name}\n  the server now answers: {answer:?}")));
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n")).into())
    }
}

/// Creates the definition in a dry run.
async fn create(client: &Client, case: &Case) -> Result<Answer> {
    answer(client, "POST", &format!("{PATH}?dryRun=All"), &case.new).await
}

/// Creates the old definition, updates it in a dry run, and deletes it.
async fn update(client: &Client, case: &Case, old: &Value) -> Result<Answer> {
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let mut old: CustomResourceDefinition = serde_json::from_value(old.clone())?;
    old.status = None;
    let name = old.metadata.name.clone().ok_or("a definition has a name")?;
    api.create(&PostParams::default(), &old).await?;
    let established = await_condition(api.clone(), &name, conditions::is_crd_established());
    timeout(Duration::from_secs(180), established).await??;
    let answer = loop {
        let mut new = case.new.clone();
        new["metadata"]["resourceVersion"] = api.get_metadata(&name).await?.metadata.resource_version.into();
        let answer = answer(client, "PUT", &format!("{PATH}/{name}?dryRun=All"), &new).await?;
        // The server's controllers still write the status.
        if answer.code != 409 {
            break answer;
        }
    };
    remove(&api, &name).await?;
    Ok(answer)
}

/// Deletes a definition and polls until it is gone: a watch that starts too late would wait for minutes.
async fn remove(api: &Api<CustomResourceDefinition>, name: &str) -> Result<()> {
    api.delete(name, &DeleteParams::default()).await?;
    let removed = async {
        while api.get_opt(name).await?.is_some() {
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    };
    // Other tests use all cores.
    timeout(Duration::from_secs(180), removed).await.map_err(|_| format!("{name} still exists"))?
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
        200..300 => Ok(Answer { code: ACCEPTED, causes: Vec::new(), warnings }.sorted()),
        400 => Ok(Answer { code, causes: Vec::new(), warnings: Vec::new() }),
        _ => Ok(Answer { code, causes, warnings }.sorted()),
    }
}

/// Returns the text of a warning header: `299 - "text"`.
fn warning(header: &str) -> Option<String> {
    let quoted = header.strip_prefix("299 - ")?;
    let text = quoted.strip_prefix('"')?.strip_suffix('"')?;
    Some(text.replace("\\\"", "\"").replace("\\\\", "\\"))
}
