//! Topics: files of checks.

use std::{collections::BTreeMap, error::Error, fs, path::PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// The checks of one subject.
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) checks: Vec<Check>,
}

/// Requests that are sent one after the other, in a dedicated namespace (`$ns`).
pub(crate) struct Check {
    /// `topic::check`.
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
    /// The values of `$name`, beside those that steps store with `keep`.
    pub(crate) variables: BTreeMap<String, String>,
}

/// One request: `VERB path`, alone or with options.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "StepSyntax")]
pub(crate) struct Step {
    /// A method, or `WATCH` for a watch of one second, or a kind of patch: `MERGE`, `JSON`, `STRATEGIC`, `APPLY`.
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) with: With,
}

/// The options of a request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct With {
    #[serde(rename = "do")]
    line: String,
    /// The body: JSON, or text that is sent unchanged.
    pub(crate) body: Value,
    /// A binary body, one character for each byte.
    pub(crate) bytes: String,
    pub(crate) headers: BTreeMap<String, String>,
    /// Stores values of the answer for later steps: variable names with paths.
    pub(crate) keep: BTreeMap<String, String>,
    /// The paths of the answer that are compared. If empty, the complete answer is compared.
    pub(crate) show: Vec<String>,
    /// Repeats the request until these paths of the answer have these values. `code` is the status code.
    pub(crate) until: BTreeMap<String, Value>,
    /// The answer is not compared.
    pub(crate) silent: bool,
    /// Managed fields are compared, too.
    pub(crate) managed: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum StepSyntax {
    Line(String),
    WithOptions(Box<With>),
}

impl From<StepSyntax> for Step {
    fn from(syntax: StepSyntax) -> Self {
        let with = match syntax {
            StepSyntax::Line(line) => With { line, ..With::default() },
            StepSyntax::WithOptions(with) => *with,
        };
        let (verb, path) = with.line.split_once(' ').unwrap_or(("", ""));
        Self { verb: verb.to_owned(), path: path.trim().to_owned(), with }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    variables: BTreeMap<String, String>,
    checks: BTreeMap<String, Vec<Step>>,
}

/// Returns the directory of the topics.
pub(crate) fn directory() -> Result<PathBuf, Box<dyn Error>> {
    Ok(envtest::workspace_root()?.join("crates/kubewright-apiserver/tests/conformance/topics"))
}

/// Reads the definitions that all checks share.
pub(crate) fn definitions() -> Result<Vec<Value>, Box<dyn Error>> {
    let path = envtest::workspace_root()?.join("crates/kubewright-apiserver/tests/conformance/definitions.yaml");
    Ok(serde_saphyr::from_str(&fs::read_to_string(path)?)?)
}

/// Reads every topic, sorted by name.
pub(crate) fn read_all() -> Result<Vec<Topic>, Box<dyn Error>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory()?)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Result<Topic, Box<dyn Error>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let file: File =
        serde_saphyr::from_str(&fs::read_to_string(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    let check = |(check, steps): (String, Vec<Step>)| Check {
        name: format!("{name}::{check}"),
        steps,
        variables: file.variables.clone(),
    };
    let checks = file.checks.clone().into_iter().map(check).collect();
    Ok(Topic { name, checks })
}
