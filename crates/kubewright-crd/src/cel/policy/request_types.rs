//! The types of `request` and `namespaceObject` (`k8s.io/apiserver/pkg/admission/plugin/cel/compile.go`).

use crate::cel::types::Type;

fn object(name: &str, fields: &[(&str, Type)]) -> Type {
    Type::object(name, fields.iter().map(|(field, t)| ((*field).to_owned(), t.clone())).collect())
}

fn strings() -> Type {
    Type::list(Type::String)
}

/// The type of `request`. It has neither the objects, which are variables, nor the `uid`.
pub(super) fn admission_request() -> Type {
    let kind = object(
        "kubernetes.GroupVersionKind",
        &[("group", Type::String), ("version", Type::String), ("kind", Type::String)],
    );
    let resource = object(
        "kubernetes.GroupVersionResource",
        &[("group", Type::String), ("version", Type::String), ("resource", Type::String)],
    );
    let user_info = object(
        "kubernetes.UserInfo",
        &[
            ("username", Type::String),
            ("uid", Type::String),
            ("groups", strings()),
            ("extra", Type::map(Type::String, strings())),
        ],
    );
    object(
        "kubernetes.AdmissionRequest",
        &[
            ("kind", kind.clone()),
            ("resource", resource.clone()),
            ("subResource", Type::String),
            ("requestKind", kind),
            ("requestResource", resource),
            ("requestSubResource", Type::String),
            ("name", Type::String),
            ("namespace", Type::String),
            ("operation", Type::String),
            ("userInfo", user_info),
            ("dryRun", Type::Bool),
            ("options", Type::Dyn),
        ],
    )
}

/// The type of `namespaceObject`.
pub(super) fn namespace() -> Type {
    let texts = || Type::map(Type::String, Type::String);
    let metadata = object(
        "kubernetes.NamespaceMetadata",
        &[
            ("name", Type::String),
            ("generateName", Type::String),
            ("namespace", Type::String),
            ("labels", texts()),
            ("annotations", texts()),
            ("UID", Type::String),
            ("creationTimestamp", Type::Timestamp),
            ("deletionGracePeriodSeconds", Type::Int),
            ("deletionTimestamp", Type::Timestamp),
            ("generation", Type::Int),
            ("resourceVersion", Type::String),
            ("finalizers", strings()),
        ],
    );
    let condition = object(
        "kubernetes.NamespaceCondition",
        &[
            ("status", Type::String),
            ("type", Type::String),
            ("lastTransitionTime", Type::Timestamp),
            ("message", Type::String),
            ("reason", Type::String),
        ],
    );
    let status =
        object("kubernetes.NamespaceStatus", &[("conditions", Type::list(condition)), ("phase", Type::String)]);
    let spec = object("kubernetes.NamespaceSpec", &[("finalizers", strings())]);
    object("kubernetes.Namespace", &[("metadata", metadata), ("spec", spec), ("status", status)])
}
