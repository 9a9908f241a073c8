//! The k8s-openapi types that API types embed. They are plain data, so that their `Clone` is a deep copy.
//!
//! All types that k8s-openapi has for every Kubernetes version it supports, 1.33 to 1.37, except those of `in_place`.

use super::DeepCopy;

macro_rules! clone_is_deep_in {
    ($($module:ident)::* { $($ty:ident)* }) => {
        const _: () = {
            use k8s_openapi::$($module)::* as types;
            clone_is_deep!($(types::$ty),*);
            crate::apply::applied_by_schema!($(types::$ty),*);
        };
    };
}

clone_is_deep!(k8s_openapi::jiff::Timestamp);

clone_is_deep_in! { api::admissionregistration::v1 {
    AuditAnnotation ExpressionWarning MatchCondition MatchResources MutatingWebhook MutatingWebhookConfiguration
    NamedRuleWithOperations ParamKind ParamRef RuleWithOperations ServiceReference TypeChecking
    ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingAdmissionPolicyBindingSpec
    ValidatingAdmissionPolicySpec ValidatingAdmissionPolicyStatus ValidatingWebhook
    ValidatingWebhookConfiguration Validation Variable WebhookClientConfig
} }
clone_is_deep_in! { api::admissionregistration::v1alpha1 {
    ApplyConfiguration JSONPatch MatchCondition MatchResources MutatingAdmissionPolicy
    MutatingAdmissionPolicyBinding MutatingAdmissionPolicyBindingSpec MutatingAdmissionPolicySpec Mutation
    NamedRuleWithOperations ParamKind ParamRef Variable
} }
clone_is_deep_in! { api::admissionregistration::v1beta1 {
    MatchCondition MatchResources NamedRuleWithOperations ParamKind ParamRef Variable
} }
clone_is_deep_in! { api::apiserverinternal::v1alpha1 {
    ServerStorageVersion StorageVersion StorageVersionCondition StorageVersionSpec StorageVersionStatus
} }
clone_is_deep_in! { api::apps::v1 {
    ControllerRevision DaemonSet DaemonSetCondition DaemonSetSpec DaemonSetStatus DaemonSetUpdateStrategy
    Deployment DeploymentCondition DeploymentSpec DeploymentStatus DeploymentStrategy ReplicaSet
    ReplicaSetCondition ReplicaSetSpec ReplicaSetStatus RollingUpdateDaemonSet RollingUpdateDeployment
    RollingUpdateStatefulSetStrategy StatefulSet StatefulSetCondition StatefulSetOrdinals
    StatefulSetPersistentVolumeClaimRetentionPolicy StatefulSetSpec StatefulSetStatus StatefulSetUpdateStrategy
} }
clone_is_deep_in! { api::authentication::v1 {
    BoundObjectReference SelfSubjectReview SelfSubjectReviewStatus TokenRequest TokenRequestSpec
    TokenRequestStatus TokenReview TokenReviewSpec TokenReviewStatus UserInfo
} }
clone_is_deep_in! { api::authorization::v1 {
    FieldSelectorAttributes LabelSelectorAttributes LocalSubjectAccessReview NonResourceAttributes
    NonResourceRule ResourceAttributes ResourceRule SelfSubjectAccessReview SelfSubjectAccessReviewSpec
    SelfSubjectRulesReview SelfSubjectRulesReviewSpec SubjectAccessReview SubjectAccessReviewSpec
    SubjectAccessReviewStatus SubjectRulesReviewStatus
} }
clone_is_deep_in! { api::autoscaling::v1 {
    CrossVersionObjectReference HorizontalPodAutoscaler HorizontalPodAutoscalerSpec
    HorizontalPodAutoscalerStatus Scale ScaleSpec ScaleStatus
} }
clone_is_deep_in! { api::autoscaling::v2 {
    ContainerResourceMetricSource ContainerResourceMetricStatus CrossVersionObjectReference ExternalMetricSource
    ExternalMetricStatus HPAScalingPolicy HPAScalingRules HorizontalPodAutoscaler
    HorizontalPodAutoscalerBehavior HorizontalPodAutoscalerCondition HorizontalPodAutoscalerSpec
    HorizontalPodAutoscalerStatus MetricIdentifier MetricSpec MetricStatus MetricTarget MetricValueStatus
    ObjectMetricSource ObjectMetricStatus PodsMetricSource PodsMetricStatus ResourceMetricSource
    ResourceMetricStatus
} }
clone_is_deep_in! { api::batch::v1 {
    CronJob CronJobSpec CronJobStatus Job JobCondition JobSpec JobStatus JobTemplateSpec PodFailurePolicy
    PodFailurePolicyOnExitCodesRequirement PodFailurePolicyOnPodConditionsPattern PodFailurePolicyRule
    SuccessPolicy SuccessPolicyRule UncountedTerminatedPods
} }
clone_is_deep_in! { api::certificates::v1 {
    CertificateSigningRequest CertificateSigningRequestCondition CertificateSigningRequestSpec
    CertificateSigningRequestStatus
} }
clone_is_deep_in! { api::certificates::v1beta1 {
    ClusterTrustBundle ClusterTrustBundleSpec
} }
clone_is_deep_in! { api::coordination::v1 {
    Lease LeaseSpec
} }
clone_is_deep_in! { api::coordination::v1alpha2 {
    LeaseCandidate LeaseCandidateSpec
} }
clone_is_deep_in! { api::coordination::v1beta1 {
    LeaseCandidate LeaseCandidateSpec
} }
clone_is_deep_in! { api::core::v1 {
    AWSElasticBlockStoreVolumeSource Affinity AppArmorProfile AttachedVolume AzureDiskVolumeSource
    AzureFilePersistentVolumeSource AzureFileVolumeSource Binding CSIPersistentVolumeSource CSIVolumeSource
    Capabilities CephFSPersistentVolumeSource CephFSVolumeSource CinderPersistentVolumeSource CinderVolumeSource
    ClientIPConfig ClusterTrustBundleProjection ComponentCondition ComponentStatus ConfigMap ConfigMapEnvSource
    ConfigMapKeySelector ConfigMapNodeConfigSource ConfigMapProjection ConfigMapVolumeSource Container
    ContainerImage ContainerPort ContainerResizePolicy ContainerState ContainerStateRunning
    ContainerStateTerminated ContainerStateWaiting ContainerStatus ContainerUser DaemonEndpoint
    DownwardAPIProjection DownwardAPIVolumeFile DownwardAPIVolumeSource EmptyDirVolumeSource EndpointAddress
    EndpointPort EndpointSubset Endpoints EnvFromSource EnvVar EnvVarSource EphemeralContainer
    EphemeralVolumeSource Event EventSeries EventSource ExecAction FCVolumeSource FlexPersistentVolumeSource
    FlexVolumeSource FlockerVolumeSource GCEPersistentDiskVolumeSource GRPCAction GitRepoVolumeSource
    GlusterfsPersistentVolumeSource GlusterfsVolumeSource HTTPGetAction HTTPHeader HostAlias HostIP
    HostPathVolumeSource ISCSIPersistentVolumeSource ISCSIVolumeSource ImageVolumeSource KeyToPath Lifecycle
    LifecycleHandler LimitRange LimitRangeItem LimitRangeSpec LinuxContainerUser LoadBalancerIngress
    LoadBalancerStatus LocalObjectReference LocalVolumeSource ModifyVolumeStatus NFSVolumeSource Namespace
    NamespaceCondition NamespaceSpec NamespaceStatus Node NodeAddress NodeAffinity NodeCondition
    NodeConfigSource NodeConfigStatus NodeDaemonEndpoints NodeFeatures NodeRuntimeHandler
    NodeRuntimeHandlerFeatures NodeSelector NodeSelectorRequirement NodeSelectorTerm NodeSpec NodeStatus
    NodeSwapStatus NodeSystemInfo ObjectFieldSelector ObjectReference PersistentVolume PersistentVolumeClaim
    PersistentVolumeClaimCondition PersistentVolumeClaimSpec PersistentVolumeClaimStatus
    PersistentVolumeClaimTemplate PersistentVolumeClaimVolumeSource PersistentVolumeSpec PersistentVolumeStatus
    PhotonPersistentDiskVolumeSource Pod PodAffinity PodAffinityTerm PodAntiAffinity PodCondition PodDNSConfig
    PodDNSConfigOption PodIP PodOS PodReadinessGate PodResourceClaim PodResourceClaimStatus PodSchedulingGate
    PodSecurityContext PodSpec PodStatus PodTemplate PodTemplateSpec PortStatus PortworxVolumeSource
    PreferredSchedulingTerm Probe ProjectedVolumeSource QuobyteVolumeSource RBDPersistentVolumeSource
    RBDVolumeSource ReplicationController ReplicationControllerCondition ReplicationControllerSpec
    ReplicationControllerStatus ResourceClaim ResourceFieldSelector ResourceHealth ResourceQuota
    ResourceQuotaSpec ResourceQuotaStatus ResourceRequirements ResourceStatus SELinuxOptions
    ScaleIOPersistentVolumeSource ScaleIOVolumeSource ScopeSelector ScopedResourceSelectorRequirement
    SeccompProfile Secret SecretEnvSource SecretKeySelector SecretProjection SecretReference SecretVolumeSource
    SecurityContext Service ServiceAccount ServiceAccountTokenProjection ServicePort ServiceSpec ServiceStatus
    SessionAffinityConfig SleepAction StorageOSPersistentVolumeSource StorageOSVolumeSource Sysctl
    TCPSocketAction Taint Toleration TopologySelectorLabelRequirement TopologySelectorTerm
    TopologySpreadConstraint TypedLocalObjectReference TypedObjectReference Volume VolumeDevice VolumeMount
    VolumeMountStatus VolumeNodeAffinity VolumeProjection VolumeResourceRequirements
    VsphereVirtualDiskVolumeSource WeightedPodAffinityTerm WindowsSecurityContextOptions
} }
clone_is_deep_in! { api::discovery::v1 {
    Endpoint EndpointConditions EndpointHints EndpointPort EndpointSlice ForNode ForZone
} }
clone_is_deep_in! { api::events::v1 {
    Event EventSeries
} }
clone_is_deep_in! { api::flowcontrol::v1 {
    ExemptPriorityLevelConfiguration FlowDistinguisherMethod FlowSchema FlowSchemaCondition FlowSchemaSpec
    FlowSchemaStatus GroupSubject LimitResponse LimitedPriorityLevelConfiguration NonResourcePolicyRule
    PolicyRulesWithSubjects PriorityLevelConfiguration PriorityLevelConfigurationCondition
    PriorityLevelConfigurationReference PriorityLevelConfigurationSpec PriorityLevelConfigurationStatus
    QueuingConfiguration ResourcePolicyRule ServiceAccountSubject Subject UserSubject
} }
clone_is_deep_in! { api::networking::v1 {
    HTTPIngressPath HTTPIngressRuleValue IPAddress IPAddressSpec IPBlock Ingress IngressBackend IngressClass
    IngressClassParametersReference IngressClassSpec IngressLoadBalancerIngress IngressLoadBalancerStatus
    IngressPortStatus IngressRule IngressServiceBackend IngressSpec IngressStatus IngressTLS NetworkPolicy
    NetworkPolicyEgressRule NetworkPolicyIngressRule NetworkPolicyPeer NetworkPolicyPort NetworkPolicySpec
    ParentReference ServiceBackendPort ServiceCIDR ServiceCIDRSpec ServiceCIDRStatus
} }
clone_is_deep_in! { api::node::v1 {
    Overhead RuntimeClass Scheduling
} }
clone_is_deep_in! { api::policy::v1 {
    Eviction PodDisruptionBudget PodDisruptionBudgetSpec PodDisruptionBudgetStatus
} }
clone_is_deep_in! { api::rbac::v1 {
    AggregationRule ClusterRole ClusterRoleBinding PolicyRule Role RoleBinding RoleRef Subject
} }
clone_is_deep_in! { api::resource::v1alpha3 {
    DeviceTaint DeviceTaintRule DeviceTaintRuleSpec DeviceTaintSelector
} }
clone_is_deep_in! { api::resource::v1beta1 {
    AllocatedDeviceStatus AllocationResult BasicDevice CELDeviceSelector Counter CounterSet Device
    DeviceAllocationConfiguration DeviceAllocationResult DeviceAttribute DeviceCapacity DeviceClaim
    DeviceClaimConfiguration DeviceClass DeviceClassConfiguration DeviceClassSpec DeviceConstraint
    DeviceCounterConsumption DeviceRequest DeviceRequestAllocationResult DeviceSelector DeviceSubRequest
    DeviceTaint DeviceToleration NetworkDeviceData OpaqueDeviceConfiguration ResourceClaim
    ResourceClaimConsumerReference ResourceClaimSpec ResourceClaimStatus ResourceClaimTemplate
    ResourceClaimTemplateSpec ResourcePool ResourceSlice ResourceSliceSpec
} }
clone_is_deep_in! { api::resource::v1beta2 {
    AllocatedDeviceStatus AllocationResult CELDeviceSelector Counter CounterSet Device
    DeviceAllocationConfiguration DeviceAllocationResult DeviceAttribute DeviceCapacity DeviceClaim
    DeviceClaimConfiguration DeviceClass DeviceClassConfiguration DeviceClassSpec DeviceConstraint
    DeviceCounterConsumption DeviceRequest DeviceRequestAllocationResult DeviceSelector DeviceSubRequest
    DeviceTaint DeviceToleration ExactDeviceRequest NetworkDeviceData OpaqueDeviceConfiguration ResourceClaim
    ResourceClaimConsumerReference ResourceClaimSpec ResourceClaimStatus ResourceClaimTemplate
    ResourceClaimTemplateSpec ResourcePool ResourceSlice ResourceSliceSpec
} }
clone_is_deep_in! { api::scheduling::v1 {
    PriorityClass
} }
clone_is_deep_in! { api::storage::v1 {
    CSIDriver CSIDriverSpec CSINode CSINodeDriver CSINodeSpec CSIStorageCapacity StorageClass TokenRequest
    VolumeAttachment VolumeAttachmentSource VolumeAttachmentSpec VolumeAttachmentStatus VolumeError
    VolumeNodeResources
} }
clone_is_deep_in! { apiextensions_apiserver::pkg::apis::apiextensions::v1 {
    CustomResourceColumnDefinition CustomResourceConversion CustomResourceDefinition
    CustomResourceDefinitionCondition CustomResourceDefinitionNames CustomResourceDefinitionSpec
    CustomResourceDefinitionStatus CustomResourceDefinitionVersion CustomResourceSubresourceScale
    CustomResourceSubresourceStatus CustomResourceSubresources CustomResourceValidation ExternalDocumentation
    JSONSchemaProps JSONSchemaPropsOrArray JSONSchemaPropsOrBool JSONSchemaPropsOrStringArray SelectableField
    ServiceReference ValidationRule WebhookClientConfig WebhookConversion
} }
clone_is_deep_in! { apimachinery::pkg::apis::meta::v1 {
    APIGroup APIGroupList APIResource APIResourceList APIVersions DeleteOptions FieldSelectorRequirement
    GroupVersionForDiscovery MicroTime Patch Preconditions ServerAddressByClientCIDR Status StatusCause
    StatusDetails Time
} }
clone_is_deep_in! { apimachinery::pkg::version {
    Info
} }
clone_is_deep_in! { kube_aggregator::pkg::apis::apiregistration::v1 {
    APIService APIServiceCondition APIServiceSpec APIServiceStatus ServiceReference
} }
