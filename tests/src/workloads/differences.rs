//! The known differences between the simulator and a real control plane, with their reasons.

use std::sync::atomic::{AtomicBool, Ordering};

use super::outcome::Place;

/// A known difference: all paths of a kind that start with this one.
struct Difference {
    kind: &'static str,
    path: &'static str,
    reason: &'static str,
}

const KNOWN: &[Difference] = &[
    Difference {
        kind: "Node",
        path: "metadata.annotations.node.alpha.kubernetes.io/ttl",
        reason: "a hint of kube-controller-manager for kubelets, how long they may cache ConfigMaps and Secrets",
    },
    Difference {
        kind: "Node",
        path: "metadata.labels.beta.kubernetes.io/os",
        reason: "kube-controller-manager adds the deprecated name of the label",
    },
    Difference {
        kind: "Node",
        path: "metadata.labels.beta.kubernetes.io/arch",
        reason: "kube-controller-manager adds the deprecated name of the label",
    },
    Difference {
        kind: "Node",
        path: "events.Normal RegisteredNode",
        reason: "kube-controller-manager reports each node that it sees first, also after its own restart",
    },
];

/// The known differences, and which of them were seen.
#[derive(Debug, Default)]
pub struct Differences {
    seen: [AtomicBool; KNOWN.len()],
}

impl Differences {
    /// Reports whether a difference at this position is known.
    pub(super) fn explain(&self, place: &Place) -> bool {
        let known = KNOWN.iter().zip(&self.seen).find(|(known, _)| {
            let rest = place.path.strip_prefix(known.path);
            place.kind == known.kind && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        known.inspect(|(_, seen)| seen.store(true, Ordering::Relaxed)).is_some()
    }

    /// Returns the known differences that were not seen: they no longer exist if all scenarios have been compared.
    #[must_use]
    pub fn unseen(&self) -> Vec<String> {
        let unseen = KNOWN.iter().zip(&self.seen).filter(|(_, seen)| !seen.load(Ordering::Relaxed));
        unseen.map(|(known, _)| format!("{} {} ({})", known.kind, known.path, known.reason)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(kind: &str, path: &str) -> Place {
        Place { kind: kind.to_owned(), object: "one".to_owned(), path: path.to_owned() }
    }

    #[test]
    fn a_difference_explains_its_path_and_those_below() {
        let differences = Differences::default();
        let path = "events.Normal RegisteredNode";
        for unknown in [place("Pod", path), place("Node", "events"), place("Node", "events.Normal RegisteredNodes")] {
            assert!(!differences.explain(&unknown), "{unknown}");
        }
        assert_eq!(differences.unseen().len(), KNOWN.len());
        assert!(differences.explain(&place("Node", path)));
        assert!(differences.explain(&place("Node", &format!("{path}.note"))));
        assert_eq!(differences.unseen().len(), KNOWN.len() - 1);
    }
}
