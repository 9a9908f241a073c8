//! `crd diff`: the changes between two sets of definitions, for clients and stored objects.

use std::{fmt::Write, process::ExitCode};

use anyhow::{Context, Result, bail};
use kubewright_core::meta::{ApiGroup, Conversion};
use kubewright_crd::diff::{self, Change, Class, olm};
use serde_json::{Value, json};

use super::{
    super::{
        print::print,
        project::{Project, ProjectDirs},
    },
    source::{Definitions, Source},
};

/// Options of `crd diff`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Diff {
    /// The current definitions: a git revision, whose CRD directory is read, or a file or directory;
    /// `-` is standard input, as in `kubectl get crds -o yaml | cargo xtask crd diff -` [default: HEAD].
    #[arg(value_name = "REV|FILE")]
    pub old: Option<String>,
    /// The new definitions, likewise [default: those generated from the types].
    #[arg(value_name = "NEW")]
    pub new: Option<String>,
    /// Classes of changes that do not affect the exit code.
    #[arg(long, value_enum, value_name = "CLASS")]
    pub allow: Vec<AllowedChange>,
    /// Report only the changes that Operator Lifecycle Manager (OLM) v1 rejects in an upgrade.
    #[arg(long, conflicts_with = "allow")]
    pub olm: bool,
    /// Print a JSON array with an object for each change.
    #[arg(long)]
    pub json: bool,
    /// The directories of the project.
    #[command(flatten)]
    pub dirs: ProjectDirs,
}

/// A class of changes that can be allowed. Safe changes always are; changes that the server rejects never are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AllowedChange {
    /// Values that were valid become invalid.
    Tightening,
    /// Clients fail, read different values, or lose data.
    Breaking,
}

/// A change of one definition.
struct DefinitionChange<'a> {
    definition: &'a str,
    change: Change,
}

/// Exit codes: 0 no change or only allowed ones, 1 otherwise.
pub(super) fn run(groups: &[ApiGroup], args: &Diff) -> Result<ExitCode> {
    // Two files need no project.
    let project = || {
        Project::find(groups, &args.dirs).context(
            "revisions and generated definitions need a project; run `cargo xtask crd diff` in it, or compare two files",
        )
    };
    let mut old = Source::named(args.old.as_deref().unwrap_or("HEAD"), project)?;
    let mut new = match &args.new {
        Some(new) => Source::named(new, project)?,
        None => Source::generated(groups, &project()?)?,
    };
    add_conversions(groups, &mut old.definitions, &mut new.definitions);
    let changes = compare(&old, &new, if args.olm { olm::compare } else { diff::compare })?;
    print(&if args.json { json_report(&changes) } else { text_report(&changes, &old, &new) });
    let is_allowed = |class| match class {
        Class::Safe => true,
        Class::Tightening => {
            args.allow.contains(&AllowedChange::Tightening) || args.allow.contains(&AllowedChange::Breaking)
        }
        Class::Breaking => args.allow.contains(&AllowedChange::Breaking),
        Class::Rejected => false,
    };
    Ok(ExitCode::from(u8::from(!changes.iter().all(|listed| is_allowed(listed.change.class)))))
}

/// Adds the conversion of kinds that a webhook of the operator converts. Definitions that are generated for several
/// versions do not contain it: the manifests of the operator add it. Its configuration is that of the other definition,
/// such as that of a cluster.
fn add_conversions(groups: &[ApiGroup], old: &mut Definitions, new: &mut Definitions) {
    let kinds = groups.iter().flat_map(|group| group.kinds().map(move |kind| (group, kind)));
    let converted = kinds.filter(|(_, kind)| kind.definition.conversion == Some(Conversion::Webhook));
    for (group, kind) in converted {
        let name = format!("{}.{}", kind.plural, group.group);
        let definitions: Vec<_> = [old.get_mut(&name), new.get_mut(&name)].into_iter().flatten().collect();
        let mut found = definitions.iter().map(|definition| &definition["spec"]["conversion"]);
        let webhook = found.find(|conversion| conversion["strategy"] == "Webhook").cloned();
        let conversion = webhook.unwrap_or_else(|| json!({"strategy": "Webhook"}));
        for definition in definitions {
            let versions = definition["spec"]["versions"].as_array().map_or(0, Vec::len);
            if versions > 1 && definition["spec"].get("conversion").is_none() {
                definition["spec"]["conversion"] = conversion.clone();
            }
        }
    }
}

/// The rules of a comparison.
type Rules = fn(&Value, &Value) -> Vec<Change>;

/// Returns the changes of each definition by these rules, the most severe first.
fn compare<'a>(old: &'a Source, new: &'a Source, rules: Rules) -> Result<Vec<DefinitionChange<'a>>> {
    let (is_complete, mut found) = (old.is_complete && new.is_complete, Vec::new());
    for (name, before) in &old.definitions {
        let mut changes = match new.definitions.get(name) {
            Some(after) => rules(before, after),
            None if is_complete => vec![definition_change(
                Class::Breaking,
                "the definition was removed: deleting it deletes all its objects",
            )],
            None => continue,
        };
        changes.sort_by_key(|change| std::cmp::Reverse(change.class));
        found.extend(changes.into_iter().map(|change| DefinitionChange { definition: name, change }));
    }
    if is_complete {
        let added = new.definitions.keys().filter(|name| !old.definitions.contains_key(*name));
        let change = || definition_change(Class::Safe, "the definition is new");
        found.extend(added.map(|definition| DefinitionChange { definition, change: change() }));
    } else if !old.definitions.keys().any(|name| new.definitions.contains_key(name)) {
        let names = |source: &Source| source.definitions.keys().cloned().collect::<Vec<_>>().join(", ");
        bail!("{} and {} have no definition in common: [{}] and [{}]", old.name, new.name, names(old), names(new));
    }
    Ok(found)
}

fn definition_change(class: Class, what: &str) -> Change {
    let path = "metadata.name".to_owned();
    Change { version: None, path, class, what: what.to_owned(), old: None, new: None }
}

fn json_report(changes: &[DefinitionChange<'_>]) -> String {
    let changes = changes.iter().map(|DefinitionChange { definition, change }| {
        let mut value = change.to_json();
        value["definition"] = json!(definition);
        value
    });
    format!("{:#}", Value::from_iter(changes))
}

fn text_report(changes: &[DefinitionChange<'_>], old: &Source, new: &Source) -> String {
    let mut text = String::new();
    for same in changes.chunk_by(|a, b| a.definition == b.definition) {
        let definition = same.first().map_or("", |listed| listed.definition);
        let lines: String = same.iter().map(|listed| line(&listed.change)).collect();
        write!(text, "{definition}\n{lines}\n").expect("writing to a String never fails");
    }
    let count = |class| changes.iter().filter(|listed| listed.change.class == class).count();
    let counts = [Class::Rejected, Class::Breaking, Class::Tightening, Class::Safe]
        .map(|class| (count(class), class))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, class)| format!("{count} {class}"))
        .collect::<Vec<_>>();
    let (compared, from, to) = (common_definitions(old, new), &old.name, &new.name);
    let counts = if counts.is_empty() { "no change".to_owned() } else { counts.join(", ") };
    text + &format!("{counts} in {compared}, from {from} to {to}")
}

fn common_definitions(old: &Source, new: &Source) -> String {
    let both = old.definitions.keys().filter(|name| new.definitions.contains_key(*name)).count();
    match both {
        1 => "1 common definition".to_owned(),
        both => format!("{both} common definitions"),
    }
}

/// Returns the lines of one change: its description, then the old and new values.
fn line(change: &Change) -> String {
    let Change { version, path, class, what, old, new } = change;
    let version = version.as_ref().map_or_else(String::new, |version| format!("{version} "));
    let values = match (old, new) {
        (Some(old), Some(new)) => format!("\n    {:>11}{old}\n    {:>11}{new}", "- ", "+ "),
        (Some(old), None) => format!("\n    {:>11}{old}", "- "),
        (None, Some(new)) => format!("\n    {:>11}{new}", "+ "),
        (None, None) => String::new(),
    };
    format!("  {class:>10}  {version}{path}: {what}{values}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::crd::source::parse;

    const LIVE: &str = "
apiVersion: v1
kind: List
items:
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: widgets.example.com}
  spec:
    group: example.com
    names: {kind: Widget, plural: widgets}
    scope: Namespaced
    versions:
    - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
    - name: v2
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}
  status: {storedVersions: [v1, v2]}
- {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: others.example.org}}
";

    const OURS: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer, minimum: 1}, width: {type: integer}}}}
";

    #[test]
    fn severe_changes_come_first_and_other_definitions_of_a_cluster_are_ignored() {
        let source = |name: &str, text| Source {
            name: name.to_owned(),
            definitions: parse(text, name).unwrap(),
            is_complete: false,
        };
        let (live, ours) = (source("live.yaml", LIVE), source("ours.yaml", OURS));
        let changes = compare(&live, &ours, diff::compare).unwrap();
        let expected = "\
widgets.example.com
    rejected  v1 spec.versions: the server rejects the removal of a version in `status.storedVersions`: migrate all \
                        objects to another version, then remove it from that list
             - v1
  tightening  v2 .size: smaller numbers are rejected (`minimum`)
             + 1
        safe  v2 .width: the field is new and optional
             + integer

1 rejected, 1 tightening, 1 safe in 1 common definition, from live.yaml to ours.yaml";
        assert_eq!(text_report(&changes, &live, &ours), expected);
        let json: Value = serde_json::from_str(&json_report(&changes)).unwrap();
        let first = (&json[0]["definition"], &json[0]["version"], &json[0]["class"]);
        assert_eq!(first, (&json!("widgets.example.com"), &json!("v1"), &json!("rejected")));
    }
}
