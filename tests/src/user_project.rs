//! Projects of users: empty folders outside of the checkout, and commands that are run in them.

use std::{
    collections::hash_map::DefaultHasher,
    env,
    ffi::OsString,
    fs,
    hash::{Hash, Hasher},
    iter,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

/// A folder outside of the checkout, whose cargo configuration must not apply.
#[derive(Debug)]
pub struct UserProject {
    /// The folder of the project.
    pub path: PathBuf,
    /// The directory of intermediate build artifacts, which is that of the workspace.
    build: PathBuf,
    /// The directory of programs: those of other projects have the same names, such as `xtask`.
    target: PathBuf,
    variables: Vec<(String, OsString)>,
}

impl UserProject {
    /// Creates the parent of a project of this name, which is empty. The path is the same in each run of the test, so
    /// that the build artifacts of the last one are replaced. `temporary` is `CARGO_TARGET_TMPDIR`, which cargo sets
    /// for tests.
    ///
    /// # Panics
    /// If the folder cannot be created.
    pub fn create(test: &str, name: &str, temporary: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        checkout().hash(&mut hasher);
        let parent = env::temp_dir().join(format!("{test}-{:x}", hasher.finish()));
        drop(fs::remove_dir_all(&parent));
        fs::create_dir_all(&parent).expect("the directory for temporary files is writable");
        let (build, target) = (Path::new(temporary).join(".."), Path::new(temporary).join(format!("{test}-target")));
        UserProject { path: parent.join(name), build, target, variables: Vec::new() }
    }

    /// Sets an environment variable of all commands.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Sets an author for git, and ignores its configuration on this machine.
    #[must_use]
    pub fn with_author(self, name: &str) -> Self {
        let project = self.with_env("GIT_CONFIG_GLOBAL", "/dev/null").with_env("GIT_CONFIG_NOSYSTEM", "1");
        ["AUTHOR", "COMMITTER"].into_iter().fold(project, |project, role| {
            let project = project.with_env(&format!("GIT_{role}_NAME"), name);
            project.with_env(&format!("GIT_{role}_EMAIL"), format!("{}@example.com", name.to_lowercase()))
        })
    }

    /// Puts a directory of links to these programs at the start of the search path.
    ///
    /// # Panics
    /// If the directory exists, a program does not, or the search path is invalid.
    #[must_use]
    pub fn with_programs(self, programs: &[(&str, &Path)]) -> Self {
        let directory = self.path.with_file_name("bin");
        fs::create_dir(&directory).expect("the directory does not exist");
        for (name, program) in programs {
            let program = program.canonicalize().expect("the program exists");
            symlink(program, directory.join(name)).expect("the directory is writable");
        }
        let inherited = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(iter::once(directory).chain(env::split_paths(&inherited)));
        self.with_env("PATH", path.expect("the search path is valid"))
    }

    /// Copies the locked versions of the workspace, with which cargo works offline and shares its compiled
    /// dependencies.
    ///
    /// # Panics
    /// If the folder of the project does not exist.
    pub fn lock(&self) {
        fs::copy(checkout().join("Cargo.lock"), self.path.join("Cargo.lock")).expect("the project exists");
    }

    /// Runs commands as a user of a shell in the project does, and returns their output.
    ///
    /// # Panics
    /// If a command fails.
    pub fn run(&self, script: &str) -> String {
        let output = self.shell(&format!("exec 2>&1\n{script}")).output().expect("there is a shell");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{script}\n{text}");
        text
    }

    /// Builds the program of a package, and returns the path of its executable.
    ///
    /// # Panics
    /// If it cannot be built.
    pub fn build(&self, package: &str) -> PathBuf {
        self.run(&format!("cargo build --quiet --package {package}"));
        self.target.join("debug").join(package)
    }

    /// Returns a shell that runs commands in the project until one fails.
    pub fn shell(&self, script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", script]).current_dir(&self.path);
        for name in env::vars_os().map(|(name, _)| name) {
            // Cargo sets these for the package of the test. Settings of profiles also apply to the project: it shares
            // the compiled dependencies of the workspace.
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_") && !text.starts_with("CARGO_PROFILE_") && name != "CARGO_HOME" {
                shell.env_remove(name);
            }
        }
        let debug = env::var("CARGO_PROFILE_DEV_DEBUG").unwrap_or_else(|_| "line-tables-only".to_owned());
        shell
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_BUILD_BUILD_DIR", &self.build)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", debug)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        shell
    }
}

/// Returns the path of this checkout without symbolic links.
///
/// # Panics
/// If it cannot be read.
pub fn checkout() -> PathBuf {
    crate::workspace_root().canonicalize().expect("the workspace exists")
}
