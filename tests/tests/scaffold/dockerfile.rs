//! The steps of a Dockerfile without a container engine: each stage has a directory in place of the root of its image,
//! and commands run on this machine.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tests::user_project::UserProject;
use tidy::dockerfile::{Dockerfile, Instruction};

use super::project::copy;

/// The directories of caches that are those of the user on this machine.
const CARGO_CACHES: [&str; 2] = ["/usr/local/cargo/git", "/usr/local/cargo/registry"];
/// The programs that run on this machine. Others, such as those that install packages, would change it.
const PROGRAMS: [&str; 2] = ["cargo", "cp"];

/// The build of an image from a project.
pub(super) struct Build<'a> {
    /// Runs the commands. Its folder is the context of the build.
    pub(super) user: &'a UserProject,
    /// The directory of the stages.
    pub(super) directory: &'a Path,
}

/// An image, which the last stage describes.
#[derive(Debug, Default)]
pub(super) struct Image {
    /// The directory of its files.
    pub(super) root: PathBuf,
    /// The name of the stage.
    name: String,
    /// The working directory.
    work_directory: String,
    pub(super) user: String,
    pub(super) entry_point: Vec<String>,
}

impl Image {
    /// Returns the directory on this machine for a path of the image.
    fn path(&self, path: &str) -> PathBuf {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.work_directory) };
        self.root.join(path.trim_start_matches('/'))
    }
}

impl Build<'_> {
    /// Performs the instructions, and returns the image of the last stage.
    ///
    /// # Panics
    /// If an instruction fails or is unknown.
    pub(super) fn run(&self, dockerfile: &str) -> Image {
        let mut stages: Vec<Image> = Vec::new();
        for Instruction { keyword, args } in Dockerfile::parse(dockerfile).instructions() {
            let args: Vec<_> = args.iter().map(String::as_str).collect();
            match (keyword.as_str(), &args[..], stages.last_mut()) {
                ("FROM", [image, name @ ..], _) => {
                    self.check_compiler(image);
                    stages.push(self.stage(name, stages.len()));
                }
                ("ARG", [_argument], _) | ("LABEL", [_argument], Some(_)) => {}
                ("WORKDIR", [path], Some(stage)) => {
                    stage.work_directory = (*path).to_owned();
                    fs::create_dir_all(stage.path("")).unwrap();
                }
                ("COPY", [from, source, target], Some(_)) if from.starts_with("--from=") => {
                    let from = stages.iter().find(|stage| from.strip_prefix("--from=") == Some(&stage.name)).unwrap();
                    let source = from.path(source);
                    copy_to(&source, stages.last().unwrap(), target);
                }
                ("COPY", [source, target], Some(stage)) => self.copy_context(source, stage, target),
                ("RUN", [..], Some(stage)) => self.execute(stage, &args),
                ("USER", [user], Some(stage)) => stage.user = (*user).to_owned(),
                ("ENTRYPOINT", [_, ..], Some(stage)) => {
                    stage.entry_point = serde_json::from_str(&args.join(" ")).unwrap();
                }
                _ => panic!("unknown instruction: {keyword} {args:?}"),
            }
        }
        stages.pop().expect("a Dockerfile has a stage")
    }

    /// Checks that an image with a compiler has that of the project, with which the commands run here.
    fn check_compiler(&self, image: &str) {
        if let Some(tag) = image.strip_prefix("rust:") {
            let toolchain = fs::read_to_string(self.user.path.join("rust-toolchain.toml")).unwrap();
            let version = tag.split('-').next().unwrap();
            assert!(toolchain.contains(&format!("channel = \"{version}\"\n")), "{image}: {toolchain}");
        }
    }

    fn stage(&self, name: &[&str], number: usize) -> Image {
        let name = match name {
            [] => String::new(),
            ["AS", name] => (*name).to_owned(),
            other => panic!("unknown arguments of FROM: {other:?}"),
        };
        let root = self.directory.join(format!("stage-{number}"));
        fs::create_dir_all(&root).unwrap();
        Image { root, name, work_directory: "/".to_owned(), ..Image::default() }
    }

    /// Copies a file or a directory of the context, without what `.dockerignore` excludes.
    fn copy_context(&self, source: &str, stage: &Image, target: &str) {
        let context = &self.user.path;
        let included = included(&fs::read_to_string(context.join(".dockerignore")).unwrap());
        if source != "." {
            let is_included = included.iter().any(|path| Path::new(source).starts_with(path));
            assert!(is_included, ".dockerignore excludes {source}");
            return copy_to(&context.join(source), stage, target);
        }
        for path in included.iter().filter(|path| context.join(path).exists()) {
            let to = stage.path(&format!("{target}/{path}"));
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            copy(&context.join(path), &to);
        }
    }

    /// Runs a command with the compiler and the caches of this machine. The profile is that of the tests, whose
    /// compiled dependencies are shared: to optimize all of them would take many minutes.
    fn execute(&self, stage: &Image, args: &[&str]) {
        let is_mount = |arg: &&&str| arg.starts_with("--mount=");
        for mount in args.iter().take_while(is_mount) {
            let directory = mount.strip_prefix("--mount=type=cache,target=").expect("a mount is a cache");
            if !CARGO_CACHES.contains(&directory) {
                assert_eq!(stage.path(directory), stage.path("target"), "unknown cache");
            }
        }
        let words: Vec<_> = args.iter().skip_while(is_mount).copied().collect();
        for command in words.split(|word| *word == "&&") {
            assert!(PROGRAMS.contains(&command[0]), "{command:?} is not run outside of a container");
        }
        let words = words.iter().filter(|word| **word != "--release").map(|word| match word.starts_with('/') {
            true => stage.path(word).display().to_string(),
            false => word.replace("target/release/", "target/debug/"),
        });
        let script = words.collect::<Vec<_>>().join(" ");
        let mut shell = self.user.shell(&script);
        let output = shell.current_dir(stage.path("")).env_remove("CARGO_TARGET_DIR").output().unwrap();
        assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Returns the paths that a `.dockerignore` includes, which excludes all others.
fn included(text: &str) -> Vec<String> {
    let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert_eq!(lines.next(), Some("*"), "everything is excluded first");
    let included = lines.map(|line| line.strip_prefix('!').unwrap_or_else(|| panic!("unknown pattern: {line}")));
    let is_path = |path: &&str| !path.contains(['*', '?', '[', '\\']);
    included.inspect(|path| assert!(is_path(path), "unknown pattern: {path}")).map(str::to_owned).collect()
}

/// Copies a file into a directory of an image, or to a path in it, and the contents of a directory into another.
fn copy_to(source: &Path, stage: &Image, target: &str) {
    let to = stage.path(target);
    if source.is_dir() {
        fs::create_dir_all(&to).unwrap();
        return copy(&source.join("."), &to);
    }
    let directory = if target.ends_with('/') { to.as_path() } else { to.parent().unwrap() };
    fs::create_dir_all(directory).unwrap();
    copy(source, &to);
}
