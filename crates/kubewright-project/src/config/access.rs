//! The files of `config/rbac`.

use std::collections::BTreeSet;

use k8s_openapi::{
    api::{core::v1::ServiceAccount, rbac::v1::ClusterRole},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kubewright_core::description::{KindDescription, ServerDescription};
use serde::Serialize;

use super::{Files, NAMESPACE, Project, RenderError, kustomization::Kustomization};
use crate::{
    rbac::{
        OperatorRole, SELF_MANAGED_ROLES, SERVICE_ACCOUNT, admin_role, cluster_role, cluster_role_binding, editor_role,
        metrics_reader_role, operator_roles, role, role_binding, viewer_role,
    },
    settings::CertificateMode,
};

/// Renders the service account, its roles and their bindings, and the roles of users.
pub(super) fn render(
    files: &mut Files,
    project: &Project,
    metrics: Option<&ServerDescription>,
) -> Result<(), RenderError> {
    let mut rbac = Rbac { resources: Vec::new(), files };
    let metadata = rbac.files.metadata(SERVICE_ACCOUNT);
    rbac.add("service_account", &ServiceAccount { metadata, ..ServiceAccount::default() })?;
    let is_self_managed = project.settings.webhooks.certificates == CertificateMode::SelfManaged;
    let mut roles = operator_roles(&project.description, project.settings.namespaced);
    roles.retain(|role| is_self_managed || !SELF_MANAGED_ROLES.contains(&role.name));
    for role in roles {
        rbac.operator_role(role)?;
    }
    if metrics.is_some_and(|server| server.authenticated) {
        let metadata = rbac.files.cluster_metadata("metrics-reader");
        rbac.add("metrics_reader_role", &metrics_reader_role(metadata))?;
    }
    rbac.users(&project.kinds)?;
    let Rbac { resources, files } = rbac;
    files.kustomization("rbac", Kustomization::new(resources))
}

/// The files of the directory.
struct Rbac<'a> {
    resources: Vec<String>,
    files: &'a mut Files,
}

impl Rbac<'_> {
    fn add(&mut self, file: &str, object: &impl Serialize) -> Result<(), RenderError> {
        let file = format!("{file}.yaml");
        self.files.add(&format!("rbac/{file}"), object)?;
        self.resources.push(file);
        Ok(())
    }

    /// Adds a role of the operator and its binding.
    fn operator_role(&mut self, OperatorRole { name, namespaced, rules }: OperatorRole) -> Result<(), RenderError> {
        let file = name.strip_prefix("manager-").unwrap_or(name).replace('-', "_");
        let (binding_name, binding_file) = (format!("{name}binding"), format!("{file}_binding"));
        if namespaced {
            let (metadata, binding) = (self.files.metadata(name), self.files.metadata(&binding_name));
            self.add(&file, &role(metadata, rules))?;
            self.add(&binding_file, &role_binding(binding, name, NAMESPACE))
        } else {
            let (metadata, binding) = (self.files.cluster_metadata(name), self.files.cluster_metadata(&binding_name));
            self.add(&file, &cluster_role(metadata, rules))?;
            self.add(&binding_file, &cluster_role_binding(binding, name, NAMESPACE))
        }
    }

    /// Adds the roles of users for each kind. With kinds of several groups, their names contain the group.
    fn users(&mut self, kinds: &[KindDescription]) -> Result<(), RenderError> {
        type UserRole = fn(ObjectMeta, &KindDescription) -> ClusterRole;
        let roles: [(&str, UserRole); 3] = [("admin", admin_role), ("editor", editor_role), ("viewer", viewer_role)];
        let groups: BTreeSet<_> = kinds.iter().map(|kind| &kind.group).collect();
        let mut rendered = BTreeSet::new();
        // A kind can have several versions.
        for kind in kinds.iter().filter(|kind| rendered.insert((&kind.group, &kind.plural))) {
            let short = kind.kind.to_lowercase();
            let name = match groups.len() {
                1 => short,
                _ => format!("{}-{short}", kind.group.replace('.', "-")),
            };
            for (suffix, role) in roles {
                let metadata = self.files.cluster_metadata(&format!("{name}-{suffix}-role"));
                self.add(&format!("{}_{suffix}_role", name.replace('-', "_")), &role(metadata, kind))?;
            }
        }
        Ok(())
    }
}
