//! One of the two servers, and what it said so far

use std::{collections::BTreeMap, error::Error, time::Duration};

use futures::{AsyncBufRead, AsyncBufReadExt, TryStreamExt};
use http::Request as HttpRequest;
use kube::{Client, client::Body};
use serde_json::{Value, json};

use crate::{
    menu::{Menu, put_in},
    names::{Names, at},
    operations::Request,
};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What nobody's uid is.
const NO_UID: &str = "00000000-0000-0000-0000-000000000000";

/// The last object of each script, by which its watches end.
pub(crate) const LAST: &str = "zz";

/// How long a watch may take to get there.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server in the middle of a script.
pub(crate) struct Side {
    client: Client,
    names: Names,
    namespace: String,
    /// The first and the last that was seen of each object, by its path.
    seen: BTreeMap<String, (String, Value)>,
}

impl Side {
    /// A server on which nothing happened yet in this namespace, nor in the one beside it.
    pub(crate) fn new(client: &Client, namespace: &str) -> Self {
        Self {
            client: client.clone(),
            names: Names::of(namespace),
            namespace: namespace.to_owned(),
            seen: BTreeMap::new(),
        }
    }

    /// What is answered to a request, with stable names.
    pub(crate) async fn answer(&mut self, request: &Request) -> Result<Value> {
        let collection = self.placed(&request.collection);
        let path = format!("{collection}{}", request.below);
        let mut body = self.filled(&request.body, &collection, request);
        if request.is_change {
            let mut whole = self.seen.get(&path).map_or(json!({}), |(_, seen)| seen.clone());
            put_in(&mut whole, &body);
            body = whole;
        }
        let (code, warnings, mut answer) =
            send(&self.client, request.verb, &format!("{path}{}", request.query), &body).await?;
        let is_kept = code < 300 && !request.query.contains("dryRun") && !request.below.ends_with("/scale");
        if is_kept && let Some(name) = at(&answer, "metadata.name").and_then(Value::as_str) {
            let version = at(&answer, "metadata.resourceVersion").and_then(Value::as_str).unwrap_or_default();
            let first = version.to_owned();
            self.seen.entry(format!("{collection}/{name}")).or_insert((first, Value::Null)).1 = answer.clone();
        }
        // A refusal may name what was to be made, and only that tells which part of it is by chance.
        if let (Some(prefix), Some(name)) = (at(&body, "metadata.generateName"), at(&answer, "details.name")) {
            self.names.name(&mut json!({ "generateName": prefix, "name": name }), true);
        }
        self.name(&mut answer);
        Ok(json!({ "code": code, "warnings": self.names.text(&warnings), "body": answer }))
    }

    /// The version of a collection now.
    pub(crate) async fn version(&self, collection: &str) -> Result<String> {
        let (_, _, list) = send(&self.client, "GET", &self.placed(collection), &Value::Null).await?;
        let version = at(&list, "metadata.resourceVersion").and_then(Value::as_str);
        Ok(version.ok_or_else(|| format!("no list of {collection}: {list}"))?.to_owned())
    }

    /// The events of a collection since a version, up to those of the last object.
    pub(crate) async fn events(&mut self, collection: &str, query: &str) -> Result<Value> {
        let uri = format!("{}?watch=1&{query}", self.placed(collection));
        let stream = self.client.request_stream(HttpRequest::get(uri).body(Vec::new())?).await?;
        let events = tokio::time::timeout(PATIENCE, up_to_last(Box::pin(stream)));
        let mut events = events.await.map_err(|_| "the watch never ends")??;
        self.name(&mut events);
        Ok(events)
    }

    fn placed(&self, path: &str) -> String {
        path.replace("$ns", &self.namespace).replace("$other", &format!("{}-other", self.namespace))
    }

    fn filled(&self, body: &Value, collection: &str, request: &Request) -> Value {
        match body {
            Value::String(text) => self.filled_text(text, collection, request).into(),
            Value::Array(items) => items.iter().map(|item| self.filled(item, collection, request)).collect(),
            Value::Object(fields) => {
                let filled = fields.iter().map(|(name, value)| (name.clone(), self.filled(value, collection, request)));
                Value::Object(filled.collect())
            }
            other => other.clone(),
        }
    }

    fn filled_text(&self, text: &str, collection: &str, request: &Request) -> String {
        let own = request.below.split('/').nth(1).unwrap_or_default();
        let (what, name) = text.split_once(':').unwrap_or((text, own));
        let seen = self.seen.get(&format!("{collection}/{name}"));
        let of = |place: &str, absent: &str| {
            let found = seen.and_then(|(_, object)| at(object, place)).and_then(Value::as_str);
            found.unwrap_or(absent).to_owned()
        };
        match what {
            "$uid" => of("metadata.uid", NO_UID),
            "$version" => of("metadata.resourceVersion", "1"),
            "$stale" => seen.map_or_else(|| "1".to_owned(), |(first, _)| first.clone()),
            _ => text.to_owned(),
        }
    }

    fn name(&mut self, answer: &mut Value) {
        sort_mistakes(answer);
        forget_outcomes(answer);
        self.names.name(answer, true);
    }
}

async fn up_to_last(stream: impl AsyncBufRead + Unpin) -> Result<Value> {
    let mut lines = stream.lines();
    let mut events = Vec::new();
    while let Some(line) = lines.try_next().await? {
        let event: Value = serde_json::from_str(&line)?;
        let is_last = event["type"] == "ERROR" || at(&event, "object.metadata.name").is_some_and(|name| name == LAST);
        events.push(event);
        if is_last {
            break;
        }
    }
    Ok(events.into())
}

/// Where an applied body has several mistakes the real server tells them in any order, and after a field that is not declared it
/// tells no more: only that there are some counts then.
fn sort_mistakes(answer: &mut Value) {
    let Some(Value::String(message)) = answer.get_mut("message") else { return };
    if message.contains("field not declared in schema") {
        message.truncate(message.find("): ").unwrap_or(message.len()));
    } else if let Some((before, mistakes)) = message.split_once("errors:\n") {
        let mut mistakes: Vec<&str> = mistakes.lines().collect();
        mistakes.sort_unstable();
        *message = format!("{before}errors:\n{}", mistakes.join("\n"));
    }
}

/// A refused patch shows what it would have come to, in the order of Go's fields: what it is refused for counts.
fn forget_outcomes(answer: &mut Value) {
    let shorten = |text: &mut Value| {
        if let Value::String(text) = text
            && let Some(start) = text.find("Invalid value: \"{").filter(|_| text.len() > 200)
            && let Some(end) = text.rfind("}\": ")
        {
            text.replace_range(start..end, "Invalid value: OUTCOME");
        }
    };
    let is_of_patch = |cause: &Value| cause["field"] == "patch";
    let causes = answer.pointer_mut("/details/causes").and_then(Value::as_array_mut);
    let is_one = causes.is_some_and(|causes| {
        causes.iter_mut().for_each(|cause| {
            if is_of_patch(cause) {
                shorten(&mut cause["message"])
            }
        });
        causes.iter().any(is_of_patch)
    });
    if is_one {
        shorten(&mut answer["message"]);
    }
}

/// Makes the namespaces of a script.
pub(crate) async fn make_namespaces(client: &Client, namespace: &str) -> Result<()> {
    for name in [namespace.to_owned(), format!("{namespace}-other")] {
        post(client, "/api/v1/namespaces", &json!({ "metadata": { "name": name } })).await?;
    }
    Ok(())
}

/// Makes what defines the custom kinds, and waits until they are served.
pub(crate) async fn install(client: &Client, definitions: &[Value], menu: &Menu) -> Result<()> {
    for definition in definitions {
        post(client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).await?;
    }
    for kind in &menu.kinds {
        let path = kind.path.replace("$ns", "default");
        let served = async {
            while send(client, "GET", &path, &Value::Null).await?.0 != 200 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Result::Ok(())
        };
        tokio::time::timeout(PATIENCE, served).await.map_err(|_| format!("{path} is not served"))??;
    }
    Ok(())
}

async fn post(client: &Client, path: &str, object: &Value) -> Result<()> {
    match send(client, "POST", path, object).await? {
        (201, ..) => Ok(()),
        (_, _, answer) => Err(format!("{path}: {answer}").into()),
    }
}

/// The code, the warnings and the body that come back.
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
