//! The corpus of CEL rules on the real server, which compiles and evaluates them as recorded.
//!
//! `CEL_RECORD=1` records the answers again, for another version of the server.

#[path = "../../../crates/kubewright-crd/tests/recorded/cel_corpus/cases.rs"]
mod cases;

use std::{sync::Arc, time::Duration};

use cases::{Cause, Group};
use http::Request;
use kube::Client;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use super::{Suite, client_trial};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NAME: &str = "things.cel.example.com";
const OBJECTS: &str = "/apis/cel.example.com/v1/namespaces/default/things";

/// The server's path of the schema of a definition's only version.
const SCHEMA: &str = "spec.validation.openAPIV3Schema";

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![
        client_trial(suite, "cel::definitions_are_validated_as_recorded", validate_definitions),
        client_trial(suite, "cel::rules_are_evaluated_as_recorded", evaluate_rules),
    ]
}

async fn validate_definitions(client: Client) -> Result<(), Failed> {
    for file in cases::FILES {
        let mut answers = Vec::new();
        for case in cases::cases(file) {
            let path = format!("{DEFINITIONS}?dryRun=All");
            let answer = send(&client, "POST", &path, &definition(case.schema)).await;
            let answer =
                answer.map_err(|failed| format!("{}: {}", case.written, failed.message().unwrap_or_default()))?;
            answers.push(answer.err().unwrap_or_default());
        }
        compare_or_record(file, answers)?;
    }
    Ok(())
}

/// Compares the answers with the recorded ones, or records them.
fn compare_or_record(file: &str, answers: Vec<Vec<Cause>>) -> Result<(), Failed> {
    if std::env::var_os("CEL_RECORD").is_some() {
        let path = tests::workspace_root().join(format!("tests/corpus/cel/{file}.answers.json"));
        let mut text = serde_json::to_string_pretty(&answers)?;
        text.push('\n');
        return Ok(std::fs::write(path, text)?);
    }
    let recorded = cases::answers(file);
    let different: Vec<String> = recorded
        .iter()
        .zip(&answers)
        .enumerate()
        .filter(|(_, (recorded, answer))| recorded != answer)
        .map(|(index, (recorded, answer))| format!("{file} {index}: recorded {recorded:?}, answered {answer:?}"))
        .collect();
    if recorded.len() == answers.len() && different.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {} answers of {file} differ:\n{}", different.len(), answers.len(), different.join("\n")).into())
}

/// All groups are properties of one kind. The objects that runs replace are created before the rules are in force,
/// since they may violate them.
async fn evaluate_rules(client: Client) -> Result<(), Failed> {
    let groups = cases::groups();
    send(&client, "POST", DEFINITIONS, &definition(kind(&groups, false)))
        .await?
        .map_err(|causes| format!("{causes:?}"))?;
    until(|| async { Ok(send(&client, "GET", OBJECTS, &Value::Null).await?.is_ok()) }).await?;
    let mut olds = Vec::new();
    for (group, run, old) in runs(&groups).filter_map(|(group, run)| Some((group, run, run.old.as_ref()?))) {
        let object = object(olds.len(), group, old);
        let stored =
            send(&client, "POST", OBJECTS, &object).await?.map_err(|causes| format!("{causes:?}: {}", run.new))?;
        olds.push(stored);
    }
    enforce(&client, &groups).await?;
    let mut olds = olds.into_iter();
    let mut answers = Vec::new();
    for (group, run) in runs(&groups) {
        let answer = match run.old.as_ref().and_then(|_| olds.next()) {
            Some(mut stored) => {
                stored["spec"] = json!({format!("c{group}"): run.new});
                let path = format!("{OBJECTS}/{}?dryRun=All", stored["metadata"]["name"].as_str().unwrap_or_default());
                send(&client, "PUT", &path, &stored).await?
            }
            None => send(&client, "POST", &format!("{OBJECTS}?dryRun=All"), &object(0, group, &run.new)).await?,
        };
        let field = format!("spec.c{group}");
        let mut causes = answer.err().unwrap_or_default();
        causes.iter_mut().for_each(|cause| cause.0 = cause.0.replacen(&field, "spec", 1));
        causes.sort();
        answers.push(causes);
    }
    send(&client, "DELETE", &format!("{DEFINITIONS}/{NAME}"), &Value::Null).await?.ok();
    compare_or_record(cases::RUNS, answers)
}

fn runs(groups: &[Group]) -> impl Iterator<Item = (usize, &cases::Run)> {
    groups.iter().enumerate().flat_map(|(index, group)| group.runs.iter().map(move |run| (index, run)))
}

/// Adds the rules to the definition, and waits until they are in force.
async fn enforce(client: &Client, groups: &[Group]) -> Result<(), Failed> {
    let path = format!("{DEFINITIONS}/{NAME}");
    until(|| async {
        let mut stored = send(client, "GET", &path, &Value::Null).await?.map_err(|causes| format!("{causes:?}"))?;
        stored["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = kind(groups, true);
        match send(client, "PUT", &path, &stored).await? {
            Ok(_) => Ok(true),
            Err(causes) if causes.is_empty() => Ok(false),
            Err(causes) => Err(format!("{causes:?}").into()),
        }
    })
    .await?;
    let probe =
        json!({"apiVersion": "cel.example.com/v1", "kind": "Thing", "metadata": {"name": "probe"}, "probe": true});
    until(|| async { Ok(send(client, "POST", &format!("{OBJECTS}?dryRun=All"), &probe).await?.is_err()) }).await
}

/// Polls a condition until it holds, for at most 30 seconds.
async fn until<F: Future<Output = Result<bool, Failed>>>(holds: impl Fn() -> F) -> Result<(), Failed> {
    let polling = async {
        while !holds().await? {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    };
    tokio::time::timeout(Duration::from_secs(30), polling).await?
}

fn object(index: usize, group: usize, spec: &Value) -> Value {
    let name = format!("thing-{index}");
    let spec = json!({format!("c{group}"): spec});
    json!({"apiVersion": "cel.example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec})
}

/// Returns the schema of a kind with all groups, and a probe field that shows whether the rules are in force.
fn kind(groups: &[Group], with_rules: bool) -> Value {
    let mut spec = json!({"type": "object", "properties": {}});
    for (index, group) in groups.iter().enumerate() {
        spec["properties"][format!("c{index}")] = group.schema.clone();
    }
    let probe = json!({"type": "boolean", "x-kubernetes-validations": [{"rule": "!self"}]});
    let mut schema = json!({"type": "object", "properties": {"spec": spec, "probe": probe}});
    if !with_rules {
        strip(&mut schema);
    }
    schema
}

fn strip(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.remove("x-kubernetes-validations");
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

fn definition(schema: Value) -> Value {
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {
            "group": "cel.example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [version],
        },
    })
}

/// Sends a request and returns the response, or the causes of the rejection: sorted, without parts that differ between
/// runs.
async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Result<Result<Value, Vec<Cause>>, Failed> {
    let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(body)? };
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json").body(body)?;
    match client.request::<Value>(request).await {
        Ok(answer) => Ok(Ok(answer)),
        Err(kube::Error::Api(status)) => {
            let causes = status.details.map(|details| details.causes).unwrap_or_default();
            let normalize = |text: String| without_numbers(&text.replace(SCHEMA, "$"));
            let mut causes: Vec<Cause> = causes
                .into_iter()
                .map(|cause| (normalize(cause.field), cause.reason, normalize(cause.message)))
                .collect();
            causes.sort();
            Ok(Err(causes))
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes the numbers of rule types, which the server assigns for each request.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split("selfType");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "selfType" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}
