//! The session of a script on one server, with the responses so far.

use std::{collections::BTreeMap, error::Error, time::Duration};

use futures::{AsyncBufRead, AsyncBufReadExt, TryStreamExt};
use http::Request as HttpRequest;
use kube::{Client, client::Body};
use serde_json::{Value, json};

use crate::{
    fragments::{Fragments, merge},
    normalize::{Normalizer, at},
    operations::Request,
};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The uid that no object has.
const UNKNOWN_UID: &str = "00000000-0000-0000-0000-000000000000";

/// The name of the last object of each script, which ends its watches.
pub(crate) const SENTINEL: &str = "zz";

/// The limit of every wait.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The session of a script on one server.
pub(crate) struct Session {
    client: Client,
    normalizer: Normalizer,
    namespace: String,
    /// The first version and the last response of each object, by path.
    objects: BTreeMap<String, (String, Value)>,
}

impl Session {
    /// Creates a session in this namespace and in `NAMESPACE-other`.
    pub(crate) fn new(client: &Client, namespace: &str) -> Self {
        Self {
            client: client.clone(),
            normalizer: Normalizer::new(namespace),
            namespace: namespace.to_owned(),
            objects: BTreeMap::new(),
        }
    }

    /// Sends a request and returns the normalized answer.
    pub(crate) async fn answer(&mut self, request: &Request) -> Result<Value> {
        let collection = self.path(&request.collection);
        let path = format!("{collection}{}", request.subpath);
        let mut body = self.substitute(&request.body, &collection, request);
        if request.merges_into_last {
            let mut object = self.objects.get(&path).map_or(json!({}), |(_, object)| object.clone());
            merge(&mut object, &body);
            body = object;
        }
        let (code, warnings, mut answer) =
            send(&self.client, request.verb, &format!("{path}{}", request.query), &body).await?;
        let is_stored = code < 300 && !request.query.contains("dryRun") && !request.subpath.ends_with("/scale");
        if is_stored && let Some(name) = at(&answer, "metadata.name").and_then(Value::as_str) {
            let version = at(&answer, "metadata.resourceVersion").and_then(Value::as_str).unwrap_or_default();
            let first = version.to_owned();
            self.objects.entry(format!("{collection}/{name}")).or_insert((first, Value::Null)).1 = answer.clone();
        }
        // A rejection may contain a generated name, the random suffix of which is known only with the prefix.
        if let (Some(prefix), Some(name)) = (at(&body, "metadata.generateName"), at(&answer, "details.name")) {
            self.normalizer.normalize(&mut json!({ "generateName": prefix, "name": name }), true);
        }
        self.normalize(&mut answer);
        Ok(json!({ "code": code, "warnings": self.normalizer.text(&warnings), "body": answer }))
    }

    /// Returns the current version of a collection.
    pub(crate) async fn version(&self, collection: &str) -> Result<String> {
        let (_, _, list) = send(&self.client, "GET", &self.path(collection), &Value::Null).await?;
        let version = at(&list, "metadata.resourceVersion").and_then(Value::as_str);
        Ok(version.ok_or_else(|| format!("no list of {collection}: {list}"))?.to_owned())
    }

    /// Returns the events of a collection since a version, up to that of the sentinel.
    pub(crate) async fn events(&mut self, collection: &str, query: &str) -> Result<Value> {
        let uri = format!("{}?watch=1&{query}", self.path(collection));
        let stream = self.client.request_stream(HttpRequest::get(uri).body(Vec::new())?).await?;
        let events = tokio::time::timeout(TIMEOUT, read_up_to_sentinel(Box::pin(stream)));
        let mut events = events.await.map_err(|_| "the watch did not deliver the sentinel")??;
        self.normalize(&mut events);
        Ok(events)
    }

    fn path(&self, path: &str) -> String {
        path.replace("$ns", &self.namespace).replace("$other", &format!("{}-other", self.namespace))
    }

    fn substitute(&self, body: &Value, collection: &str, request: &Request) -> Value {
        match body {
            Value::String(text) => self.substitute_text(text, collection, request).into(),
            Value::Array(items) => items.iter().map(|item| self.substitute(item, collection, request)).collect(),
            Value::Object(fields) => {
                let filled =
                    fields.iter().map(|(name, value)| (name.clone(), self.substitute(value, collection, request)));
                Value::Object(filled.collect())
            }
            other => other.clone(),
        }
    }

    fn substitute_text(&self, text: &str, collection: &str, request: &Request) -> String {
        let default_name = request.subpath.split('/').nth(1).unwrap_or_default();
        let (variable, name) = text.split_once(':').unwrap_or((text, default_name));
        let object = self.objects.get(&format!("{collection}/{name}"));
        let field = |path: &str, absent: &str| {
            let found = object.and_then(|(_, object)| at(object, path)).and_then(Value::as_str);
            found.unwrap_or(absent).to_owned()
        };
        match variable {
            "$uid" => field("metadata.uid", UNKNOWN_UID),
            "$version" => field("metadata.resourceVersion", "1"),
            "$stale" => object.map_or_else(|| "1".to_owned(), |(first, _)| first.clone()),
            _ => text.to_owned(),
        }
    }

    fn normalize(&mut self, answer: &mut Value) {
        sort_apply_errors(answer);
        mask_patch_results(answer);
        self.normalizer.normalize(answer, true);
    }
}

async fn read_up_to_sentinel(stream: impl AsyncBufRead + Unpin) -> Result<Value> {
    let mut lines = stream.lines();
    let mut events = Vec::new();
    while let Some(line) = lines.try_next().await? {
        let event: Value = serde_json::from_str(&line)?;
        let is_sentinel =
            event["type"] == "ERROR" || at(&event, "object.metadata.name").is_some_and(|name| name == SENTINEL);
        events.push(event);
        if is_sentinel {
            break;
        }
    }
    Ok(events.into())
}

/// Sorts the errors of an apply, which the real server reports in any order. It reports none after an undeclared field,
/// so the list is removed then.
fn sort_apply_errors(answer: &mut Value) {
    let Some(Value::String(message)) = answer.get_mut("message") else { return };
    if message.contains("field not declared in schema") {
        message.truncate(message.find("): ").unwrap_or(message.len()));
    } else if let Some((before, errors)) = message.split_once("errors:\n") {
        let mut errors: Vec<&str> = errors.lines().collect();
        errors.sort_unstable();
        *message = format!("{before}errors:\n{}", errors.join("\n"));
    }
}

/// Masks the patched object in the errors of a rejected patch, which the real server prints in the order of Go's
/// fields.
fn mask_patch_results(answer: &mut Value) {
    let shorten = |text: &mut Value| {
        if let Value::String(text) = text
            && let Some(start) = text.find("Invalid value: \"{").filter(|_| text.len() > 200)
            && let Some(end) = text.rfind("}\": ")
        {
            text.replace_range(start..end, "Invalid value: OUTCOME");
        }
    };
    let is_patch_cause = |cause: &Value| cause["field"] == "patch";
    let causes = answer.pointer_mut("/details/causes").and_then(Value::as_array_mut);
    let is_rejected_patch = causes.is_some_and(|causes| {
        causes.iter_mut().for_each(|cause| {
            if is_patch_cause(cause) {
                shorten(&mut cause["message"])
            }
        });
        causes.iter().any(is_patch_cause)
    });
    if is_rejected_patch {
        shorten(&mut answer["message"]);
    }
}

/// Creates the namespaces of a script.
pub(crate) async fn create_namespaces(client: &Client, namespace: &str) -> Result<()> {
    for name in [namespace.to_owned(), format!("{namespace}-other")] {
        post(client, "/api/v1/namespaces", &json!({ "metadata": { "name": name } })).await?;
    }
    Ok(())
}

/// Creates the definitions of the custom kinds, and waits until they are served.
pub(crate) async fn install(client: &Client, definitions: &[Value], fragments: &Fragments) -> Result<()> {
    for definition in definitions {
        post(client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).await?;
    }
    for kind in &fragments.kinds {
        let path = kind.path.replace("$ns", "default");
        let served = async {
            while send(client, "GET", &path, &Value::Null).await?.0 != 200 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Result::Ok(())
        };
        tokio::time::timeout(TIMEOUT, served).await.map_err(|_| format!("{path} is not served"))??;
    }
    Ok(())
}

async fn post(client: &Client, path: &str, object: &Value) -> Result<()> {
    match send(client, "POST", path, object).await? {
        (201, ..) => Ok(()),
        (_, _, answer) => Err(format!("{path}: {answer}").into()),
    }
}

/// Sends a request and returns the code, the warnings and the body of the response.
async fn send(client: &Client, verb: &str, path: &str, body: &Value) -> Result<(u16, String, Value)> {
    let (method, content_type) = match verb {
        "MERGE" => ("PATCH", "application/merge-patch+json"),
        "JSON" => ("PATCH", "application/json-patch+json"),
        "STRATEGIC" => ("PATCH", "application/strategic-merge-patch+json"),
        "APPLY" => ("PATCH", "application/apply-patch+yaml"),
        verb => (verb, "application/json"),
    };
    let request = HttpRequest::builder().method(method).uri(path).header("content-type", content_type);
    let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(body)? };
    let response = client.send(request.header("user-agent", "steps").body(Body::from(body))?).await?;
    let warnings = response.headers().get_all("warning").iter().filter_map(|warning| warning.to_str().ok());
    let (code, warnings) = (response.status().as_u16(), warnings.collect::<Vec<_>>().join("\n"));
    let text = String::from_utf8_lossy(&response.into_body().collect_bytes().await?).into_owned();
    Ok((code, warnings, serde_json::from_str(&text).unwrap_or(Value::String(text))))
}
