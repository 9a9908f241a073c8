//! Where kubectl is known to say of our program otherwise than of the real server, and why

use std::{collections::BTreeMap, error::Error, fmt, fs};

use serde::Deserialize;

use crate::script::Script;

/// Reasons, by script and line.
type Reasons = BTreeMap<String, BTreeMap<String, String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Differences {
    /// How it is to stay.
    accepted: Reasons,
    /// What is wrong, and to be done.
    open: Reasons,
    #[serde(skip)]
    lines: usize,
}

impl Differences {
    /// Reads them, and refuses one that is about no line.
    pub(crate) fn read(scripts: &[Script]) -> Result<Self, Box<dyn Error>> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kubectl/differences.yaml");
        let mut differences: Self = serde_saphyr::from_str(&fs::read_to_string(path)?)?;
        differences.lines = scripts.iter().map(|script| script.lines.len()).sum();
        for (name, line) in differences.all() {
            let script = scripts.iter().find(|script| script.name == name);
            if !script.is_some_and(|script| script.lines.iter().any(|known| known.text() == line)) {
                return Err(format!("differences.yaml: there is no line {line:?} in a script {name}").into());
            }
        }
        Ok(differences)
    }

    /// Whether a line is known to differ.
    pub(crate) fn has(&self, script: &str, line: &str) -> bool {
        self.all().any(|known| known == (script, line))
    }

    /// The lines of a script that are known to differ.
    pub(crate) fn of<'a>(&'a self, script: &'a str) -> impl Iterator<Item = &'a str> {
        self.all().filter(move |(name, _)| *name == script).map(|(_, line)| line)
    }

    fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        [&self.accepted, &self.open].into_iter().flat_map(lines)
    }
}

fn lines(reasons: &Reasons) -> impl Iterator<Item = (&str, &str)> {
    reasons.iter().flat_map(|(script, lines)| lines.keys().map(move |line| (script.as_str(), line.as_str())))
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (accepted, open) = (lines(&self.accepted).count(), lines(&self.open).count());
        write!(f, "{} lines, of which {accepted} differ as accepted and {open} are open", self.lines)
    }
}
