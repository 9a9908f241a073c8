//! Rules of the ClusterServiceVersion.

use kubewright_names::validation::is_dns_1123_subdomain;
use semver::Version;
use serde_json::Value;

use super::{Bundle, Findings, duplicates, list, strings, text};

const CAPABILITIES: [&str; 5] = ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"];
/// The categories of OperatorHub.
const CATEGORIES: [&str; 16] = [
    "AI/Machine Learning",
    "Application Runtime",
    "Big Data",
    "Cloud Provider",
    "Database",
    "Developer Tools",
    "Integration & Delivery",
    "Logging & Tracing",
    "Modernization & Migration",
    "Monitoring",
    "Networking",
    "Observability",
    "OpenShift Optional",
    "Security",
    "Storage",
    "Streaming & Messaging",
];
const MEDIA_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/svg+xml"];
const INSTALL_MODES: [&str; 4] = ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"];
const MAX_NAME: usize = 63;

pub(super) fn validate(bundle: &Bundle, csv: &Value, findings: &mut Findings) {
    let spec = &csv["spec"];
    names(bundle, csv, findings);
    fields(spec, findings);
    annotations(&csv["metadata"]["annotations"], findings);
    icon(spec, findings);
    min_kube_version(spec, findings);
    install_modes(spec, findings);
    install(&spec["install"], findings);
}

/// Splits `my-operator.v1.2.0`.
fn split(name: &str) -> Option<(&str, Version)> {
    let (package, version) = name.split_once('.')?;
    Some((package, Version::parse(version.trim_start_matches('v')).ok()?))
}

fn names(bundle: &Bundle, csv: &Value, findings: &mut Findings) {
    let (name, replaces) = (text(&csv["metadata"], "name"), text(&csv["spec"], "replaces"));
    let help = "use the name of the package, `.v` and a semantic version, with at most 63 characters";
    let parts = split(name).filter(|_| is_dns_1123_subdomain(name) && name.len() <= MAX_NAME);
    if parts.is_none() {
        findings.error("csv-name", "metadata.name", format!("invalid name {name:?}"), help);
    }
    if let (Some((package, _)), Some(expected)) = (&parts, bundle.annotation("package.v1"))
        && *package != expected
    {
        let message = format!("the name {name:?} does not start with that of the package, {expected:?}");
        findings.warning("csv-package", "metadata.name", message, "use the name of the package");
    }
    let version = text(&csv["spec"], "version");
    let parsed = Version::parse(version).ok();
    if parsed.is_none() || parts.is_some_and(|(_, of_name)| parsed.as_ref() != Some(&of_name)) {
        let message = format!("the version {version:?} is not that of the name {name:?}");
        findings.error("csv-version", "spec.version", message, "run `cargo xtask bundle --version`");
    }
    if !replaces.is_empty() && (split(replaces).is_none() || replaces == name) {
        let message = format!("{replaces:?} is not the name of another bundle");
        findings.error(
            "csv-replaces",
            "spec.replaces",
            message,
            "set `replaces` to a name such as `my-operator.v1.0.0`",
        );
    }
}

/// Validates what catalogs show.
fn fields(spec: &Value, findings: &mut Findings) {
    for (field, is_missing, help) in [
        ("displayName", text(spec, "displayName").is_empty(), "set `display-name` in `[olm]` of the settings"),
        ("description", text(spec, "description").is_empty(), "set `description` in Cargo.toml"),
        ("provider.name", text(&spec["provider"], "name").is_empty(), "set `provider` in `[olm]` of the settings"),
        ("maintainers", list(spec, "maintainers").next().is_none(), "set `authors` in Cargo.toml"),
        ("links", list(spec, "links").next().is_none(), "set `repository` in Cargo.toml"),
        ("icon", list(spec, "icon").next().is_none(), "set `icon` in `[olm]` of the settings"),
    ] {
        if is_missing {
            findings.warning("csv-field", format!("spec.{field}"), "catalogs show this field, and it is missing", help);
        }
    }
    for (index, maintainer) in list(spec, "maintainers").enumerate() {
        if text(maintainer, "name").is_empty() || !text(maintainer, "email").contains('@') {
            let message = "the name or the address of a maintainer is missing";
            let help = "use `Name <name@example.com>` in `authors` of Cargo.toml";
            findings.warning("csv-maintainer", format!("spec.maintainers[{index}]"), message, help);
        }
    }
    for (index, link) in list(spec, "links").enumerate() {
        if text(link, "name").is_empty() || !text(link, "url").contains("://") {
            let message = "the name or the address of a link is missing";
            findings.warning("csv-link", format!("spec.links[{index}]"), message, "use an absolute address");
        }
    }
}

fn annotations(annotations: &Value, findings: &mut Findings) {
    let capabilities = text(annotations, "capabilities");
    if !capabilities.is_empty() && !CAPABILITIES.contains(&capabilities) {
        let help = format!("use one of {CAPABILITIES:?}");
        let message = format!("unknown capability level {capabilities:?}");
        findings.error("csv-capabilities", "metadata.annotations.capabilities", message, &help);
    }
    let categories = text(annotations, "categories").split(',').map(str::trim).filter(|category| !category.is_empty());
    for category in categories.filter(|category| !CATEGORIES.contains(category)) {
        let message = format!("unknown category {category:?}");
        let help = format!("use some of {CATEGORIES:?}, unless the catalog has further ones");
        findings.warning("csv-categories", "metadata.annotations.categories", message, &help);
    }
}

fn icon(spec: &Value, findings: &mut Findings) {
    if list(spec, "icon").count() > 1 {
        findings.error("csv-icon", "spec.icon", "there are several icons", "keep one");
    }
    for icon in list(spec, "icon") {
        let media_type = text(icon, "mediatype");
        if text(icon, "base64data").is_empty() || !MEDIA_TYPES.contains(&media_type) {
            let message = format!("the icon is empty, or its media type {media_type:?} is not supported");
            findings.error("csv-icon", "spec.icon[0]", message, &format!("use one of {MEDIA_TYPES:?}"));
        }
    }
}

fn min_kube_version(spec: &Value, findings: &mut Findings) {
    let field = "spec.minKubeVersion";
    match text(spec, "minKubeVersion") {
        "" => {
            let help = "set `min-kube-version` in `[olm]` of the settings";
            findings.warning("min-kube-version", field, "clusters that are too old are not excluded", help);
        }
        version if Version::parse(version).is_err() => {
            let message = format!("{version:?} is not a semantic version");
            findings.error("min-kube-version", field, message, "use three numbers, such as `1.30.0`");
        }
        _ => {}
    }
}

fn install_modes(spec: &Value, findings: &mut Findings) {
    let modes: Vec<_> =
        list(spec, "installModes").map(|mode| (text(mode, "type"), mode["supported"] == Value::Bool(true))).collect();
    let field = "spec.installModes";
    for name in duplicates(modes.iter().map(|(name, _)| *name)) {
        findings.error("install-modes", field, format!("{name:?} occurs more than once"), "keep one of them");
    }
    for (name, _) in modes.iter().filter(|(name, _)| !INSTALL_MODES.contains(name)) {
        let help = format!("use {INSTALL_MODES:?}");
        findings.error("install-modes", field, format!("unknown install mode {name:?}"), &help);
    }
    if !modes.iter().any(|(_, supported)| *supported) {
        findings.error("install-modes", field, "no install mode is supported", "support `AllNamespaces`");
    } else if !modes.contains(&("AllNamespaces", true)) {
        let help = "watch all namespaces, or install the bundle with OLM v0";
        let message = "OLM v1 installs only bundles that support `AllNamespaces`";
        findings.warning("install-mode-all", field, message, help);
    }
}

fn install(install: &Value, findings: &mut Findings) {
    let spec = &install["spec"];
    let names: Vec<_> = list(spec, "deployments").map(|deployment| text(deployment, "name")).collect();
    if text(install, "strategy") != "deployment" || names.is_empty() {
        let message = "there is no deployment";
        let help = "use the strategy `deployment` with at least one deployment";
        findings.error("install-strategy", "spec.install", message, help);
    }
    let field = "spec.install.spec.deployments";
    for name in duplicates(names.iter().copied()) {
        findings.error("deployment-name", field, format!("{name:?} occurs more than once"), "rename one of them");
    }
    for name in names.iter().filter(|name| !is_dns_1123_subdomain(name)) {
        let help = "use lowercase letters, digits, `-` and `.`";
        findings.error("deployment-name", field, format!("invalid name {name:?}"), help);
    }
    for deployment in list(spec, "deployments") {
        requests(deployment, findings);
    }
    for kind in ["permissions", "clusterPermissions"] {
        let rules = list(spec, kind).flat_map(|permissions| list(permissions, "rules"));
        for rule in rules {
            permissions(rule, &format!("spec.install.spec.{kind}"), findings);
        }
    }
}

fn requests(deployment: &Value, findings: &mut Findings) {
    let name = text(deployment, "name");
    for container in list(&deployment["spec"]["template"]["spec"], "containers") {
        let requests = &container["resources"]["requests"];
        if requests["cpu"].is_null() || requests["memory"].is_null() {
            let container = text(container, "name");
            let message = format!("the container {container:?} of {name:?} requests no CPU or no memory");
            findings.warning("resource-requests", "spec.install.spec.deployments", message, "set both requests");
        }
    }
}

fn permissions(rule: &Value, field: &str, findings: &mut Findings) {
    let has = |part: &str, name: &str| strings(rule, part).any(|value| value == name || value == "*");
    let is_exactly = |part: &str, name: &str| strings(rule, part).any(|value| value == name);
    if has("apiGroups", "apiextensions.k8s.io")
        && has("resources", "customresourcedefinitions")
        && has("verbs", "create")
    {
        let message = "the operator can create definitions, which OLM installs from the bundle";
        findings.warning("crd-permission", field, message, "remove the verb `create`");
    }
    if is_exactly("apiGroups", "operators.coreos.com") && is_exactly("resources", "operatorconditions") {
        let message = "OLM v1 has no OperatorConditions";
        findings.warning(
            "operator-condition",
            field,
            message,
            "report the state in the status of the kinds of the operator",
        );
    }
}
