//! Sources with any number of kinds in Go and in Rust: copies of the Logger under other names.

use std::ops::Range;

const RUST: &str = include_str!("logger.rs");
const GO: &str = include_str!("../apis/example/v1/types.go");
const GO_DOC: &str = include_str!("../apis/example/v1/doc.go");

/// The macro after the kinds in Rust.
const REGISTRATION: &str = "kubewright_core::group_version!";

/// The imports of types without our derives.
const PLAIN_IMPORTS: &str = "\
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
";
const PLAIN_DERIVES: [&str; 8] =
    ["Clone", "Copy", "Debug", "Default", "PartialEq", "Deserialize", "JsonSchema", "Serialize"];

/// The declaration of the Logger for kube, on its spec.
const KUBE: &str = "\
#[derive(kube::CustomResource)]
#[kube(group = \"example.com\", version = \"v1\", kind = \"Logger\", namespaced, status = \"LoggerStatus\", shortname = \"lg\")]
#[kube(printcolumn = r#\"{\"name\":\"State\",\"type\":\"string\",\"jsonPath\":\".status.state\"}\"#)]
";

/// The derives of the types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Derives {
    /// serde and schemars only, without root objects.
    Baseline,
    /// serde and schemars only, also on the root objects.
    Roots,
    /// Also kube's `CustomResource`, which generates the root objects.
    Kube,
    /// Ours: all derives of the Logger of this crate.
    Ours,
}

/// An API group with its share of the kinds.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    index: usize,
    kinds: Range<usize>,
}

impl Group {
    /// Returns this number of groups with about as many kinds each.
    pub(crate) fn all(kinds: usize, groups: usize) -> Vec<Self> {
        let bound = |index: usize| kinds * index / groups;
        (0..groups).map(|index| Group { index, kinds: bound(index)..bound(index + 1) }).collect()
    }

    /// Returns `example`, `example1`, `example2` and so on.
    pub(crate) fn name(&self) -> String {
        numbered("example", self.index)
    }

    /// Returns the name of its types crate. That of the first group names the client.
    pub(crate) fn types_crate(&self) -> String {
        numbered("bench", self.index) + "-types"
    }

    fn domain(&self) -> String {
        self.name() + ".com"
    }

    fn kind_names(&self) -> impl Iterator<Item = String> {
        self.kinds.clone().map(|index| numbered("Logger", index))
    }
}

/// Returns one Rust module with this number of kinds.
pub(crate) fn rust(derives: Derives, count: usize) -> String {
    let (head, pattern) = rust_pattern();
    let types: Vec<_> = pattern.split("\n\n").filter_map(|item| with_derives(derives, item)).collect();
    let pattern = types.join("\n\n");
    let group = Group { index: 0, kinds: 0..count };
    let mut parts: Vec<_> = group.kind_names().map(|name| renamed(&pattern, &name) + "\n").collect();
    match derives {
        Derives::Ours => {
            parts.insert(0, head.to_owned());
            parts.push(registration(&group));
        }
        Derives::Roots => parts.insert(0, PLAIN_IMPORTS.replace("Condition", "{Condition, ListMeta, ObjectMeta}")),
        _ => parts.insert(0, PLAIN_IMPORTS.to_owned()),
    }
    parts.join("\n")
}

/// Returns the usual layout with our derives, one file for each kind: the name of each file without extension, and its
/// text.
pub(crate) fn rust_files(group: &Group) -> Vec<(String, String)> {
    let (head, pattern) = rust_pattern();
    group.kind_names().map(|name| (name.to_lowercase(), format!("{head}\n{}\n", renamed(pattern, &name)))).collect()
}

/// Returns the parent module of these files.
pub(crate) fn rust_version(group: &Group) -> String {
    let mut text = format!("//! Version `v1` of group `{}`.\n\n", group.domain());
    for name in group.kind_names() {
        let file = name.to_lowercase();
        text += &format!("mod {file};\npub use {file}::*;\n");
    }
    text + "\n" + &registration(group)
}

fn registration(group: &Group) -> String {
    let kinds: Vec<_> = group.kind_names().map(|name| format!("{name}, {name}List")).collect();
    let domain = group.domain();
    format!("{REGISTRATION} {{ group = \"{domain}\", version = \"v1\", kinds = [{}] }}\n", kinds.join(", "))
}

/// Returns the Go source with the kinds of a group.
pub(crate) fn go(group: &Group) -> String {
    let (head, pattern) = GO.split_at(GO.find("// Logger ").unwrap_or(GO.len()));
    let kinds: Vec<_> = group.kind_names().map(|name| renamed(pattern, &name)).collect();
    head.to_owned() + &kinds.join("\n")
}

/// Returns the Go source with the name of a group.
pub(crate) fn go_doc(group: &Group) -> String {
    GO_DOC.replace("example.com", &group.domain())
}

/// Adds a field to the first kind of a Rust module, with a name for each round.
pub(crate) fn rust_edited(module: &str, round: usize) -> String {
    let field = "    pub name: String,\n";
    module.replacen(field, &format!("{field}    /// Edited.\n    pub edited{round}: Option<String>,\n"), 1)
}

/// Adds the same field to a Go source.
pub(crate) fn go_edited(source: &str, round: usize) -> String {
    let field = "\tName string `json:\"name\"`\n";
    let edit = format!("{field}\t// Edited.\n\tEdited{round} *string `json:\"edited{round},omitempty\"`\n");
    source.replacen(field, &edit, 1)
}

/// Returns the head of the module of this crate, and its only kind.
fn rust_pattern() -> (&'static str, &'static str) {
    let start = RUST.find("/// Logger ").unwrap_or(RUST.len());
    let end = RUST.find(REGISTRATION).unwrap_or(RUST.len());
    (RUST[..start].trim_end_matches('\n'), RUST[start..end].trim_end())
}

/// Replaces the derives of a type; returns `None` for root objects that the derives do not have.
fn with_derives(derives: Derives, item: &str) -> Option<String> {
    if derives == Derives::Ours {
        return Some(item.to_owned());
    }
    let (before, rest) = item.split_once("#[derive(")?;
    let (words, after) = rest.split_once(")]\n")?;
    let is_root = words.split(", ").any(|word| ["Object", "ObjectList"].contains(&word));
    let mut words: Vec<_> = words.split(", ").filter(|word| PLAIN_DERIVES.contains(word)).collect();
    if is_root {
        let structure = after.get(after.find("pub struct ")?..).filter(|_| derives == Derives::Roots)?;
        words.extend(["Deserialize", "Serialize"]);
        return Some(format!("{before}#[derive({})]\n{structure}", words.join(", ")));
    }
    let kube = if derives == Derives::Kube && after.contains("struct LoggerSpec ") { KUBE } else { "" };
    Some(format!("{before}{kube}#[derive({})]\n{after}", words.join(", ")))
}

/// Returns the name, followed by the number unless it is 0.
fn numbered(name: &str, number: usize) -> String {
    if number == 0 { name.to_owned() } else { format!("{name}{number}") }
}

/// Renames the kind of the pattern and its short name.
fn renamed(pattern: &str, name: &str) -> String {
    let short = name.replace("Logger", "lg");
    ["short_names = [\"lg", "shortname = \"lg", "shortName=lg"]
        .into_iter()
        .fold(pattern.replace("Logger", name), |text, before| text.replace(before, &before.replace("lg", &short)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(kinds: usize) -> Group {
        Group { index: 0, kinds: 0..kinds }
    }

    #[test]
    fn one_kind_with_our_derives_is_the_pattern() {
        let code = |text: &str| text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(code(&rust(Derives::Ours, 1)), code(RUST));
        assert_eq!(go(&group(1)), GO);
        assert_eq!(go_doc(&group(1)), GO_DOC);
    }

    #[test]
    fn each_kind_has_a_file() {
        let files = rust_files(&group(2));
        assert_eq!(files[1].0, "logger1");
        assert!(files[1].1.starts_with("//! ") && files[1].1.contains("pub struct Logger1 {"));
        let version = rust_version(&group(2));
        assert!(version.contains("mod logger1;\npub use logger1::*;\n"), "{version}");
        assert!(version.ends_with("kinds = [Logger, LoggerList, Logger1, Logger1List] }\n"), "{version}");
    }

    #[test]
    fn every_kind_has_unique_names() {
        let module = rust(Derives::Ours, 3);
        for once in ["pub struct Logger2 {", "pub enum Logger2State {", "short_names = [\"lg2\"]", ", Logger2List] }"] {
            assert_eq!(module.matches(once).count(), 1, "{once}");
        }
        let source = go(&group(3));
        for once in ["type Logger2 struct {", "type Logger2Sink struct {", "shortName=lg2\n"] {
            assert_eq!(source.matches(once).count(), 1, "{once}");
        }
    }

    #[test]
    fn groups_share_the_kinds() {
        let groups = Group::all(5, 2);
        assert_eq!(groups[0].kind_names().collect::<Vec<_>>(), ["Logger", "Logger1"]);
        assert_eq!(groups[1].kind_names().collect::<Vec<_>>(), ["Logger2", "Logger3", "Logger4"]);
        assert!(registration(&groups[1]).contains("group = \"example1.com\""));
        assert!(go_doc(&groups[1]).contains("+groupName=example1.com\n"));
    }

    #[test]
    fn an_edit_adds_a_field_to_the_first_kind() {
        assert_eq!(rust_edited(&rust(Derives::Ours, 2), 3).matches("pub edited3: Option<String>").count(), 1);
        assert_eq!(go_edited(&go(&group(2)), 3).matches("Edited3 *string").count(), 1);
    }

    #[test]
    fn the_baseline_has_none_of_our_derives_and_no_root_objects() {
        let baseline = rust(Derives::Baseline, 2);
        assert!(
            !["DeepCopy", "Object", "kubewright_core", "kube", "genclient"].iter().any(|word| baseline.contains(word))
        );
        assert!(!baseline.contains("pub struct Logger1 {") && baseline.contains("pub struct Logger1Spec {"));
    }

    #[test]
    fn root_objects_can_have_plain_derives() {
        let roots = rust(Derives::Roots, 2);
        assert!(
            !["DeepCopy", "kubewright_core", "kube", "genclient"].iter().any(|word| roots.contains(word)),
            "{roots}"
        );
        let root =
            "#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Deserialize, Serialize)]\npub struct Logger1 {";
        assert!(roots.contains(root) && roots.contains("pub struct Logger1List {"), "{roots}");
    }

    #[test]
    fn kube_generates_root_objects_from_the_specs() {
        let kube = rust(Derives::Kube, 2);
        assert_eq!(kube.matches("kube::CustomResource").count(), 2);
        assert!(kube.contains("kind = \"Logger1\", namespaced, status = \"Logger1Status\", shortname = \"lg1\""));
    }
}
