//! Compiles programs as the Dockerfile does, in dedicated target directories.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::definition::{Definition, Source, remap};
use crate::{cargo, paths, program};

/// Compiles programs for a target, in one target directory.
pub(super) struct Builder<'a> {
    definition: &'a Definition,
    target: &'a str,
    directory: PathBuf,
    is_auditable: bool,
}

impl<'a> Builder<'a> {
    /// Creates a builder with the target directory of this name.
    pub(super) fn new(definition: &'a Definition, target: &'a str, name: &str) -> Builder<'a> {
        let mut version = cargo::command(paths::workspace_root(), ["auditable", "--version"]);
        let is_auditable = program::output(&mut version).is_ok();
        Builder { definition, target, directory: directory().join(name), is_auditable }
    }

    /// Returns whether programs contain the list of their dependencies, for which cargo-auditable must be installed.
    pub(super) fn is_auditable(&self) -> bool {
        self.is_auditable
    }

    /// Compiles the programs of the images.
    pub(super) fn build_images(&self) -> Result<()> {
        for build in &self.definition.builds {
            self.cargo(&build.args(&build.package))?;
        }
        Ok(())
    }

    /// Compiles another program with the same options, and returns its path.
    pub(super) fn build(&self, package: &str) -> Result<PathBuf> {
        let build = self.definition.builds.first().context("the Dockerfile compiles no program")?;
        self.cargo(&build.args(package))?;
        Ok(self.programs().join(&build.profile).join(package))
    }

    /// Returns the path of a file of an image.
    pub(super) fn path(&self, source: &Source) -> PathBuf {
        match source {
            Source::Target(path) => self.programs().join(path),
            Source::Workspace(path) => paths::workspace_root().join(path),
        }
    }

    fn programs(&self) -> PathBuf {
        self.directory.join(self.target)
    }

    fn cargo(&self, args: &[String]) -> Result<()> {
        let args = match args {
            [first, rest @ ..] if first == "auditable" && !self.is_auditable => rest,
            args => args,
        };
        let mut command = cargo::command(paths::workspace_root(), args);
        command.args(["--target", self.target]);
        command.env("CARGO_TARGET_DIR", &self.directory).env("CARGO_ENCODED_RUSTFLAGS", self.flags()?.join("\x1f"));
        // The default of the Dockerfile.
        command.env("SOURCE_DATE_EPOCH", "0");
        let target = self.target;
        program::output(&mut command).map(drop).with_context(|| {
            format!(
                "cannot compile for {target}; install `rustup target add {target}` and a C compiler for it, such as \
                 `musl-gcc`, or select `--target {}`",
                gnu_target()
            )
        })
    }

    /// Returns the flags of the compiler. Of those that replace prefixes, the last one that matches applies.
    fn flags(&self) -> Result<Vec<String>> {
        let mut flags = self.definition.flags(paths::workspace_root(), &cargo_home()?)?;
        flags.push(remap(&self.directory, "./target"));
        if !self.target.contains("musl") {
            // The default of musl only.
            flags.push("-Ctarget-feature=+crt-static".to_owned());
        }
        Ok(flags)
    }
}

/// Returns the directory of all files of this benchmark.
pub(super) fn directory() -> PathBuf {
    paths::home().join("image")
}

/// Returns the target of the images, for the architecture of this machine.
pub(super) fn musl_target() -> String {
    format!("{}-unknown-linux-musl", env::consts::ARCH)
}

/// Returns the target whose programs are static only with a flag.
fn gnu_target() -> String {
    format!("{}-unknown-linux-gnu", env::consts::ARCH)
}

fn cargo_home() -> Result<PathBuf> {
    let in_home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    let directory = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(in_home);
    directory.context("neither `CARGO_HOME` nor `HOME` is set; set one of them")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(target: &str) -> Vec<String> {
        paths::init().unwrap();
        let definition = Definition::parse(include_str!("../../../../Dockerfile")).unwrap();
        let builder = Builder { definition: &definition, target, directory: "/t".into(), is_auditable: false };
        builder.flags().unwrap()
    }

    #[test]
    fn programs_are_static_and_contain_no_path_of_this_machine() {
        let flags_of_musl = flags(&musl_target());
        assert_eq!(flags_of_musl.last().unwrap(), "--remap-path-prefix=/t=./target");
        assert_eq!(flags_of_musl.len(), 3);
        assert_eq!(flags(&gnu_target()).last().unwrap(), "-Ctarget-feature=+crt-static");
    }

    #[test]
    fn the_second_build_has_different_paths() {
        paths::init().unwrap();
        let definition = Definition::parse(include_str!("../../../../Dockerfile")).unwrap();
        let builder = |directory: &str| Builder {
            definition: &definition,
            target: "target",
            directory: directory.into(),
            is_auditable: false,
        };
        let source = Source::Target("image/a".to_owned());
        assert_eq!(builder("/first").path(&source), Path::new("/first/target/image/a"));
        assert_eq!(builder("/second").path(&source), Path::new("/second/target/image/a"));
        assert!(builder("/first").path(&Source::Workspace("LICENSE".to_owned())).exists());
    }
}
