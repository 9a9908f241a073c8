//! Relative paths between directories.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

/// Returns the absolute path of a directory without symbolic links and `..`. Its last components need not exist.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let mut missing = Vec::new();
    for ancestor in absolute.ancestors() {
        if let Ok(resolved) = ancestor.canonicalize() {
            return Ok(missing.iter().rev().fold(resolved, |path, component| appended(path, component)));
        }
        missing.extend(ancestor.components().next_back());
    }
    Ok(absolute)
}

fn appended(mut path: PathBuf, component: &Component<'_>) -> PathBuf {
    match component {
        Component::ParentDir => drop(path.pop()),
        component => path.push(component),
    }
    path
}

/// Returns the path of a directory relative to another one, with
/// `/` as the separator. Both are absolute. Returns `None` if they are on different drives.
pub(super) fn relative(from: &Path, to: &Path) -> Option<String> {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return None;
    }
    let parents = from[common..].iter().map(|_| "..".to_owned());
    let below = to[common..].iter().map(|component| component.as_os_str().to_string_lossy().into_owned());
    Some(parents.chain(below).collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_to_the_common_directory() {
        for (from, to, expected) in [
            ("/work/a", "/work/toolchain", "../toolchain"),
            ("/work/a/b", "/src/toolchain", "../../../src/toolchain"),
            ("/work/a", "/work/a/vendor/toolchain", "vendor/toolchain"),
            ("/work/a/b", "/work", "../.."),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)).as_deref(), Some(expected));
        }
    }

    #[test]
    fn directories_that_do_not_exist_are_resolved() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        assert_eq!(resolve(&directory.path().join("a/../b/c")).unwrap(), root.join("b/c"));
    }
}
