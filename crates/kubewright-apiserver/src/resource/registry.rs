//! The registry of served kinds, and their schemas, strategies and versions.

use std::{collections::BTreeMap, ops::Deref, ptr, sync::Arc};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, SelectableField,
};
use kube::core::Version;
use kubewright_crd::{
    validator::Validator,
    value::{self, DefaultsTooLarge},
};
use serde_json::{Map, Value};

use crate::{
    api::{
        error::{ApiError, Result},
        go,
        kind::{Kind, ScalePaths, group_version, qualified},
        object::{Object, Stored},
    },
    resource::{
        built_in::{self, BuiltIn},
        managed_fields::{scale::ReplicaPaths, types::Type},
        printer_columns::Columns,
        stored_representation::Conversion,
        strategy::Strategy,
        versions::Versions,
        webhook_conversions::{Conversions, ConvertFunction},
    },
};

/// One served resource: a kind and how its objects are handled.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    names: Kind,
    pub(crate) strategy: &'static Strategy,
    source: Source,
    /// The conversions by webhooks of the request that the resource is used for.
    conversions: Option<Arc<Conversions>>,
}

impl Deref for Resource {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        &self.names
    }
}

/// Where the schemas and types of a resource come from.
#[derive(Debug, Clone)]
enum Source {
    BuiltIn(&'static BuiltIn),
    Definition(CustomResource),
}

/// What a definition specifies for one version of its kind.
#[derive(Debug, Clone)]
pub(crate) struct CustomResource {
    pub(crate) validator: Option<Arc<Validator>>,
    pub(crate) versions: Arc<Versions>,
    pub(crate) columns: Columns,
    /// The warning that every request for a deprecated version returns.
    warning: Option<String>,
}

impl Resource {
    /// Returns the kind `Namespace`.
    pub(crate) fn namespace() -> Self {
        Self::built_in(built_in::namespace())
    }

    /// Returns the kind `CustomResourceDefinition`.
    pub(crate) fn definition() -> Self {
        Self::built_in(built_in::definition())
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
            selectable: owned(facts.strategy.selectable),
            storage_group: facts.storage_group.to_owned(),
            is_custom: false,
        };
        Self { names, strategy: &facts.strategy, source: Source::BuiltIn(facts), conversions: None }
    }

    fn from_definition(
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
            selectable: version.selectable_fields.iter().flatten().map(selectable_path).collect(),
            storage_group: spec.group.clone(),
            is_custom: true,
        };
        static STRATEGY: Strategy = Strategy::CUSTOM_RESOURCE;
        let custom = CustomResource {
            validator: versions.validator(&version.name).cloned(),
            versions: versions.clone(),
            columns: Columns::new(version.additional_printer_columns.as_deref().unwrap_or_default()),
            warning: version.deprecated.unwrap_or(false).then(|| deprecation(spec, version)),
        };
        Self { names, strategy: &STRATEGY, source: Source::Definition(custom), conversions: None }
    }

    /// Returns the warning for every request, if the kind is deprecated.
    pub(crate) fn warning(&self) -> Option<&str> {
        match &self.source {
            Source::Definition(custom) => custom.warning.as_deref(),
            Source::BuiltIn(facts) => facts.warning,
        }
    }

    /// Returns what the definition of a custom resource specifies.
    pub(crate) fn custom(&self) -> Option<&CustomResource> {
        match &self.source {
            Source::Definition(custom) => Some(custom),
            Source::BuiltIn(_) => None,
        }
    }

    /// Returns the row of a built-in kind.
    pub(crate) fn as_built_in(&self) -> Option<&'static BuiltIn> {
        match self.source {
            Source::BuiltIn(facts) => Some(facts),
            Source::Definition(_) => None,
        }
    }

    /// Returns the schema that defaults, prunes and validates objects, if there is one.
    pub(crate) fn schema(&self) -> Option<&Value> {
        match &self.source {
            Source::BuiltIn(facts) => facts.type_info().schema.as_ref(),
            Source::Definition(custom) => custom.validator.as_deref().map(Validator::schema),
        }
    }

    /// Returns the validator of a custom resource with a schema.
    pub(crate) fn validator(&self) -> Option<&Validator> {
        self.custom().and_then(|custom| custom.validator.as_deref())
    }

    /// Sets the defaults of the schema.
    ///
    /// # Errors
    /// The defaults are too large to be stored: a definition can specify any default for the items of a list.
    pub(crate) fn default(&self, fields: &mut Map<String, Value>) -> Result<()> {
        match self.validator() {
            Some(validator) => value::default_within_limit(fields, validator.schema())
                .map_err(|DefaultsTooLarge| ApiError::request_too_large()),
            None => {
                self.default_built_in(fields);
                Ok(())
            }
        }
    }

    /// Sets the defaults of a built-in kind. Other kinds are not changed.
    pub(crate) fn default_built_in(&self, fields: &mut Map<String, Value>) {
        if let Some(schema) = self.as_built_in().and_then(|facts| facts.type_info().schema.as_ref()) {
            built_in::default(fields, schema);
        }
    }

    /// Returns how fields are merged and owned, by version.
    pub(crate) fn types(&self) -> &BTreeMap<String, Type> {
        match &self.source {
            Source::Definition(custom) => custom.versions.types(),
            Source::BuiltIn(facts) => &facts.type_info().types,
        }
    }

    /// Returns the path of the replicas, by version.
    pub(crate) fn replica_paths(&self) -> &ReplicaPaths {
        match &self.source {
            Source::Definition(custom) => custom.versions.replica_paths(),
            Source::BuiltIn(facts) => &facts.type_info().replica_paths,
        }
    }

    /// Returns the versions of a custom kind.
    pub(crate) fn versions(&self) -> Option<&Versions> {
        self.custom().map(|custom| &*custom.versions)
    }

    /// Returns the conversion of a built-in kind that is stored in another representation.
    fn conversion(&self) -> Option<&'static Conversion> {
        self.as_built_in().and_then(|facts| facts.conversion)
    }

    /// Converts a stored object of a built-in kind to this kind.
    fn read_stored(&self, stored: &Stored) -> Stored {
        let Some(conversion) = self.conversion() else {
            return stored.clone();
        };
        let mut object = Object::clone(stored);
        (conversion.from_storage)(&mut object);
        self.default_built_in(&mut object.body);
        Arc::new(object)
    }

    /// Returns whether this is the same version of the same definition, or the same built-in kind.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_same_source = match (&self.source, &other.source) {
            (Source::BuiltIn(left), Source::BuiltIn(right)) => ptr::eq(*left, *right),
            (Source::Definition(left), Source::Definition(right)) => Arc::ptr_eq(&left.versions, &right.versions),
            _ => false,
        };
        is_same_source && self.version == other.version
    }

    /// Returns whether objects are converted by a webhook.
    pub(crate) fn calls_webhook(&self) -> bool {
        self.versions().is_some_and(Versions::calls_webhook)
    }

    /// Returns the resource for a request, whose conversions by a webhook these are.
    pub(crate) fn bound_to(self: &Arc<Self>, conversions: &Arc<Conversions>) -> Arc<Self> {
        if !self.calls_webhook() {
            return Arc::clone(self);
        }
        Arc::new(Self { conversions: Some(Arc::clone(conversions)), ..Self::clone(self) })
    }

    /// Returns the resource for the request that another version of it is used for.
    pub(crate) fn bound_as(self: &Arc<Self>, other: &Self) -> Arc<Self> {
        other.conversions.as_ref().map_or_else(|| Arc::clone(self), |conversions| self.bound_to(conversions))
    }

    /// Returns the conversions by webhooks of the request that the resource is used for.
    pub(crate) fn conversions(&self) -> Option<&Conversions> {
        self.conversions.as_deref()
    }

    /// Converts a stored object to this version.
    ///
    /// # Errors
    /// The conversion fails, or is missing: see [`Conversions::resolve`].
    pub(crate) fn read(&self, stored: &Stored) -> Result<Stored> {
        match self.versions() {
            Some(versions) => versions.read(stored, &self.version, self.conversions()),
            None => Ok(self.read_stored(stored)),
        }
    }

    /// Converts a stored object to this version, and calls the webhook for that. The state is not locked.
    ///
    /// # Errors
    /// The conversion fails.
    pub(crate) async fn read_now(&self, stored: &Stored) -> Result<Stored> {
        match self.conversions() {
            Some(conversions) => conversions.resolve(|| self.read(stored)).await,
            None => self.read(stored),
        }
    }

    /// Has a webhook convert stored objects to this version, by one call for all of them, so that [`read`](Self::read)
    /// has the outcomes. The state is not locked.
    pub(crate) async fn convert_all<'a>(&self, stored: impl IntoIterator<Item = &'a Stored> + Clone) {
        let Some(conversions) = self.conversions() else { return };
        let convert = || {
            for stored in stored.clone() {
                // The error of the first object is that of the request.
                if self.read(stored).is_err() && !conversions.is_incomplete() {
                    return;
                }
            }
        };
        conversions.resolve(convert).await;
    }

    /// Converts the JSON of an object, which may be partial, to another version.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn convert_json(&self, object: &Value, api_version: &str) -> Result<Value> {
        match self.versions() {
            Some(versions) => versions.convert_json(object, api_version, self.conversions()),
            None => {
                let mut converted = object.clone();
                converted["apiVersion"] = api_version.into();
                Ok(converted)
            }
        }
    }

    /// Converts an object to the stored representation: `5.0` is stored as 5, and removed fields of built-in kinds,
    /// such as the status, get their defaults again.
    pub(crate) fn write(&self, object: &mut Object) -> Result<()> {
        if let Some(versions) = self.versions() {
            return versions.write(object, &self.version, self.conversions());
        }
        object.body.values_mut().for_each(go::normalize_numbers);
        self.default_built_in(&mut object.body);
        if let Some(conversion) = self.conversion() {
            (conversion.to_storage)(object);
        }
        Ok(())
    }
}

/// Returns the warning of a deprecated version: that of the definition, or by default one that recommends the newest
/// version that is not deprecated.
fn deprecation(spec: &CustomResourceDefinitionSpec, version: &CustomResourceDefinitionVersion) -> String {
    let names = |version: &str| format!("{} {}", group_version(&spec.group, version), spec.names.kind);
    let priority = |version: &CustomResourceDefinitionVersion| Version::parse(&version.name).priority();
    let newer = spec
        .versions
        .iter()
        .filter(|other| other.served && !other.deprecated.unwrap_or(false) && priority(other) > priority(version));
    let default = || {
        let newest = newer.max_by_key(|version| priority(version));
        let suggestion = newest.map(|newest| format!("; use {}", names(&newest.name))).unwrap_or_default();
        format!("{} is deprecated{suggestion}", names(&version.name))
    };
    version.deprecation_warning.clone().unwrap_or_else(default)
}

fn selectable_path(field: &SelectableField) -> String {
    field.json_path.trim_start_matches('.').to_owned()
}

type ByName<T> = BTreeMap<String, T>;

/// The registry of served kinds.
#[derive(Debug)]
pub(crate) struct Registry {
    /// The resources by group, version and plural, which is the order of discovery.
    served: ByName<ByName<ByName<Arc<Resource>>>>,
    /// The installed definitions, by resource.
    installed: BTreeMap<String, Installed>,
    /// The functions that convert in place of webhooks, by `Kind.group`.
    functions: BTreeMap<String, ConvertFunction>,
}

/// An installed definition. The uid distinguishes it from a recreated definition of the same name.
#[derive(Debug)]
struct Installed {
    uid: String,
    spec: CustomResourceDefinitionSpec,
    /// Its objects are being deleted.
    is_terminating: bool,
}

impl Registry {
    /// Creates a registry of the built-in kinds.
    pub(crate) fn new() -> Self {
        let mut kinds = Self { served: BTreeMap::new(), installed: BTreeMap::new(), functions: BTreeMap::new() };
        kinds.insert(Resource::namespace());
        kinds.insert(Resource::definition());
        built_in::all().for_each(|facts| kinds.insert(Resource::built_in(facts)));
        kinds
    }

    pub(crate) fn get(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.served.get(group)?.get(version)?.get(plural).cloned()
    }

    /// Returns whether a group has built-in kinds.
    pub(crate) fn has_built_in(&self, group: &str) -> bool {
        self.iter().any(|kind| !kind.is_custom && kind.group == group)
    }

    /// Returns a served version of a resource: that in whose representation objects are stored, for built-in kinds.
    pub(crate) fn any_version(&self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        let mut versions = self.iter().filter(|kind| kind.group == group && kind.plural == plural);
        let first = versions.next()?;
        let is_stored = |kind: &&Arc<Resource>| kind.conversion().is_none();
        Some(versions.chain([first]).find(is_stored).unwrap_or(first).clone())
    }

    /// Returns any served version of a resource, by its storage key.
    pub(crate) fn of_resource(&self, resource: &str) -> Option<Arc<Resource>> {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        self.any_version(group, plural)
    }

    /// Returns the kind with this `apiVersion` and `kind`.
    pub(crate) fn named(&self, api_version: &str, kind: &str) -> Option<Arc<Resource>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.iter().find(|known| known.group == group && known.version == version && known.kind == kind).cloned()
    }

    /// Returns whether `kind` is still served, by an unchanged definition.
    pub(crate) fn serves(&self, kind: &Arc<Resource>) -> bool {
        self.get(&kind.group, &kind.version, &kind.plural).is_some_and(|served| served.is_same(kind))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.served.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values)
    }

    /// Serves exactly the served versions of a definition, under its accepted names.
    pub(crate) fn install(&mut self, spec: CustomResourceDefinitionSpec, uid: &str, is_terminating: bool) {
        let resource = qualified(&spec.names.plural, &spec.group);
        if let Some(known) = self.installed.get_mut(&resource).filter(|known| known.uid == uid && known.spec == spec) {
            known.is_terminating = is_terminating;
            return;
        }
        let installed = Installed { uid: uid.to_owned(), spec, is_terminating };
        let spec = &installed.spec;
        self.remove(&spec.group, &spec.names.plural);
        let function = self.functions.get(&qualified(&spec.names.kind, &spec.group)).cloned();
        let versions = Arc::new(Versions::from_definition(spec, function));
        for version in spec.versions.iter().filter(|version| version.served) {
            self.insert(Resource::from_definition(spec, version, &versions));
        }
        self.installed.insert(resource, installed);
    }

    /// Converts the objects of a kind, `Kind.group`, by a function in place of the webhook of its definition.
    pub(crate) fn convert_by(&mut self, group_kind: &str, function: ConvertFunction) {
        self.functions.insert(group_kind.to_owned(), function);
        let is_of_kind = |known: &&Installed| qualified(&known.spec.names.kind, &known.spec.group) == group_kind;
        let known = self.installed.values().find(is_of_kind);
        if let Some((spec, uid, is_terminating)) =
            known.map(|known| (known.spec.clone(), known.uid.clone(), known.is_terminating))
        {
            self.remove(&spec.group, &spec.names.plural);
            self.install(spec, &uid, is_terminating);
        }
    }

    /// Returns whether the objects of a kind are being deleted with their definition.
    pub(crate) fn is_ending(&self, kind: &Resource) -> bool {
        self.installed.get(&kind.group_resource()).is_some_and(|installed| installed.is_terminating)
    }

    /// Stops serving every version of a resource.
    pub(crate) fn remove(&mut self, group: &str, plural: &str) {
        self.installed.remove(&qualified(plural, group));
        let Some(versions) = self.served.get_mut(group) else { return };
        versions.retain(|_, resources| {
            resources.remove(plural);
            !resources.is_empty()
        });
        if versions.is_empty() {
            self.served.remove(group);
        }
    }

    fn insert(&mut self, kind: Resource) {
        let versions = self.served.entry(kind.group.clone()).or_default();
        let resources = versions.entry(kind.version.clone()).or_default();
        resources.insert(kind.plural.clone(), Arc::new(kind));
    }
}
