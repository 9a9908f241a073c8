//! Topics: the checks as they are written down

use std::{collections::BTreeMap, error::Error, fs, path::PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// The checks about one thing.
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) checks: Vec<Check>,
}

/// Requests that are sent one after the other, in a namespace of their own (`$ns`).
pub(crate) struct Check {
    /// `topic::check`.
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
    /// What `$name` stands for, beside what steps keep.
    pub(crate) variables: BTreeMap<String, String>,
}

/// One request: `VERB path`, or that and what goes with it.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Written")]
pub(crate) struct Step {
    /// A method, or `WATCH` for a watch of one second, or a kind of patch: `MERGE`, `JSON`, `STRATEGIC`, `APPLY`.
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) with: With,
}

/// What goes with a request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct With {
    #[serde(rename = "do")]
    line: String,
    /// JSON, or text as it is to be sent.
    pub(crate) body: Value,
    /// What is sent as it is, a character a byte.
    pub(crate) bytes: String,
    pub(crate) headers: BTreeMap<String, String>,
    /// What later steps call by a name: a place in the answer.
    pub(crate) keep: BTreeMap<String, String>,
    /// The places of the answer that count; all of it if there are none.
    pub(crate) show: Vec<String>,
    /// The request is sent again until these places of the answer hold these values: `code` is the status.
    pub(crate) until: BTreeMap<String, Value>,
    /// The answer counts for nothing.
    pub(crate) silent: bool,
    /// Who owns which field counts, too.
    pub(crate) managed: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Line(String),
    More(Box<With>),
}

impl From<Written> for Step {
    fn from(written: Written) -> Self {
        let with = match written {
            Written::Line(line) => With { line, ..With::default() },
            Written::More(with) => *with,
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

/// Where the topics are.
pub(crate) fn directory() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/topics"))
}

/// The definitions every check can use.
pub(crate) fn definitions() -> Result<Vec<Value>, Box<dyn Error>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/definitions.yaml");
    Ok(serde_saphyr::from_str(&fs::read_to_string(path)?)?)
}

/// Every topic, by name.
pub(crate) fn read_all() -> Result<Vec<Topic>, Box<dyn Error>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory())?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
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
