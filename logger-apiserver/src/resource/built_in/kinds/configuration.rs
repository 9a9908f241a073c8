//! What is said of a namespace and of who may do what: configuration, quotas, roles, leases, events

use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{ConfigMap, Event, LimitRange, ResourceQuota, Secret, ServiceAccount},
    events,
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};

use super::{CORE, IMMUTABLE};
use crate::resource::built_in::{BuiltIn, Form, Naming, fill_in, rules};

const RBAC: &str = "rbac.authorization.k8s.io";

pub(super) static ALL: [BuiltIn; 12] = [
    BuiltIn::new(CORE, "ConfigMap", "configmaps", Form::of::<ConfigMap>)
        .short_names(&["cm"])
        .obeys(&[rules::config_map]),
    BuiltIn::new(CORE, "Event", "events", Form::of::<Event>)
        .short_names(&["ev"])
        .made_by_updates()
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
        .obeys(&[rules::event]),
    BuiltIn::new(CORE, "LimitRange", "limitranges", Form::of::<LimitRange>)
        .short_names(&["limits"])
        .made_by_updates()
        .filled_in_by(&[fill_in::limit_range]),
    BuiltIn::new(CORE, "ResourceQuota", "resourcequotas", Form::of::<ResourceQuota>)
        .short_names(&["quota"])
        .status()
        .returned_when_deleted(),
    BuiltIn::new(CORE, "Secret", "secrets", Form::of::<Secret>)
        .selectable(&["type"])
        .immutable(&[("type", IMMUTABLE)])
        .filled_in_by(&[fill_in::secret])
        .obeys(&[rules::secret]),
    BuiltIn::new(CORE, "ServiceAccount", "serviceaccounts", Form::of::<ServiceAccount>)
        .short_names(&["sa"])
        .returned_when_deleted(),
    BuiltIn::new("coordination.k8s.io", "Lease", "leases", Form::of::<Lease>)
        .made_by_updates()
        .updates_name_a_version()
        .obeys(&[rules::lease]),
    BuiltIn::new("events.k8s.io", "Event", "events", Form::of::<events::v1::Event>)
        .stored_in(CORE)
        .short_names(&["ev"])
        .made_by_updates()
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
        .obeys(&[rules::new_event]),
    BuiltIn::new(RBAC, "ClusterRole", "clusterroles", Form::of::<ClusterRole>)
        .cluster()
        .naming(Naming::PathSegment)
        .made_by_updates()
        .obeys(&[rules::cluster_role]),
    BuiltIn::new(RBAC, "ClusterRoleBinding", "clusterrolebindings", Form::of::<ClusterRoleBinding>)
        .cluster()
        .naming(Naming::PathSegment)
        .made_by_updates()
        .filled_in_by(&[fill_in::subjects])
        .obeys(&[rules::cluster_role_binding]),
    BuiltIn::new(RBAC, "Role", "roles", Form::of::<Role>)
        .naming(Naming::PathSegment)
        .made_by_updates()
        .obeys(&[rules::role]),
    BuiltIn::new(RBAC, "RoleBinding", "rolebindings", Form::of::<RoleBinding>)
        .naming(Naming::PathSegment)
        .made_by_updates()
        .filled_in_by(&[fill_in::subjects])
        .obeys(&[rules::role_binding]),
];
