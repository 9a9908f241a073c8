//! The model of a project: its name, its domain and its kinds.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_names::case::snake_case;

use super::{
    names::{check_domain, check_group, check_kind, check_plural, check_project, check_version, version_module},
    plan::Problems,
    tree::compare,
};

/// A project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// The name of the operator and of its package. The packages of types and client have a suffix.
    pub name: String,
    /// The domain of all groups.
    pub domain: String,
    /// Whether the operator watches its own namespace only.
    pub namespaced: bool,
    /// The kinds.
    pub resources: Vec<Resource>,
    /// Kinds of other projects, for which this one has types and a client.
    pub externals: Vec<External>,
}

/// An imported version of a group, whose definitions belong to another project: they are not part of `config`, so that
/// no command applies or deletes them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct External {
    /// The group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The module of its types.
    pub module: String,
    /// The kinds, sorted.
    pub kinds: Vec<String>,
}

/// One version of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    /// The group without the domain. The empty one stands for the domain itself.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The name of the resource in URLs.
    pub plural: String,
    /// Whether objects have a namespace.
    pub namespaced: bool,
    /// Whether a controller reconciles this version.
    pub controller: bool,
    /// The webhooks of this version.
    pub webhooks: ResourceWebhooks,
}

/// The webhooks of one version of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceWebhooks {
    /// Whether a webhook sets fields of objects.
    pub defaulting: bool,
    /// Whether a webhook validates objects.
    pub validation: bool,
    /// Whether a webhook converts objects of all versions through this one.
    pub conversion: bool,
}

impl ResourceWebhooks {
    /// Returns whether there are any.
    pub(super) fn any(self) -> bool {
        self != Self::default()
    }

    /// Returns whether the version of these webhooks cannot be deleted while a number of others is left. The last
    /// version needs no conversion.
    pub(super) fn prevent_deletion(self, others: usize) -> bool {
        (self.defaulting || self.validation) && others > 0 || self.conversion && others > 1
    }

    /// Returns the webhooks of both.
    pub(super) fn union(self, other: Self) -> Self {
        ResourceWebhooks {
            defaulting: self.defaulting || other.defaulting,
            validation: self.validation || other.validation,
            conversion: self.conversion || other.conversion,
        }
    }

    /// Returns whether both have a webhook of one type.
    fn intersects(self, other: Self) -> bool {
        self.defaulting && other.defaulting
            || self.validation && other.validation
            || self.conversion && other.conversion
    }

    /// Returns the modules of the webhooks of a kind, each with its type.
    pub(super) fn modules(self, kind: &str) -> impl Iterator<Item = String> + use<> {
        let modules = [(self.conversion, "conversion"), (self.defaulting, "defaulter"), (self.validation, "validator")];
        let kind = kind.to_owned();
        modules.into_iter().filter(|(exists, _)| *exists).map(move |(_, name)| format!("{kind}_{name}"))
    }
}

impl Resource {
    /// Returns whether both are versions of one kind.
    pub(super) fn is_of_kind(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }

    /// Returns the name of the modules of the kind.
    pub(super) fn module(&self) -> String {
        snake_case(&self.kind)
    }

    /// Returns the name of a sample object in `config/samples`, as kubebuilder names it.
    pub(super) fn sample(&self) -> String {
        let group = if self.group.is_empty() { String::new() } else { format!("{}_", self.group) };
        format!("{group}{}_{}.yaml", self.version, self.kind.to_lowercase())
    }
}

impl Model {
    /// Returns the group of a resource with the domain.
    pub(super) fn api_group(&self, resource: &Resource) -> String {
        match resource.group.as_str() {
            "" => self.domain.clone(),
            group => format!("{group}.{}", self.domain),
        }
    }

    /// Returns the module of the version of a resource.
    pub(super) fn version_module(&self, resource: &Resource) -> String {
        version_module(&self.api_group(resource), &resource.version)
    }

    /// Returns the resources by the module of their version, both sorted.
    pub(super) fn versions(&self) -> BTreeMap<String, Vec<&Resource>> {
        let mut versions: BTreeMap<String, Vec<&Resource>> = BTreeMap::new();
        for resource in &self.resources {
            versions.entry(self.version_module(resource)).or_default().push(resource);
        }
        versions.values_mut().for_each(|resources| resources.sort());
        versions
    }

    /// Returns the names of the samples, sorted.
    pub(super) fn samples(&self) -> BTreeSet<String> {
        self.resources.iter().map(Resource::sample).collect()
    }

    /// Returns the modules of all versions, sorted.
    pub(super) fn modules(&self) -> Vec<String> {
        let externals = self.externals.iter().map(|external| external.module.clone());
        let mut modules: Vec<_> = self.versions().into_keys().chain(externals).collect();
        modules.sort();
        modules
    }

    /// Returns the resources with a controller, sorted by its module.
    pub(super) fn controllers(&self) -> Vec<&Resource> {
        let mut controllers: Vec<_> = self.resources.iter().filter(|resource| resource.controller).collect();
        controllers.sort_by(|a, b| compare(&a.module(), &b.module()));
        controllers
    }

    /// Returns the modules of the webhooks, sorted.
    pub(super) fn webhooks(&self) -> Vec<String> {
        let modules = self.resources.iter().flat_map(|resource| resource.webhooks.modules(&resource.module()));
        let mut modules: Vec<_> = modules.collect();
        modules.sort_by(|a, b| compare(a, b));
        modules
    }

    /// Returns the directory of the types.
    pub(super) fn types(&self) -> String {
        format!("{}-types", self.name)
    }

    /// Returns the directory of the client.
    pub(super) fn client(&self) -> String {
        format!("{}-client", self.name)
    }

    /// Checks all names, and that no two resources share a name.
    pub(super) fn check(&self, problems: &mut Problems) {
        check_project(&self.name, problems);
        check_domain(&self.domain, problems);
        for (index, resource) in self.resources.iter().enumerate() {
            check_group(&resource.group, problems);
            check_version(&resource.version, problems);
            check_kind(&resource.kind, problems);
            check_plural(&resource.plural, problems);
            let others = &self.resources[..index];
            others.iter().for_each(|other| self.check_pair(other, resource, problems));
        }
        for (index, external) in self.externals.iter().enumerate() {
            self.check_external(external, &self.externals[..index], problems);
        }
    }

    fn check_external(&self, external: &External, others: &[External], problems: &mut Problems) {
        let External { group, version, module, .. } = external;
        if self.resources.iter().any(|resource| self.api_group(resource) == *group) {
            problems.add(format!("the group {group} is one of this project; its kinds cannot be imported"));
        }
        let is_taken = self.versions().contains_key(module) || others.iter().any(|other| other.module == *module);
        if is_taken {
            problems.add(format!("{group}/{version} has the module `{module}`, which exists; rename the other group"));
        }
    }

    fn check_pair(&self, a: &Resource, b: &Resource, problems: &mut Problems) {
        let name =
            |resource: &Resource| format!("{} in {}/{}", resource.kind, self.api_group(resource), resource.version);
        let same_version = a.group == b.group && a.version == b.version;
        if same_version && a.kind == b.kind {
            problems.add(format!("{} exists twice", name(a)));
            return;
        }
        if same_version
            && (shares_types(&a.kind, &b.kind) || shares_types(&b.kind, &a.kind) || a.module() == b.module())
        {
            problems.add(format!("{} and {} have types or modules of one name; rename one", name(a), name(b)));
        }
        if a.group == b.group && (a.kind == b.kind) != (a.plural == b.plural) {
            problems.add(format!("{} and {}: each kind has one plural, and no two have the same", name(a), name(b)));
        }
        if a.group == b.group && a.kind == b.kind && a.namespaced != b.namespaced {
            problems.add(format!("{} and {} have different scopes", name(a), name(b)));
        }
        if a.group != b.group && self.version_module(a) == self.version_module(b) {
            problems.add(format!("{} and {} have one module; rename the group", name(a), name(b)));
        }
        if a.webhooks.intersects(b.webhooks) && a.module() == b.module() {
            problems.add(format!("{} and {} have webhooks of one name; keep those of one of them", name(a), name(b)));
        }
        if a.controller && b.controller && a.module() == b.module() {
            problems.add(format!(
                "{} and {} have controllers of one name; use `--controller=false` for one of them",
                name(a),
                name(b)
            ));
        }
    }
}

/// Returns whether the second kind is a type of the first one.
fn shares_types(kind: &str, other: &str) -> bool {
    other.strip_prefix(kind).is_some_and(|suffix| ["List", "Spec", "Status"].contains(&suffix))
}
