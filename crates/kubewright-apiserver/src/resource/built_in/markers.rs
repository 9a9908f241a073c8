//! Markers: defaults, enums and list keys from the Go types of Kubernetes that its OpenAPI does not contain.

use serde_json::{Value, json};

use Marker::{Default, Enum, ListMap, NoDefault, Zero};

/// A property of a field that its schema lacks. Values are JSON.
#[derive(Debug, Clone, Copy)]
pub(super) enum Marker {
    /// The zero value of a field that Go always encodes.
    Zero(&'static str),
    /// The default value.
    Default(&'static str),
    /// No default: OpenAPI declares the zero value, which Go omits.
    NoDefault,
    /// A list with these keys (`x-kubernetes-list-map-keys`).
    ListMap(&'static [&'static str]),
    /// The allowed values.
    Enum(&'static [&'static str]),
}

impl Marker {
    /// Adds the property to the schema of the field.
    pub(super) fn apply_to(self, schema: &mut Value) {
        match self {
            Default(text) | Zero(text) => {
                let value = parsed(text);
                if value.is_null() {
                    schema["nullable"] = json!(true);
                }
                schema["default"] = value;
            }
            NoDefault => {
                if let Some(schema) = schema.as_object_mut() {
                    schema.remove("default");
                }
            }
            ListMap(keys) => {
                schema["x-kubernetes-list-type"] = json!("map");
                schema["x-kubernetes-list-map-keys"] = json!(keys);
            }
            Enum(values) => schema["enum"] = json!(values),
        }
    }

    /// Returns whether OpenAPI publishes the property.
    pub(super) fn is_published(&self) -> bool {
        !matches!(self, Zero(_) | NoDefault)
    }

    pub(super) fn zero(&self) -> Option<Value> {
        match self {
            Zero(text) => Some(parsed(text)),
            _ => None,
        }
    }
}

/// Returns the markers of a field of a type.
pub(super) fn of_field<'a>(type_: &'a str, field: &'a str) -> impl Iterator<Item = &'static Marker> + use<'a> {
    let rows = FIELDS.iter().filter(move |(row_type, name, _)| *name == field && is(type_, row_type));
    let times = TIMES.iter().filter(move |(row_type, names)| names.contains(&field) && is(type_, row_type));
    rows.map(|(_, _, marker)| marker).chain(times.map(|_| &NULL))
}

/// Returns whether a type is that of a row. Names in rows omit the package prefix.
pub(super) fn is(type_: &str, name: &str) -> bool {
    type_.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("the tables hold JSON")
}

const PROTOCOLS: Marker = Enum(&["SCTP", "TCP", "UDP"]);
const PULL_POLICIES: Marker = Enum(&["Always", "IfNotPresent", "Never"]);
const STRUCT: Marker = Zero("{}");
const EMPTY: Marker = Default("{}");
const FAILURE_POLICIES: Marker = Enum(&["Fail", "Ignore"]);
const MATCH_POLICIES: Marker = Enum(&["Equivalent", "Exact"]);
const MODE: Marker = Default("420");
const SCHEMES: Marker = Enum(&["HTTP", "HTTPS"]);

/// The markers by type and field.
pub(super) const FIELDS: &[(&str, &str, Marker)] = &[
    ("admissionregistration.v1.MatchResources", "matchPolicy", Default(r#""Equivalent""#)),
    ("admissionregistration.v1.MatchResources", "namespaceSelector", EMPTY),
    ("admissionregistration.v1.MatchResources", "objectSelector", EMPTY),
    ("admissionregistration.v1.MutatingAdmissionPolicy", "spec", STRUCT),
    ("admissionregistration.v1.MutatingAdmissionPolicyBinding", "spec", STRUCT),
    ("admissionregistration.v1.MutatingAdmissionPolicySpec", "failurePolicy", Default(r#""Fail""#)),
    ("admissionregistration.v1.MutatingWebhook", "clientConfig", STRUCT),
    ("admissionregistration.v1.MutatingWebhook", "failurePolicy", Default(r#""Fail""#)),
    ("admissionregistration.v1.MutatingWebhook", "failurePolicy", FAILURE_POLICIES),
    ("admissionregistration.v1.MutatingWebhook", "matchPolicy", Default(r#""Equivalent""#)),
    ("admissionregistration.v1.MutatingWebhook", "matchPolicy", MATCH_POLICIES),
    ("admissionregistration.v1.MutatingWebhook", "namespaceSelector", EMPTY),
    ("admissionregistration.v1.MutatingWebhook", "objectSelector", EMPTY),
    ("admissionregistration.v1.MutatingWebhook", "reinvocationPolicy", Default(r#""Never""#)),
    ("admissionregistration.v1.MutatingWebhook", "reinvocationPolicy", Enum(&["IfNeeded", "Never"])),
    ("admissionregistration.v1.MutatingWebhook", "timeoutSeconds", Default("10")),
    ("admissionregistration.v1.NamedRuleWithOperations", "scope", Default(r#""*""#)),
    ("admissionregistration.v1.RuleWithOperations", "scope", Default(r#""*""#)),
    ("admissionregistration.v1.ServiceReference", "port", Default("443")),
    ("admissionregistration.v1.ValidatingAdmissionPolicy", "spec", STRUCT),
    ("admissionregistration.v1.ValidatingAdmissionPolicy", "status", STRUCT),
    ("admissionregistration.v1.ValidatingAdmissionPolicyBinding", "spec", STRUCT),
    ("admissionregistration.v1.ValidatingAdmissionPolicySpec", "failurePolicy", Default(r#""Fail""#)),
    ("admissionregistration.v1.ValidatingWebhook", "clientConfig", STRUCT),
    ("admissionregistration.v1.ValidatingWebhook", "failurePolicy", Default(r#""Fail""#)),
    ("admissionregistration.v1.ValidatingWebhook", "failurePolicy", FAILURE_POLICIES),
    ("admissionregistration.v1.ValidatingWebhook", "matchPolicy", Default(r#""Equivalent""#)),
    ("admissionregistration.v1.ValidatingWebhook", "matchPolicy", MATCH_POLICIES),
    ("admissionregistration.v1.ValidatingWebhook", "namespaceSelector", EMPTY),
    ("admissionregistration.v1.ValidatingWebhook", "objectSelector", EMPTY),
    ("admissionregistration.v1.ValidatingWebhook", "timeoutSeconds", Default("10")),
    ("apps.v1.ControllerRevision", "revision", Zero("0")),
    ("apps.v1.DaemonSet", "spec", STRUCT),
    ("apps.v1.DaemonSet", "status", STRUCT),
    ("apps.v1.DaemonSetSpec", "revisionHistoryLimit", Default("10")),
    ("apps.v1.DaemonSetSpec", "template", STRUCT),
    ("apps.v1.DaemonSetSpec", "updateStrategy", STRUCT),
    ("apps.v1.DaemonSetUpdateStrategy", "type", Default(r#""RollingUpdate""#)),
    ("apps.v1.DaemonSetUpdateStrategy", "type", Enum(&["OnDelete", "RollingUpdate"])),
    ("apps.v1.Deployment", "spec", STRUCT),
    ("apps.v1.Deployment", "status", STRUCT),
    ("apps.v1.DeploymentSpec", "progressDeadlineSeconds", Default("600")),
    ("apps.v1.DeploymentSpec", "replicas", Default("1")),
    ("apps.v1.DeploymentSpec", "revisionHistoryLimit", Default("10")),
    ("apps.v1.DeploymentSpec", "strategy", STRUCT),
    ("apps.v1.DeploymentSpec", "template", STRUCT),
    ("apps.v1.DeploymentStrategy", "type", Default(r#""RollingUpdate""#)),
    ("apps.v1.ReplicaSet", "spec", STRUCT),
    ("apps.v1.ReplicaSet", "status", STRUCT),
    ("apps.v1.ReplicaSetSpec", "replicas", Default("1")),
    ("apps.v1.ReplicaSetSpec", "template", STRUCT),
    ("apps.v1.RollingUpdateDaemonSet", "maxSurge", Default("0")),
    ("apps.v1.RollingUpdateDaemonSet", "maxUnavailable", Default("1")),
    ("apps.v1.RollingUpdateDeployment", "maxSurge", Default(r#""25%""#)),
    ("apps.v1.RollingUpdateDeployment", "maxUnavailable", Default(r#""25%""#)),
    ("apps.v1.RollingUpdateStatefulSetStrategy", "partition", Default("0")),
    ("apps.v1.StatefulSet", "spec", STRUCT),
    ("apps.v1.StatefulSet", "status", STRUCT),
    ("apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenDeleted", Default(r#""Retain""#)),
    ("apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenScaled", Default(r#""Retain""#)),
    ("apps.v1.StatefulSetSpec", "persistentVolumeClaimRetentionPolicy", Default("{}")),
    ("apps.v1.StatefulSetSpec", "podManagementPolicy", Default(r#""OrderedReady""#)),
    ("apps.v1.StatefulSetSpec", "replicas", Default("1")),
    ("apps.v1.StatefulSetSpec", "revisionHistoryLimit", Default("10")),
    ("apps.v1.StatefulSetSpec", "serviceName", Zero(r#""""#)),
    ("apps.v1.StatefulSetSpec", "template", STRUCT),
    ("apps.v1.StatefulSetSpec", "updateStrategy", STRUCT),
    ("apps.v1.StatefulSetStatus", "availableReplicas", Zero("0")),
    ("apps.v1.StatefulSetUpdateStrategy", "type", Default(r#""RollingUpdate""#)),
    ("autoscaling.v2.HorizontalPodAutoscaler", "spec", STRUCT),
    ("autoscaling.v2.HorizontalPodAutoscaler", "status", STRUCT),
    ("autoscaling.v2.HorizontalPodAutoscalerSpec", "maxReplicas", Zero("0")),
    ("autoscaling.v2.HorizontalPodAutoscalerSpec", "minReplicas", Default("1")),
    ("autoscaling.v2.HorizontalPodAutoscalerSpec", "scaleTargetRef", STRUCT),
    ("autoscaling.v2.HorizontalPodAutoscalerStatus", "currentMetrics", Zero("null")),
    ("batch.v1.CronJob", "spec", STRUCT),
    ("batch.v1.CronJob", "status", STRUCT),
    ("batch.v1.CronJobSpec", "concurrencyPolicy", Default(r#""Allow""#)),
    ("batch.v1.CronJobSpec", "failedJobsHistoryLimit", Default("1")),
    ("batch.v1.CronJobSpec", "jobTemplate", STRUCT),
    ("batch.v1.CronJobSpec", "successfulJobsHistoryLimit", Default("3")),
    ("batch.v1.CronJobSpec", "suspend", Default("false")),
    ("batch.v1.Job", "spec", STRUCT),
    ("batch.v1.Job", "status", STRUCT),
    ("batch.v1.JobSpec", "podReplacementPolicy", Enum(&["Failed", "TerminatingOrFailed"])),
    ("batch.v1.JobSpec", "template", STRUCT),
    ("batch.v1.JobTemplateSpec", "metadata", STRUCT),
    ("batch.v1.JobTemplateSpec", "spec", STRUCT),
    ("certificates.v1.CertificateSigningRequest", "spec", STRUCT),
    ("certificates.v1.CertificateSigningRequest", "status", STRUCT),
    ("coordination.v1.Lease", "spec", STRUCT),
    ("core.v1.ConfigMapVolumeSource", "defaultMode", MODE),
    ("core.v1.Container", "imagePullPolicy", PULL_POLICIES),
    ("core.v1.Container", "resources", STRUCT),
    ("core.v1.Container", "terminationMessagePath", Default(r#""/dev/termination-log""#)),
    ("core.v1.Container", "terminationMessagePolicy", Default(r#""File""#)),
    ("core.v1.Container", "terminationMessagePolicy", Enum(&["File", "FallbackToLogsOnError"])),
    ("core.v1.ContainerPort", "protocol", PROTOCOLS),
    ("core.v1.ContainerStatus", "lastState", STRUCT),
    ("core.v1.ContainerStatus", "state", STRUCT),
    ("core.v1.DownwardAPIVolumeSource", "defaultMode", MODE),
    ("core.v1.EndpointPort", "protocol", Default(r#""TCP""#)),
    ("core.v1.EphemeralContainer", "imagePullPolicy", PULL_POLICIES),
    ("core.v1.EphemeralContainer", "resources", STRUCT),
    ("core.v1.EphemeralContainer", "terminationMessagePath", Default(r#""/dev/termination-log""#)),
    ("core.v1.EphemeralContainer", "terminationMessagePolicy", Default(r#""File""#)),
    ("core.v1.Event", "eventTime", Zero("null")),
    ("core.v1.Event", "firstTimestamp", Zero("null")),
    ("core.v1.Event", "involvedObject", STRUCT),
    ("core.v1.Event", "lastTimestamp", Zero("null")),
    ("core.v1.Event", "reportingComponent", Zero(r#""""#)),
    ("core.v1.Event", "reportingInstance", Zero(r#""""#)),
    ("core.v1.Event", "source", STRUCT),
    ("core.v1.HTTPGetAction", "path", Default(r#""/""#)),
    ("core.v1.HTTPGetAction", "scheme", Default(r#""HTTP""#)),
    ("core.v1.HTTPGetAction", "scheme", SCHEMES),
    ("core.v1.HostPathVolumeSource", "type", Default(r#""""#)),
    ("core.v1.LimitRange", "spec", STRUCT),
    ("core.v1.LimitRangeSpec", "limits", Zero("null")),
    ("core.v1.Node", "spec", STRUCT),
    ("core.v1.Node", "status", STRUCT),
    ("core.v1.NodeCondition", "lastHeartbeatTime", Zero("null")),
    ("core.v1.NodeCondition", "lastTransitionTime", Zero("null")),
    ("core.v1.NodeDaemonEndpoints", "kubeletEndpoint", STRUCT),
    ("core.v1.NodeStatus", "daemonEndpoints", STRUCT),
    ("core.v1.NodeStatus", "nodeInfo", STRUCT),
    ("core.v1.ObjectFieldSelector", "apiVersion", Default(r#""v1""#)),
    ("core.v1.PersistentVolume", "spec", STRUCT),
    ("core.v1.PersistentVolume", "status", STRUCT),
    ("core.v1.PersistentVolumeClaim", "spec", STRUCT),
    ("core.v1.PersistentVolumeClaim", "status", STRUCT),
    ("core.v1.PersistentVolumeClaimSpec", "resources", STRUCT),
    ("core.v1.PersistentVolumeClaimSpec", "volumeMode", Default(r#""Filesystem""#)),
    ("core.v1.PersistentVolumeClaimSpec", "volumeMode", Enum(&["Block", "Filesystem"])),
    ("core.v1.PersistentVolumeClaimStatus", "phase", Default(r#""Pending""#)),
    ("core.v1.PersistentVolumeClaimTemplate", "metadata", STRUCT),
    ("core.v1.PersistentVolumeClaimTemplate", "spec", STRUCT),
    ("core.v1.PersistentVolumeSpec", "persistentVolumeReclaimPolicy", Default(r#""Retain""#)),
    ("core.v1.PersistentVolumeSpec", "persistentVolumeReclaimPolicy", Enum(&["Delete", "Recycle", "Retain"])),
    ("core.v1.PersistentVolumeSpec", "volumeMode", Default(r#""Filesystem""#)),
    ("core.v1.PersistentVolumeStatus", "phase", Default(r#""Pending""#)),
    ("core.v1.Pod", "spec", STRUCT),
    ("core.v1.Pod", "status", STRUCT),
    ("core.v1.PodCondition", "lastProbeTime", Zero("null")),
    ("core.v1.PodCondition", "lastTransitionTime", Zero("null")),
    ("core.v1.PodSpec", "containers", Zero("null")),
    ("core.v1.PodSpec", "dnsPolicy", Default(r#""ClusterFirst""#)),
    ("core.v1.PodSpec", "dnsPolicy", Enum(&["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"])),
    ("core.v1.PodSpec", "preemptionPolicy", Enum(&["Never", "PreemptLowerPriority"])),
    ("core.v1.PodSpec", "restartPolicy", Default(r#""Always""#)),
    ("core.v1.PodSpec", "restartPolicy", Enum(&["Always", "OnFailure", "Never"])),
    ("core.v1.PodSpec", "schedulerName", Default(r#""default-scheduler""#)),
    ("core.v1.PodSpec", "securityContext", Default("{}")),
    ("core.v1.PodSpec", "terminationGracePeriodSeconds", Default("30")),
    ("core.v1.PodTemplate", "template", STRUCT),
    ("core.v1.PodTemplateSpec", "metadata", STRUCT),
    ("core.v1.PodTemplateSpec", "spec", STRUCT),
    ("core.v1.PreferredSchedulingTerm", "preference", STRUCT),
    ("core.v1.Probe", "failureThreshold", Default("3")),
    ("core.v1.Probe", "periodSeconds", Default("10")),
    ("core.v1.Probe", "successThreshold", Default("1")),
    ("core.v1.Probe", "timeoutSeconds", Default("1")),
    ("core.v1.ProjectedVolumeSource", "defaultMode", MODE),
    ("core.v1.ReplicationController", "spec", STRUCT),
    ("core.v1.ReplicationController", "status", STRUCT),
    ("core.v1.ReplicationControllerSpec", "minReadySeconds", NoDefault),
    ("core.v1.ResourceQuota", "spec", STRUCT),
    ("core.v1.ResourceQuota", "status", STRUCT),
    ("core.v1.Secret", "type", Default(r#""Opaque""#)),
    ("core.v1.SecretVolumeSource", "defaultMode", MODE),
    ("core.v1.Service", "spec", STRUCT),
    ("core.v1.Service", "status", STRUCT),
    ("core.v1.ServiceAccount", "secrets", ListMap(&["name"])),
    ("core.v1.ServiceAccountTokenProjection", "expirationSeconds", Default("3600")),
    ("core.v1.ServicePort", "port", Zero("0")),
    ("core.v1.ServicePort", "protocol", PROTOCOLS),
    ("core.v1.ServiceSpec", "externalTrafficPolicy", Enum(&["Cluster", "Local"])),
    ("core.v1.ServiceSpec", "internalTrafficPolicy", Enum(&["Cluster", "Local"])),
    ("core.v1.ServiceSpec", "ipFamilyPolicy", Enum(&["PreferDualStack", "RequireDualStack", "SingleStack"])),
    ("core.v1.ServiceSpec", "sessionAffinity", Default(r#""None""#)),
    ("core.v1.ServiceSpec", "sessionAffinity", Enum(&["ClientIP", "None"])),
    ("core.v1.ServiceSpec", "type", Default(r#""ClusterIP""#)),
    ("core.v1.ServiceSpec", "type", Enum(&["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"])),
    ("core.v1.ServiceStatus", "loadBalancer", STRUCT),
    ("core.v1.WeightedPodAffinityTerm", "podAffinityTerm", STRUCT),
    ("discovery.v1.Endpoint", "conditions", STRUCT),
    ("discovery.v1.EndpointPort", "name", Default(r#""""#)),
    ("discovery.v1.EndpointPort", "protocol", Default(r#""TCP""#)),
    ("discovery.v1.EndpointSlice", "endpoints", Zero("null")),
    ("discovery.v1.EndpointSlice", "ports", Zero("null")),
    ("events.v1.Event", "deprecatedFirstTimestamp", Zero("null")),
    ("events.v1.Event", "deprecatedLastTimestamp", Zero("null")),
    ("events.v1.Event", "deprecatedSource", STRUCT),
    ("events.v1.Event", "eventTime", Zero("null")),
    ("events.v1.Event", "regarding", STRUCT),
    ("networking.v1.HTTPIngressPath", "backend", STRUCT),
    ("networking.v1.IPAddress", "spec", STRUCT),
    ("networking.v1.Ingress", "spec", STRUCT),
    ("networking.v1.Ingress", "status", STRUCT),
    ("networking.v1.IngressClass", "spec", STRUCT),
    ("networking.v1.IngressClassParametersReference", "scope", Default(r#""Cluster""#)),
    ("networking.v1.IngressServiceBackend", "port", STRUCT),
    ("networking.v1.IngressStatus", "loadBalancer", STRUCT),
    ("networking.v1.NetworkPolicy", "spec", STRUCT),
    ("networking.v1.NetworkPolicyPort", "protocol", Default(r#""TCP""#)),
    ("networking.v1.NetworkPolicyPort", "protocol", PROTOCOLS),
    ("networking.v1.NetworkPolicySpec", "podSelector", STRUCT),
    ("networking.v1.ServiceCIDR", "spec", STRUCT),
    ("networking.v1.ServiceCIDR", "status", STRUCT),
    ("policy.v1.PodDisruptionBudget", "spec", STRUCT),
    ("policy.v1.PodDisruptionBudget", "status", STRUCT),
    ("policy.v1.PodDisruptionBudgetSpec", "unhealthyPodEvictionPolicy", Enum(&["AlwaysAllow", "IfHealthyBudget"])),
    ("policy.v1.PodDisruptionBudgetStatus", "currentHealthy", Zero("0")),
    ("policy.v1.PodDisruptionBudgetStatus", "desiredHealthy", Zero("0")),
    ("policy.v1.PodDisruptionBudgetStatus", "disruptionsAllowed", Zero("0")),
    ("policy.v1.PodDisruptionBudgetStatus", "expectedPods", Zero("0")),
    ("rbac.v1.ClusterRole", "rules", Zero("null")),
    ("rbac.v1.ClusterRoleBinding", "roleRef", STRUCT),
    ("rbac.v1.Role", "rules", Zero("null")),
    ("rbac.v1.RoleBinding", "roleRef", STRUCT),
    ("rbac.v1.RoleRef", "apiGroup", Default(r#""rbac.authorization.k8s.io""#)),
    ("resource.v1.DeviceClaim", "requests", Zero("null")),
    ("resource.v1.DeviceClass", "spec", STRUCT),
    ("resource.v1.ResourceClaim", "spec", STRUCT),
    ("resource.v1.ResourceClaim", "status", STRUCT),
    ("resource.v1.ResourceClaimSpec", "devices", STRUCT),
    ("resource.v1.ResourceClaimTemplate", "spec", STRUCT),
    ("resource.v1.ResourceClaimTemplateSpec", "metadata", STRUCT),
    ("resource.v1.ResourceClaimTemplateSpec", "spec", STRUCT),
    ("resource.v1.ResourceSlice", "spec", STRUCT),
    ("resource.v1.ResourceSliceSpec", "pool", STRUCT),
    ("scheduling.v1.PriorityClass", "preemptionPolicy", Default(r#""PreemptLowerPriority""#)),
    ("scheduling.v1.PriorityClass", "preemptionPolicy", Enum(&["Never", "PreemptLowerPriority"])),
    ("scheduling.v1.PriorityClass", "value", Zero("0")),
    ("storage.v1.CSIDriver", "spec", STRUCT),
    ("storage.v1.CSIDriverSpec", "attachRequired", Default("true")),
    ("storage.v1.CSIDriverSpec", "fsGroupPolicy", Default(r#""ReadWriteOnceWithFSType""#)),
    ("storage.v1.CSIDriverSpec", "podInfoOnMount", Default("false")),
    ("storage.v1.CSIDriverSpec", "requiresRepublish", Default("false")),
    ("storage.v1.CSIDriverSpec", "seLinuxMount", Default("false")),
    ("storage.v1.CSIDriverSpec", "storageCapacity", Default("false")),
    ("storage.v1.CSIDriverSpec", "volumeLifecycleModes", Default(r#"["Persistent"]"#)),
    ("storage.v1.CSINode", "spec", STRUCT),
    ("storage.v1.CSINodeDriver", "topologyKeys", Zero("null")),
    ("storage.v1.CSINodeSpec", "drivers", Zero("null")),
    ("storage.v1.StorageClass", "reclaimPolicy", Default(r#""Delete""#)),
    ("storage.v1.StorageClass", "volumeBindingMode", Default(r#""Immediate""#)),
    ("storage.v1.VolumeAttachment", "spec", STRUCT),
    ("storage.v1.VolumeAttachment", "status", STRUCT),
    ("storage.v1.VolumeAttachmentSpec", "source", STRUCT),
];

const NULL: Marker = Zero("null");

/// Times in statuses that Go always encodes, null included.
const TIMES: &[(&str, &[&str])] = &[
    ("apps.v1.DaemonSetCondition", &["lastTransitionTime"]),
    ("apps.v1.DeploymentCondition", &["lastTransitionTime", "lastUpdateTime"]),
    ("apps.v1.ReplicaSetCondition", &["lastTransitionTime"]),
    ("apps.v1.StatefulSetCondition", &["lastTransitionTime"]),
    ("batch.v1.JobCondition", &["lastProbeTime", "lastTransitionTime"]),
    ("certificates.v1.CertificateSigningRequestCondition", &["lastTransitionTime", "lastUpdateTime"]),
    ("core.v1.ContainerStateRunning", &["startedAt"]),
    ("core.v1.ContainerStateTerminated", &["finishedAt", "startedAt"]),
    ("core.v1.PersistentVolumeClaimCondition", &["lastProbeTime", "lastTransitionTime"]),
    ("core.v1.PodCondition", &["lastProbeTime", "lastTransitionTime"]),
    ("core.v1.ReplicationControllerCondition", &["lastTransitionTime"]),
    ("storage.v1.VolumeError", &["time"]),
];
