//! Sources of definitions: files, directories, git revisions, and the generator.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use kubewright_core::meta::ApiGroup;
use serde_json::Value;

use super::{
    super::{print::warn, project::Project},
    yaml,
};
use crate::{crd, diagnostic::Diagnostic, output::Plan};

/// Definitions by their name, such as `widgets.example.com`.
pub(super) type Definitions = BTreeMap<String, Value>;

/// Definitions from one source.
pub(super) struct Source {
    /// Its name in messages.
    pub(super) name: String,
    pub(super) definitions: Definitions,
    /// Whether these are all definitions of the project, so that a missing one was removed.
    pub(super) is_complete: bool,
}

impl Source {
    /// Reads a file or directory (`-` is standard input), or else the CRD directory at a git revision.
    pub(super) fn named(name: &str, project: impl Fn() -> Result<Project>) -> Result<Self> {
        let path = Path::new(name);
        let (definitions, is_complete) = if name == "-" {
            (parse(&stdin()?, "standard input")?, false)
        } else if path.is_dir() {
            (from_directory(path, &BTreeSet::new())?, true)
        } else if path.is_file() {
            (from_file(path)?, false)
        } else {
            (at_revision(name, &project()?)?, true)
        };
        Ok(Source { name: name.to_owned(), definitions, is_complete })
    }

    /// Returns the CRD directory as `codegen` would write it, including files that it does not generate.
    pub(super) fn generated(groups: &[ApiGroup], project: &Project) -> Result<Self> {
        let Project { root, layout, .. } = project;
        let crd::CrdFiles { files, warnings } = crd::files(groups, layout)?;
        warn(&warnings);
        let written = files.iter().map(|file| root.join(&file.path));
        let strays = Plan::new(root, &files, layout)?.strays().clone();
        let mut definitions = from_directory(&root.join(&layout.crd_dir), &written.chain(strays).collect())?;
        for file in &files {
            definitions.extend(parse(&file.contents, &file.path)?);
        }
        Ok(Source { name: "the generated definitions".to_owned(), definitions, is_complete: true })
    }
}

/// Reads the definitions of one file; `-` is standard input.
pub(super) fn read(path: &Path) -> Result<Definitions> {
    if path == Path::new("-") { parse(&stdin()?, "standard input") } else { from_file(path) }
}

fn stdin() -> Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    Ok(text)
}

/// Reads the definitions of the files of a directory, except some files. A missing directory is empty.
fn from_directory(directory: &Path, except: &BTreeSet<PathBuf>) -> Result<Definitions> {
    let mut definitions = Definitions::new();
    let unreadable = || format!("cannot read the directory {}", directory.display());
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(definitions),
        entries => entries.with_context(unreadable)?,
    };
    for entry in entries {
        let path = entry.with_context(unreadable)?.path();
        if path.is_file() && is_manifest(&path.to_string_lossy()) && !except.contains(&path) {
            definitions.extend(from_file(&path)?);
        }
    }
    Ok(definitions)
}

fn is_manifest(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| path.ends_with(ending))
}

fn from_file(path: &Path) -> Result<Definitions> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text, &path.display().to_string())
}

/// Reads the CRD directory at a git revision.
fn at_revision(revision: &str, project: &Project) -> Result<Definitions> {
    let Project { root, layout, .. } = project;
    let tree = git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{tree}}")])
        .with_context(|| {
            format!(
                "`{revision}` is neither a file, a directory nor a revision of the git repository of {}",
                root.display()
            )
        })?;
    let tree = tree.trim();
    let prefix = git(root, &["rev-parse", "--show-prefix"])?;
    let directory = format!("{}{}/", prefix.trim_end_matches('\n'), layout.crd_dir);
    let paths = git(root, &["ls-tree", "-z", "--name-only", "--full-tree", tree, "--", &directory])?;
    let mut definitions = Definitions::new();
    for path in paths.split('\0').filter(|path| is_manifest(path)) {
        let text = git(root, &["cat-file", "blob", &format!("{tree}:{path}")])?;
        definitions.extend(parse(&text, &format!("{path} at {revision}"))?);
    }
    Ok(definitions)
}

fn git(directory: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(args)
        .output()
        .context("cannot run git; compare with a file instead")?;
    if !output.status.success() {
        bail!("git {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("git {}: the output is not UTF-8", args.join(" ")))
}

/// Parses the definitions of a YAML stream, by name. The last of each name wins.
pub(super) fn parse(text: &str, source: &str) -> Result<Definitions> {
    let Parsed { definitions, warnings } = parse_all(text, source)?;
    warn(&warnings);
    Ok(definitions.into_iter().collect())
}

/// Returns the text of a file; `-` is standard input.
pub(super) fn text(name: &str) -> Result<String> {
    if name == "-" {
        return stdin();
    }
    fs::read_to_string(name).with_context(|| format!("cannot read {name}"))
}

/// The definitions of a stream with their names.
pub(super) struct Parsed {
    pub(super) definitions: Vec<(String, Value)>,
    /// Keys and values that kubectl reads in an unexpected way.
    pub(super) warnings: Vec<Diagnostic>,
}

/// Parses all definitions of a YAML stream, including those in lists such as the output of `kubectl get crds -o yaml`.
pub(super) fn parse_all(text: &str, source: &str) -> Result<Parsed> {
    let yaml::Stream { documents, warnings } = yaml::parse(text, source)?;
    let mut definitions = Vec::new();
    for document in documents {
        let items = match document.get("items").and_then(Value::as_array) {
            Some(items) if document["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) => items.clone(),
            _ => vec![document],
        };
        for definition in items.into_iter().filter(|item| item["kind"] == "CustomResourceDefinition") {
            let name = definition["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            if name.contains("{{") {
                bail!(yaml::template(source));
            }
            match definition["apiVersion"].as_str() {
                Some("apiextensions.k8s.io/v1") => {}
                other => bail!(
                    "{source}: the `apiVersion` of {name} is {}, expected apiextensions.k8s.io/v1",
                    other.unwrap_or("missing")
                ),
            }
            definitions.push((name, definition));
        }
    }
    Ok(Parsed { definitions, warnings })
}

#[cfg(test)]
mod tests {
    use super::parse_all;

    #[test]
    fn duplicate_keys_are_errors_with_their_line() {
        let text = "kind: Namespace\n---\nkind: List\nitems: []\nkind: List\n";
        let error = format!("{:#}", parse_all(text, "widgets.yaml").err().unwrap());
        assert_eq!(error, "widgets.yaml is not YAML: duplicate key `kind` at line 5");
    }

    #[test]
    fn templates_that_are_yaml_are_reported_as_such() {
        let text = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a-{{ .Values.a }}\n";
        let error = parse_all(text, "widgets.yaml").err().unwrap().to_string();
        assert!(error.starts_with("widgets.yaml is a Helm template"), "{error}");
    }
}
