//! The pinned Go tools, and Go modules with any number of kinds.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::{
    files,
    kinds::{self, Group},
    paths, program,
};

const GO_MOD: &str = include_str!("../go.mod");
const GO_SUM: &str = include_str!("../go.sum");

/// The name of this module and of every generated one.
const MODULE: &str = "example.com/logger/tools/bench";

/// Returns the versions of the compared modules that go.mod pins.
pub(crate) fn versions() -> String {
    required(GO_MOD, &["k8s.io/code-generator", "sigs.k8s.io/controller-tools", "k8s.io/client-go"])
}

/// Returns these modules with the versions that a go.mod requires.
pub(crate) fn required(go_mod: &str, modules: &[&str]) -> String {
    let required = go_mod.lines().filter_map(|line| line.trim().split_once(' '));
    let named = required.filter(|(module, _)| modules.contains(module));
    named
        .map(|(module, rest)| format!("{module} {}", rest.trim_end_matches(" // indirect")))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Builds the tools of go.mod, which is fast if they are built already.
pub(crate) fn build_tools() -> Result<Tools> {
    eprintln!("building the Go tools");
    let directory = paths::home().join("go-tools");
    let mut command = Command::new("go");
    // A trailing slash makes go create the directory.
    command.args(["build", "-trimpath", "-o"]).arg(directory.join("")).arg("tool").current_dir(paths::crate_dir());
    program::output(&mut command).context("cannot build the Go tools")?;
    Ok(Tools { directory })
}

/// The built Go tools.
pub(crate) struct Tools {
    directory: PathBuf,
}

/// An invocation of a tool. In the arguments, a word with `GROUP` stands for one such word for each group, and
/// `GROUPS` for the groups with their version, separated by commas.
pub(crate) struct Step {
    /// The program and its subcommand, which is also the table label.
    pub(crate) name: &'static str,
    args: &'static str,
}

/// The invocations that generate what our generator does, as the documentation of the tools specifies.
pub(crate) const STEPS: [Step; 7] = [
    DEEP_COPIES,
    REGISTRATION,
    Step {
        name: "applyconfiguration-gen",
        args: "--go-header-file boilerplate.txt --output-dir client/applyconfiguration \
               --output-pkg MODULE/client/applyconfiguration MODULE/apis/GROUP/v1",
    },
    Step {
        name: "client-gen",
        args: "--go-header-file boilerplate.txt --clientset-name versioned --input-base MODULE/apis --input GROUPS \
               --apply-configuration-package MODULE/client/applyconfiguration \
               --output-dir client/clientset --output-pkg MODULE/client/clientset",
    },
    Step {
        name: "lister-gen",
        args: "--go-header-file boilerplate.txt --output-dir client/listers --output-pkg MODULE/client/listers \
               MODULE/apis/GROUP/v1",
    },
    Step {
        name: "informer-gen",
        args: "--go-header-file boilerplate.txt --versioned-clientset-package MODULE/client/clientset/versioned \
               --listers-package MODULE/client/listers --output-dir client/informers \
               --output-pkg MODULE/client/informers MODULE/apis/GROUP/v1",
    },
    Step { name: "controller-gen crd", args: "paths=./apis/... output:crd:dir=config/crd/bases" },
];

/// Generates the deep copy functions.
pub(crate) const DEEP_COPIES: Step = Step {
    name: "deepcopy-gen",
    args: "--go-header-file boilerplate.txt --output-file zz_generated.deepcopy.go ./apis/GROUP/v1",
};

/// Generates the group version, without which the deep copies do not compile.
pub(crate) const REGISTRATION: Step = Step {
    name: "register-gen",
    args: "--go-header-file boilerplate.txt --output-file zz_generated.register.go ./apis/GROUP/v1",
};

/// The alternative to [`DEEP_COPIES`] of controller-tools.
pub(crate) const OTHER_DEEP_COPIES: Step = Step { name: "controller-gen object", args: "paths=./apis/..." };

impl Tools {
    /// Returns the command of a step on a module.
    pub(crate) fn command(&self, step: &Step, module: &Module) -> Command {
        let mut words = step.name.split(' ').chain(step.args.split_whitespace());
        let mut command = Command::new(self.directory.join(words.next().unwrap_or_default()));
        command.args(words.flat_map(|word| module.arguments(word))).current_dir(&module.directory);
        command
    }
}

/// A Go module with kinds.
pub(crate) struct Module {
    directory: PathBuf,
    groups: Vec<String>,
}

impl Module {
    /// Writes a module with the kinds of these groups and no generated code.
    pub(crate) fn write(directory: PathBuf, groups: &[Group]) -> Result<Module> {
        files::recreate_directory(&directory)?;
        let module = Module { directory, groups: groups.iter().map(Group::name).collect() };
        for (path, text) in [("go.mod", GO_MOD), ("go.sum", GO_SUM), ("boilerplate.txt", "")] {
            files::write(&module.directory.join(path), text)?;
        }
        for (group, package) in groups.iter().zip(module.packages()) {
            files::write(&package.join("doc.go"), &kinds::go_doc(group))?;
            files::write(&package.join("types.go"), &kinds::go(group))?;
        }
        Ok(module)
    }

    /// Returns the arguments that a word of a step stands for.
    fn arguments(&self, word: &str) -> Vec<String> {
        let word = word.replace("MODULE", MODULE);
        if word == "GROUPS" {
            let versions: Vec<_> = self.groups.iter().map(|group| format!("{group}/v1")).collect();
            return vec![versions.join(",")];
        }
        match word.contains("GROUP") {
            true => self.groups.iter().map(|group| word.replace("GROUP", group)).collect(),
            false => vec![word],
        }
    }

    /// Returns the directory of the kinds of each group.
    fn packages(&self) -> impl Iterator<Item = PathBuf> {
        self.groups.iter().map(|group| self.directory.join("apis").join(group).join("v1"))
    }

    /// Returns the directory of the module.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the source file of the kinds of the first group.
    pub(crate) fn types(&self) -> PathBuf {
        self.directory.join("apis/example/v1/types.go")
    }

    /// Returns the directories with generated files only, and the generated sources beside the kinds.
    pub(crate) fn generated(&self) -> Vec<PathBuf> {
        let beside_kinds = self.packages().flat_map(|package| {
            ["zz_generated.deepcopy.go", "zz_generated.register.go"].map(|file| package.join(file))
        });
        ["client", "config"].map(|path| self.directory.join(path)).into_iter().chain(beside_kinds).collect()
    }

    /// Returns a `go` command in the module.
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
    fn a_step_is_a_program_with_arguments() {
        let tools = Tools { directory: "/bin".into() };
        let module = |groups: &[&str]| Module {
            directory: "/m".into(),
            groups: groups.iter().map(|&group| group.to_owned()).collect(),
        };
        let command = tools.command(&STEPS[6], &module(&["example"]));
        assert_eq!(command.get_program(), "/bin/controller-gen");
        let args: Vec<_> = command.get_args().collect();
        assert_eq!(args, ["crd", "paths=./apis/...", "output:crd:dir=config/crd/bases"]);
        let command = tools.command(&STEPS[4], &module(&["example"]));
        assert_eq!(command.get_args().last().unwrap(), "example.com/logger/tools/bench/apis/example/v1");
        let command = tools.command(&STEPS[0], &module(&["a", "b"]));
        assert_eq!(command.get_args().skip(4).collect::<Vec<_>>(), ["./apis/a/v1", "./apis/b/v1"]);
        let command = tools.command(&STEPS[3], &module(&["a", "b"]));
        assert!(command.get_args().any(|arg| arg == "a/v1,b/v1"));
    }

    #[test]
    fn versions_are_those_of_go_mod() {
        let versions = versions();
        assert!(
            versions.contains("k8s.io/code-generator v0.") && versions.contains("sigs.k8s.io/controller-tools v0.")
        );
        assert!(GO_MOD.contains(&format!("module {MODULE}\n")));
    }
}
