//! File operations whose errors contain the path.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Writes a file and creates its parent directories.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(path, text))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns the size of a file in megabytes of 10^6 bytes.
pub(crate) fn size(path: &Path) -> Result<f64> {
    let metadata = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(metadata.len() as f64 / 1e6)
}

/// Creates an empty directory, and removes an existing one.
pub(crate) fn recreate_directory(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(directory),
    }
    .with_context(|| format!("cannot empty {}", directory.display()))
}

/// Returns the number of files, directories recursively included, and the number of their lines.
pub(crate) fn count(paths: &[PathBuf]) -> Result<(usize, usize)> {
    let (mut files, mut lines) = (0, 0);
    for path in paths {
        let (more_files, more_lines) = match path.is_dir() {
            true => count(&entries(path)?)?,
            false => (1, read(path)?.lines().count()),
        };
        files += more_files;
        lines += more_lines;
    }
    Ok((files, lines))
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let paths = fs::read_dir(directory).and_then(|all| all.map(|entry| Ok(entry?.path())).collect());
    paths.with_context(|| format!("cannot read {}", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_lines_are_counted_recursively() {
        let home = std::env::temp_dir().join(format!("bench-files-{}", std::process::id()));
        recreate_directory(&home).unwrap();
        write(&home.join("a/b/one"), "1\n2\n").unwrap();
        write(&home.join("two"), "3\n").unwrap();
        assert_eq!(count(std::slice::from_ref(&home)).unwrap(), (2, 3));
        assert_eq!(size(&home.join("two")).unwrap(), 2e-6);
        recreate_directory(&home).unwrap();
        assert_eq!(count(std::slice::from_ref(&home)).unwrap(), (0, 0));
        fs::remove_dir_all(&home).unwrap();
    }
}
