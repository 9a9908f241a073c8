//! The rules of a cluster as pure functions: pods, nodes, rollouts, budgets and the decisions of the scheduler.

pub(crate) mod affinity;
pub(crate) mod budget;
pub(crate) mod clock;
pub(crate) mod hash;
pub(crate) mod int_or_percent;
pub(crate) mod labels;
pub(crate) mod nodes;
pub(crate) mod placement;
pub(crate) mod pods;
pub(crate) mod resources;
pub(crate) mod rollout;
pub(crate) mod spread;
pub(crate) mod taints;
