//! The Go modules of this crate, and the programs that `go build` makes of their `tool` lines.

use std::{
    fs,
    io::ErrorKind,
    iter,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::AtomicBool,
};

use anyhow::{Context, Result, anyhow, bail};

use kubewright_envtest::{
    Error,
    internals::{directory_with, last_lines},
};

use crate::{lock::Lock, paths, progress::Progress};

/// The number of lines that are shown of a failed `go build`.
const SHOWN_LINES: usize = 30;

const KUBERNETES: &str = "k8s.io/kubernetes";

/// A Go module, and the programs that are built of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// The directory of `go.mod`, relative to this crate.
    directory: &'static str,
    /// The name of the directory of the programs, below that of the version.
    output: &'static str,
    /// The required module that determines the version.
    versioned_by: &'static str,
    /// The package paths' last elements that are no names of programs, and those names.
    renamed: &'static [(&'static str, &'static str)],
    /// The programs.
    pub(crate) programs: &'static [&'static str],
    /// The build tags.
    tags: &'static str,
    /// What is built, for messages.
    contents: &'static str,
    /// The suggestion beside that to install Go.
    alternative: &'static str,
}

/// The control plane.
pub(crate) const CONTROL_PLANE: Module = Module {
    directory: "",
    output: "bin",
    versioned_by: KUBERNETES,
    // The program of go.etcd.io/etcd/server/v3.
    renamed: &[("server", "etcd")],
    programs: &["etcd", "kube-apiserver", "kubectl"],
    tags: "",
    contents: "etcd, kube-apiserver and kubectl (about 4 minutes on 2 cores, seconds with a warm Go cache)",
    alternative: ", or set KUBEBUILDER_ASSETS to a directory with them",
};

/// What runs workloads beside the control plane.
pub(crate) const COMPONENTS: Module = Module {
    directory: "components",
    output: "components",
    versioned_by: KUBERNETES,
    renamed: &[],
    programs: &["kube-controller-manager", "kube-scheduler", "kwok"],
    tags: "",
    contents: "kube-controller-manager, kube-scheduler and kwok (about 3 minutes on 2 cores after the control plane)",
    alternative: "",
};

/// The tool that validates and tests alerts.
pub(crate) const PROMTOOL: Module = Module {
    directory: "promtool",
    output: "promtool",
    versioned_by: "github.com/prometheus/prometheus",
    renamed: &[],
    programs: &["promtool"],
    // Service discovery depends on the clients of every cloud, and checks of rules do not use it.
    tags: "remove_all_sd",
    contents: "promtool (about 2 minutes on 2 cores)",
    alternative: ", or add promtool to PATH",
};

/// The tool that validates and renders charts.
pub(crate) const HELM: Module = Module {
    directory: "helm",
    output: "helm",
    versioned_by: "helm.sh/helm/v4",
    renamed: &[],
    programs: &["helm"],
    tags: "",
    contents: "helm (about 2 minutes on 2 cores)",
    alternative: ", or add helm to PATH",
};

/// The tool that validates bundles for Operator Lifecycle Manager.
pub(crate) const OPERATOR_VERIFY: Module = Module {
    directory: "operator-verify",
    output: "operator-verify",
    versioned_by: "github.com/operator-framework/api",
    renamed: &[],
    programs: &["operator-verify"],
    tags: "",
    contents: "operator-verify (about 1 minute on 2 cores)",
    alternative: ", or add operator-verify to PATH",
};

impl Module {
    /// Returns the directory of the programs that are built from this module.
    pub(crate) fn built(&self) -> Result<PathBuf> {
        Ok(paths::home()?.join(self.version()?).join(self.output))
    }

    /// Returns the directory with an absolute path. Fails if it lacks programs, and names them.
    pub(crate) fn validate(&self, dir: &Path) -> Result<PathBuf, Error> {
        directory_with(dir, self.programs)
    }

    /// Returns the directory of the programs if they are built.
    pub(crate) fn find_built(&self) -> Result<Option<PathBuf>> {
        Ok(self.validate(&self.built()?).ok())
    }

    /// Builds the programs with `go build`, unless `find` returns some.
    ///
    /// The directory is moved into place when it is complete: no search finds the result of an interrupted build.
    pub(crate) fn build<T>(&self, find: impl Fn() -> Result<Option<T>>) -> Result<T> {
        if let Some(found) = find()? {
            return Ok(found);
        }
        let _lock = Lock::acquire("build", &AtomicBool::new(false))?;
        // A concurrent build can have finished while this one waited for the lock.
        if let Some(found) = find()? {
            return Ok(found);
        }
        self.build_into(&self.built()?)?;
        find()?.context("go build produced too few programs")
    }

    fn build_into(&self, dir: &Path) -> Result<()> {
        let version = self.version()?;
        let progress = Progress::start(format!("building {version} of {}", self.contents));
        // A fixed name, so that the next build removes the rest of an interrupted one.
        let partial = dir.with_extension("partial");
        if let Err(error) = self.build_programs(&partial, &version).and_then(|()| replace_dir(dir, &partial)) {
            remove_dir_if_exists(&partial)?;
            return Err(error);
        }
        progress.done(&format!("built {version} in {}", dir.display()));
        Ok(())
    }

    /// Builds into `dir`, and renames the programs.
    fn build_programs(&self, dir: &Path, version: &str) -> Result<()> {
        recreate_dir(dir)?;
        self.go_build(dir, version)?;
        for (from, to) in self.renamed {
            fs::rename(dir.join(from), dir.join(to)).with_context(|| format!("go build produced no {to}"))?;
        }
        self.validate(dir).context("go build produced too few programs").map(drop)
    }

    fn go_build(&self, into: &Path, version: &str) -> Result<()> {
        let output = Command::new("go")
            .args(["build", "-trimpath", "-tags", self.tags, "-ldflags", &self.linker_flags(version)?, "-o"])
            .arg(into)
            .arg("tool")
            .current_dir(self.directory()?)
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(Output { status, .. }) if status.success() => Ok(()),
            Ok(Output { status, stderr, .. }) => {
                bail!("go build failed ({status}):\n{}", last_lines(&String::from_utf8_lossy(&stderr), SHOWN_LINES))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Err(anyhow!(
                "go is not installed, but builds {}: install Go (https://go.dev/dl){}",
                self.programs.join(", "),
                self.alternative
            )),
            Err(error) => Err(error).context("cannot run go"),
        }
    }

    /// Returns the linker flags. Without the version, the API server reports v0.0.0 and kubectl warns about skew.
    fn linker_flags(&self, version: &str) -> Result<String> {
        let stripped = "-s -w".to_owned();
        if self.versioned_by != KUBERNETES {
            return Ok(stripped);
        }
        let mut numbers = version.trim_start_matches('v').split('.');
        let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
            bail!("invalid version of {KUBERNETES} in go.mod: {version}")
        };
        let settings = [("gitVersion", version), ("gitMajor", major), ("gitMinor", minor)]
            .map(|(name, value)| format!("-X k8s.io/component-base/version.{name}={value}"));
        Ok(iter::once(stripped).chain(settings).collect::<Vec<_>>().join(" "))
    }

    /// Returns the version that go.mod requires, such as `v1.36.3`.
    fn version(&self) -> Result<String> {
        let path = self.directory()?.join("go.mod");
        let go_mod = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let version = required_version(&go_mod, self.versioned_by);
        version.map(str::to_owned).with_context(|| format!("{} does not require {}", path.display(), self.versioned_by))
    }

    fn directory(&self) -> Result<PathBuf> {
        Ok(paths::crate_dir()?.join(self.directory))
    }
}

fn required_version<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    go_mod.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word == "require");
        (words.next() == Some(module)).then(|| words.next())?.filter(|word| word.starts_with('v'))
    })
}

fn replace_dir(old: &Path, new: &Path) -> Result<()> {
    remove_dir_if_exists(old)?;
    fs::rename(new, old).with_context(|| format!("cannot move the programs to {}", old.display()))
}

fn recreate_dir(dir: &Path) -> Result<()> {
    remove_dir_if_exists(dir)?;
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))
}

fn remove_dir_if_exists(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", dir.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_require_line() {
        let go_mod = "tool k8s.io/kubernetes/cmd/kubectl\nrequire (\n\tk8s.io/kubernetes v1.2.3 // indirect\n)\n\
                      replace k8s.io/kubernetes => k8s.io/kubernetes v9.9.9\n";
        assert_eq!(required_version(go_mod, KUBERNETES), Some("v1.2.3"));
        assert_eq!(required_version("require a/b v0.1.0", "a/b"), Some("v0.1.0"));
        assert_eq!(required_version("k8s.io/kubernetes => ../k", KUBERNETES), None);
        assert_eq!(required_version(go_mod, "k8s.io/api"), None);
    }

    #[test]
    fn the_components_have_the_version_of_the_control_plane() {
        let version = CONTROL_PLANE.version().unwrap();
        assert!(version.starts_with("v1."), "{version}");
        assert_eq!(COMPONENTS.version().unwrap(), version);
        assert_ne!(COMPONENTS.built().unwrap(), CONTROL_PLANE.built().unwrap());
        assert!(PROMTOOL.version().unwrap().starts_with('v'));
        assert!(HELM.version().unwrap().starts_with('v'));
        assert!(OPERATOR_VERIFY.version().unwrap().starts_with('v'));
    }

    #[test]
    fn the_linker_sets_the_reported_version() {
        let version = "k8s.io/component-base/version";
        assert_eq!(
            CONTROL_PLANE.linker_flags("v1.36.3").unwrap(),
            format!("-s -w -X {version}.gitVersion=v1.36.3 -X {version}.gitMajor=1 -X {version}.gitMinor=36")
        );
        assert!(CONTROL_PLANE.linker_flags("latest").is_err());
        assert_eq!(PROMTOOL.linker_flags("v0.1.0").unwrap(), "-s -w");
    }
}
