//! The paths of a kind, with their operations.

use serde_json::{Map, Value, json};

use super::{prefix, schemas};
use crate::resource::registry::Resource;

const PATCHES: [&str; 3] =
    ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
const JSON: &str = "application/json";

/// Returns the paths of a kind.
pub(super) fn build(kind: &Resource) -> Map<String, Value> {
    let root = format!("/{}", prefix(&kind.group, &kind.version));
    let all_namespaces = format!("{root}/{}", kind.plural);
    let collection = if kind.namespaced {
        format!("{root}/namespaces/{{namespace}}/{}", kind.plural)
    } else {
        all_namespaces.clone()
    };
    let object = format!("{collection}/{{name}}");
    let main = Operations {
        kind,
        scope: if kind.namespaced { "Namespaced" } else { "" },
        suffix: "",
        type_: schemas::group_version_kind(kind, &kind.kind),
        schema: schemas::name(kind),
    };
    let mut paths = Map::new();
    if kind.namespaced {
        let all = Operations { scope: "", suffix: "ForAllNamespaces", ..main.clone() };
        paths.insert(all_namespaces, json!({ "get": all.list() }));
    }
    paths.insert(collection, main.collection());
    paths.insert(object.clone(), main.object());
    if kind.strategy.has_approval {
        paths.insert(format!("{object}/approval"), Operations { suffix: "Approval", ..main.clone() }.subresource());
    }
    if kind.has_status {
        paths.insert(format!("{object}/status"), Operations { suffix: "Status", ..main.clone() }.subresource());
    }
    if kind.scale.is_some() {
        // The real server names the custom kind itself here.
        let type_ = match kind.is_custom {
            true => main.type_.clone(),
            false => json!({ "group": "autoscaling", "version": "v1", "kind": "Scale" }),
        };
        let schema = "io.k8s.api.autoscaling.v1.Scale".to_owned();
        paths.insert(format!("{object}/scale"), Operations { suffix: "Scale", type_, schema, ..main }.subresource());
    }
    paths
}

/// The operations of one endpoint of a kind.
#[derive(Clone)]
struct Operations<'a> {
    kind: &'a Resource,
    /// The part of operation IDs before the kind: `Namespaced` or empty.
    scope: &'static str,
    /// The suffix of operation IDs: the endpoint, or empty for the main one.
    suffix: &'static str,
    type_: Value,
    schema: String,
}

impl Operations<'_> {
    fn collection(&self) -> Value {
        json!({
            "get": self.list(),
            "post": self.write("post", "create", &[JSON]),
            "delete": self.operation("deletecollection", "delete", "io.k8s.apimachinery.pkg.apis.meta.v1.Status"),
            "parameters": self.path_parameters(false),
        })
    }

    fn object(&self) -> Value {
        let mut operations = self.subresource();
        operations["delete"] = self.operation("delete", "delete", "io.k8s.apimachinery.pkg.apis.meta.v1.Status");
        operations
    }

    /// Returns the operations of `/status` and `/scale`, which can be neither created nor deleted.
    fn subresource(&self) -> Value {
        json!({
            "get": self.operation("get", "read", &self.schema),
            "put": self.write("put", "replace", &[JSON]),
            "patch": self.write("patch", "patch", &PATCHES),
            "parameters": self.path_parameters(true),
        })
    }

    fn list(&self) -> Value {
        let mut list = self.operation("list", "list", &format!("{}List", self.schema));
        let names = ["continue", "fieldSelector", "labelSelector", "resourceVersion", "resourceVersionMatch"];
        let mut parameters: Vec<Value> = names.iter().map(|name| query(name, "string")).collect();
        parameters.extend(["limit", "timeoutSeconds"].map(|name| query(name, "integer")));
        parameters.extend(["allowWatchBookmarks", "sendInitialEvents", "watch"].map(|name| query(name, "boolean")));
        list["parameters"] = parameters.into();
        list
    }

    fn write(&self, action: &str, verb: &str, types: &[&str]) -> Value {
        let mut operation = self.operation(action, verb, &self.schema);
        let mut parameters = ["dryRun", "fieldManager", "fieldValidation"].map(|name| query(name, "string")).to_vec();
        // A patch has no schema.
        let body = if action == "patch" {
            parameters.push(query("force", "boolean"));
            json!({ "type": "object" })
        } else {
            schemas::reference(&self.schema)
        };
        let content: Map<String, Value> =
            types.iter().map(|type_| ((*type_).to_owned(), json!({ "schema": body }))).collect();
        operation["parameters"] = parameters.into();
        operation["requestBody"] = json!({ "content": content, "required": true });
        operation
    }

    fn operation(&self, action: &str, verb: &str, response: &str) -> Value {
        let kind = self.kind;
        let collection = if action == "deletecollection" { "Collection" } else { "" };
        json!({
            "description": format!("{verb} {}", kind.kind),
            "operationId": format!(
                "{verb}{}{}{collection}{}{}{}",
                camel(&kind.group), camel(&kind.version), self.scope, kind.kind, self.suffix,
            ),
            "responses": {
                "200": { "description": "OK", "content": { JSON: { "schema": schemas::reference(response) } } },
            },
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": self.type_,
        })
    }

    fn path_parameters(&self, named: bool) -> Value {
        let of_path = |name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
        let names = [("name", named), ("namespace", self.kind.namespaced)];
        names.into_iter().filter(|(_, is_present)| *is_present).map(|(name, _)| of_path(name)).collect()
    }
}

fn query(name: &str, type_: &str) -> Value {
    json!({ "name": name, "in": "query", "schema": { "type": type_ } })
}

/// Converts a name to a part of an operation ID: `example.com` becomes `ExampleCom`.
fn camel(text: &str) -> String {
    let words = if text.is_empty() { "core" } else { text }.split(['.', '-']);
    words.map(|word| word.get(..1).unwrap_or_default().to_uppercase() + word.get(1..).unwrap_or_default()).collect()
}
