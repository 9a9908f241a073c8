//! The reasons of conditions and events, and the texts of others in their messages.

/// At least one agent is ready.
pub const AGENTS_READY: &str = "AgentsReady";
/// No agent is ready, and no cause is observed.
pub const AGENTS_NOT_READY: &str = "AgentsNotReady";
/// No problem is observed.
pub const AS_DESIRED: &str = "AsDesired";
/// Agents restart repeatedly, or cannot be started.
pub const AGENT_CRASHES: &str = "AgentCrashes";
/// The disruption budget rejects the eviction of every agent, so that drains wait.
pub const BUDGET_BLOCKS: &str = "BudgetBlocks";
/// The API server rejects a child or its Pods, such as for a quota or an admission policy.
pub const CHILD_REJECTED: &str = "ChildRejected";
/// The clock of the node of an agent was set back.
pub const CLOCK_STEPPED_BACK: &str = "ClockSteppedBack";
/// A file of an agent has records that cannot be read. Its other records remain.
pub const CORRUPT_SEGMENT: &str = "CorruptSegment";
/// The image of agents cannot be pulled.
pub const IMAGE_UNAVAILABLE: &str = "ImageUnavailable";
/// The interval is not a duration, not positive or too long.
pub const INVALID_INTERVAL: &str = "InvalidInterval";
/// The name of the log cannot be the prefix of a file name.
pub const INVALID_NAME: &str = "InvalidName";
/// The number of replicas is negative.
pub const INVALID_REPLICAS: &str = "InvalidReplicas";
/// A size or an age of files cannot be used.
pub const INVALID_ROTATION: &str = "InvalidRotation";
/// No record would be accepted.
pub const INVALID_SOURCE: &str = "InvalidSource";
/// The storage cannot be used.
pub const INVALID_STORAGE: &str = "InvalidStorage";
/// An object that does not belong to the Logger has the name of a child.
pub const NAME_CONFLICT: &str = "NameConflict";
/// The desired number of agents is 0: there are no replicas, or no nodes.
pub const NO_REPLICAS: &str = "NoReplicas";
/// The workload made no progress within its deadline.
pub const PROGRESS_DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";
/// An agent cannot make records durable, such as on a full disk.
pub const RECORDS_NOT_DURABLE: &str = "RecordsNotDurable";
/// Agents are created, replaced or not available yet.
pub const ROLLING_OUT: &str = "RollingOut";
/// All agents are up to date and available.
pub const ROLLOUT_COMPLETE: &str = "RolloutComplete";
/// One agent only: no other one records activity while it is replaced.
pub const SINGLE_REPLICA: &str = "SingleReplica";
/// The scheduler finds no node for an agent.
pub const UNSCHEDULABLE: &str = "Unschedulable";

/// Shortens a text of others for a message of a condition, to one line of this number of characters.
pub(crate) fn shorten(text: &str, max: usize) -> String {
    text.chars().filter(|character| !character.is_control()).take(max).collect()
}
