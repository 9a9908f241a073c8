//! As many kinds as wanted, in Go and in Rust: the Logger again and again, under other names.

const RUST: &str = include_str!("logger.rs");
const GO: &str = include_str!("../apis/example/v1/types.go");

/// What comes after the kinds in Rust.
const REGISTRATION: &str = "logger_core::group_version!";

/// What types that know nothing of us need.
const PLAIN_IMPORTS: &str = "\
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
";
const PLAIN_DERIVES: [&str; 8] =
    ["Clone", "Copy", "Debug", "Default", "PartialEq", "Deserialize", "JsonSchema", "Serialize"];

/// How the Logger is declared to kube, on its spec.
const KUBE: &str = "\
#[derive(kube::CustomResource)]
#[kube(group = \"example.com\", version = \"v1\", kind = \"Logger\", namespaced, status = \"LoggerStatus\", shortname = \"lg\")]
#[kube(printcolumn = r#\"{\"name\":\"State\",\"type\":\"string\",\"jsonPath\":\".status.state\"}\"#)]
";

/// What is derived on the types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Derives {
    /// serde and schemars alone, without root objects: the floor.
    Floor,
    /// And kube's `CustomResource`, which makes the root objects.
    Kube,
    /// Ours: all that stands on the Logger of this crate.
    Ours,
}

/// One Rust module of so many kinds.
pub(crate) fn rust(derives: Derives, count: usize) -> String {
    let (head, pattern) = rust_pattern();
    let types: Vec<_> = pattern.split("\n\n").filter_map(|item| derived(derives, item)).collect();
    let pattern = types.join("\n\n");
    let mut parts: Vec<_> = names(count).map(|name| named(&pattern, &name) + "\n").collect();
    match derives {
        Derives::Ours => {
            parts.insert(0, head.to_owned());
            parts.push(registration(count));
        }
        _ => parts.insert(0, PLAIN_IMPORTS.to_owned()),
    }
    parts.join("\n")
}

/// Ours as people write them, a file for each kind: the name of each file, without its ending, and its text.
pub(crate) fn rust_files(count: usize) -> Vec<(String, String)> {
    let (head, pattern) = rust_pattern();
    names(count).map(|name| (name.to_lowercase(), format!("{head}\n{}\n", named(pattern, &name)))).collect()
}

/// The module above those files.
pub(crate) fn rust_version(count: usize) -> String {
    let mut text = "//! Version `v1` of group `example.com`.\n\n".to_owned();
    for name in names(count) {
        let file = name.to_lowercase();
        text += &format!("mod {file};\npub use {file}::*;\n");
    }
    text + "\n" + &registration(count)
}

fn registration(count: usize) -> String {
    let kinds: Vec<_> = names(count).map(|name| format!("{name}, {name}List")).collect();
    format!("{REGISTRATION} {{ group = \"example.com\", version = \"v1\", kinds = [{}] }}\n", kinds.join(", "))
}

/// The Go source of so many kinds.
pub(crate) fn go(count: usize) -> String {
    let (head, pattern) = GO.split_at(GO.find("// Logger ").unwrap_or(GO.len()));
    let kinds: Vec<_> = names(count).map(|name| named(pattern, &name)).collect();
    head.to_owned() + &kinds.join("\n")
}

/// A Rust module with one more field in its first kind, under another name each time.
pub(crate) fn rust_edited(module: &str, time: usize) -> String {
    let field = "    pub name: String,\n";
    module.replacen(field, &format!("{field}    /// Edited.\n    pub edited{time}: Option<String>,\n"), 1)
}

/// The same edit of a Go source.
pub(crate) fn go_edited(source: &str, time: usize) -> String {
    let field = "\tName string `json:\"name\"`\n";
    let edit = format!("{field}\t// Edited.\n\tEdited{time} *string `json:\"edited{time},omitempty\"`\n");
    source.replacen(field, &edit, 1)
}

/// What stands above the kinds of this crate, and its one kind.
fn rust_pattern() -> (&'static str, &'static str) {
    let start = RUST.find("/// Logger ").unwrap_or(RUST.len());
    let end = RUST.find(REGISTRATION).unwrap_or(RUST.len());
    (RUST[..start].trim_end_matches('\n'), RUST[start..end].trim_end())
}

/// One type as these derives have it; `None` for the root objects, where they are another's.
fn derived(derives: Derives, item: &str) -> Option<String> {
    if derives == Derives::Ours {
        return Some(item.to_owned());
    }
    let (before, rest) = item.split_once("#[derive(")?;
    let (words, after) = rest.split_once(")]\n")?;
    if words.split(", ").any(|word| ["Object", "ObjectList"].contains(&word)) {
        return None;
    }
    let words: Vec<_> = words.split(", ").filter(|word| PLAIN_DERIVES.contains(word)).collect();
    let kube = if derives == Derives::Kube && after.contains("struct LoggerSpec ") { KUBE } else { "" };
    Some(format!("{before}{kube}#[derive({})]\n{after}", words.join(", ")))
}

/// `Logger`, `Logger1`, `Logger2` and so on.
fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|i| if i == 0 { "Logger".to_owned() } else { format!("Logger{i}") })
}

/// The pattern under another name, with a short name of its own.
fn named(pattern: &str, name: &str) -> String {
    let short = name.replace("Logger", "lg");
    ["short_names = [\"lg", "shortname = \"lg", "shortName=lg"]
        .into_iter()
        .fold(pattern.replace("Logger", name), |text, before| text.replace(before, &before.replace("lg", &short)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_kind_of_ours_is_the_pattern_itself() {
        let code = |text: &str| text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(code(&rust(Derives::Ours, 1)), code(RUST));
        assert_eq!(go(1), GO);
    }

    #[test]
    fn a_kind_has_a_file_of_its_own() {
        let files = rust_files(2);
        assert_eq!(files[1].0, "logger1");
        assert!(files[1].1.starts_with("//! ") && files[1].1.contains("pub struct Logger1 {"));
        let version = rust_version(2);
        assert!(version.contains("mod logger1;\npub use logger1::*;\n"), "{version}");
        assert!(version.ends_with("kinds = [Logger, LoggerList, Logger1, Logger1List] }\n"), "{version}");
    }

    #[test]
    fn every_kind_has_names_of_its_own() {
        let module = rust(Derives::Ours, 3);
        for once in ["pub struct Logger2 {", "pub enum Logger2State {", "short_names = [\"lg2\"]", ", Logger2List] }"] {
            assert_eq!(module.matches(once).count(), 1, "{once}");
        }
        let source = go(3);
        for once in ["type Logger2 struct {", "type Logger2Sink struct {", "shortName=lg2\n"] {
            assert_eq!(source.matches(once).count(), 1, "{once}");
        }
    }

    #[test]
    fn an_edit_adds_a_field_to_the_first_kind() {
        assert_eq!(rust_edited(&rust(Derives::Ours, 2), 3).matches("pub edited3: Option<String>").count(), 1);
        assert_eq!(go_edited(&go(2), 3).matches("Edited3 *string").count(), 1);
    }

    #[test]
    fn the_floor_derives_nothing_of_ours_and_has_no_root_objects() {
        let floor = rust(Derives::Floor, 2);
        assert!(!["DeepCopy", "Object", "logger_core", "kube", "genclient"].iter().any(|word| floor.contains(word)));
        assert!(!floor.contains("pub struct Logger1 {") && floor.contains("pub struct Logger1Spec {"));
    }

    #[test]
    fn kube_makes_its_root_objects_from_the_specs() {
        let kube = rust(Derives::Kube, 2);
        assert_eq!(kube.matches("kube::CustomResource").count(), 2);
        assert!(kube.contains("kind = \"Logger1\", namespaced, status = \"Logger1Status\", shortname = \"lg1\""));
    }
}
