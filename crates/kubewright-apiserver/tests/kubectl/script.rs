//! Scripts: files of commands.

use std::{collections::BTreeMap, error::Error, fs, path::PathBuf};

use serde::Deserialize;

/// Commands that run one after the other, in a namespace with the name of the script.
pub(crate) struct Script {
    pub(crate) name: String,
    /// The files of the working directory.
    pub(crate) files: BTreeMap<String, String>,
    /// Masks in addition to the common ones: regular expressions with their replacements.
    pub(crate) masks: BTreeMap<String, String>,
    pub(crate) commands: Vec<Command>,
}

/// A command.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Command {
    /// A command line for the shell. `$CONFIG` is the directory of the generated manifests.
    Line(String),
    Watch(Watch),
}

impl Command {
    /// Returns the command line, which identifies the command in `differences.yaml`.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Line(line) => line,
            Self::Watch(watch) => &watch.watch,
        }
    }
}

/// A command that runs until it is stopped, and the commands that run meanwhile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Watch {
    pub(crate) watch: String,
    /// The number of lines that it prints before the other commands start.
    pub(crate) after: usize,
    /// The other commands. Each starts when the previous one is done and the watch has printed another line.
    pub(crate) then: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    masks: BTreeMap<String, String>,
    commands: Vec<Command>,
}

/// Reads every script, sorted by name.
pub(crate) fn read_all() -> Result<Vec<Script>, Box<dyn Error>> {
    let directory = envtest::workspace_root()?.join("crates/kubewright-apiserver/tests/kubectl/scripts");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Result<Script, Box<dyn Error>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(&path)?;
    let file: File = serde_saphyr::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Script { name, files: file.files, masks: file.masks, commands: file.commands })
}
