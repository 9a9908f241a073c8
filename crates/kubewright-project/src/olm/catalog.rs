//! File-based catalogs: the packages, channels and bundles from which OLM installs.

use kubewright_core::wire::Plain;
use serde_json::{Map, Value, json};

use super::{
    SKIP_RANGE,
    directory::Bundle,
    validate::{Level, validate},
};

/// Where a bundle is added.
#[derive(Clone, Debug, Default)]
pub struct CatalogOptions {
    /// The channels; those of the annotations of the bundle if there are none.
    pub channels: Vec<String>,
    /// The image of the bundle.
    pub image: String,
}

/// A bundle that cannot be added to a catalog.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The bundle is not valid.
    #[error("the bundle has errors, the first is: {0}; see `cargo xtask bundle validate`")]
    Invalid(String),
    /// The catalog contains another bundle of this name.
    #[error("the catalog contains {0} with other contents; increase the version, or remove it from the catalog")]
    Released(String),
    /// A channel of the catalog has no entries.
    #[error("the channel `{0}` of the catalog has no list `entries`; add one, or remove the channel")]
    Channel(String),
    /// A channel would have several newest bundles.
    #[error(
        "the channel `{channel}` would have several heads: {heads}; set `replaces` or `skips` in `[olm]` of the \
         settings, so that each bundle but the newest is replaced or skipped"
    )]
    Heads {
        /// The channel.
        channel: String,
        /// The bundles that no other replaces or skips.
        heads: String,
    },
    /// The catalog is not YAML.
    #[error("the catalog is not YAML: {0}")]
    Decode(#[source] Box<serde_saphyr::Error>),
    /// The catalog cannot be encoded.
    #[error("cannot encode the catalog: {0}")]
    Encode(#[from] serde_saphyr::SerializeError),
}

/// Reads the documents of a catalog.
///
/// # Errors
/// Fails if the text is not YAML.
pub fn parse_catalog(text: &str) -> Result<Vec<Value>, CatalogError> {
    let documents: Result<Vec<Value>, _> = serde_saphyr::from_multiple(text);
    let mut documents = documents.map_err(|error| CatalogError::Decode(Box::new(error)))?;
    documents.retain(|document| !document.is_null());
    Ok(documents)
}

/// Adds a bundle to a catalog, and returns the catalog as a YAML stream. A bundle that the catalog contains already is
/// not added again.
///
/// # Errors
/// Fails if the bundle is invalid, the catalog contains another bundle of its name, or a channel would have several
/// heads.
pub fn append(catalog: Vec<Value>, bundle: &Bundle, options: &CatalogOptions) -> Result<String, CatalogError> {
    if let Some(error) = validate(bundle).into_iter().find(|finding| finding.level == Level::Error) {
        return Err(CatalogError::Invalid(error.to_string()));
    }
    // A valid bundle has a ClusterServiceVersion and these annotations.
    let csv = bundle.service_version().map_or(&Value::Null, |csv| &csv.object);
    let package = bundle.annotation("package.v1").unwrap_or_default();
    let of_bundle = bundle.annotation("channels.v1").unwrap_or_default().split(',').map(|name| name.trim().to_owned());
    let channels: Vec<String> =
        if options.channels.is_empty() { of_bundle.collect() } else { options.channels.clone() };
    let of_bundle =
        bundle.annotation("channel.default.v1").filter(|default| channels.iter().any(|name| name == default));
    let default = of_bundle.or(channels.first().map(String::as_str)).unwrap_or_default();
    let mut catalog = Catalog { documents: catalog };
    catalog.package(package, default, csv);
    for channel in &channels {
        catalog.channel(package, channel, csv)?;
    }
    catalog.bundle(package_bundle(package, csv, bundle, &options.image))?;
    catalog.encode()
}

struct Catalog {
    documents: Vec<Value>,
}

impl Catalog {
    fn find(&mut self, schema: &str, package: Option<&str>, name: &str) -> Option<&mut Value> {
        self.documents.iter_mut().find(|document| {
            let is_of_package = package.is_none_or(|package| document["package"] == *package);
            document["schema"] == *schema && document["name"] == *name && is_of_package
        })
    }

    /// Adds the package, unless it exists: its default channel is a decision of the catalog.
    fn package(&mut self, name: &str, default_channel: &str, csv: &Value) {
        if self.find("olm.package", None, name).is_some() {
            return;
        }
        let mut package = json!({"schema": "olm.package", "name": name, "defaultChannel": default_channel});
        if let Some(description) = csv["spec"]["description"].as_str() {
            package["description"] = json!(description);
        }
        let icon = &csv["spec"]["icon"][0];
        if icon.is_object() {
            package["icon"] = json!({"base64data": icon["base64data"], "mediatype": icon["mediatype"]});
        }
        self.documents.push(package);
    }

    /// Adds the bundle to a channel.
    fn channel(&mut self, package: &str, name: &str, csv: &Value) -> Result<(), CatalogError> {
        let entry = entry(csv);
        if self.find("olm.channel", Some(package), name).is_none() {
            self.documents.push(json!({"schema": "olm.channel", "package": package, "name": name, "entries": []}));
        }
        let channel = self.find("olm.channel", Some(package), name);
        let entries = channel.and_then(|channel| channel.get_mut("entries")).and_then(Value::as_array_mut);
        let entries = entries.ok_or_else(|| CatalogError::Channel(name.to_owned()))?;
        match entries.iter().find(|existing| existing["name"] == entry["name"]) {
            Some(found) if *found == entry => return Ok(()),
            Some(_) => return Err(CatalogError::Released(entry["name"].as_str().unwrap_or_default().to_owned())),
            None => entries.push(entry),
        }
        let heads = heads(entries);
        match heads.len() {
            0 | 1 => Ok(()),
            _ => Err(CatalogError::Heads { channel: name.to_owned(), heads: heads.join(", ") }),
        }
    }

    fn bundle(&mut self, bundle: Value) -> Result<(), CatalogError> {
        let text = |name: &str| bundle[name].as_str().unwrap_or_default().to_owned();
        let (package, name) = (text("package"), text("name"));
        match self.find("olm.bundle", Some(&package), &name) {
            Some(found) if *found == bundle => Ok(()),
            Some(_) => Err(CatalogError::Released(name)),
            None => {
                self.documents.push(bundle);
                Ok(())
            }
        }
    }

    /// Encodes the documents: packages, then channels, then bundles, each in the order of their addition.
    fn encode(mut self) -> Result<String, CatalogError> {
        let rank = |document: &Value| {
            let schemas = ["olm.package", "olm.channel", "olm.bundle"];
            schemas.iter().position(|schema| document["schema"] == **schema).unwrap_or(schemas.len())
        };
        self.documents.sort_by_key(rank);
        let documents: Result<Vec<_>, _> =
            self.documents.iter().map(|document| serde_saphyr::to_string(&Plain(document))).collect();
        let documents: Vec<_> = documents?.iter().map(|document| format!("---\n{}\n", document.trim_end())).collect();
        Ok(documents.concat())
    }
}

/// Returns the entry of a bundle in a channel.
fn entry(csv: &Value) -> Value {
    let mut entry = Map::new();
    entry.insert("name".to_owned(), csv["metadata"]["name"].clone());
    for (field, value) in [
        ("replaces", &csv["spec"]["replaces"]),
        ("skips", &csv["spec"]["skips"]),
        ("skipRange", &csv["metadata"]["annotations"][SKIP_RANGE]),
    ] {
        if !value.is_null() {
            entry.insert(field.to_owned(), value.clone());
        }
    }
    Value::Object(entry)
}

/// Returns the bundles that no other replaces or skips.
fn heads(entries: &[Value]) -> Vec<String> {
    let names = entries.iter().filter_map(|entry| entry["name"].as_str());
    let is_replaced = |name: &str| {
        entries.iter().any(|entry| {
            let skips = entry["skips"].as_array();
            entry["replaces"] == *name || skips.is_some_and(|skips| skips.iter().any(|skip| *skip == *name))
        })
    };
    names.filter(|name| !is_replaced(name)).map(str::to_owned).collect()
}

/// Returns the document of a bundle, as `opm render` does.
fn package_bundle(package: &str, csv: &Value, bundle: &Bundle, image: &str) -> Value {
    let spec = &csv["spec"];
    let package_property = json!({"packageName": package, "version": spec["version"]});
    let mut properties = vec![json!({"type": "olm.package", "value": package_property})];
    for definition in bundle.definitions() {
        let (spec, kind) = (&definition.object["spec"], &definition.object["spec"]["names"]["kind"]);
        for version in spec["versions"].as_array().into_iter().flatten() {
            let value = json!({"group": spec["group"], "kind": kind, "version": version["name"]});
            properties.push(json!({"type": "olm.gvk", "value": value}));
        }
    }
    properties.push(json!({"type": "olm.csv.metadata", "value": csv_metadata(csv)}));
    let mut images = vec![json!({"image": image, "name": ""})];
    images.extend(spec["relatedImages"].as_array().cloned().unwrap_or_default());
    json!({
        "schema": "olm.bundle",
        "name": csv["metadata"]["name"],
        "package": package,
        "image": image,
        "properties": properties,
        "relatedImages": images,
    })
}

/// Returns what catalogs show of a bundle.
fn csv_metadata(csv: &Value) -> Value {
    let spec = &csv["spec"];
    let mut metadata = Map::new();
    let fields = [
        "customresourcedefinitions",
        "description",
        "displayName",
        "installModes",
        "keywords",
        "links",
        "maintainers",
        "maturity",
        "minKubeVersion",
        "provider",
    ];
    let parts = [("annotations", &csv["metadata"]["annotations"]), ("labels", &csv["metadata"]["labels"])];
    let all = parts.into_iter().chain(fields.into_iter().map(|field| (field, &spec[field])));
    for (name, value) in all.filter(|(_, value)| !value.is_null()) {
        let name = if name == "customresourcedefinitions" { "crdDescriptions" } else { name };
        metadata.insert(name.to_owned(), value.clone());
    }
    Value::Object(metadata)
}
