//! Which kinds are served, and the facts about each that the rules ask for

use std::{collections::BTreeMap, ops::Deref, sync::Arc};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, SelectableField,
};
use kube::core::Version;
use logger_crd::{judge::Judge, value};
use serde_json::{Map, Value};

use crate::{
    api::{
        error::Result,
        go,
        kind::{Kind, ScalePaths, group_version, qualified},
        object::{Object, Stored},
    },
    resource::{
        built_in::{self, BuiltIn, Generation, Naming},
        managed_fields::{self, scale::ReplicaPaths, types::Type},
        printer_columns::Columns,
        versions::Versions,
    },
};

/// One served resource: a kind and the rules of its objects.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    names: Kind,
    pub(crate) family: Family,
}

impl Deref for Resource {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        &self.names
    }
}

/// Whose rules a kind follows beyond those every object has.
#[derive(Debug, Clone)]
pub(crate) enum Family {
    Namespace,
    Definition,
    BuiltIn(&'static BuiltIn),
    Custom {
        judge: Option<Arc<Judge>>,
        versions: Arc<Versions>,
        /// The paths of fields that selectors may name, without their first dot.
        selectable: Vec<String>,
        columns: Columns,
        /// What who uses this version is told.
        warning: Option<String>,
    },
}

impl Resource {
    /// The kind of namespaces: served from the start.
    pub(crate) fn namespace() -> Self {
        let names = Kind {
            group: String::new(),
            version: "v1".to_owned(),
            kind: "Namespace".to_owned(),
            list_kind: "NamespaceList".to_owned(),
            plural: "namespaces".to_owned(),
            singular: "namespace".to_owned(),
            short_names: vec!["ns".to_owned()],
            categories: Vec::new(),
            namespaced: false,
            has_status: true,
            scale: None,
            storage_group: String::new(),
            is_custom: false,
        };
        Self { names, family: Family::Namespace }
    }

    /// The kind of custom resource definitions: served from the start.
    pub(crate) fn definition() -> Self {
        let names = Kind {
            group: "apiextensions.k8s.io".to_owned(),
            version: "v1".to_owned(),
            kind: "CustomResourceDefinition".to_owned(),
            list_kind: "CustomResourceDefinitionList".to_owned(),
            plural: "customresourcedefinitions".to_owned(),
            singular: "customresourcedefinition".to_owned(),
            short_names: vec!["crd".to_owned(), "crds".to_owned()],
            categories: vec!["api-extensions".to_owned()],
            namespaced: false,
            has_status: true,
            scale: None,
            storage_group: "apiextensions.k8s.io".to_owned(),
            is_custom: false,
        };
        Self { names, family: Family::Definition }
    }

    fn built_in(facts: &'static BuiltIn) -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let paths = || ScalePaths {
            spec_replicas_path: ".spec.replicas".to_owned(),
            status_replicas_path: ".status.replicas".to_owned(),
            label_selector_path: Some(".spec.selector".to_owned()),
        };
        let names = Kind {
            group: facts.group.to_owned(),
            version: facts.version.to_owned(),
            kind: facts.kind.to_owned(),
            list_kind: format!("{}List", facts.kind),
            plural: facts.plural.to_owned(),
            singular: facts.kind.to_lowercase(),
            short_names: owned(facts.short_names),
            categories: owned(facts.categories),
            namespaced: facts.namespaced,
            has_status: facts.has_status,
            scale: facts.has_scale.then(paths),
            storage_group: facts.storage_group.to_owned(),
            is_custom: false,
        };
        Self { names, family: Family::BuiltIn(facts) }
    }

    fn custom(
        spec: &CustomResourceDefinitionSpec,
        version: &CustomResourceDefinitionVersion,
        versions: &Arc<Versions>,
    ) -> Self {
        let names = Kind {
            group: spec.group.clone(),
            version: version.name.clone(),
            kind: spec.names.kind.clone(),
            list_kind: spec.names.list_kind.clone().unwrap_or_else(|| format!("{}List", spec.names.kind)),
            plural: spec.names.plural.clone(),
            singular: spec.names.singular.clone().unwrap_or_else(|| spec.names.kind.to_lowercase()),
            short_names: spec.names.short_names.clone().unwrap_or_default(),
            categories: spec.names.categories.clone().unwrap_or_default(),
            namespaced: spec.scope == "Namespaced",
            has_status: version.subresources.as_ref().is_some_and(|sub| sub.status.is_some()),
            scale: version.subresources.as_ref().and_then(|sub| sub.scale.clone()),
            storage_group: spec.group.clone(),
            is_custom: true,
        };
        Self {
            names,
            family: Family::Custom {
                judge: versions.judge(&version.name).cloned(),
                versions: versions.clone(),
                selectable: version.selectable_fields.iter().flatten().map(selectable_path).collect(),
                columns: Columns::of(version.additional_printer_columns.as_deref().unwrap_or_default()),
                warning: version.deprecated.unwrap_or(false).then(|| deprecation(spec, version)),
            },
        }
    }

    /// What who uses this version is told: that it is deprecated.
    pub(crate) fn warning(&self) -> Option<&str> {
        match &self.family {
            Family::Custom { warning, .. } => warning.as_deref(),
            Family::BuiltIn(facts) => facts.warning,
            Family::Namespace | Family::Definition => None,
        }
    }

    pub(crate) fn is_definition(&self) -> bool {
        matches!(self.family, Family::Definition)
    }

    pub(crate) fn is_namespace(&self) -> bool {
        matches!(self.family, Family::Namespace)
    }

    pub(crate) fn is_pod(&self) -> bool {
        matches!(self.family, Family::BuiltIn(facts) if facts.kind == "Pod")
    }

    /// Events, of either group, have no dependents.
    pub(crate) fn is_event(&self) -> bool {
        matches!(self.family, Family::BuiltIn(facts) if facts.kind == "Event")
    }

    /// Who deletes one and says nothing of its dependents leaves them alone: jobs keep that of old.
    pub(crate) fn orphans_by_default(&self) -> bool {
        matches!(self.family, Family::BuiltIn(facts) if facts.kind == "Job")
    }

    /// The row of the kind in the table of built-in kinds.
    pub(crate) fn as_built_in(&self) -> Option<&'static BuiltIn> {
        match self.family {
            Family::BuiltIn(facts) => Some(facts),
            Family::Namespace | Family::Definition | Family::Custom { .. } => None,
        }
    }

    /// Which changes `metadata.generation` counts.
    pub(crate) fn generation(&self) -> Generation {
        match self.family {
            Family::BuiltIn(facts) => facts.generation,
            Family::Namespace | Family::Definition | Family::Custom { .. } => Generation::OfContent,
        }
    }

    pub(crate) fn naming(&self) -> Naming {
        match self.family {
            Family::BuiltIn(facts) => facts.naming,
            Family::Namespace => Naming::Label,
            Family::Definition | Family::Custom { .. } => Naming::Subdomain,
        }
    }

    /// Whether an update has to say which version it is for.
    pub(crate) fn updates_name_a_version(&self) -> bool {
        match self.family {
            Family::BuiltIn(facts) => facts.updates_name_a_version,
            Family::Namespace => false,
            Family::Definition | Family::Custom { .. } => true,
        }
    }

    pub(crate) fn schema(&self) -> Option<&Value> {
        match &self.family {
            Family::BuiltIn(facts) => Some(&facts.form().schema),
            Family::Custom { judge, .. } => judge.as_deref().map(Judge::schema),
            Family::Namespace | Family::Definition => None,
        }
    }

    /// What judges its objects by the schema of its definition.
    pub(crate) fn judge(&self) -> Option<&Judge> {
        match &self.family {
            Family::Custom { judge, .. } => judge.as_deref(),
            Family::BuiltIn(_) | Family::Namespace | Family::Definition => None,
        }
    }

    /// Fills in the defaults of its schema.
    pub(crate) fn default(&self, fields: &mut Map<String, Value>) {
        match &self.family {
            Family::BuiltIn(facts) => built_in::default(fields, &facts.form().schema),
            Family::Custom { judge: Some(judge), .. } => value::default(fields, judge.schema()),
            Family::Custom { judge: None, .. } | Family::Namespace | Family::Definition => {}
        }
    }

    /// How its fields are merged and owned, by version.
    pub(crate) fn types(&self) -> &BTreeMap<String, Type> {
        match &self.family {
            Family::Custom { versions, .. } => versions.types(),
            Family::BuiltIn(facts) => &facts.form().types,
            Family::Namespace => &managed_fields::built_in::NAMESPACE,
            Family::Definition => &managed_fields::built_in::DEFINITION,
        }
    }

    /// Where it keeps its replicas, by version.
    pub(crate) fn replica_paths(&self) -> &ReplicaPaths {
        static NONE: ReplicaPaths = ReplicaPaths::new();
        match &self.family {
            Family::Custom { versions, .. } => versions.replica_paths(),
            Family::BuiltIn(facts) => &facts.form().replica_paths,
            Family::Namespace | Family::Definition => &NONE,
        }
    }

    /// The versions of a custom kind.
    pub(crate) fn versions(&self) -> Option<&Versions> {
        match &self.family {
            Family::Custom { versions, .. } => Some(versions),
            Family::BuiltIn(_) | Family::Namespace | Family::Definition => None,
        }
    }

    /// A stored object as it is read in this version.
    pub(crate) fn read(&self, stored: &Stored) -> Result<Stored> {
        self.versions().map_or_else(|| Ok(self.from_storage(stored)), |versions| versions.read(stored, &self.version))
    }

    /// Makes an object what is stored of it: `5.0` is written as 5, and of a built-in kind what was taken away since it came
    /// (a status) has its default again.
    pub(crate) fn write(&self, object: &mut Object) -> Result<()> {
        if let Some(versions) = self.versions() {
            return versions.write(object, &self.version);
        }
        object.body.values_mut().for_each(go::whole_numbers);
        self.default(&mut object.body);
        self.to_storage(object);
        Ok(())
    }
}

/// What a definition says of a version that is deprecated, or what the server says if it says nothing: to use the newest that is
/// not.
fn deprecation(spec: &CustomResourceDefinitionSpec, version: &CustomResourceDefinitionVersion) -> String {
    let names = |version: &str| format!("{} {}", group_version(&spec.group, version), spec.names.kind);
    let age = |version: &CustomResourceDefinitionVersion| Version::parse(&version.name).priority();
    let newer = spec
        .versions
        .iter()
        .filter(|other| other.served && !other.deprecated.unwrap_or(false) && age(other) > age(version));
    let plain = || {
        let newest = newer.max_by_key(|version| age(version));
        let instead = newest.map(|newest| format!("; use {}", names(&newest.name))).unwrap_or_default();
        format!("{} is deprecated{instead}", names(&version.name))
    };
    version.deprecation_warning.clone().unwrap_or_else(plain)
}

fn selectable_path(field: &SelectableField) -> String {
    field.json_path.trim_start_matches('.').to_owned()
}

/// The registry of served kinds.
#[derive(Debug)]
pub(crate) struct Registry {
    /// By group, version and plural, so that discovery lists in that order.
    served: BTreeMap<(String, String, String), Arc<Resource>>,
    /// The definitions in service, by resource.
    installed: BTreeMap<String, Installed>,
}

/// The state of a definition that is in service: another of the same name has another uid.
#[derive(Debug)]
struct Installed {
    uid: String,
    spec: CustomResourceDefinitionSpec,
    /// Its objects are being deleted.
    is_ending: bool,
}

impl Registry {
    /// The built-in kinds alone.
    pub(crate) fn new() -> Self {
        let mut kinds = Self { served: BTreeMap::new(), installed: BTreeMap::new() };
        kinds.insert(Resource::namespace());
        kinds.insert(Resource::definition());
        built_in::all().for_each(|facts| kinds.insert(Resource::built_in(facts)));
        kinds
    }

    pub(crate) fn get(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.served.get(&(group.to_owned(), version.to_owned(), plural.to_owned())).cloned()
    }

    /// Whether the server has kinds of its own in a group.
    pub(crate) fn has_built_in(&self, group: &str) -> bool {
        self.iter().any(|kind| !kind.is_custom && kind.group == group)
    }

    /// Any served version of a resource.
    pub(crate) fn any_version(&self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        self.iter().find(|kind| kind.group == group && kind.plural == plural).cloned()
    }

    /// Any served version of a resource, by its name in the store.
    pub(crate) fn of_resource(&self, resource: &str) -> Option<Arc<Resource>> {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        self.any_version(group, plural)
    }

    /// The kind that an `apiVersion` and a `kind` name.
    pub(crate) fn named(&self, api_version: &str, kind: &str) -> Option<Arc<Resource>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.iter().find(|known| known.group == group && known.version == version && known.kind == kind).cloned()
    }

    /// Whether `kind` is served still, by the same state of its definition.
    pub(crate) fn serves(&self, kind: &Arc<Resource>) -> bool {
        self.get(&kind.group, &kind.version, &kind.plural).is_some_and(|served| Arc::ptr_eq(&served, kind))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.served.values()
    }

    /// Serves the versions a definition says are served, and no others of it. The names are those it was given.
    pub(crate) fn install(&mut self, spec: CustomResourceDefinitionSpec, uid: &str, is_ending: bool) {
        let resource = qualified(&spec.names.plural, &spec.group);
        if let Some(known) = self.installed.get_mut(&resource).filter(|known| known.uid == uid && known.spec == spec) {
            known.is_ending = is_ending;
            return;
        }
        let installed = Installed { uid: uid.to_owned(), spec, is_ending };
        let spec = &installed.spec;
        self.remove(&spec.group, &spec.names.plural);
        let versions = Arc::new(Versions::of(spec));
        for version in spec.versions.iter().filter(|version| version.served) {
            self.insert(Resource::custom(spec, version, &versions));
        }
        self.installed.insert(resource, installed);
    }

    /// Whether the objects of a kind are being deleted with their definition.
    pub(crate) fn is_ending(&self, kind: &Resource) -> bool {
        self.installed.get(&kind.group_resource()).is_some_and(|installed| installed.is_ending)
    }

    /// Stops serving every version of a resource.
    pub(crate) fn remove(&mut self, group: &str, plural: &str) {
        self.installed.remove(&qualified(plural, group));
        self.served.retain(|_, kind| kind.group != group || kind.plural != plural);
    }

    fn insert(&mut self, kind: Resource) {
        let key = (kind.group.clone(), kind.version.clone(), kind.plural.clone());
        self.served.insert(key, Arc::new(kind));
    }
}
