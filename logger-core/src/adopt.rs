//! Kinds that were declared elsewhere, as the generator sees them: what `adopt!` emits calls this.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::built_in::BuiltIn;
use crate::meta::{ApiGroup, ApiKind, TypeMeta};

/// A kind with the group and version it is served in.
#[derive(Clone, Copy, Debug)]
pub struct Adopted {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// What is known of it.
    pub kind: ApiKind,
}

impl Adopted {
    /// A kind of Kubernetes' own.
    pub const fn built_in<T: BuiltIn>() -> Self {
        Adopted { group: T::GROUP, version: T::VERSION, kind: T::API_KIND }
    }
}

/// The kinds of a module, by group and version. Called once in a generator's life: what it makes lives as long.
pub fn api_groups(module: &'static str, kinds: impl IntoIterator<Item = Adopted>) -> Vec<ApiGroup> {
    let mut groups: BTreeMap<_, Vec<TypeMeta>> = BTreeMap::new();
    for Adopted { group, version, kind } in kinds {
        groups.entry((group, version)).or_default().push(TypeMeta::Kind(kind));
    }
    let group = |((group, version), types): (_, Vec<_>)| ApiGroup {
        group,
        version,
        group_ident: None,
        module,
        types: types.leak(),
    };
    groups.into_iter().map(group).collect()
}

/// The text of a name for as long as the program runs; kube's derive has them as literals.
pub fn literal(name: Cow<'static, str>) -> &'static str {
    match name {
        Cow::Borrowed(name) => name,
        Cow::Owned(name) => name.leak(),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::core::v1::{Namespace, Pod};

    use super::*;
    use crate::meta::{Scope, Verb};

    #[test]
    fn kinds_come_by_group_and_version() {
        let kinds = [Adopted::built_in::<Pod>(), Adopted::built_in::<Deployment>(), Adopted::built_in::<Namespace>()];
        let groups = api_groups("module", kinds);
        let told: Vec<_> = groups
            .iter()
            .map(|of| (of.group, of.version, of.kinds().map(|kind| kind.plural).collect::<Vec<_>>()))
            .collect();
        assert_eq!(told, [("", "v1", vec!["pods", "namespaces"]), ("apps", "v1", vec!["deployments"])]);
        assert_eq!(groups[0].kinds().map(|kind| kind.scope).collect::<Vec<_>>(), [Scope::Namespaced, Scope::Cluster]);
        assert!(groups[1].kinds().all(|kind| kind.grants(Verb::UpdateStatus) && kind.grants(Verb::Apply)));
    }
}
