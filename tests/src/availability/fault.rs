//! Faults, and whether a Logger survives them without an interruption.

use std::fmt;

use super::observation::Observation;

/// A fault of a part of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A node is drained. It is cordoned until the repair.
    Drain(String),
    /// A node has no power until the repair.
    KillNode(String),
    /// A node cannot reach the API server until the repair.
    CutOffNode(String),
    /// The nodes of a zone have no power until the repair.
    KillZone(String),
    /// The nodes of a zone cannot reach the API server until the repair.
    CutOffZone(String),
    /// The agents are replaced by a new revision.
    RollOut,
    /// The agents have an image that does not start, until the repair.
    BadImage,
    /// The operator ends within a reconciliation, until the repair.
    KillOperator,
    /// The API server is restarted.
    RestartServer,
}

impl Fault {
    /// Returns the name of the kind of the fault.
    pub fn kind(&self) -> &'static str {
        match self {
            Fault::Drain(_) => "drain",
            Fault::KillNode(_) => "kill node",
            Fault::CutOffNode(_) => "cut off node",
            Fault::KillZone(_) => "kill zone",
            Fault::CutOffZone(_) => "cut off zone",
            Fault::RollOut => "roll out",
            Fault::BadImage => "bad image",
            Fault::KillOperator => "kill operator",
            Fault::RestartServer => "restart API server",
        }
    }

    /// Returns whether nodes are lost until the repair.
    pub fn loses_nodes(&self) -> bool {
        matches!(self, Fault::KillNode(_) | Fault::CutOffNode(_) | Fault::KillZone(_) | Fault::CutOffZone(_))
    }

    /// Returns whether the fault affects a node.
    pub fn affects(&self, node: &str, zone: &str) -> bool {
        match self {
            Fault::Drain(name) | Fault::KillNode(name) | Fault::CutOffNode(name) => name == node,
            Fault::KillZone(name) | Fault::CutOffZone(name) => name == zone,
            Fault::RollOut | Fault::BadImage | Fault::KillOperator | Fault::RestartServer => false,
        }
    }

    /// Returns the names of the affected nodes.
    pub fn nodes(&self, observation: &Observation) -> Vec<String> {
        let affected = observation.nodes.iter().filter(|node| self.affects(&node.name, &node.zone));
        affected.map(|node| node.name.clone()).collect()
    }

    /// Returns whether an agent remains ready throughout the fault, while the nodes `lost` are lost already. The module
    /// [`availability`](super) gives the reasons.
    pub fn is_covered(&self, observation: &Observation, lost: &[String], desired: usize) -> bool {
        let has_surplus = observation.has_surplus(desired);
        let affected = self.nodes(observation);
        let is_counted = |node: &String| !affected.contains(node) && !lost.contains(node);
        let survivors = observation.agents.iter().filter(|agent| agent.is_ready() && is_counted(&agent.node)).count();
        let has_survivor = survivors > usize::from(has_surplus);
        // The budget counts agents that are reported as ready.
        let mut budgeted = observation.agents.iter().filter(|agent| agent.is_reported_ready && !agent.is_terminating);
        let is_stale = budgeted.any(|agent| !agent.responds || lost.contains(&agent.node));
        match self {
            Fault::Drain(_) => has_survivor || !is_stale && !has_surplus,
            _ if affected.is_empty() => true,
            _ => has_survivor,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Fault::Drain(name)
            | Fault::KillNode(name)
            | Fault::CutOffNode(name)
            | Fault::KillZone(name)
            | Fault::CutOffZone(name) => write!(f, " {name}"),
            Fault::RollOut | Fault::BadImage | Fault::KillOperator | Fault::RestartServer => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::availability::observation::{Agent, ObservedNode};

    /// Returns agents on these nodes, of which the first ones are ready. Nodes are named after their zone: `a1`.
    fn observation(nodes: &[&str], ready: usize) -> Observation {
        let agent = |(index, node): (usize, &&str)| Agent {
            name: format!("agent-{index}"),
            node: (*node).to_owned(),
            address: None,
            is_reported_ready: index < ready,
            is_terminating: false,
            responds: index < ready,
        };
        let node = |name: &str| ObservedNode { name: name.to_owned(), zone: name[..1].to_owned(), is_available: true };
        let agents = nodes.iter().enumerate().map(agent).collect();
        Observation { nodes: ["a1", "a2", "b1", "b2"].map(node).into(), agents, is_current: true }
    }

    fn node(name: &str) -> Fault {
        Fault::KillNode(name.to_owned())
    }

    #[test]
    fn a_loss_is_covered_if_a_ready_agent_remains() {
        let both = observation(&["a1", "b1"], 2);
        assert!(node("a1").is_covered(&both, &[], 2));
        assert!(Fault::KillZone("a".to_owned()).is_covered(&both, &[], 2));
        assert!(!Fault::KillZone("a".to_owned()).is_covered(&observation(&["a1", "a2"], 2), &[], 2));
        assert!(!node("a1").is_covered(&observation(&["a1", "b1"], 1), &[], 2), "the other one is starting");
        assert!(!node("a1").is_covered(&both, &["b1".to_owned()], 2), "the other one is lost");
    }

    #[test]
    fn a_rollout_in_progress_needs_another_survivor() {
        let rolling = observation(&["a1", "b1", "a1"], 3);
        assert!(!node("a1").is_covered(&rolling, &[], 2), "the Deployment can stop the one on b1");
        assert!(node("b1").is_covered(&rolling, &[], 2));
    }

    #[test]
    fn a_drain_is_covered_by_an_exact_budget() {
        let drain = Fault::Drain("a1".to_owned());
        assert!(drain.is_covered(&observation(&["a1", "b1"], 1), &[], 2), "it waits until the other one is ready");
        let mut stale = observation(&["a1", "b1"], 2);
        stale.agents[1].responds = false;
        assert!(!drain.is_covered(&stale, &[], 2));
    }

    #[test]
    fn faults_without_nodes_are_covered() {
        for fault in [Fault::RollOut, Fault::BadImage, Fault::KillOperator, Fault::RestartServer] {
            assert!(fault.is_covered(&observation(&["a1"], 1), &[], 2), "{fault}");
        }
    }
}
