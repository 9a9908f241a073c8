//! Configuration, quotas, roles, leases and events.

use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{ConfigMap, Event, LimitRange, ResourceQuota, Secret, ServiceAccount},
    events::v1 as events_v1,
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};

use super::{CORE, IMMUTABLE};
use crate::resource::{
    built_in::{BuiltIn, TypeInfo, defaults, rules},
    events,
    strategy::Naming,
};

const RBAC: &str = "rbac.authorization.k8s.io";

pub(super) static ALL: [BuiltIn; 12] = [
    BuiltIn::new(CORE, "ConfigMap", "configmaps", TypeInfo::new::<ConfigMap>)
        .revalidates_metadata()
        .short_names(&["cm"])
        .rules(&[rules::config_map]),
    BuiltIn::new(CORE, "Event", "events", TypeInfo::new::<Event>)
        .has_no_dependents()
        .short_names(&["ev"])
        .allows_create_on_update()
        .selectable(&[
            "involvedObject.apiVersion",
            "involvedObject.fieldPath",
            "involvedObject.kind",
            "involvedObject.name",
            "involvedObject.namespace",
            "involvedObject.resourceVersion",
            "involvedObject.uid",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ])
        .rules(&[rules::event]),
    BuiltIn::new(CORE, "LimitRange", "limitranges", TypeInfo::new::<LimitRange>)
        .short_names(&["limits"])
        .allows_create_on_update()
        .defaults(&[defaults::limit_range]),
    BuiltIn::new(CORE, "ResourceQuota", "resourcequotas", TypeInfo::new::<ResourceQuota>)
        .short_names(&["quota"])
        .status()
        .returns_deleted_object(),
    BuiltIn::new(CORE, "Secret", "secrets", TypeInfo::new::<Secret>)
        .revalidates_metadata()
        .selectable(&["type"])
        .immutable(&[("type", IMMUTABLE)])
        .defaults(&[defaults::secret])
        .rules(&[rules::secret]),
    BuiltIn::new(CORE, "ServiceAccount", "serviceaccounts", TypeInfo::new::<ServiceAccount>)
        .revalidates_metadata()
        .short_names(&["sa"])
        .returns_deleted_object(),
    BuiltIn::new("coordination.k8s.io", "Lease", "leases", TypeInfo::new::<Lease>)
        .allows_create_on_update()
        .requires_resource_version()
        .rules(&[rules::lease]),
    BuiltIn::new("events.k8s.io", "Event", "events", TypeInfo::new::<events_v1::Event>)
        .has_no_dependents()
        .stored_in(CORE, &events::CONVERSION)
        .short_names(&["ev"])
        .allows_create_on_update()
        .selectable(&[
            "reason",
            "regarding.apiVersion",
            "regarding.fieldPath",
            "regarding.kind",
            "regarding.name",
            "regarding.namespace",
            "regarding.resourceVersion",
            "regarding.uid",
            "reportingController",
            "type",
        ])
        .rules(&[rules::new_event]),
    BuiltIn::new(RBAC, "ClusterRole", "clusterroles", TypeInfo::new::<ClusterRole>)
        .revalidates_metadata()
        .cluster()
        .naming(Naming::PathSegment)
        .allows_create_on_update()
        .rules(&[rules::cluster_role]),
    BuiltIn::new(RBAC, "ClusterRoleBinding", "clusterrolebindings", TypeInfo::new::<ClusterRoleBinding>)
        .revalidates_metadata()
        .cluster()
        .naming(Naming::PathSegment)
        .allows_create_on_update()
        .defaults(&[defaults::role_binding])
        .rules(&[rules::cluster_role_binding]),
    BuiltIn::new(RBAC, "Role", "roles", TypeInfo::new::<Role>)
        .revalidates_metadata()
        .naming(Naming::PathSegment)
        .allows_create_on_update()
        .rules(&[rules::role]),
    BuiltIn::new(RBAC, "RoleBinding", "rolebindings", TypeInfo::new::<RoleBinding>)
        .revalidates_metadata()
        .naming(Naming::PathSegment)
        .allows_create_on_update()
        .defaults(&[defaults::role_binding])
        .rules(&[rules::role_binding]),
];
