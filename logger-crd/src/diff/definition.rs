//! Names, scope, versions and what they serve beside their schema.

use serde_json::Value;

use super::Class::{Breaking, Refused, Safe};
use super::{Class, Found, Pair, schema, texts};

/// What is absent, as a value.
const ABSENT: Value = Value::Null;

pub(super) fn compare<'a>(old: &'a Value, new: &'a Value, found: &mut Found<'a>) {
    let (old_spec, new_spec) = (&old["spec"], &new["spec"]);
    unchanging(old_spec, new_spec, found);
    names(&old_spec["names"], &new_spec["names"], found);
    conversion(old_spec, new_spec, found);
    removed_versions(old, new_spec, found);
    for new_version in versions(new_spec) {
        let name = name(new_version);
        match versions(old_spec).find(|old| self::name(old) == name) {
            Some(old_version) => {
                found.version = Some(name.to_owned());
                version(old_version, new_version, found);
            }
            None => {
                found.version = None;
                let what = format!("version {name} is new; clients of the others see no difference");
                found.push(Safe, "spec.versions", what, None, new_version.get("name"));
            }
        }
    }
    moved_storage(old_spec, new_spec, found);
    found.version = None;
}

fn versions(spec: &Value) -> impl Iterator<Item = &Value> {
    spec["versions"].as_array().into_iter().flatten()
}

fn name(version: &Value) -> &str {
    version["name"].as_str().unwrap_or_default()
}

fn is(version: &Value, flag: &str) -> bool {
    version[flag] == Value::Bool(true)
}

/// The server never takes another group or plural, and no other scope or kind once the definition is established.
fn unchanging(old: &Value, new: &Value, found: &mut Found<'_>) {
    for (path, of) in [("spec.group", "/group"), ("spec.names.plural", "/names/plural")] {
        let what = "it names the resource, which cannot be renamed: this is the definition of another one";
        refused(old, new, path, of, what, found);
    }
    for (path, of) in [("spec.scope", "/scope"), ("spec.names.kind", "/names/kind")] {
        let what = "the server keeps it once the definition is established; only a new definition can have another, \
                    and deleting the old one deletes its objects";
        refused(old, new, path, of, what, found);
    }
    match (is(old, "preserveUnknownFields"), is(new, "preserveUnknownFields")) {
        (false, true) => {
            let what = "the server takes no new definition that keeps unknown fields everywhere";
            found.push(Refused, "spec.preserveUnknownFields", what, None, Some(&Value::Bool(true)));
        }
        (true, false) => {
            let what = "fields that no schema names are dropped from now on";
            found.push(Breaking, "spec.preserveUnknownFields", what, Some(&Value::Bool(true)), None);
        }
        _ => {}
    }
}

fn refused(old: &Value, new: &Value, path: &str, of: &str, what: &str, found: &mut Found<'_>) {
    let (old, new) = (old.pointer(of), new.pointer(of));
    if old != new {
        found.push(Refused, path, what, old, new);
    }
}

fn names(old: &Value, new: &Value, found: &mut Found<'_>) {
    let kind = |names: &Value| names["kind"].as_str().unwrap_or_default().to_owned();
    let filled_in = |names: &Value, name: &str, default: String| names[name].as_str().map_or(default, str::to_owned);
    let pairs = [
        (
            "listKind",
            filled_in(old, "listKind", format!("{}List", kind(old))),
            filled_in(new, "listKind", format!("{}List", kind(new))),
            "clients that decode lists by their kind fail",
        ),
        (
            "singular",
            filled_in(old, "singular", kind(old).to_lowercase()),
            filled_in(new, "singular", kind(new).to_lowercase()),
            "scripts that call the resource by its singular fail",
        ),
    ];
    for (name, old_name, new_name, what) in pairs {
        // A new kind is refused anyway, and that its names follow says nothing new.
        if old_name != new_name && kind(old) == kind(new) {
            let path = format!("spec.names.{name}");
            found.push_text(Breaking, &path, what, Some(old_name), Some(new_name));
        }
    }
    let lists = [
        ("shortNames", Breaking, "scripts that call the resource by this short name fail"),
        ("categories", Safe, "the resource is not listed with this category any more"),
    ];
    for (list, class, what) in lists {
        let (old, new) = (texts(old.get(list)), texts(new.get(list)));
        let path = format!("spec.names.{list}");
        for gone in old.iter().filter(|name| !new.contains(name)) {
            found.push_text(class, &path, what, Some((*gone).to_owned()), None);
        }
        for added in new.iter().filter(|name| !old.contains(name)) {
            found.push_text(Safe, &path, "one more name for the resource", None, Some((*added).to_owned()));
        }
    }
}

fn strategy(spec: &Value) -> &str {
    spec["conversion"]["strategy"].as_str().unwrap_or("None")
}

fn conversion(old: &Value, new: &Value, found: &mut Found<'_>) {
    let path = "spec.conversion";
    let served = versions(new).filter(|version| is(version, "served")).count();
    let (old_text, new_text) = (Some(strategy(old).to_owned()), Some(strategy(new).to_owned()));
    match (strategy(old), strategy(new)) {
        ("None", "None") => {}
        (_, "None") if served > 1 => {
            let what = "nothing converts between the versions any more: each is served as the objects are stored";
            found.push_text(Breaking, path, what, old_text, new_text);
        }
        (_, "None") => {
            found.push_text(Safe, path, "one version is served, which needs no conversion", old_text, new_text)
        }
        ("None", _) => {
            let what = "a webhook converts between the versions from now on: requests fail while it is not there";
            found.push_text(Safe, path, what, old_text, new_text);
        }
        _ => {
            let (old, new) = (old["conversion"].get("webhook"), new["conversion"].get("webhook"));
            if old != new {
                found.push(Safe, path, "another webhook converts, or the same under another address", old, new);
            }
        }
    }
}

/// What is stored in a version cannot be read without it.
fn removed_versions(old: &Value, new_spec: &Value, found: &mut Found<'_>) {
    let stored = texts(old["status"].get("storedVersions"));
    let is_gone = |version: &&Value| !versions(new_spec).any(|new| name(new) == name(version));
    for version in versions(&old["spec"]).filter(is_gone) {
        let name = name(version);
        let (class, what) = if stored.contains(&name) {
            let what = "the server refuses to drop a version that `status.storedVersions` names: rewrite every object in \
                        another, then take it off that list";
            (Refused, what)
        } else if stored.is_empty() && is(version, "storage") {
            let what = "it is the storage version, so `status.storedVersions` names it and the server refuses to drop it: \
                        store another version first, rewrite every object, then take it off that list";
            (Refused, what)
        } else if is(version, "served") {
            (Breaking, "the version is gone: its clients get 404")
        } else {
            (Safe, "nobody could use this version; the server refuses this while `status.storedVersions` names it")
        };
        found.version = Some(name.to_owned());
        found.push_text(class, "spec.versions", what, Some(name.to_owned()), None);
    }
    found.version = None;
}

/// Objects that clients of other versions write are stored in the new storage version, and lose what it has not.
fn moved_storage(old: &Value, new: &Value, found: &mut Found<'_>) {
    let storage = |spec| versions(spec).find(|version| is(version, "storage")).unwrap_or(&ABSENT);
    let (old_storage, new_storage) = (storage(old), storage(new));
    if name(old_storage) == name(new_storage) || name(old_storage).is_empty() || name(new_storage).is_empty() {
        return;
    }
    found.version = None;
    let what = "objects are stored in another version when they are next written";
    found.push(Safe, "spec.versions", what, old_storage.get("name"), new_storage.get("name"));
    if strategy(new) != "None" {
        return;
    }
    let mut between = Found::default();
    schema::compare(schema_of(old_storage), schema_of(new_storage), "", &mut between);
    let (from, to) = (name(old_storage), name(new_storage));
    for change in between.changes.into_iter().filter(|change| change.what == schema::GONE) {
        let what = format!(
            "nothing converts {from} to {to}, which is stored from now on and lacks this: what clients of {from} write of \
             it is lost"
        );
        found.push_text(Breaking, &change.path, what, change.old, None);
    }
}

fn schema_of(version: &Value) -> &Value {
    &version["schema"]["openAPIV3Schema"]
}

fn version<'a>(old: &'a Value, new: &'a Value, found: &mut Found<'a>) {
    match (is(old, "served"), is(new, "served")) {
        (true, false) => {
            found.push(Breaking, "served", "the version is not served any more: its clients get 404", None, None);
        }
        (false, true) => found.push(Safe, "served", "the version is served", None, None),
        _ => {}
    }
    deprecation(old, new, found);
    columns(old, new, found);
    subresources(&old["subresources"], &new["subresources"], found);
    selectable(old, new, found);
    // What nobody can reach breaks nobody; it is compared again when it is served.
    if is(old, "served") || is(new, "served") || is(new, "storage") {
        schema::compare(schema_of(old), schema_of(new), "", found);
    }
}

fn deprecation(old: &Value, new: &Value, found: &mut Found<'_>) {
    let what = match (is(old, "deprecated"), is(new, "deprecated")) {
        (false, true) => "the version is deprecated: its clients get a warning with every answer",
        (true, false) => "the version is not deprecated any more",
        _ if old.get("deprecationWarning") != new.get("deprecationWarning") => "its clients are warned in other words",
        _ => return,
    };
    found.push(Safe, "deprecated", what, old.get("deprecationWarning"), new.get("deprecationWarning"));
}

fn columns(old: &Value, new: &Value, found: &mut Found<'_>) {
    let list = |version| -> Vec<&Value> { array(version, "additionalPrinterColumns") };
    let (old, new) = (list(old), list(new));
    let path = "additionalPrinterColumns";
    for column in &old {
        match new.iter().find(|new| new["name"] == column["name"]) {
            None => found.push(Safe, path, "`kubectl get` shows this column no more", Some(&column["name"]), None),
            Some(now) if now != column => {
                found.push(Safe, path, "`kubectl get` shows another column of this name", Some(column), Some(now));
            }
            Some(_) => {}
        }
    }
    for column in new.iter().filter(|new| !old.iter().any(|old| old["name"] == new["name"])) {
        found.push(Safe, path, "`kubectl get` shows one more column", None, Some(&column["name"]));
    }
}

fn array<'a>(of: &'a Value, name: &str) -> Vec<&'a Value> {
    of[name].as_array().into_iter().flatten().collect()
}

fn subresources(old: &Value, new: &Value, found: &mut Found<'_>) {
    match (old["status"].is_null(), new["status"].is_null()) {
        (false, true) => {
            let what = "the status has no endpoint any more: `update_status` gets 404, and whoever writes objects can \
                        write their status";
            found.push(Breaking, "subresources.status", what, None, None);
        }
        (true, false) => {
            let what = "the status is written through its own endpoint only: whoever writes it with the object writes \
                        nothing now, without an error";
            found.push(Breaking, "subresources.status", what, None, None);
        }
        _ => {}
    }
    match (&old["scale"], &new["scale"]) {
        (Value::Null, Value::Null) => {}
        (Value::Null, new) => {
            found.push(Safe, "subresources.scale", "`kubectl scale` and autoscalers can be used", None, Some(new));
        }
        (old, Value::Null) => {
            let what = "`kubectl scale` and autoscalers get 404";
            found.push(Breaking, "subresources.scale", what, Some(old), None);
        }
        (old, new) => scale(old, new, found),
    }
}

fn scale(old: &Value, new: &Value, found: &mut Found<'_>) {
    let Some(pair) = Pair::of(old, new) else { return };
    for (name, changed) in [
        ("specReplicasPath", "`kubectl scale` and autoscalers write another field"),
        ("statusReplicasPath", "autoscalers read another field"),
        ("labelSelectorPath", "autoscalers read their label selector elsewhere"),
    ] {
        let path = format!("subresources.scale.{name}");
        let (class, what): (Class, _) = match pair.get(name) {
            (old, new) if old == new => continue,
            (None, Some(_)) => (Safe, "autoscalers find the pods"),
            (Some(_), None) => (Breaking, "autoscalers do not find the pods any more"),
            _ => (Breaking, changed),
        };
        found.push(class, &path, what, old.get(name), new.get(name));
    }
}

fn selectable(old: &Value, new: &Value, found: &mut Found<'_>) {
    let paths = |version| -> Vec<&str> {
        array(version, "selectableFields").into_iter().filter_map(|field| field["jsonPath"].as_str()).collect()
    };
    let (old, new) = (paths(old), paths(new));
    for gone in old.iter().filter(|path| !new.contains(path)) {
        let what = "lists and watches with this field selector are refused";
        found.push_text(Breaking, "selectableFields", what, Some((*gone).to_owned()), None);
    }
    for added in new.iter().filter(|path| !old.contains(path)) {
        let what = "field selectors may name this field";
        found.push_text(Safe, "selectableFields", what, None, Some((*added).to_owned()));
    }
}
