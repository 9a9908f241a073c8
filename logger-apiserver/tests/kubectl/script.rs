//! Scripts: what people type, as it is written down

use std::{collections::BTreeMap, error::Error, fs, path::PathBuf};

use serde::Deserialize;

/// Lines that are typed one after the other, in a namespace that has the name of the script.
pub(crate) struct Script {
    pub(crate) name: String,
    /// The files that are there.
    pub(crate) files: BTreeMap<String, String>,
    /// What is not compared, beside what no script compares: regular expressions, and what each is shown as.
    pub(crate) masks: BTreeMap<String, String>,
    pub(crate) lines: Vec<Line>,
}

/// What is typed.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Line {
    /// One line for the shell. `$CONFIG` is the directory of the generated manifests.
    Command(String),
    Watch(Watch),
}

impl Line {
    /// By which the line is known.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Command(line) => line,
            Self::Watch(watch) => &watch.watch,
        }
    }
}

/// A line that goes on until it is stopped, and what is typed meanwhile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Watch {
    pub(crate) watch: String,
    /// How many lines it has to say before the others are typed.
    pub(crate) after: usize,
    /// What is typed then, each when the one before is done and the watch has said another line.
    pub(crate) then: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    masks: BTreeMap<String, String>,
    lines: Vec<Line>,
}

/// Every script, by name.
pub(crate) fn read_all() -> Result<Vec<Script>, Box<dyn Error>> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kubectl/scripts");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Result<Script, Box<dyn Error>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(&path)?;
    let file: File = serde_saphyr::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Script { name, files: file.files, masks: file.masks, lines: file.lines })
}
