//! A Go module of another project: a version with its hash, downloaded from the module proxy.

use std::{
    fmt,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;

use kubewright_envtest::internals::last_lines;

use crate::paths;

/// The number of lines that are shown of a failed download.
const SHOWN_LINES: usize = 10;

/// A version of a Go module of another project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoModule {
    /// The path, such as `k8s.io/client-go`.
    pub path: &'static str,
    /// The version, such as `v0.36.3`.
    pub version: &'static str,
    /// The hash of the sources, as `go.sum` has it.
    pub sum: &'static str,
}

/// The output of `go mod download -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    dir: PathBuf,
    sum: String,
}

impl GoModule {
    /// Downloads the module with `go mod download`, unless it is in Go's cache, and returns the directory of its
    /// sources, which is read-only. A hash that differs is an error.
    pub fn download(&self) -> Result<PathBuf> {
        let output = Command::new("go")
            .args(["mod", "download", "-json", &self.to_string()])
            .current_dir(paths::crate_dir()?)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run go, which downloads {self}: install Go (https://go.dev/dl)"))?;
        let Downloaded { dir, sum } = serde_json::from_slice(&output.stdout).map_err(|_| {
            let printed = [output.stdout, output.stderr].concat();
            anyhow!("cannot download {self}:\n{}", last_lines(&String::from_utf8_lossy(&printed), SHOWN_LINES))
        })?;
        ensure!(sum == self.sum, "{self} has the hash {sum}, expected {}", self.sum);
        Ok(dir)
    }
}

impl fmt::Display for GoModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.path, self.version)
    }
}
