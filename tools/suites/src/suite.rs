//! The suites of other projects.

use std::{fs, path::PathBuf, time::Instant};

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::{
    client_go, components, controller_runtime, kube_rs, outcome::Outcomes, paths, sandbox::Sandbox, server::Server,
};

/// A suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// The tests of controller-runtime.
    ControllerRuntime,
    /// The examples of client-go.
    ClientGo,
    /// The tests of kube-rs that need a cluster.
    KubeRs,
    /// kube-controller-manager, kube-scheduler and kwok, with the scenarios of workloads.
    Components,
}

impl Suite {
    /// The names of all suites.
    pub(crate) const NAMES: [&'static str; 4] = ["controller-runtime", "client-go", "kube-rs", "components"];

    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Runs the suite on a server, and saves the outcomes.
    pub(crate) fn run(self, server: &Server) -> Result<Outcomes> {
        let (name, start) = (self.name(), Instant::now());
        eprintln!("running {name} on {}", server.title);
        let sandbox = Sandbox::new()?;
        let outcomes = match self {
            Suite::ControllerRuntime => controller_runtime::run(server, &sandbox),
            Suite::ClientGo => client_go::run(server, &sandbox),
            Suite::KubeRs => kube_rs::run(server, &sandbox),
            Suite::Components => components::run(server, &sandbox),
        };
        let outcomes = outcomes.with_context(|| format!("{name} on {}", server.title))?;
        let path = self.file(server)?;
        let json = serde_json::to_string_pretty(&outcomes)?;
        fs::write(&path, json).with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("{} specs of {name} on {} in {} s", outcomes.iter().count(), server.title, start.elapsed().as_secs());
        Ok(outcomes)
    }

    /// Returns the outcomes of the last run on a server; `None` if there was none.
    pub(crate) fn saved(self, server: &Server) -> Result<Option<Outcomes>> {
        let path = self.file(server)?;
        if !path.is_file() {
            return Ok(None);
        }
        let json = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&json).with_context(|| format!("invalid {}; remove it", path.display())).map(Some)
    }

    fn file(self, server: &Server) -> Result<PathBuf> {
        let directory = paths::home()?.join("outcomes");
        fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        Ok(directory.join(format!("{}-{}.json", self.name(), server.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_named_as_on_the_command_line() {
        let names: Vec<_> = Suite::value_variants().iter().map(|suite| suite.name()).collect();
        assert_eq!(names, Suite::NAMES);
        for suite in Suite::value_variants() {
            let value = suite.to_possible_value().unwrap();
            assert_eq!(value.get_name(), suite.name());
        }
    }
}
