//! The corpus of rules, judged and run by the real server: it still answers as recorded.
//!
//! `CEL_RECORD=1` writes the answers anew, for another version of the server.

#[path = "../../../logger-crd/tests/cel_corpus/cases.rs"]
mod cases;

use std::sync::Arc;
use std::time::Duration;

use cases::{Cause, Group};
use envtest::ControlPlane;
use http::Request;
use kube::Client;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use super::{client, trial};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NAME: &str = "things.cel.example.com";
const OBJECTS: &str = "/apis/cel.example.com/v1/namespaces/default/things";

/// How the server calls the schema of a definition's only version.
const SCHEMA: &str = "spec.validation.openAPIV3Schema";

pub(super) fn trials(control_plane: &Arc<ControlPlane>) -> Vec<Trial> {
    vec![
        trial(control_plane, "cel::definitions_are_judged_as_recorded", |it| block_on(it, definitions_are_judged)),
        trial(control_plane, "cel::rules_have_the_recorded_outcome", |it| block_on(it, rules_are_run)),
    ]
}

fn block_on<F: Future<Output = Result<(), Failed>>>(
    control_plane: &ControlPlane,
    test: impl FnOnce(Client) -> F,
) -> Result<(), Failed> {
    tokio::runtime::Runtime::new()?.block_on(async { test(client(control_plane).await?).await })
}

async fn definitions_are_judged(client: Client) -> Result<(), Failed> {
    for file in cases::FILES {
        let mut answers = Vec::new();
        for case in cases::cases(file) {
            let path = format!("{DEFINITIONS}?dryRun=All");
            let answer = send(&client, "POST", &path, &definition(case.schema)).await;
            let answer =
                answer.map_err(|failed| format!("{}: {}", case.written, failed.message().unwrap_or_default()))?;
            answers.push(answer.err().unwrap_or_default());
        }
        agree(file, answers)?;
    }
    Ok(())
}

/// The recorded answers, or these in their place.
fn agree(file: &str, answers: Vec<Vec<Cause>>) -> Result<(), Failed> {
    if std::env::var_os("CEL_RECORD").is_some() {
        let path = format!("{}/corpus/cel/{file}.answers.json", env!("CARGO_MANIFEST_DIR"));
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

/// All groups are properties of one kind. What runs replace is written before the rules are there: it may break them.
async fn rules_are_run(client: Client) -> Result<(), Failed> {
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
        let own = format!("spec.c{group}");
        let mut causes = answer.err().unwrap_or_default();
        causes.iter_mut().for_each(|cause| cause.0 = cause.0.replacen(&own, "spec", 1));
        causes.sort();
        answers.push(causes);
    }
    send(&client, "DELETE", &format!("{DEFINITIONS}/{NAME}"), &Value::Null).await?.ok();
    agree(cases::RUNS, answers)
}

fn runs(groups: &[Group]) -> impl Iterator<Item = (usize, &cases::Run)> {
    groups.iter().enumerate().flat_map(|(index, group)| group.runs.iter().map(move |run| (index, run)))
}

/// Puts the rules in force, and waits until they are.
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

/// Asks again until it is so; the last wait is half a minute in all.
async fn until<F: Future<Output = Result<bool, Failed>>>(is_so: impl Fn() -> F) -> Result<(), Failed> {
    let asked = async {
        while !is_so().await? {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    };
    tokio::time::timeout(Duration::from_secs(30), asked).await?
}

fn object(index: usize, group: usize, spec: &Value) -> Value {
    let name = format!("thing-{index}");
    let spec = json!({format!("c{group}"): spec});
    json!({"apiVersion": "cel.example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec})
}

/// The schema of a kind with all groups, and a field that tells when the rules are in force.
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

/// What the server answers, or why it refuses: the causes, sorted, without what differs from run to run.
async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Result<Result<Value, Vec<Cause>>, Failed> {
    let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(body)? };
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json").body(body)?;
    match client.request::<Value>(request).await {
        Ok(answer) => Ok(Ok(answer)),
        Err(kube::Error::Api(status)) => {
            let causes = status.details.map(|details| details.causes).unwrap_or_default();
            let plain = |text: String| without_numbers(&text.replace(SCHEMA, "$"));
            let mut causes: Vec<Cause> =
                causes.into_iter().map(|cause| (plain(cause.field), cause.reason, plain(cause.message))).collect();
            causes.sort();
            Ok(Err(causes))
        }
        Err(error) => Err(error.into()),
    }
}

/// The server numbers the types of rules anew each time.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split("selfType");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "selfType" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}
