//! Where definitions come from: files, directories, git, and what is generated.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use anyhow::{Context, Result, bail};
use logger_core::meta::ApiGroup;
use serde_json::Value;

use crate::cli::Project;
use crate::file::Plan;

/// Definitions by their name, such as `widgets.example.com`.
pub(super) type Definitions = BTreeMap<String, Value>;

/// What stands where the user pointed.
pub(super) struct Source {
    /// How it is called when it is spoken of.
    pub(super) name: String,
    pub(super) definitions: Definitions,
    /// Whether these are all definitions of the project, so that one that is missing is gone.
    pub(super) whole: bool,
}

impl Source {
    /// A file or directory of that name (`-` is the standard input), else the CRD directory at a revision.
    pub(super) fn named(name: &str, project: &Project) -> Result<Self> {
        let path = Path::new(name);
        let (definitions, whole) = match () {
            () if name == "-" => (parse(&input()?, "the standard input")?, false),
            () if path.is_dir() => (from_directory(path, &BTreeSet::new())?, true),
            () if path.is_file() => (from_file(path)?, false),
            () => (at_revision(name, project)?, true),
        };
        Ok(Source { name: name.to_owned(), definitions, whole })
    }

    /// The CRD directory as `codegen` would leave it: what it does not write stays.
    pub(super) fn generated(groups: &[ApiGroup], project: &Project) -> Result<Self> {
        let Project { root, layout } = project;
        let files = crate::crd::files(groups, layout).context("what is generated cannot be compared")?;
        let written = files.iter().map(|file| root.join(&file.path));
        let strays = Plan::new(root, &files, layout)?.strays().clone();
        let mut definitions = from_directory(&root.join(&layout.crd_dir), &written.chain(strays).collect())?;
        for file in &files {
            definitions.extend(parse(&file.contents, &file.path)?);
        }
        Ok(Source { name: "what the types say now".to_owned(), definitions, whole: true })
    }
}

/// The definitions of one file; `-` is the standard input.
pub(super) fn in_file(path: &Path) -> Result<Definitions> {
    if path == Path::new("-") { parse(&input()?, "the standard input") } else { from_file(path) }
}

fn input() -> Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).context("cannot read the standard input")?;
    Ok(text)
}

/// All definitions of the files of one directory, but for some files. One that is not there is empty.
fn from_directory(directory: &Path, without: &BTreeSet<PathBuf>) -> Result<Definitions> {
    let mut definitions = Definitions::new();
    let unreadable = || format!("cannot read the directory {}", directory.display());
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(definitions),
        entries => entries.with_context(unreadable)?,
    };
    for entry in entries {
        let path = entry.with_context(unreadable)?.path();
        if path.is_file() && is_manifest(&path.to_string_lossy()) && !without.contains(&path) {
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

/// The CRD directory as git has it at a revision.
fn at_revision(revision: &str, project: &Project) -> Result<Definitions> {
    let Project { root, layout } = project;
    let tree = git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{tree}}")])
        .with_context(|| {
            format!("`{revision}` is no file, no directory and no revision of the git repository of {}", root.display())
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
    let done = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(args)
        .output()
        .context("cannot start git; name a file to compare with instead")?;
    if !done.status.success() {
        bail!("git {}: {}", args.join(" "), String::from_utf8_lossy(&done.stderr).trim());
    }
    String::from_utf8(done.stdout).with_context(|| format!("git {}: the answer is no text", args.join(" ")))
}

/// The definitions among the documents of a text, the last of each name.
pub(super) fn parse(text: &str, place: &str) -> Result<Definitions> {
    Ok(of_text(text, place)?.into_iter().collect())
}

/// The definitions of a file, with their names; `-` is the standard input.
pub(super) fn of_file(name: &str) -> Result<Vec<(String, Value)>> {
    if name == "-" {
        return of_text(&input()?, "the standard input");
    }
    of_text(&fs::read_to_string(name).with_context(|| format!("cannot read {name}"))?, name)
}

/// The definitions among the documents of a text, which may be in lists, as `kubectl get crds -o yaml` gives them.
pub(super) fn of_text(text: &str, place: &str) -> Result<Vec<(String, Value)>> {
    let options = serde_saphyr::options! { with_snippet: false, legacy_octal_numbers: true };
    let documents: Vec<Value> =
        serde_saphyr::from_multiple_with_options(text, options).with_context(|| format!("{place} is no YAML"))?;
    let mut definitions = Vec::new();
    for document in documents {
        let items = match document.get("items").and_then(Value::as_array) {
            Some(items) if document["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) => items.clone(),
            _ => vec![document],
        };
        for definition in items.into_iter().filter(|item| item["kind"] == "CustomResourceDefinition") {
            let name = definition["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            match definition["apiVersion"].as_str() {
                Some("apiextensions.k8s.io/v1") => {}
                other => bail!("{place}: {name} is of {}, not apiextensions.k8s.io/v1", other.unwrap_or("no version")),
            }
            definitions.push((name, definition));
        }
    }
    Ok(definitions)
}
