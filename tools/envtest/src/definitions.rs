//! Definitions of other projects, against which tests apply rendered objects: downloaded from their Go modules.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use anyhow::{Context, Result};

use crate::{go_module::GoModule, lock::Lock, paths};

/// The help in messages about missing definitions.
pub const HOW_TO_GET_DEFINITIONS: &str = "get them with: cargo xtask envtest build definitions";

/// Files of a Go module.
struct Source {
    module: GoModule,
    directory: &'static str,
    files: &'static [&'static str],
}

const SOURCES: [Source; 4] = [
    Source {
        module: GoModule {
            path: "github.com/cert-manager/cert-manager",
            version: "v1.21.2",
            sum: "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
        },
        directory: "deploy/crds",
        files: &["cert-manager.io_certificates.yaml", "cert-manager.io_issuers.yaml"],
    },
    Source {
        module: GoModule {
            path: "github.com/operator-framework/api",
            version: "v0.41.0",
            sum: "h1:B0nutndl95elbLXJGRlkFNTI8OuZIjSqvTEeORPhTKo=",
        },
        directory: "crds",
        files: &["operators.coreos.com_clusterserviceversions.yaml"],
    },
    Source {
        module: GoModule {
            path: "github.com/operator-framework/operator-controller",
            version: "v1.2.0",
            sum: "h1:5fn41pZuJ41jHUwWSts8igDN/IXILeLyqRKnMpN4S8I=",
        },
        directory: "config/base/operator-controller/crd/bases",
        files: &["olm.operatorframework.io_clusterextensions.yaml"],
    },
    Source {
        module: GoModule {
            path: "github.com/prometheus-operator/prometheus-operator",
            version: "v0.85.0",
            sum: "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
        },
        directory: "example/prometheus-operator-crd",
        files: &["monitoring.coreos.com_prometheusrules.yaml", "monitoring.coreos.com_servicemonitors.yaml"],
    },
];

/// Returns the files that [`build_definitions`] downloaded; `None` unless all exist.
pub fn find_definitions() -> Result<Option<Vec<PathBuf>>> {
    let home = home()?;
    let files: Vec<_> = SOURCES.iter().flat_map(|source| source.paths(&home)).collect();
    Ok(files.iter().all(|file| file.is_file()).then_some(files))
}

/// Downloads the definitions of cert-manager, of the Prometheus operator and of Operator Lifecycle Manager with `go mod
/// download`, unless they exist. A module whose hash differs is an error.
pub fn build_definitions() -> Result<Vec<PathBuf>> {
    let _lock = Lock::acquire("build", &AtomicBool::new(false))?;
    let home = home()?;
    for source in SOURCES.iter().filter(|source| !source.paths(&home).iter().all(|file| file.is_file())) {
        source.copy(&home)?;
    }
    find_definitions()?.context("a definition was removed at the same time")
}

fn home() -> Result<PathBuf> {
    Ok(paths::home()?.join("definitions"))
}

impl Source {
    fn paths(&self, home: &Path) -> Vec<PathBuf> {
        let directory = home.join(self.module.path.replace('/', "_")).join(self.module.version);
        self.files.iter().map(|file| directory.join(file)).collect()
    }

    fn copy(&self, home: &Path) -> Result<()> {
        let directory = self.module.download()?.join(self.directory);
        for (file, path) in self.files.iter().zip(self.paths(home)) {
            let parent = path.parent().context("a file is in a directory")?;
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
            let text =
                fs::read(directory.join(file)).with_context(|| format!("cannot read {file} of {}", self.module))?;
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}
