//! Builds the request of an operation.

use serde_json::{Value, json};

use super::{Action, Choice, Request, Source, Target};
use crate::fragments::{Fragments, Kind, merge};

/// Builds the request of one operation.
struct RequestBuilder<'a> {
    fragments: &'a Fragments,
    kind: &'a Kind,
    number: usize,
    target: &'a Target,
    /// The subresource of the target, if the kind has it.
    subresource: Option<&'a str>,
}

pub(super) fn request(fragments: &Fragments, kind: &Kind, number: usize, target: &Target, action: &Action) -> Request {
    let subresource = kind.subresources.iter().find(|subresource| *subresource == target.subresource);
    RequestBuilder { fragments, kind, number, target, subresource: subresource.map(String::as_str) }.build(action)
}

impl<'a> RequestBuilder<'a> {
    fn build(&self, action: &Action) -> Request {
        let mut request = self.get();
        match action {
            Action::Get => request.query = String::new(),
            Action::List(selector) => (request.subpath, request.query) = (String::new(), (*selector).to_owned()),
            Action::Create { fragments, is_named } => {
                (request.verb, request.subpath, request.body) =
                    ("POST", String::new(), self.created(fragments, *is_named));
            }
            Action::Update { fragments, version, merges_into_last } => {
                (request.verb, request.merges_into_last, request.body) =
                    ("PUT", *merges_into_last, self.updated(fragments, *version, *merges_into_last));
            }
            Action::Merge(choices) => (request.verb, request.body) = ("MERGE", self.merged(choices)),
            Action::Strategic(choices) => (request.verb, request.body) = ("STRATEGIC", self.merged(choices)),
            Action::Json(changes) => {
                let changes = changes.iter().map(|(op, to, from)| self.patch_operation(op, *to, *from));
                (request.verb, request.body) = ("JSON", changes.collect());
            }
            Action::Apply { fragments, is_complete, force } => {
                (request.verb, request.body) = ("APPLY", self.object(fragments, *is_complete));
                request.query.push_str(if *force { "&force=true" } else { "" });
            }
            Action::Delete(options) => {
                (request.verb, request.query, request.subpath) =
                    ("DELETE", String::new(), format!("/{}", self.target.name));
                if !options.is_empty() {
                    request.body = options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
                }
            }
            Action::DeleteCollection(selector) => {
                (request.verb, request.subpath, request.query) = ("DELETE", String::new(), (*selector).to_owned());
            }
        }
        request
    }

    /// Returns the request that gets the target.
    fn get(&self) -> Request {
        let target = self.target;
        let parameters = [target.parameters.clone(), vec![format!("fieldManager={}", target.manager)]].concat();
        let subresource = self.subresource.map(|name| format!("/{name}")).unwrap_or_default();
        Request {
            verb: "GET",
            collection: self.kind.path.replace("$ns", target.namespace),
            subpath: format!("/{}{subresource}", target.name),
            query: format!("?{}", parameters.join("&")),
            body: Value::Null,
            merges_into_last: false,
        }
    }

    fn fragment(&self, choice: Choice) -> &'a Value {
        fragment(self.fragments, self.kind, self.subresource == Some("status"), choice)
    }

    fn merged(&self, choices: &[Choice]) -> Value {
        let mut body = json!({});
        choices.iter().for_each(|choice| merge(&mut body, self.fragment(*choice)));
        body
    }

    /// Returns the type and the name of the target, which every body starts with.
    fn head(&self) -> Value {
        let (kind, name) = (self.kind, self.target.name);
        if self.subresource == Some("scale") {
            let spec = json!({ "replicas": self.number });
            json!({ "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": { "name": name }, "spec": spec })
        } else {
            json!({ "apiVersion": kind.type_meta["apiVersion"], "kind": kind.type_meta["kind"], "metadata": { "name": name } })
        }
    }

    fn object(&self, choices: &[Choice], is_complete: bool) -> Value {
        let mut body = self.head();
        if is_complete && self.subresource != Some("scale") {
            merge(&mut body, &self.kind.base);
        }
        merge(&mut body, &self.merged(choices));
        body
    }

    fn created(&self, choices: &[Choice], is_named: bool) -> Value {
        let kind = self.kind;
        let mut body = self.head();
        merge(&mut body, &json!({ "apiVersion": kind.type_meta["apiVersion"], "kind": kind.type_meta["kind"] }));
        merge(&mut body, &kind.base);
        choices.iter().for_each(|choice| merge(&mut body, fragment(self.fragments, kind, false, *choice)));
        if !is_named {
            let prefix = format!("g{}-", self.number);
            body["metadata"] = json!({ "generateName": prefix, "labels": body["metadata"]["labels"] });
        }
        body
    }

    fn updated(&self, choices: &[Choice], version: Option<&str>, merges_into_last: bool) -> Value {
        if merges_into_last {
            return self.merged(choices);
        }
        let mut body = self.object(choices, true);
        if let Some(version) = version {
            merge(&mut body, &json!({ "metadata": { "resourceVersion": version } }));
        }
        body
    }

    /// Returns one operation of a JSON patch.
    fn patch_operation(&self, op: &str, to: Choice, from: Choice) -> Value {
        let (path, value) = leaf(self.fragment(to));
        let (from, _) = leaf(self.fragment(from));
        match op {
            "remove" => json!({ "op": op, "path": path }),
            "copy" | "move" => json!({ "op": op, "path": path, "from": from }),
            _ => json!({ "op": op, "path": path, "value": value }),
        }
    }
}

fn fragment<'a>(fragments: &'a Fragments, kind: &'a Kind, status: bool, choice: Choice) -> &'a Value {
    let fragments = match choice.source {
        Source::Metadata => &fragments.metadata,
        Source::Directives if !status && !kind.directives.is_empty() => &kind.directives,
        Source::Kind | Source::Directives if status => &kind.status,
        Source::Kind | Source::Directives => &kind.fragments,
    };
    choice.index.get(fragments)
}

/// Returns the JSON pointer and the value of the field that a fragment sets.
fn leaf(fragment: &Value) -> (String, &Value) {
    match fragment.as_object().map(|fields| (fields.len(), fields.iter().next())) {
        Some((1, Some((name, value)))) => {
            let (path, value) = leaf(value);
            (format!("/{}{path}", name.replace('~', "~0").replace('/', "~1")), value)
        }
        _ => (String::new(), fragment),
    }
}
