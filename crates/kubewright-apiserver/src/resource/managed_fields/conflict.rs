//! Conflicts: fields of other managers that an apply changes.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::StatusCause;

use super::{
    compare::Comparison,
    managers::{Manager, Managers, Operation},
    set::FieldSet,
};
use crate::api::error::ApiError;

/// The paths of the conflicting fields by manager. There is at least one field.
#[derive(Debug)]
pub(crate) struct Conflicts(BTreeMap<Manager, Vec<String>>);

impl Conflicts {
    /// Returns the changed fields of other managers, except for the ignored ones.
    pub(crate) fn find(
        managers: &Managers,
        changes: &BTreeMap<String, Comparison>,
        applier: &Manager,
        ignored: &FieldSet,
    ) -> Option<Self> {
        let conflicting = |(manager, owned): (&Manager, &super::managers::Owned)| {
            let conflicting = owned.set.intersection(&changes.get(&owned.api_version)?.written()).difference(ignored);
            Some((manager.clone(), conflicting.path_texts())).filter(|(_, paths)| !paths.is_empty())
        };
        let found: BTreeMap<_, _> =
            managers.iter().filter(|(manager, _)| *manager != applier).filter_map(conflicting).collect();
        (!found.is_empty()).then_some(Self(found))
    }

    /// Returns the error of the apply.
    pub(crate) fn to_api_error(&self) -> ApiError {
        let causes: Vec<StatusCause> = self.0.iter().flat_map(|(manager, paths)| causes(manager, paths)).collect();
        let message = match self.0.iter().next() {
            Some((manager, paths)) if causes.len() == 1 => {
                format!("Apply failed with 1 conflict: conflict with {}: {}", describe(manager), paths[0])
            }
            _ => {
                let lines: Vec<String> = self.0.iter().flat_map(|(manager, paths)| lines(manager, paths)).collect();
                format!("Apply failed with {} conflicts: {}", causes.len(), lines.join("\n"))
            }
        };
        ApiError::apply_conflict(message, causes)
    }
}

fn causes(manager: &Manager, paths: &[String]) -> Vec<StatusCause> {
    let cause = |path: &String| StatusCause {
        field: Some(path.clone()),
        message: Some(format!("conflict with {}", describe(manager))),
        reason: Some("FieldManagerConflict".to_owned()),
    };
    paths.iter().map(cause).collect()
}

fn lines(manager: &Manager, paths: &[String]) -> Vec<String> {
    let first = format!("conflicts with {}:", describe(manager));
    std::iter::once(first).chain(paths.iter().map(|path| format!("- {path}"))).collect()
}

fn describe(manager: &Manager) -> String {
    let mut text = format!("{:?}", manager.name);
    if !manager.subresource.is_empty() {
        text += &format!(" with subresource {:?}", manager.subresource);
    }
    if manager.operation == Operation::Update {
        text += &format!(" using {}", manager.api_version);
    }
    text
}
