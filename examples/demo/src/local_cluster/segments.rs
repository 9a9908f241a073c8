//! The segments of agents on the disks of the nodes.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The extension of segments.
const EXTENSION: &str = "ndjson";

/// Returns the directories below this one that contain segments, sorted. Those that are removed meanwhile are omitted.
pub(super) fn directories(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        let mut has_segments = false;
        for entry in entries.flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(path),
                Ok(_) => has_segments |= path.extension().is_some_and(|extension| extension == EXTENSION),
                Err(_) => {}
            }
        }
        if has_segments {
            found.push(directory);
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_with_segments_are_found_on_all_nodes() {
        let root = tempfile::tempdir().unwrap();
        for path in ["b/pods/1/volumes/logs/x-0.ndjson", "a/pods/2/volumes/logs/x-1.ndjson", "a/pods/2/agent/0.log"] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let expected = ["a/pods/2/volumes/logs", "b/pods/1/volumes/logs"].map(|path| root.path().join(path));
        assert_eq!(directories(root.path()), expected);
        assert_eq!(directories(&root.path().join("missing")), Vec::<PathBuf>::new());
    }
}
