//! The corpus of values on the real server: its answers equal the recorded ones and ours.
//!
//! `RECORD_VALUES=1` records them again.

use std::{collections::BTreeMap, error::Error, sync::Arc, time::Duration};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    client::Body,
};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tests::values::{Answer, Case, cases, record, recorded, schema};

use super::{Suite, client_trial};

const PATH: &str = "/apis/values.example.com/v1/things";

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![client_trial(suite, "values::our_answers_agree_with_the_server", compare)]
}

async fn compare(client: Client) -> Result<(), Failed> {
    let cases = cases();
    let answers = answers(&client, &cases).await.map_err(|error| error.to_string())?;
    if std::env::var_os("RECORD_VALUES").is_some() {
        record(&answers);
    }
    let schema = schema(false);
    let mut wrong: Vec<String> =
        cases.iter().filter_map(|case| case.difference(&schema, &answers[&case.name])).collect();
    let recorded = recorded();
    let changed = answers.iter().filter(|(name, answer)| recorded.get(*name) != Some(*answer));
    wrong.extend(changed.map(|(name, answer)| format!("{name}: the server now answers: {answer:?}")));
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n")).into())
    }
}

/// Returns the answers of the server. Old values are created first, under a schema that accepts any value.
async fn answers(client: &Client, cases: &[Case]) -> Result<BTreeMap<String, Answer>> {
    tests::install(client, [serde_json::from_value(definition(true))?]).await;
    for (index, case) in cases.iter().enumerate() {
        if let Some(old) = &case.old {
            let (code, body) = send(client, "POST", PATH, &object(index, case, old)).await?;
            if code != 201 {
                return Err(format!("{}: {body}", case.name).into());
            }
        }
    }
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let parameters = PatchParams::default();
    api.patch("things.values.example.com", &parameters, &Patch::Merge(definition(false))).await?;
    wait_until_in_force(client).await?;
    let mut answers = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        answers.insert(case.name.clone(), answer(client, index, case).await?);
    }
    Ok(answers)
}

/// Waits until the schema of the corpus is in force.
async fn wait_until_in_force(client: &Client) -> Result<()> {
    let mut probe = json!({ "apiVersion": "values.example.com/v1", "kind": "Thing", "metadata": { "name": "p" } });
    probe["spec"] = json!({ "unknown": 1 });
    for _ in 0..300 {
        let (code, body) = send(client, "POST", &format!("{PATH}?dryRun=All"), &probe).await?;
        if code == 201 && body["spec"].get("unknown").is_none() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("the schema did not come into force".into())
}

fn definition(loose: bool) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.values.example.com" },
        "spec": {
            "group": "values.example.com",
            "names": { "plural": "things", "kind": "Thing" },
            "scope": "Cluster",
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema(loose) } }],
        },
    })
}

fn object(index: usize, case: &Case, value: &Value) -> Value {
    json!({
        "apiVersion": "values.example.com/v1",
        "kind": "Thing",
        "metadata": { "name": format!("a{index}") },
        "spec": { &case.field: value },
    })
}

async fn answer(client: &Client, index: usize, case: &Case) -> Result<Answer> {
    let mut object = object(index, case, &case.new);
    let (code, body) = match &case.old {
        None => send(client, "POST", &format!("{PATH}?dryRun=All"), &object).await?,
        Some(_) => {
            let uri = format!("{PATH}/a{index}");
            let (_, old) = send(client, "GET", &uri, &Value::Null).await?;
            object["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
            send(client, "PUT", &format!("{uri}?dryRun=All"), &object).await?
        }
    };
    if code < 300 {
        return Ok(Answer::accepted(body["spec"].get(&case.field)));
    }
    let text = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
    let causes = body["details"]["causes"].as_array().ok_or_else(|| format!("{}: {body}", case.name))?.iter();
    Ok(Answer::rejected(
        causes.map(|cause| (text(cause, "field"), text(cause, "reason"), text(cause, "message"))).collect(),
    ))
}

async fn send(client: &Client, method: &str, uri: &str, body: &Value) -> Result<(u16, Value)> {
    let request = http::Request::builder().method(method).uri(uri).header("content-type", "application/json");
    let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(body)? };
    let response = client.send(request.body(Body::from(body))?).await?;
    let code = response.status().as_u16();
    Ok((code, serde_json::from_slice(&response.into_body().collect_bytes().await?)?))
}
