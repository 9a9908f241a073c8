//! The volumes of a pod as local directories, and its address in place of all addresses.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use k8s_openapi::api::core::v1::Volume;
use kube::ResourceExt;

use crate::kubelet::lifecycle::Start;

/// The address of a server that listens on all addresses.
const ALL_ADDRESSES: &str = "0.0.0.0";

/// What replaces texts for processes, which have no namespaces: the directories of mounts by their paths in the
/// container, and the address of the pod by [`ALL_ADDRESSES`]. The longest text is first.
#[derive(Clone, Debug, Default)]
pub(super) struct Mounts(Vec<(String, String)>);

impl Mounts {
    /// Creates the directories of the volumes that a container mounts.
    pub(super) fn create(root: &Path, pod: &Path, start: &Start<'_>) -> io::Result<Self> {
        let volumes = start.pod.spec.as_ref().and_then(|spec| spec.volumes.as_deref()).unwrap_or_default();
        let mut mounts = vec![(ALL_ADDRESSES.to_owned(), start.pod_ip.to_owned())];
        for mount in start.container.volume_mounts.iter().flatten() {
            let Some(volume) = volumes.iter().find(|volume| volume.name == mount.name) else { continue };
            let mut path = directory(root, pod, volume, start);
            if let Some(sub_path) = mount.sub_path.as_deref().filter(|path| !path.is_empty()) {
                path = path.join(relative(sub_path));
            }
            fs::create_dir_all(&path)?;
            let mounted = mount.mount_path.trim_end_matches('/').to_owned();
            if !mounted.is_empty() {
                mounts.push((mounted, path.to_string_lossy().into_owned()));
            }
        }
        mounts.sort_by_key(|(mounted, _)| std::cmp::Reverse(mounted.len()));
        Ok(Mounts(mounts))
    }

    /// Replaces the paths of mounts, and of files below them, by the paths of the directories, and all addresses by the
    /// pod's.
    pub(super) fn replace(&self, text: &str) -> String {
        let mut replaced = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let is_start = !replaced.ends_with(is_part_of_path);
            let found = self.0.iter().filter(|_| is_start).find_map(|(mounted, directory)| {
                let after = rest.strip_prefix(mounted.as_str())?;
                (!after.starts_with(is_part_of_name)).then_some((directory, after))
            });
            match found {
                Some((directory, after)) => {
                    replaced.push_str(directory);
                    rest = after;
                }
                None => {
                    replaced.push(character);
                    rest = &rest[character.len_utf8()..];
                }
            }
        }
        replaced
    }
}

/// Returns whether a character before a slash shows that the slash does not start a path.
fn is_part_of_path(character: char) -> bool {
    is_part_of_name(character) || character == '/'
}

fn is_part_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '.' | '-' | '_')
}

/// Returns the directory of a volume.
fn directory(root: &Path, pod: &Path, volume: &Volume, start: &Start<'_>) -> PathBuf {
    if let Some(host) = &volume.host_path {
        return root.join(start.node).join("host").join(relative(&host.path));
    }
    if let Some(claim) = &volume.persistent_volume_claim {
        // The API server accepts any name.
        let name = relative(&claim.claim_name);
        return root.join("claims").join(start.pod.namespace().unwrap_or_default()).join(name);
    }
    pod.join("volumes").join(&volume.name)
}

/// Returns a path without its root and without parts that lead out of the directory.
fn relative(path: &str) -> PathBuf {
    path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_claims_and_paths_of_hosts_do_not_lead_out_of_the_directory() {
        for (path, expected) in
            [("../../x", "x"), ("/etc/passwd", "etc/passwd"), ("a/../../b", "a/b"), ("data", "data")]
        {
            assert_eq!(relative(path), PathBuf::from(expected));
        }
    }

    #[test]
    fn paths_of_mounts_are_replaced_as_a_unit() {
        let mounts =
            Mounts(vec![("/var/log".to_owned(), "/tmp/log".to_owned()), ("/data".to_owned(), "/tmp/d".to_owned())]);
        for (text, expected) in [
            ("/data", "/tmp/d"),
            ("--dir=/data/x", "--dir=/tmp/d/x"),
            ("/database", "/database"),
            ("/srv/data", "/srv/data"),
            ("cat /var/log/a /data", "cat /tmp/log/a /tmp/d"),
        ] {
            assert_eq!(mounts.replace(text), expected);
        }
    }

    #[test]
    fn all_addresses_are_replaced_by_that_of_the_pod() {
        let mounts = Mounts(vec![(ALL_ADDRESSES.to_owned(), "127.1.0.1".to_owned())]);
        for (text, expected) in [
            ("0.0.0.0:8080", "127.1.0.1:8080"),
            ("--listen=0.0.0.0", "--listen=127.1.0.1"),
            ("10.0.0.0.0", "10.0.0.0.0"),
            ("0.0.0.01", "0.0.0.01"),
        ] {
            assert_eq!(mounts.replace(text), expected);
        }
    }

    #[test]
    fn paths_cannot_leave_the_directory() {
        assert_eq!(relative("/../a/./../b"), PathBuf::from("a/b"));
    }
}
