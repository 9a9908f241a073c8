//! The Logger kind.

use k8s_openapi::{
    api::{
        core::v1::{ResourceRequirements, SecretKeySelector},
        networking::v1::NetworkPolicyPeer,
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{Condition, ListMeta, ObjectMeta},
    },
};
use kubewright::core::{ApiObject, ApiType, DeepCopy, ObjectList};
use serde::{Deserialize, Serialize};

/// A Logger periodically writes user activity to files. At least one Logger must always survive.
#[derive(Clone, Debug, Default, PartialEq, ApiObject)]
#[genclient]
#[convert(hub)]
#[k8s(storage, list = LoggerList, short_names = ["lg"], categories = ["all"])]
#[k8s(subresource(
    status,
    scale(spec_path = ".spec.replicas", status_path = ".status.replicas", selector_path = ".status.selector")
))]
#[k8s(printcolumns = [
    string("State", ".status.state"),
    integer("Ready", ".status.readyReplicas"),
    integer("Desired", ".status.desiredReplicas"),
    string("Interval", ".spec.interval"),
    string("Workload", ".status.workload").priority(1),
    date("Age", ".metadata.creationTimestamp"),
])]
pub struct Logger {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state of the Logger.
    pub spec: LoggerSpec,
    /// The observed state of the Logger.
    pub status: Option<LoggerStatus>,
}

/// The desired state of a Logger.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
#[schema(validation(
    rule = "!has(self.placement) || self.placement != 'PerNode' || !has(self.storage) || !has(self.storage.volumeClaim)",
    message = "a volume claim needs the placement Spread: the instances of PerNode store their files in an emptyDir",
    field_path = ".storage.volumeClaim"
))]
pub struct LoggerSpec {
    /// The name of the log, which is the prefix of its files.
    pub name: String,
    /// The interval between two writes, at least one second: a duration in hours, minutes and seconds, such as `60s` or
    /// `1m30s`.
    #[schema(length = 2..=32, pattern = "^([0-9]+h)?([0-9]+m)?([0-9]+s)?$")]
    #[schema(validation(rule = "duration(self) >= duration('1s')", message = "must be at least 1s"))]
    pub interval: String,
    /// The number of instances that write the log. Defaults to 1. It does not apply to the placement `PerNode`.
    #[schema(min = 0)]
    pub replicas: Option<i32>,
    /// Where instances run. Defaults to `Spread`.
    pub placement: Option<LoggerPlacement>,
    /// What is recorded. Defaults to every source.
    pub source: Option<LoggerSource>,
    /// When files are closed, and when they are removed.
    pub rotation: Option<LoggerRotation>,
    /// When records become durable. Defaults to `Interval`.
    pub durability: Option<LoggerDurability>,
    /// Where files are stored. Defaults to an `emptyDir`.
    pub storage: Option<LoggerStorage>,
    /// The compute resources of an instance. Defaults to requests of 10m CPU and 32Mi memory, and a limit of 128Mi
    /// memory.
    pub resources: Option<ResourceRequirements>,
}

/// Where instances run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ApiType)]
#[convert(hub)]
pub enum LoggerPlacement {
    /// `replicas` instances, spread evenly over nodes, and over zones if possible.
    #[default]
    Spread,
    /// One instance on each node.
    PerNode,
}

/// What is recorded. Heartbeats are always recorded: they distinguish the end of an instance from silence.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
pub struct LoggerSource {
    /// The sources whose records are accepted. Defaults to all.
    #[schema(list_type = set, items = 1..)]
    pub accept: Option<Vec<RecordSource>>,
    /// The Pods and addresses that can connect to the instances: a NetworkPolicy permits these and the operator, in
    /// clusters whose network implements policies. No NetworkPolicy by default.
    #[schema(items = 1..)]
    pub from: Option<Vec<NetworkPolicyPeer>>,
    /// The bearer tokens of the clients that send audit events, one on each line of this key of a Secret. Instances
    /// read them when they start. Without it, every client that can connect is accepted.
    pub audit_tokens: Option<SecretKeySelector>,
    /// The bearer tokens of the clients that send records of applications, as `auditTokens`.
    pub activity_tokens: Option<SecretKeySelector>,
    /// The number of records that an instance accepts per second; further ones are rejected with code 429. Defaults to
    /// 10000.
    #[schema(min = 1)]
    pub records_per_second: Option<i32>,
}

/// A source of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ApiType)]
#[convert(hub)]
pub enum RecordSource {
    /// Audit events of the API server, at the path `/audit`.
    Audit,
    /// Records of applications, at the path `/activity`.
    Activity,
}

/// When files are closed, and when they are removed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
pub struct LoggerRotation {
    /// The size from which a file is closed. Defaults to 16Mi.
    pub max_size: Option<Quantity>,
    /// The age from which a file is closed, such as `90m`. Defaults to `1h`.
    #[schema(length = 2..=32, pattern = "^([0-9]+h)?([0-9]+m)?([0-9]+s)?$")]
    #[schema(validation(rule = "duration(self) >= duration('1s')", message = "must be at least 1s"))]
    pub max_age: Option<String>,
    /// When closed files are removed.
    pub retention: Option<LoggerRetention>,
}

/// When closed files are removed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
pub struct LoggerRetention {
    /// The size of all files of an instance above which the oldest are removed, at least twice the `maxSize` of a file.
    /// Defaults to 1Gi.
    pub max_size: Option<Quantity>,
    /// The age above which files are removed, such as `168h`, which is the default.
    #[schema(length = 2..=32, pattern = "^([0-9]+h)?([0-9]+m)?([0-9]+s)?$")]
    #[schema(validation(rule = "duration(self) >= duration('1s')", message = "must be at least 1s"))]
    pub max_age: Option<String>,
}

/// When records become durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ApiType)]
#[convert(hub)]
pub enum LoggerDurability {
    /// One fsync for the records of an interval; sooner for records whose client waits.
    #[default]
    Interval,
    /// An fsync for each record.
    Record,
}

/// Where files are stored: one of these.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
#[schema(at_most_one_of = [empty_dir, volume_claim])]
pub struct LoggerStorage {
    /// A directory of the node. Its files survive a restart of the container, but not the deletion of the Pod.
    pub empty_dir: Option<LoggerEmptyDir>,
    /// A volume for each instance, which outlives the instance and the Logger.
    pub volume_claim: Option<LoggerVolumeClaim>,
}

/// A directory of the node.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
pub struct LoggerEmptyDir {
    /// The size above which the instance is evicted. No limit by default.
    pub size_limit: Option<Quantity>,
}

/// The claim for the volume of an instance. It cannot be changed while it is in use.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
#[schema(validation(
    rule = "self == oldSelf",
    message = "is immutable; remove the claim, and add the new one when the instances have another storage"
))]
pub struct LoggerVolumeClaim {
    /// The name of the StorageClass. Defaults to the default StorageClass of the cluster.
    #[schema(length = 1..=253)]
    pub storage_class_name: Option<String>,
    /// The size of the volume.
    pub size: Quantity,
    /// The access modes of the volume. Defaults to `ReadWriteOnce`.
    #[schema(list_type = set, items = 1..=4)]
    #[schema(each(values = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]))]
    pub access_modes: Option<Vec<String>>,
}

/// The observed state of a Logger.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
pub struct LoggerStatus {
    /// The availability of the log.
    pub state: Option<LoggerState>,
    /// The `metadata.generation` that this status was computed from.
    pub observed_generation: Option<i64>,
    /// The kind of the workload that runs the instances.
    pub workload: Option<LoggerWorkload>,
    /// The desired number of instances: `replicas`, or the number of nodes.
    pub desired_replicas: Option<i32>,
    /// The number of instances, ready or not.
    pub replicas: Option<i32>,
    /// The number of instances that write the log.
    pub ready_replicas: Option<i32>,
    /// The number of instances that run with the current spec.
    pub updated_replicas: Option<i32>,
    /// The label selector of the instances as a string, which the scale subresource serves to autoscalers.
    pub selector: Option<String>,
    /// The conditions of the Logger, one of each type.
    #[schema(list_type = map, list_map_keys = ["type"])]
    pub conditions: Option<Vec<Condition>>,
}

/// The availability of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ApiType)]
#[convert(hub)]
pub enum LoggerState {
    /// At least one instance writes the log.
    Available,
    /// No instance writes the log.
    Unavailable,
}

/// The kind of a workload that runs instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ApiType)]
#[convert(hub)]
pub enum LoggerWorkload {
    /// Instances of the placement `Spread` whose files are in an `emptyDir`.
    Deployment,
    /// Instances of the placement `PerNode`.
    DaemonSet,
    /// Instances with a volume claim.
    StatefulSet,
}

/// A list of Loggers.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
pub struct LoggerList {
    /// Standard list metadata.
    pub metadata: ListMeta,
    /// The Loggers.
    pub items: Vec<Logger>,
}
