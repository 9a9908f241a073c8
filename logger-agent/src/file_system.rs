//! The operations on files that the agent needs. Tests replace them by ones that fail.

use std::{
    any::Any,
    fmt,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::Path,
    time::SystemTime,
};

/// Excludes other processes until it is dropped.
pub type Lock = Box<dyn Any + Send>;

/// A file system.
pub trait FileSystem: fmt::Debug + Send + Sync {
    /// Lists the regular files of a directory whose names are valid Unicode.
    ///
    /// # Errors
    /// Fails if the directory cannot be read.
    fn list(&self, directory: &Path) -> io::Result<Vec<FileInfo>>;

    /// Opens a file to read it.
    ///
    /// # Errors
    /// Fails if there is no such file, or it cannot be read.
    fn read(&self, path: &Path) -> io::Result<Box<dyn Read>>;

    /// Creates a file to append to it.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::AlreadyExists`] if the file exists, or if it cannot be created.
    fn create(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>>;

    /// Opens an existing file to append to it.
    ///
    /// # Errors
    /// Fails if there is no such file, or it cannot be written.
    fn open(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>>;

    /// Creates a directory that only its owner can access, unless it exists, and makes its entry durable.
    ///
    /// # Errors
    /// Fails if there is another file, or if the directory cannot be created.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Fails if there is no such file, or it cannot be removed.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes created and removed entries of a directory durable.
    ///
    /// # Errors
    /// Fails if the directory cannot be synchronized.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;

    /// Returns the space of the file system of a directory; `None` if it is unknown.
    ///
    /// # Errors
    /// Fails if there is no such directory.
    fn space(&self, directory: &Path) -> io::Result<Option<Space>>;

    /// Locks a file, which is created if necessary. The lock of a process ends with it.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::WouldBlock`] if another process has the lock, or if the file cannot be created.
    fn lock(&self, path: &Path) -> io::Result<Lock>;
}

/// A file that is appended to.
pub trait SegmentFile: fmt::Debug + Send {
    /// Appends bytes with one call, and returns how many were appended.
    ///
    /// # Errors
    /// Fails as the operating system does, such as without space.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Makes the content durable. After a failure, the content may be lost although a second call succeeds.
    ///
    /// # Errors
    /// Fails if the content could not be written to the device.
    fn sync(&mut self) -> io::Result<()>;

    /// Truncates the file.
    ///
    /// # Errors
    /// Fails as the operating system does.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// A file of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// The name in the directory.
    pub name: String,
    /// The size.
    pub bytes: u64,
    /// The time of the last change.
    pub modified: SystemTime,
}

/// The space of a file system in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// What the user of the process can write.
    pub available: u64,
    /// The size of the file system.
    pub total: u64,
}

/// The file system of the operating system.
///
/// Guarantees:
/// - only the owner can access the files that it creates: records can contain Secrets;
/// - symbolic links are not followed, and other files than regular ones are not opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl FileSystem for Disk {
    fn list(&self, directory: &Path) -> io::Result<Vec<FileInfo>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            match entry.metadata() {
                Ok(data) if data.is_file() => {
                    files.push(FileInfo { name, bytes: data.len(), modified: data.modified()? });
                }
                Ok(_) => {}
                // Another process has removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(files)
    }

    fn read(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(open_regular(options().read(true), path)?))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        Ok(Box::new(DiskFile(open_regular(options().append(true).create_new(true), path)?)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        Ok(Box::new(DiskFile(open_regular(options().append(true), path)?)))
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        match directory_builder().create(path) {
            Ok(()) => path.parent().map_or(Ok(()), |parent| self.sync_directory(parent)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Symbolic links are not followed.
                let is_directory = fs::symlink_metadata(path)?.is_dir();
                if is_directory { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
            }
            Err(error) => Err(error),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        File::open(directory)?.sync_all()
    }

    /// Does nothing: other platforms cannot synchronize directories.
    #[cfg(not(unix))]
    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    #[cfg(unix)]
    fn space(&self, directory: &Path) -> io::Result<Option<Space>> {
        let found = rustix::fs::statvfs(directory)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Ok(Some(Space { available: bytes(found.f_bavail), total: bytes(found.f_blocks) }))
    }

    #[cfg(not(unix))]
    fn space(&self, _: &Path) -> io::Result<Option<Space>> {
        Ok(None)
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        let file = open_regular(options().write(true).create(true).truncate(false), path)?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Opens a regular file.
fn open_regular(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// Returns options that do not follow a symbolic link and do not wait for the other end of a pipe.
#[cfg(unix)]
fn options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    OpenOptions::new()
}

#[cfg(unix)]
fn directory_builder() -> fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt;

    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn directory_builder() -> fs::DirBuilder {
    fs::DirBuilder::new()
}

#[derive(Debug)]
struct DiskFile(File);

impl SegmentFile for DiskFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_fails_until_the_first_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let lock = Disk.lock(&path).unwrap();
        assert_eq!(Disk.lock(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(lock);
        Disk.lock(&path).unwrap();
    }

    #[test]
    fn files_are_appended_to_after_a_truncation() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut file = Disk.create(&path).unwrap();
        file.append(b"one two").unwrap();
        file.truncate(4).unwrap();
        file.append(b"three").unwrap();
        file.sync().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one three");
        assert_eq!(Disk.create(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(Disk.list(directory.path()).unwrap()[0].bytes, 9);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (directory.path().join("target"), directory.path().join("link"));
        fs::write(&target, "important").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(Disk.open(&link).is_err() && Disk.create(&link).is_err());
        assert!(Disk.read(&link).is_err() && Disk.lock(&link).is_err());
        assert_eq!(fs::read(&target).unwrap(), b"important");
        std::os::unix::fs::symlink(directory.path(), directory.path().join("audit")).unwrap();
        let error = Disk.create_directory(&directory.path().join("audit")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_does_not_block_the_writer() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(Disk.open(&path).is_err() && Disk.lock(&path).is_err());
        let error = Disk.read(&path).err().unwrap();
        assert_eq!(error.to_string(), "not a regular file");
    }

    #[cfg(unix)]
    #[test]
    fn other_users_cannot_read_files() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().unwrap();
        let paths = ["segment", "lock", "audit"].map(|name| directory.path().join(name));
        drop((Disk.create(&paths[0]).unwrap(), Disk.lock(&paths[1]).unwrap()));
        Disk.create_directory(&paths[2]).unwrap();
        let modes = paths.map(|path| path.metadata().unwrap().permissions().mode() & 0o777);
        assert_eq!(modes, [0o600, 0o600, 0o700]);
    }
}
