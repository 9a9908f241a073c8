//! Runs a check: substitutes its variables and collects its answers.

use std::{collections::BTreeMap, time::Duration};

use http::{Request, StatusCode, header};
use kube::{Client, client::Body};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::{
    answers::Answer,
    normalize::{Normalizer, at},
    topic::{Check, Step},
};

/// How often a request with `until` is repeated, and the pause between two requests.
const ATTEMPTS: usize = 200;
const PAUSE: Duration = Duration::from_millis(50);

/// A response.
struct Response {
    code: StatusCode,
    headers: BTreeMap<String, String>,
    /// JSON, the events of a watch, or text.
    body: Value,
}

/// Sends the requests of a check and returns the normalized answers. Each attempt has a dedicated namespace.
pub(crate) async fn run(client: &Client, check: &Check, attempt: usize) -> Result<Vec<Answer>, Failed> {
    let namespace = match attempt {
        0 => namespace(&check.name),
        again => format!("{}-{again}", namespace(&check.name)),
    };
    let mut variables = check.variables.clone();
    variables.insert("cm".to_owned(), "/api/v1/namespaces/$ns/configmaps".to_owned());
    let body = json!({ "metadata": { "name": namespace } });
    send(client, "POST", "/api/v1/namespaces", &BTreeMap::new(), &serde_json::to_vec(&body)?).await?;
    // Variables may refer to the namespace.
    for value in variables.values_mut() {
        *value = value.replace("$ns", &namespace);
    }
    let mut normalizer = Normalizer::new(&namespace);
    variables.insert("ns".to_owned(), namespace);
    let mut answers = Vec::new();
    for (index, step) in check.steps.iter().enumerate() {
        let context = |error: Failed| {
            let message = error.message().unwrap_or_default();
            Failed::from(format!("step {} ({} {}): {message}", index + 1, step.verb, step.path))
        };
        let response = perform(client, step, &variables).await.map_err(context)?;
        for (name, field) in &step.with.keep {
            let value =
                at(&response.body, field).ok_or_else(|| context(format!("no {field} in {}", response.body).into()))?;
            variables.insert(name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        let answer = answer(step, response, &mut normalizer);
        if !step.with.silent {
            answers.push(answer);
        }
    }
    Ok(answers)
}

/// Returns the namespace of a check.
fn namespace(check: &str) -> String {
    let mut name = check.replace("::", "-").replace('_', "-");
    name.truncate(name.floor_char_boundary(50));
    name.trim_end_matches('-').to_owned()
}

async fn perform(client: &Client, step: &Step, variables: &BTreeMap<String, String>) -> Result<Response, Failed> {
    let (method, content_type) = match step.verb.as_str() {
        "MERGE" => ("PATCH", "application/merge-patch+json"),
        "JSON" => ("PATCH", "application/json-patch+json"),
        "STRATEGIC" => ("PATCH", "application/strategic-merge-patch+json"),
        "APPLY" => ("PATCH", "application/apply-patch+yaml"),
        "WATCH" => ("GET", ""),
        verb => (verb, "application/json"),
    };
    let mut path = substitute(&step.path, variables);
    if step.verb == "WATCH" {
        let and = if path.contains('?') { '&' } else { '?' };
        path = format!("{path}{and}watch=1&timeoutSeconds=1");
    }
    let mut headers = BTreeMap::from([("user-agent".to_owned(), "conformance/1.0".to_owned())]);
    if !step.with.body.is_null() && !content_type.is_empty() {
        headers.insert("content-type".to_owned(), content_type.to_owned());
    }
    for (name, value) in &step.with.headers {
        headers.insert(name.to_lowercase(), substitute(value, variables));
    }
    let body = body(step, variables)?;
    for _ in 0..ATTEMPTS {
        let response = send(client, method, &path, &headers, &body).await?;
        let holds = |(field, value): (&String, &Value)| match field.as_str() {
            "code" => *value == json!(response.code.as_u16()),
            field => at(&response.body, field) == Some(value),
        };
        if step.with.until.iter().all(holds) {
            return Ok(response);
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err("the expected answer did not arrive".into())
}

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    headers: &BTreeMap<String, String>,
    body: &[u8],
) -> Result<Response, Failed> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let response = client.send(request.body(Body::from(body.to_vec()))?).await?;
    let code = response.status();
    let compared = [header::CONTENT_TYPE, header::RETRY_AFTER, header::WARNING, header::ALLOW];
    let compared = compared.iter().filter_map(|name| {
        let values: Vec<_> = response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
        (!values.is_empty()).then(|| (name.to_string(), values.join(", ")))
    });
    let headers: BTreeMap<String, String> = compared.collect();
    let body = response.into_body().collect_bytes().await?;
    let media_type = headers.get("content-type").map(String::as_str).unwrap_or_default();
    let body = decode(path, media_type, &String::from_utf8_lossy(&body));
    Ok(Response { code, headers, body })
}

/// Returns the body of a request.
fn body(step: &Step, variables: &BTreeMap<String, String>) -> Result<Vec<u8>, Failed> {
    if !step.with.bytes.is_empty() {
        return step.with.bytes.chars().map(|byte| Ok(u8::try_from(byte)?)).collect();
    }
    Ok(match substitute_all(&step.with.body, variables) {
        Value::Null => Vec::new(),
        Value::String(text) => text.into_bytes(),
        json => serde_json::to_vec(&json)?,
    })
}

/// Decodes a body. YAML is compared by value; protobuf only by media type, since the tests in `src/protobuf` compare
/// its contents.
fn decode(path: &str, media_type: &str, body: &str) -> Value {
    match media_type.split(';').next().unwrap_or_default() {
        "application/vnd.kubernetes.protobuf" => return Value::Null,
        "application/yaml" => return serde_saphyr::from_str(body).unwrap_or_else(|_| json!(body)),
        _ => {}
    }
    if path.contains("watch=") {
        let events: Result<Vec<Value>, _> = body.lines().map(serde_json::from_str).collect();
        if let Ok(mut events) = events {
            events.retain(|event| !is_periodic_bookmark(event));
            return Value::Array(events);
        }
    }
    serde_json::from_str(body).unwrap_or_else(|_| json!(body))
}

/// Reports whether an event is a periodic bookmark, which depends on the clock of the server and not on the request.
fn is_periodic_bookmark(event: &Value) -> bool {
    event["type"] == "BOOKMARK" && event["object"]["metadata"].get("annotations").is_none()
}

fn answer(step: &Step, response: Response, normalizer: &mut Normalizer) -> Answer {
    let mut body = response.body;
    normalizer.normalize(&mut body, step.with.managed);
    if !step.with.show.is_empty() {
        let shown = step.with.show.iter().map(|field| (field.clone(), at(&body, field).cloned().unwrap_or_default()));
        body = Value::Object(shown.collect());
    }
    let headers = response.headers.into_iter().map(|(name, value)| (name, normalizer.text(&value)));
    // The content type of nearly all answers is left out.
    let headers = headers.filter(|(name, value)| name != "content-type" || value != "application/json").collect();
    Answer { request: format!("{} {}", step.verb, step.path), code: response.code.as_u16(), headers, body }
}

/// Substitutes `$name` in a text, the longest names first.
fn substitute(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut names: Vec<&String> = variables.keys().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.into_iter().fold(text.to_owned(), |text, name| text.replace(&format!("${name}"), &variables[name]))
}

/// Substitutes variables in all texts of a value.
fn substitute_all(value: &Value, variables: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => Value::String(substitute(text, variables)),
        Value::Array(items) => items.iter().map(|item| substitute_all(item, variables)).collect(),
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(name, value)| (substitute(name, variables), substitute_all(value, variables)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}
