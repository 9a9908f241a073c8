//! From an operation to the request that is sent

use serde_json::{Value, json};

use super::{Act, From, Pick, Place, Request};
use crate::menu::{Kind, Menu, put_in};

/// An operation that is being made into a request.
struct Making<'a> {
    menu: &'a Menu,
    kind: &'a Kind,
    number: usize,
    place: &'a Place,
    /// The subresource it is for, if the kind has it.
    subresource: Option<&'a str>,
}

pub(super) fn request(menu: &Menu, kind: &Kind, number: usize, place: &Place, act: &Act) -> Request {
    let subresource = kind.subresources.iter().find(|subresource| *subresource == place.subresource);
    Making { menu, kind, number, place, subresource: subresource.map(String::as_str) }.request(act)
}

impl<'a> Making<'a> {
    fn request(&self, act: &Act) -> Request {
        let mut made = self.blank();
        match act {
            Act::Get => made.query = String::new(),
            Act::List(selector) => (made.below, made.query) = (String::new(), (*selector).to_owned()),
            Act::Create { pieces, is_named } => {
                (made.verb, made.below, made.body) = ("POST", String::new(), self.created(pieces, *is_named));
            }
            Act::Update { pieces, version, is_change } => {
                (made.verb, made.is_change, made.body) =
                    ("PUT", *is_change, self.updated(pieces, *version, *is_change));
            }
            Act::Merge(picks) => (made.verb, made.body) = ("MERGE", self.pieces(picks)),
            Act::Strategic(picks) => (made.verb, made.body) = ("STRATEGIC", self.pieces(picks)),
            Act::Json(changes) => {
                let changes = changes.iter().map(|(op, to, from)| self.change(op, *to, *from));
                (made.verb, made.body) = ("JSON", changes.collect());
            }
            Act::Apply { pieces, is_whole, force } => {
                (made.verb, made.body) = ("APPLY", self.whole(pieces, *is_whole));
                made.query.push_str(if *force { "&force=true" } else { "" });
            }
            Act::Delete(options) => {
                (made.verb, made.query, made.below) = ("DELETE", String::new(), format!("/{}", self.place.name));
                if !options.is_empty() {
                    made.body = options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
                }
            }
            Act::DeleteAll(selector) => {
                (made.verb, made.below, made.query) = ("DELETE", String::new(), (*selector).to_owned());
            }
        }
        made
    }

    /// A request for the object that changes nothing.
    fn blank(&self) -> Request {
        let place = self.place;
        let parameters = [place.parameters.clone(), vec![format!("fieldManager={}", place.manager)]].concat();
        let below = self.subresource.map(|name| format!("/{name}")).unwrap_or_default();
        Request {
            verb: "GET",
            collection: self.kind.path.replace("$ns", place.namespace),
            below: format!("/{}{below}", place.name),
            query: format!("?{}", parameters.join("&")),
            body: Value::Null,
            is_change: false,
        }
    }

    fn piece(&self, pick: Pick) -> &'a Value {
        piece(self.menu, self.kind, self.subresource == Some("status"), pick)
    }

    fn pieces(&self, picks: &[Pick]) -> Value {
        let mut body = json!({});
        picks.iter().for_each(|pick| put_in(&mut body, self.piece(*pick)));
        body
    }

    /// What every body of this place begins with.
    fn head(&self) -> Value {
        let (kind, name) = (self.kind, self.place.name);
        if self.subresource == Some("scale") {
            let spec = json!({ "replicas": self.number });
            json!({ "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": { "name": name }, "spec": spec })
        } else {
            json!({ "apiVersion": kind.head["apiVersion"], "kind": kind.head["kind"], "metadata": { "name": name } })
        }
    }

    fn whole(&self, picks: &[Pick], is_whole: bool) -> Value {
        let mut body = self.head();
        if is_whole && self.subresource != Some("scale") {
            put_in(&mut body, &self.kind.base);
        }
        put_in(&mut body, &self.pieces(picks));
        body
    }

    fn created(&self, picks: &[Pick], is_named: bool) -> Value {
        let kind = self.kind;
        let mut body = self.head();
        put_in(&mut body, &json!({ "apiVersion": kind.head["apiVersion"], "kind": kind.head["kind"] }));
        put_in(&mut body, &kind.base);
        picks.iter().for_each(|pick| put_in(&mut body, piece(self.menu, kind, false, *pick)));
        if !is_named {
            let prefix = format!("g{}-", self.number);
            body["metadata"] = json!({ "generateName": prefix, "labels": body["metadata"]["labels"] });
        }
        body
    }

    fn updated(&self, picks: &[Pick], version: Option<&str>, is_change: bool) -> Value {
        if is_change {
            return self.pieces(picks);
        }
        let mut body = self.whole(picks, true);
        if let Some(version) = version {
            put_in(&mut body, &json!({ "metadata": { "resourceVersion": version } }));
        }
        body
    }

    /// One of the changes of a JSON patch.
    fn change(&self, op: &str, to: Pick, from: Pick) -> Value {
        let (path, value) = leaf(self.piece(to));
        let (from, _) = leaf(self.piece(from));
        match op {
            "remove" => json!({ "op": op, "path": path }),
            "copy" | "move" => json!({ "op": op, "path": path, "from": from }),
            _ => json!({ "op": op, "path": path, "value": value }),
        }
    }
}

fn piece<'a>(menu: &'a Menu, kind: &'a Kind, status: bool, pick: Pick) -> &'a Value {
    let pieces = match pick.from {
        From::Metadata => &menu.metadata,
        From::Directives if !status && !kind.directives.is_empty() => &kind.directives,
        From::Kind | From::Directives if status => &kind.status,
        From::Kind | From::Directives => &kind.pieces,
    };
    pick.index.get(pieces)
}

/// The place of what a piece changes, and the value there.
fn leaf(piece: &Value) -> (String, &Value) {
    match piece.as_object().map(|fields| (fields.len(), fields.iter().next())) {
        Some((1, Some((name, value)))) => {
            let (path, value) = leaf(value);
            (format!("/{}{path}", name.replace('~', "~0").replace('/', "~1")), value)
        }
        _ => (String::new(), piece),
    }
}
