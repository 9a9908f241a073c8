//! Changes of a definition and of its versions, except for their schemas.

use serde_json::Value;

use super::{
    Changes,
    Class::{self, Breaking, Rejected, Safe},
    Pair, schema, strings,
};

const ABSENT: Value = Value::Null;
/// The default port of the Service of a conversion webhook.
const HTTPS: u16 = 443;
/// The CA bundle of a conversion webhook. The operator or cert-manager writes it to the cluster, and an application of
/// the definition does not remove it.
const CA_BUNDLE: &str = "/clientConfig/caBundle";

pub(super) fn compare<'a>(old: &'a Value, new: &'a Value, changes: &mut Changes<'a>) {
    let (old_spec, new_spec) = (&old["spec"], &new["spec"]);
    immutable_fields(old_spec, new_spec, changes);
    names(&old_spec["names"], &new_spec["names"], changes);
    conversion(old_spec, new_spec, changes);
    removed_versions(old, new_spec, changes);
    for new_version in versions(new_spec) {
        let name = name(new_version);
        match versions(old_spec).find(|old| self::name(old) == name) {
            Some(old_version) => {
                changes.version = Some(name.to_owned());
                version(old_version, new_version, changes);
            }
            None => {
                changes.version = None;
                let what = format!("version {name} is new; clients of the others are not affected");
                changes.push(Safe, "spec.versions", what, None, new_version.get("name"));
            }
        }
    }
    storage_version(old_spec, new_spec, changes);
    changes.version = None;
}

pub(super) fn versions(spec: &Value) -> impl Iterator<Item = &Value> {
    spec["versions"].as_array().into_iter().flatten()
}

pub(super) fn name(version: &Value) -> &str {
    version["name"].as_str().unwrap_or_default()
}

pub(super) fn is(version: &Value, flag: &str) -> bool {
    version[flag] == Value::Bool(true)
}

/// The group and the plural are immutable, and so are the scope and the kind once the definition is established.
fn immutable_fields(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    for (path, pointer) in [("spec.group", "/group"), ("spec.names.plural", "/names/plural")] {
        let what = "the field is immutable: this is the definition of another resource";
        immutable_field(old, new, path, pointer, what, changes);
    }
    for (path, pointer) in [("spec.scope", "/scope"), ("spec.names.kind", "/names/kind")] {
        let what = "the field is immutable once the definition is established; to change it, delete the definition, \
                    which deletes all objects, and create it again";
        immutable_field(old, new, path, pointer, what, changes);
    }
    match (is(old, "preserveUnknownFields"), is(new, "preserveUnknownFields")) {
        (false, true) => {
            let what = "the server rejects this value unless the definition already has it";
            changes.push(Rejected, "spec.preserveUnknownFields", what, None, Some(&Value::Bool(true)));
        }
        (true, false) => {
            let what = "unknown fields are pruned";
            changes.push(Breaking, "spec.preserveUnknownFields", what, Some(&Value::Bool(true)), None);
        }
        _ => {}
    }
}

fn immutable_field(old: &Value, new: &Value, path: &str, pointer: &str, what: &str, changes: &mut Changes<'_>) {
    let (old, new) = (old.pointer(pointer), new.pointer(pointer));
    if old != new {
        changes.push(Rejected, path, what, old, new);
    }
}

fn names(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let kind = |names: &Value| names["kind"].as_str().unwrap_or_default().to_owned();
    let with_default = |names: &Value, name: &str, default: String| names[name].as_str().map_or(default, str::to_owned);
    let pairs = [
        (
            "listKind",
            with_default(old, "listKind", format!("{}List", kind(old))),
            with_default(new, "listKind", format!("{}List", kind(new))),
            "clients that decode lists by kind fail",
        ),
        (
            "singular",
            with_default(old, "singular", kind(old).to_lowercase()),
            with_default(new, "singular", kind(new).to_lowercase()),
            "scripts that use the singular name fail",
        ),
    ];
    for (name, old_name, new_name, what) in pairs {
        // A change of the kind is reported already, and it changes the defaults of the names.
        if old_name != new_name && kind(old) == kind(new) {
            let path = format!("spec.names.{name}");
            changes.push_text(Breaking, &path, what, Some(old_name), Some(new_name));
        }
    }
    let lists = [
        ("shortNames", Breaking, "scripts that use this short name fail"),
        ("categories", Safe, "the resource is no longer listed with this category"),
    ];
    for (list, class, what) in lists {
        let (old, new) = (strings(old.get(list)), strings(new.get(list)));
        let path = format!("spec.names.{list}");
        for removed in old.iter().filter(|name| !new.contains(name)) {
            changes.push_text(class, &path, what, Some((*removed).to_owned()), None);
        }
        for added in new.iter().filter(|name| !old.contains(name)) {
            changes.push_text(Safe, &path, "the resource has one more name", None, Some((*added).to_owned()));
        }
    }
}

pub(super) fn strategy(spec: &Value) -> &str {
    spec["conversion"]["strategy"].as_str().unwrap_or("None")
}

fn conversion(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let path = "spec.conversion";
    let served = versions(new).filter(|version| is(version, "served")).count();
    let (old_text, new_text) = (Some(strategy(old).to_owned()), Some(strategy(new).to_owned()));
    match (strategy(old), strategy(new)) {
        ("None", "None") => {}
        (_, "None") if served > 1 => {
            let what = "there is no longer a conversion between the versions: each is served as it is stored";
            changes.push_text(Breaking, path, what, old_text, new_text);
        }
        (_, "None") => changes.push_text(Safe, path, "a single served version needs no conversion", old_text, new_text),
        ("None", _) => {
            let what = "a webhook converts between the versions: requests fail while it is unavailable";
            changes.push_text(Safe, path, what, old_text, new_text);
        }
        _ => {
            let (mut old, new) = (conversion_webhook(old), conversion_webhook(new));
            if new.pointer(CA_BUNDLE).is_none()
                && let Some(Value::Object(client)) = old.pointer_mut("/clientConfig")
            {
                client.remove("caBundle");
            }
            if old != new {
                changes.push(Safe, path, "the configuration of the conversion webhook changed", Some(&old), Some(&new));
            }
        }
    }
}

/// Returns the conversion webhook with the default port of its Service.
fn conversion_webhook(spec: &Value) -> Value {
    let mut webhook = spec["conversion"]["webhook"].clone();
    if let Some(Value::Object(service)) = webhook.pointer_mut("/clientConfig/service") {
        service.entry("port").or_insert_with(|| HTTPS.into());
    }
    webhook
}

/// Objects that are stored in a removed version cannot be read.
fn removed_versions(old: &Value, new_spec: &Value, changes: &mut Changes<'_>) {
    let stored = strings(old["status"].get("storedVersions"));
    let is_gone = |version: &&Value| !versions(new_spec).any(|new| name(new) == name(version));
    for version in versions(&old["spec"]).filter(is_gone) {
        let name = name(version);
        let (class, what) = if stored.contains(&name) {
            let what = "the server rejects the removal of a version in `status.storedVersions`: migrate all objects \
                        to another version, then remove it from that list";
            (Rejected, what)
        } else if stored.is_empty() && is(version, "storage") {
            let what = "the storage version is in `status.storedVersions`, so the server rejects its removal: change \
                        the storage version first, migrate all objects, then remove it from that list";
            (Rejected, what)
        } else if is(version, "served") {
            (Breaking, "the version is removed: its clients get 404")
        } else if stored.is_empty() {
            let what = "objects may still be stored in the version, and could not be read: migrate them, and compare with \
                        the definition of the cluster, whose `status.storedVersions` are known";
            (Breaking, what)
        } else {
            (Safe, "the version had no clients, and no object is stored in it")
        };
        changes.version = Some(name.to_owned());
        changes.push_text(class, "spec.versions", what, Some(name.to_owned()), None);
    }
    changes.version = None;
}

/// Objects of other versions are stored in the new storage version, without the fields that it lacks.
fn storage_version(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let storage = |spec| versions(spec).find(|version| is(version, "storage")).unwrap_or(&ABSENT);
    let (old_storage, new_storage) = (storage(old), storage(new));
    if name(old_storage) == name(new_storage) || name(old_storage).is_empty() || name(new_storage).is_empty() {
        return;
    }
    changes.version = None;
    let what = "objects are stored in another version with their next update";
    changes.push(Safe, "spec.versions", what, old_storage.get("name"), new_storage.get("name"));
    if strategy(new) != "None" {
        return;
    }
    let mut between = Changes::default();
    schema::compare(schema_of(old_storage), schema_of(new_storage), "", &mut between);
    let (from, to) = (name(old_storage), name(new_storage));
    for change in between.list.into_iter().filter(|change| change.what == schema::REMOVED) {
        let what = format!(
            "the new storage version {to} lacks the field, and there is no conversion from {from}: its values are \
             pruned"
        );
        changes.push_text(Breaking, &change.path, what, change.old, None);
    }
}

pub(super) fn schema_of(version: &Value) -> &Value {
    &version["schema"]["openAPIV3Schema"]
}

fn version<'a>(old: &'a Value, new: &'a Value, changes: &mut Changes<'a>) {
    match (is(old, "served"), is(new, "served")) {
        (true, false) => {
            changes.push(Breaking, "served", "the version is no longer served: its clients get 404", None, None);
        }
        (false, true) => changes.push(Safe, "served", "the version is served", None, None),
        _ => {}
    }
    deprecation(old, new, changes);
    columns(old, new, changes);
    subresources(&old["subresources"], &new["subresources"], changes);
    selectable(old, new, changes);
    // A version that is neither served nor stored has no clients. It is compared when it is served again.
    if is(old, "served") || is(new, "served") || is(new, "storage") {
        schema::compare(schema_of(old), schema_of(new), "", changes);
    }
}

fn deprecation(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let what = match (is(old, "deprecated"), is(new, "deprecated")) {
        (false, true) => "the version is deprecated: its clients get a warning with each response",
        (true, false) => "the version is no longer deprecated",
        _ if old.get("deprecationWarning") != new.get("deprecationWarning") => {
            "the text of the deprecation warning changed"
        }
        _ => return,
    };
    changes.push(Safe, "deprecated", what, old.get("deprecationWarning"), new.get("deprecationWarning"));
}

fn columns(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let list = |version| -> Vec<&Value> { array(version, "additionalPrinterColumns") };
    let (old, new) = (list(old), list(new));
    let path = "additionalPrinterColumns";
    for column in &old {
        match new.iter().find(|new| new["name"] == column["name"]) {
            None => changes.push(Safe, path, "`kubectl get` no longer shows this column", Some(&column["name"]), None),
            Some(now) if now != column => {
                changes.push(Safe, path, "`kubectl get` shows another column with this name", Some(column), Some(now));
            }
            Some(_) => {}
        }
    }
    for column in new.iter().filter(|new| !old.iter().any(|old| old["name"] == new["name"])) {
        changes.push(Safe, path, "`kubectl get` shows one more column", None, Some(&column["name"]));
    }
}

fn array<'a>(parent: &'a Value, name: &str) -> Vec<&'a Value> {
    parent[name].as_array().into_iter().flatten().collect()
}

fn subresources(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    match (old["status"].is_null(), new["status"].is_null()) {
        (false, true) => {
            let what = "the status subresource is removed: `update_status` gets 404, and writes of the complete \
                        object change the status";
            changes.push(Breaking, "subresources.status", what, None, None);
        }
        (true, false) => {
            let what = "only the status subresource changes the status: writes of the complete object ignore it, \
                        without an error";
            changes.push(Breaking, "subresources.status", what, None, None);
        }
        _ => {}
    }
    match (&old["scale"], &new["scale"]) {
        (Value::Null, Value::Null) => {}
        (Value::Null, new) => {
            changes.push(Safe, "subresources.scale", "`kubectl scale` and autoscalers are supported", None, Some(new));
        }
        (old, Value::Null) => {
            let what = "`kubectl scale` and autoscalers get 404";
            changes.push(Breaking, "subresources.scale", what, Some(old), None);
        }
        (old, new) => scale(old, new, changes),
    }
}

fn scale(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let Some(pair) = Pair::new(old, new) else { return };
    for (name, changed) in [
        ("specReplicasPath", "`kubectl scale` and autoscalers write another field"),
        ("statusReplicasPath", "autoscalers read another field"),
        ("labelSelectorPath", "autoscalers read the label selector from another field"),
    ] {
        let path = format!("subresources.scale.{name}");
        let (class, what): (Class, _) = match pair.get(name) {
            (old, new) if old == new => continue,
            (None, Some(_)) => (Safe, "autoscalers can find the pods"),
            (Some(_), None) => (Breaking, "autoscalers no longer find the pods"),
            _ => (Breaking, changed),
        };
        changes.push(class, &path, what, old.get(name), new.get(name));
    }
}

fn selectable(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let paths = |version| -> Vec<&str> {
        array(version, "selectableFields").into_iter().filter_map(|field| field["jsonPath"].as_str()).collect()
    };
    let (old, new) = (paths(old), paths(new));
    for removed in old.iter().filter(|path| !new.contains(path)) {
        let what = "lists and watches with this field selector are rejected";
        changes.push_text(Breaking, "selectableFields", what, Some((*removed).to_owned()), None);
    }
    for added in new.iter().filter(|path| !old.contains(path)) {
        let what = "field selectors can use this field";
        changes.push_text(Safe, "selectableFields", what, None, Some((*added).to_owned()));
    }
}
