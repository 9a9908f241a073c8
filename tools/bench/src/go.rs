//! The Go side: the pinned tools, and modules of as many kinds as wanted.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{files, kinds, paths, program};

const GO_MOD: &str = include_str!("../go.mod");
const GO_SUM: &str = include_str!("../go.sum");
const DOC: &str = include_str!("../apis/example/v1/doc.go");

/// The name of this module, and of every one that is written.
const MODULE: &str = "example.com/logger/tools/bench";

/// The versions that go.mod pins, of what is compared.
pub(crate) fn versions() -> String {
    let compared = ["k8s.io/code-generator", "sigs.k8s.io/controller-tools", "k8s.io/client-go"];
    let required = GO_MOD.lines().filter_map(|line| line.trim().split_once(' '));
    let named = required.filter(|(module, _)| compared.contains(module));
    named
        .map(|(module, rest)| format!("{module} {}", rest.trim_end_matches(" // indirect")))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Builds the tools of go.mod, which is quick when they are built already.
pub(crate) fn build_tools() -> Result<Tools> {
    eprintln!("building the Go tools");
    let directory = paths::home().join("go-tools");
    let mut command = Command::new("go");
    // A trailing slash: into this directory, whether it is there or not.
    command.args(["build", "-trimpath", "-o"]).arg(directory.join("")).arg("tool").current_dir(paths::crate_dir());
    program::output(&mut command).context("the Go tools cannot be built")?;
    Ok(Tools { directory })
}

/// The Go tools, built.
pub(crate) struct Tools {
    directory: PathBuf,
}

/// One run of a tool.
pub(crate) struct Step {
    /// The program and its subcommand, which is also what tables call it.
    pub(crate) name: &'static str,
    args: &'static str,
}

/// All that makes of Go types what we make of Rust types, as the tools' own documentation has it.
pub(crate) const STEPS: [Step; 7] = [
    DEEP_COPIES,
    REGISTRATION,
    Step {
        name: "applyconfiguration-gen",
        args: "--go-header-file boilerplate.txt --output-dir client/applyconfiguration \
               --output-pkg MODULE/client/applyconfiguration MODULE/apis/example/v1",
    },
    Step {
        name: "client-gen",
        args: "--go-header-file boilerplate.txt --clientset-name versioned --input-base MODULE/apis --input example/v1 \
               --apply-configuration-package MODULE/client/applyconfiguration \
               --output-dir client/clientset --output-pkg MODULE/client/clientset",
    },
    Step {
        name: "lister-gen",
        args: "--go-header-file boilerplate.txt --output-dir client/listers --output-pkg MODULE/client/listers \
               MODULE/apis/example/v1",
    },
    Step {
        name: "informer-gen",
        args: "--go-header-file boilerplate.txt --versioned-clientset-package MODULE/client/clientset/versioned \
               --listers-package MODULE/client/listers --output-dir client/informers \
               --output-pkg MODULE/client/informers MODULE/apis/example/v1",
    },
    Step { name: "controller-gen crd", args: "paths=./apis/... output:crd:dir=config/crd/bases" },
];

/// The step after which the kinds can be copied.
pub(crate) const DEEP_COPIES: Step = Step {
    name: "deepcopy-gen",
    args: "--go-header-file boilerplate.txt --output-file zz_generated.deepcopy.go ./apis/example/v1",
};

/// The step without which copies do not compile: it says which group they are of.
pub(crate) const REGISTRATION: Step = Step {
    name: "register-gen",
    args: "--go-header-file boilerplate.txt --output-file zz_generated.register.go ./apis/example/v1",
};

/// What some projects run in place of [`DEEP_COPIES`].
pub(crate) const OTHER_DEEP_COPIES: Step = Step { name: "controller-gen object", args: "paths=./apis/..." };

impl Tools {
    /// A step on a module, to be run.
    pub(crate) fn command(&self, step: &Step, module: &Module) -> Command {
        let mut words = step.name.split(' ').chain(step.args.split_whitespace());
        let mut command = Command::new(self.directory.join(words.next().unwrap_or_default()));
        command.args(words.map(|word| word.replace("MODULE", MODULE))).current_dir(&module.directory);
        command
    }
}

/// A Go module of some kinds.
pub(crate) struct Module {
    directory: PathBuf,
}

impl Module {
    /// Writes one of so many kinds, with nothing generated.
    pub(crate) fn write(directory: PathBuf, count: usize) -> Result<Module> {
        files::make_empty(&directory)?;
        let module = Module { directory };
        for (path, text) in
            [("go.mod", GO_MOD), ("go.sum", GO_SUM), ("boilerplate.txt", ""), ("apis/example/v1/doc.go", DOC)]
        {
            files::write(&module.directory.join(path), text)?;
        }
        files::write(&module.types(), &kinds::go(count))?;
        Ok(module)
    }

    /// Where it is.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The source of its kinds.
    pub(crate) fn types(&self) -> PathBuf {
        self.directory.join("apis/example/v1/types.go")
    }

    /// The directories that hold nothing but what was generated, and the generated sources beside the kinds.
    pub(crate) fn generated(&self) -> Vec<PathBuf> {
        ["client", "config", "apis/example/v1/zz_generated.deepcopy.go", "apis/example/v1/zz_generated.register.go"]
            .map(|path| self.directory.join(path))
            .into()
    }

    /// `go` in it.
    pub(crate) fn go(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new("go");
        command.args(args).current_dir(&self.directory);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_program_with_its_arguments() {
        let tools = Tools { directory: "/bin".into() };
        let command = tools.command(&STEPS[6], &Module { directory: "/m".into() });
        assert_eq!(command.get_program(), "/bin/controller-gen");
        let args: Vec<_> = command.get_args().collect();
        assert_eq!(args, ["crd", "paths=./apis/...", "output:crd:dir=config/crd/bases"]);
        let command = tools.command(&STEPS[4], &Module { directory: "/m".into() });
        assert_eq!(command.get_args().last().unwrap(), "example.com/logger/tools/bench/apis/example/v1");
    }

    #[test]
    fn the_versions_are_those_of_go_mod() {
        let versions = versions();
        assert!(
            versions.contains("k8s.io/code-generator v0.") && versions.contains("sigs.k8s.io/controller-tools v0.")
        );
        assert!(GO_MOD.contains(&format!("module {MODULE}\n")));
    }
}
