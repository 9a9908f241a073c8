//! The content of an image in a directory: its size, its digest, and its program in that directory as an empty root.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use ring::digest::{SHA256, digest};
use tempfile::TempDir;

use super::{
    builder::{self, Builder},
    definition::Image,
};
use crate::{files, program};

/// The files of an image in a temporary directory, which contains nothing else.
pub(super) struct Root<'a> {
    image: &'a Image,
    directory: TempDir,
}

/// A command that starts a program in another root.
pub(super) struct Isolation(Vec<String>);

impl<'a> Root<'a> {
    /// Copies the files as the Dockerfile does.
    pub(super) fn create(image: &'a Image, builder: &Builder<'_>) -> Result<Root<'a>> {
        let parent = builder::directory();
        fs::create_dir_all(&parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let directory = TempDir::with_prefix_in("root-", parent).context("cannot create a directory")?;
        let root = Root::empty(image, directory)?;
        for file in &image.files {
            root.copy(&builder.path(&file.source), &file.destination)?;
        }
        Ok(root)
    }

    fn empty(image: &'a Image, directory: TempDir) -> Result<Root<'a>> {
        // The program has another user.
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).context("cannot share a directory")?;
        Ok(Root { image, directory })
    }

    fn copy(&self, source: &Path, destination: &str) -> Result<()> {
        let copy = self.directory.path().join(destination);
        let parent = copy.parent().unwrap_or(&copy);
        let copied = fs::create_dir_all(parent).and_then(|()| fs::copy(source, &copy));
        copied.map(drop).with_context(|| format!("cannot copy {} to an image", source.display()))
    }

    /// Returns the size of all files in megabytes of 10^6 bytes.
    pub(super) fn size(&self) -> Result<f64> {
        let paths = self.image.files.iter().map(|file| self.directory.path().join(&file.destination));
        paths.map(|path| files::size(&path)).sum()
    }

    /// Returns the SHA-256 of the program in hexadecimal digits.
    pub(super) fn digest(&self) -> Result<String> {
        let path = self.program();
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(digest(&SHA256, &bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Runs the program with `--help`, which succeeds if it needs no shared library and no file.
    pub(super) fn run(&self, isolation: &Isolation) -> Result<()> {
        let mut command = isolation.command(self.directory.path(), &[&self.image.program, "--help"]);
        let ran = program::output(&mut command).map(drop);
        ran.with_context(|| format!("{} does not run in an empty root; is it linked statically?", self.image.name))
    }

    fn program(&self) -> PathBuf {
        self.directory.path().join(self.image.program.trim_start_matches('/'))
    }
}

impl Isolation {
    /// Returns the first command that this machine permits: `chroot` as this user and group, or `chroot` in a user
    /// namespace.
    pub(super) fn find(user: &str) -> Option<Isolation> {
        let as_root = ["chroot".to_owned(), format!("--userspec={user}")];
        let in_namespace = ["unshare", "--user", "--map-root-user", "chroot"].map(str::to_owned);
        let is_permitted =
            |isolation: &Isolation| program::output(&mut isolation.command(Path::new("/"), &["true"])).is_ok();
        [Isolation(as_root.into()), Isolation(in_namespace.into())].into_iter().find(is_permitted)
    }

    fn command(&self, root: &Path, args: &[&str]) -> Command {
        let (first, rest) = self.0.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let mut command = Command::new(first);
        command.args(rest).arg(root).args(args);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::definition::{File, Source};

    fn image(name: &str, contents: &[u8]) -> (Image, TempDir) {
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join(name), contents).unwrap();
        // An absolute path replaces that of the workspace.
        let source = Source::Workspace(directory.path().join(name).display().to_string());
        let files = vec![File { source, destination: format!("bin/{name}") }];
        let user = "65532:65532".to_owned();
        (Image { name: name.to_owned(), files, program: format!("/bin/{name}"), user }, directory)
    }

    fn root<'a>(image: &'a Image, directory: &TempDir) -> Root<'a> {
        let root = Root::empty(image, TempDir::new().unwrap()).unwrap();
        root.copy(&directory.path().join(&image.name), &image.files[0].destination).unwrap();
        root
    }

    #[test]
    fn size_and_digest_are_those_of_the_files() {
        let (image, directory) = image("abc", b"abc");
        let root = root(&image, &directory);
        assert_eq!(root.size().unwrap(), 3e-6);
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(root.digest().unwrap(), expected);
    }

    #[test]
    fn a_program_that_needs_other_files_fails_in_an_empty_root() {
        let (image, directory) = image("script", b"#!/bin/sh\nexit 0\n");
        let root = root(&image, &directory);
        fs::set_permissions(root.program(), Permissions::from_mode(0o755)).unwrap();
        let Some(isolation) = Isolation::find(&image.user) else { return };
        let error = root.run(&isolation).unwrap_err().to_string();
        assert!(error.starts_with("script does not run in an empty root"), "{error}");
    }

    #[test]
    fn a_missing_file_is_an_error_with_its_path() {
        let (image, directory) = image("a", b"");
        let root = Root::empty(&image, TempDir::new().unwrap()).unwrap();
        let error = root.copy(&directory.path().join("b"), "b").unwrap_err().to_string();
        assert!(error.starts_with("cannot copy /") && error.ends_with("/b to an image"), "{error}");
    }

    #[test]
    fn the_command_of_an_isolation_ends_with_root_and_program() {
        let isolation = Isolation(vec!["chroot".to_owned(), "--userspec=1:1".to_owned()]);
        let command = isolation.command(Path::new("/root"), &["/a", "--help"]);
        assert_eq!(command.get_program(), "chroot");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--userspec=1:1", "/root", "/a", "--help"]);
    }
}
