//! Known differences of kubectl's output between our program and the real server, with their reasons.

use std::{collections::BTreeMap, error::Error, fmt, fs};

use serde::Deserialize;

use crate::script::Script;

/// Reasons, by script and command.
type Reasons = BTreeMap<String, BTreeMap<String, String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Differences {
    /// Differences that stay.
    accepted: Reasons,
    /// Differences to be fixed.
    open: Reasons,
    #[serde(skip)]
    commands: usize,
}

impl Differences {
    /// Reads the differences, and rejects one of a command that does not exist.
    pub(crate) fn read(scripts: &[Script]) -> Result<Self, Box<dyn Error>> {
        let path = envtest::workspace_root()?.join("crates/kubewright-apiserver/tests/kubectl/differences.yaml");
        let mut differences: Self = serde_saphyr::from_str(&fs::read_to_string(path)?)?;
        differences.commands = scripts.iter().map(|script| script.commands.len()).sum();
        for (name, command) in differences.all() {
            let script = scripts.iter().find(|script| script.name == name);
            if !script.is_some_and(|script| script.commands.iter().any(|known| known.text() == command)) {
                return Err(format!("differences.yaml: no command {command:?} in script {name}").into());
            }
        }
        Ok(differences)
    }

    /// Reports whether a difference is known for a command.
    pub(crate) fn has(&self, script: &str, command: &str) -> bool {
        self.all().any(|known| known == (script, command))
    }

    /// Returns the commands of a script with known differences.
    pub(crate) fn commands<'a>(&'a self, script: &'a str) -> impl Iterator<Item = &'a str> {
        self.all().filter(move |(name, _)| *name == script).map(|(_, command)| command)
    }

    fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        [&self.accepted, &self.open].into_iter().flat_map(entries)
    }
}

fn entries(reasons: &Reasons) -> impl Iterator<Item = (&str, &str)> {
    reasons
        .iter()
        .flat_map(|(script, commands)| commands.keys().map(move |command| (script.as_str(), command.as_str())))
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (accepted, open) = (entries(&self.accepted).count(), entries(&self.open).count());
        write!(f, "{} commands, {accepted} with accepted differences and {open} with open ones", self.commands)
    }
}
