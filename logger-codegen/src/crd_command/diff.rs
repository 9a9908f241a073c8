//! `crd diff`: what changes for clients and stored objects.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use logger_core::meta::ApiGroup;
use logger_crd::diff::{Change, Class, definitions};
use serde_json::{Value, json};

use super::definitions::Source;
use crate::cli::{Place, Project, say};

/// Which definitions are compared, and what may change.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Diff {
    /// What is in use: a git revision, of which the CRD directory is read, or a file or directory of definitions; `-` is
    /// the standard input, as in `kubectl get crds -o yaml | cargo xtask crd diff -`. By default HEAD.
    #[arg(value_name = "REV|FILE")]
    pub old: Option<String>,
    /// What replaces it, likewise; by default what the types say now.
    #[arg(value_name = "NEW")]
    pub new: Option<String>,
    /// Changes that do not count for the exit code.
    #[arg(long, value_enum, value_name = "CLASS")]
    pub allow: Vec<Allowed>,
    /// Print a JSON array with an object for each change.
    #[arg(long)]
    pub json: bool,
    /// Where the project is.
    #[command(flatten)]
    pub place: Place,
}

/// A class of changes that may be allowed. Safe ones are; what the server refuses cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Allowed {
    /// Values that were taken are refused.
    Tightening,
    /// Clients fail, read something else, or lose data.
    Breaking,
}

/// A change of one definition.
struct Of<'a> {
    definition: &'a str,
    change: Change,
}

/// Exit codes: 0 nothing changed or what did is allowed, 1 otherwise.
pub(super) fn run(groups: &[ApiGroup], args: &Diff) -> Result<ExitCode> {
    let project = Project::find(groups, &args.place)?;
    let old = Source::named(args.old.as_deref().unwrap_or("HEAD"), &project)?;
    let new = match &args.new {
        Some(new) => Source::named(new, &project)?,
        None => Source::generated(groups, &project)?,
    };
    let changes = between(&old, &new)?;
    say(&if args.json { in_json(&changes) } else { in_words(&changes, &old, &new) });
    let is_allowed = |class| match class {
        Class::Safe => true,
        Class::Tightening => args.allow.contains(&Allowed::Tightening) || args.allow.contains(&Allowed::Breaking),
        Class::Breaking => args.allow.contains(&Allowed::Breaking),
        Class::Refused => false,
    };
    Ok(ExitCode::from(u8::from(!changes.iter().all(|of| is_allowed(of.change.class)))))
}

/// By definition, the worst first.
fn between<'a>(old: &'a Source, new: &'a Source) -> Result<Vec<Of<'a>>> {
    let (whole, mut found) = (old.whole && new.whole, Vec::new());
    for (name, before) in &old.definitions {
        let mut changes = match new.definitions.get(name) {
            Some(after) => definitions(before, after),
            None if whole => vec![whole_definition(
                Class::Breaking,
                "the definition is gone: where it is deleted, all its objects are deleted",
            )],
            None => continue,
        };
        changes.sort_by_key(|change| std::cmp::Reverse(change.class));
        found.extend(changes.into_iter().map(|change| Of { definition: name, change }));
    }
    if whole {
        let added = new.definitions.keys().filter(|name| !old.definitions.contains_key(*name));
        let change = || whole_definition(Class::Safe, "the definition is new");
        found.extend(added.map(|definition| Of { definition, change: change() }));
    } else if !old.definitions.keys().any(|name| new.definitions.contains_key(name)) {
        let names = |source: &Source| source.definitions.keys().cloned().collect::<Vec<_>>().join(", ");
        bail!("{} and {} have no definition in common: [{}] and [{}]", old.name, new.name, names(old), names(new));
    }
    Ok(found)
}

fn whole_definition(class: Class, what: &str) -> Change {
    let path = "metadata.name".to_owned();
    Change { version: None, path, class, what: what.to_owned(), old: None, new: None }
}

fn in_json(changes: &[Of<'_>]) -> String {
    let changes = changes.iter().map(|Of { definition, change }| {
        let mut value = change.to_json();
        value["definition"] = json!(definition);
        value
    });
    format!("{:#}", Value::from_iter(changes))
}

fn in_words(changes: &[Of<'_>], old: &Source, new: &Source) -> String {
    let mut text = String::new();
    for same in changes.chunk_by(|a, b| a.definition == b.definition) {
        let definition = same.first().map_or("", |of| of.definition);
        let lines: String = same.iter().map(|of| line(&of.change)).collect();
        write!(text, "{definition}\n{lines}\n").expect("a String takes everything");
    }
    let count = |class| changes.iter().filter(|of| of.change.class == class).count();
    let counts = [Class::Refused, Class::Breaking, Class::Tightening, Class::Safe]
        .map(|class| (count(class), class))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, class)| format!("{count} {class}"))
        .collect::<Vec<_>>();
    let (compared, from, to) = (of_definitions(old, new), &old.name, &new.name);
    let counts = if counts.is_empty() { "no change".to_owned() } else { counts.join(", ") };
    text + &format!("{counts} in {compared}, from {from} to {to}")
}

fn of_definitions(old: &Source, new: &Source) -> String {
    let both = old.definitions.keys().filter(|name| new.definitions.contains_key(*name)).count();
    match both {
        1 => "1 definition that both have".to_owned(),
        both => format!("{both} definitions that both have"),
    }
}

/// One change, its values below it where they are long.
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
    use crate::crd_command::definitions::parse;

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
    fn the_worst_comes_first_and_what_a_cluster_has_besides_is_left_out() {
        let source =
            |name: &str, text| Source { name: name.to_owned(), definitions: parse(text, name).unwrap(), whole: false };
        let (live, ours) = (source("live.yaml", LIVE), source("ours.yaml", OURS));
        let changes = between(&live, &ours).unwrap();
        let expected = "\
widgets.example.com
     refused  v1 spec.versions: the server refuses to drop a version that `status.storedVersions` names: rewrite every \
                        object in another, then take it off that list
             - v1
  tightening  v2 .size: smaller numbers are refused (`minimum`)
             + 1
        safe  v2 .width: the field is new and may be left out
             + integer

1 refused, 1 tightening, 1 safe in 1 definition that both have, from live.yaml to ours.yaml";
        assert_eq!(in_words(&changes, &live, &ours), expected);
        let told: Value = serde_json::from_str(&in_json(&changes)).unwrap();
        let first = (&told[0]["definition"], &told[0]["version"], &told[0]["class"]);
        assert_eq!(first, (&json!("widgets.example.com"), &json!("v1"), &json!("refused")));
    }
}
