//! Bundles, catalogs and scorecards of the Logger operator.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use kubewright_codegen::File;
use kubewright_core::description::{
    ControllerDescription, KindDescription, OperatorDescription, Permission, ServerDescription, Verb,
};
use kubewright_project::{
    Project, Settings,
    olm::{
        self, Bundle, BundleError, BundleOptions, CatalogError, CatalogOptions, Finding, ScorecardResult, State,
        parse_catalog,
    },
    render,
    workspace::{Icon, Package, Resource, Sources},
};
use serde_json::{Value, json};
use tempfile::TempDir;

const CSV: &str = "manifests/logger-operator.clusterserviceversion.yaml";
const ANNOTATIONS: &str = "metadata/annotations.yaml";
const DEFINITION: &str = "manifests/example.com_loggers.yaml";
const SERVICE: &str = "manifests/logger-operator-controller-manager-metrics-service_v1_service.yaml";
const BUDGET: &str = "manifests/logger-operator-controller-manager_policy_v1_poddisruptionbudget.yaml";

fn kind(group: &str, kind: &str, plural: &str) -> KindDescription {
    let (group, version, kind) = (group.to_owned(), "v1".to_owned(), kind.to_owned());
    KindDescription { group, version, kind, plural: plural.to_owned(), namespaced: true }
}

fn server(name: &str, port: u16, https: bool, paths: &[&str]) -> ServerDescription {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    ServerDescription { name: name.to_owned(), port, https, authenticated: https, paths }
}

/// The Logger operator with further settings.
fn project(settings: &str) -> Project {
    let loggers = kind("example.com", "Logger", "loggers");
    let controller = ControllerDescription {
        name: "loggers".to_owned(),
        reconciles: loggers.clone(),
        owns: vec![kind("apps", "Deployment", "deployments")],
        watches: Vec::new(),
    };
    let permissions = [
        controller.permissions(),
        vec![loggers.subresource_permission("status", [Verb::Patch])],
        Permission::leader_election("logger-operator"),
        Permission::reviews(),
    ];
    let description = OperatorDescription {
        controllers: vec![controller],
        servers: vec![
            server("health", 8081, false, &["/healthz", "/livez", "/readyz"]),
            server("metrics", 8443, true, &["/metrics"]),
        ],
        lease: Some("logger-operator".to_owned()),
        ..OperatorDescription::from_permissions(permissions.concat())
    };
    let settings = format!(
        "name = 'logger-operator'\nimage = 'loggers:1'\nprometheus = true\nnetwork-policy = true\n{settings}\n[olm]\n\
         min-kube-version = '1.30.0'\ncapabilities = 'Deep Insights'\n\
         categories = ['Logging & Tracing', 'Observability']\n\
         scorecard-image = 'scorecard-test:v1'"
    );
    Project { settings: Settings::parse(&settings).unwrap(), description, kinds: vec![loggers] }
}

fn package() -> Package {
    Package {
        name: "logger-operator".to_owned(),
        version: "0.1.0".to_owned(),
        description: Some("The operator of the Logger API".to_owned()),
        authors: vec!["Ada <ada@example.com>".to_owned()],
        repository: Some("https://example.com/logger".to_owned()),
        homepage: None,
        license: Some("Apache-2.0".to_owned()),
        keywords: vec!["kubernetes".to_owned(), "logging".to_owned()],
    }
}

fn repository_file(path: &str) -> Value {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    serde_saphyr::from_str(&fs::read_to_string(package.join("../..").join(path)).unwrap()).unwrap()
}

/// Returns the definition of Loggers with the version `v1` only.
fn definition() -> Value {
    let mut definition = repository_file("config/crd/bases/example.com_loggers.yaml");
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    versions.retain(|version| version["name"] == "v1");
    versions[0]["storage"] = json!(true);
    definition
}

fn sources() -> Sources {
    let path = "config/prometheus/rule.yaml".to_owned();
    Sources {
        definitions: vec![definition()],
        samples: vec![repository_file("config/samples/example_v1_logger.yaml")],
        resources: vec![Resource { object: repository_file(&path), path }],
        icon: Some(Icon { media_type: "image/svg+xml", data: b"<svg/>".to_vec() }),
    }
}

fn files() -> Vec<File> {
    olm::bundle(&project(""), &package(), &sources(), &BundleOptions::default()).unwrap()
}

fn contents(files: &[File], path: &str) -> Value {
    let file = files.iter().find(|file| file.path == format!("bundle/{path}")).unwrap();
    serde_saphyr::from_str(&file.contents).unwrap()
}

/// Writes the files of a project.
fn write(files: &[File]) -> TempDir {
    let root = TempDir::new().unwrap();
    for file in files {
        let path = root.path().join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.contents).unwrap();
    }
    root
}

/// Returns the bundle of the Logger operator after a change of its directory.
fn changed(change: impl FnOnce(&Path)) -> Bundle {
    let root = write(&files());
    let directory = root.path().join("bundle");
    change(&directory);
    Bundle::read(&directory).unwrap()
}

/// Sets one field of a file. JSON is YAML.
fn set(directory: &Path, file: &str, pointer: &str, value: Value) {
    let path = directory.join(file);
    let mut object: Value = serde_saphyr::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = object.pointer_mut(parent).unwrap();
    match name.parse::<usize>() {
        Ok(index) => parent[index] = value,
        Err(_) => parent[name] = value,
    }
    fs::write(path, object.to_string()).unwrap();
}

#[test]
fn the_bundle_contains_the_objects_of_the_configuration() {
    let paths: Vec<_> = files().into_iter().map(|file| file.path).collect();
    let role = "rbac.authorization.k8s.io_v1_clusterrole.yaml";
    let monitoring = "monitoring.coreos.com_v1";
    let mut expected = vec![
        "bundle.Dockerfile".to_owned(),
        format!("bundle/{ANNOTATIONS}"),
        format!("bundle/{CSV}"),
        format!("bundle/{DEFINITION}"),
        format!("bundle/{SERVICE}"),
        format!("bundle/{BUDGET}"),
        "bundle/manifests/logger-operator-allow-metrics-traffic_networking.k8s.io_v1_networkpolicy.yaml".to_owned(),
        format!("bundle/manifests/logger-operator-controller-manager-metrics-monitor_{monitoring}_servicemonitor.yaml"),
        format!("bundle/manifests/logger-operator-logger-operator_{monitoring}_prometheusrule.yaml"),
        format!("bundle/manifests/logger-operator-logger-admin-role_{role}"),
        format!("bundle/manifests/logger-operator-logger-editor-role_{role}"),
        format!("bundle/manifests/logger-operator-logger-viewer-role_{role}"),
        format!("bundle/manifests/logger-operator-metrics-reader_{role}"),
        "bundle/tests/scorecard/config.yaml".to_owned(),
    ];
    expected.sort();
    assert_eq!(paths, expected);
    let service = contents(&files(), SERVICE);
    assert_eq!(service["metadata"]["namespace"], Value::Null);
}

#[test]
fn the_service_version_is_rendered_from_the_project_and_its_package() {
    let mut csv = contents(&files(), CSV);
    let examples = csv["metadata"]["annotations"].as_object_mut().unwrap().remove("alm-examples").unwrap();
    let examples: Vec<Value> = serde_json::from_str(examples.as_str().unwrap()).unwrap();
    assert_eq!(examples, sources().samples);
    let deployment = &mut csv["spec"]["install"]["spec"]["deployments"][0];
    let mut spec = deployment.as_object_mut().unwrap().remove("spec").unwrap();
    let golden: Value = serde_saphyr::from_str(include_str!("olm/service_version.yaml")).unwrap();
    assert_eq!(csv, golden);

    let account = spec["template"]["spec"]["serviceAccountName"].take();
    assert_eq!(account, "logger-operator-controller-manager");
    let rendered = render(&project("")).unwrap();
    let of_config = rendered.iter().find(|file| file.path == "config/manager/manager.yaml").unwrap();
    let mut of_config: Value = serde_saphyr::from_str(&of_config.contents).unwrap();
    of_config["spec"]["template"]["spec"]["serviceAccountName"].take();
    assert_eq!(spec, of_config["spec"], "the Deployment is that of the configuration");
}

#[test]
fn bundles_of_equal_projects_are_equal() {
    assert_eq!(files(), files());
    assert!(!files().iter().any(|file| file.contents.contains("createdAt")));
    let options = BundleOptions { created_at: Some("2026-01-31T12:00:00Z".to_owned()), ..BundleOptions::default() };
    let csv = contents(&olm::bundle(&project(""), &package(), &sources(), &options).unwrap(), CSV);
    assert_eq!(csv["metadata"]["annotations"]["createdAt"], "2026-01-31T12:00:00Z");
}

#[test]
fn the_image_has_the_annotations_as_labels() {
    let files = files();
    let dockerfile = &files.iter().find(|file| file.path == "bundle.Dockerfile").unwrap().contents;
    for (name, value) in contents(&files, ANNOTATIONS)["annotations"].as_object().unwrap() {
        assert!(dockerfile.contains(&format!("LABEL {name}={}\n", value.as_str().unwrap())), "{name}");
    }
    assert!(dockerfile.contains("operators.operatorframework.io.test.config.v1=tests/scorecard/"));
}

#[test]
fn without_an_image_of_its_tests_there_is_no_configuration_of_the_scorecard() {
    let mut project = project("");
    project.settings.olm.scorecard_image = None;
    let files = olm::bundle(&project, &package(), &sources(), &BundleOptions::default()).unwrap();
    assert!(!files.iter().any(|file| file.path.contains("scorecard") || file.contents.contains("scorecard")));
}

#[test]
fn a_namespaced_operator_is_installed_for_its_own_namespace() {
    let files = olm::bundle(&project("namespaced = true"), &package(), &sources(), &BundleOptions::default()).unwrap();
    let spec = contents(&files, CSV)["spec"].take();
    let modes = spec["installModes"].as_array().unwrap().iter().filter(|mode| mode["supported"] == true);
    assert_eq!(modes.map(|mode| mode["type"].as_str().unwrap()).collect::<Vec<_>>(), ["OwnNamespace"]);
    let permissions = &spec["install"]["spec"];
    assert!(permissions["permissions"].to_string().contains("loggers"));
    assert!(!permissions["clusterPermissions"].to_string().contains("loggers"));
}

#[test]
fn projects_that_cannot_be_packaged_are_errors() {
    let error = |sources: &Sources, options: &BundleOptions| {
        olm::bundle(&project(""), &package(), sources, options).unwrap_err()
    };
    let mut unsupported = sources();
    unsupported.resources[0].object["kind"] = json!("DaemonSet");
    let found = error(&unsupported, &BundleOptions::default());
    assert!(matches!(found, BundleError::UnsupportedKind { ref kind, .. } if kind == "DaemonSet"), "{found}");
    let options = BundleOptions { version: Some("1.0".to_owned()), ..BundleOptions::default() };
    assert!(error(&sources(), &options).to_string().starts_with("invalid version `1.0`"));
}

#[test]
fn the_bundle_of_the_logger_operator_passes() {
    let bundle = changed(|_| {});
    assert_eq!(olm::validate(&bundle), []);
    let failed: Vec<_> = olm::scorecard(&bundle).into_iter().filter(|result| result.state == State::Fail).collect();
    assert_eq!(failed, []);
}

fn codes(bundle: &Bundle) -> Vec<&'static str> {
    olm::validate(bundle).iter().map(|finding| finding.code).collect()
}

#[test]
fn each_rule_finds_a_bad_field() {
    let annotation = |name: &str| format!("/annotations/operators.operatorframework.io.bundle.{name}");
    let owned = "/spec/customresourcedefinitions/owned";
    let deployment = "/spec/install/spec/deployments/0";
    let rules = "/spec/install/spec/clusterPermissions/0/rules";
    let examples = "/metadata/annotations/alm-examples";
    let logger = json!({"name": "loggers.example.com", "kind": "Logger", "version": "v1"});
    let webhook = |name: &str, value: Value| {
        let mut webhook = json!({
            "type": "ValidatingAdmissionWebhook",
            "generateName": "loggers.example.com",
            "deploymentName": "logger-operator-controller-manager",
        });
        webhook[name] = value;
        webhook
    };
    let conversion = |names: &[&str]| {
        let mut webhook = webhook("type", json!("ConversionWebhook"));
        webhook["conversionCRDs"] = json!(names);
        json!([webhook])
    };
    let configurations = json!([{"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"]}]);
    let everything = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    let conditions = json!([{"apiGroups": ["operators.coreos.com"], "resources": ["operatorconditions"]}]);
    let unsupported = json!([{"type": "AllNamespaces", "supported": false}]);
    let twice = json!([{"type": "AllNamespaces", "supported": true}, {"type": "AllNamespaces", "supported": true}]);
    for (code, file, pointer, value) in [
        ("annotations-missing", ANNOTATIONS, "/annotations", Value::Null),
        ("annotation-invalid", ANNOTATIONS, &*annotation("mediatype.v1"), json!("plain+v0")),
        ("annotation-invalid", ANNOTATIONS, &*annotation("package.v1"), json!("")),
        ("channel-default", ANNOTATIONS, &*annotation("channel.default.v1"), json!("fast")),
        ("channel-name", ANNOTATIONS, &*annotation("channels.v1"), json!("stable,alpha")),
        ("csv-name", CSV, "/metadata/name", json!("logger-operator")),
        ("csv-package", CSV, "/metadata/name", json!("other.v0.1.0")),
        ("csv-version", CSV, "/spec/version", json!("0.2.0")),
        ("csv-replaces", CSV, "/spec/replaces", json!("logger-operator.v0.1.0")),
        ("csv-field", CSV, "/spec/provider", Value::Null),
        ("csv-maintainer", CSV, "/spec/maintainers", json!([{"name": "Ada"}])),
        ("csv-link", CSV, "/spec/links", json!([{"name": "Source Code", "url": "logger"}])),
        ("csv-capabilities", CSV, "/metadata/annotations/capabilities", json!("Great")),
        ("csv-icon", CSV, "/spec/icon/0/base64data", json!("")),
        ("csv-icon", CSV, "/spec/icon/0/mediatype", json!("image/webp")),
        ("min-kube-version", CSV, "/spec/minKubeVersion", json!("1.30")),
        ("install-modes", CSV, "/spec/installModes", json!([])),
        ("install-modes", CSV, "/spec/installModes", unsupported),
        ("install-modes", CSV, "/spec/installModes", twice),
        ("install-modes", CSV, "/spec/installModes/0/type", json!("Everywhere")),
        ("install-mode-all", CSV, "/spec/installModes", json!([{"type": "OwnNamespace", "supported": true}])),
        ("install-strategy", CSV, "/spec/install/strategy", json!("helm")),
        ("deployment-name", CSV, &*format!("{deployment}/name"), json!("A_b")),
        ("resource-requests", CSV, &*format!("{deployment}/spec/template/spec/containers/0/resources"), json!({})),
        ("crd-permission", CSV, rules, everything),
        ("operator-condition", CSV, rules, conditions),
        ("owned-missing", CSV, &*format!("{owned}/0/version"), json!("v2")),
        ("owned-description", CSV, &*format!("{owned}/0/description"), json!("")),
        ("owned-duplicate", CSV, owned, json!([logger, logger])),
        ("crd-unowned", CSV, owned, json!([])),
        ("examples-invalid", CSV, examples, json!("{")),
        ("example-unowned", CSV, examples, json!(r#"[{"apiVersion": "example.com/v1", "kind": "Other"}]"#)),
        ("example-missing", CSV, examples, json!("[]")),
        ("webhook-deployment", CSV, "/spec/webhookdefinitions", json!([webhook("deploymentName", json!("none"))])),
        ("webhook-name", CSV, "/spec/webhookdefinitions", json!([webhook("generateName", json!("A_b"))])),
        ("webhook-name", CSV, "/spec/webhookdefinitions", json!([webhook("a", json!(1)), webhook("a", json!(1))])),
        ("webhook-conversion", CSV, "/spec/webhookdefinitions", conversion(&["others.example.com"])),
        (
            "webhook-conversion",
            CSV,
            "/spec/webhookdefinitions",
            conversion(&["loggers.example.com", "loggers.example.com"]),
        ),
        ("webhook-rules", CSV, "/spec/webhookdefinitions", json!([webhook("rules", json!([{"apiGroups": ["*"]}]))])),
        ("webhook-rules", CSV, "/spec/webhookdefinitions", json!([webhook("rules", configurations)])),
        ("crd-invalid", DEFINITION, "/spec/versions/0/schema/openAPIV3Schema/type", json!("text")),
        ("namespace-set", SERVICE, "/metadata/namespace", json!("system")),
        ("kind-unsupported", SERVICE, "/kind", json!("DaemonSet")),
        ("object-incomplete", SERVICE, "/metadata/name", json!("")),
        ("budget-blocks-drains", BUDGET, "/spec/minAvailable", json!("100%")),
        ("budget-blocks-drains", BUDGET, "/spec/maxUnavailable", json!(0)),
    ] {
        let bundle = changed(|directory| set(directory, file, pointer, value.clone()));
        assert!(codes(&bundle).contains(&code), "{code}: {pointer} = {value}: {:?}", codes(&bundle));
    }
}

/// Fields of 1,000 characters that cannot be compressed by half.
fn incompressible(fields: usize) -> String {
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap())
    };
    (0..fields).map(|field| format!("  f{field}: {}\n", (0..1000).map(|_| letter()).collect::<String>())).collect()
}

#[test]
fn each_rule_finds_a_bad_file() {
    let write = |directory: &Path, file: &str, text: &str| fs::write(directory.join(file), text).unwrap();
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: logger-operator-controller-manager}\n";
    let fields = incompressible(3000);
    let large = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{fields}");
    let dependency = "dependencies: [{type: olm.package.required, value: {packageName: other, version: '>1.0.0'}}]";
    for (code, file, text) in [
        ("file-undecodable", "manifests/a.yaml", "a: [b"),
        ("object-incomplete", "manifests/a.yaml", "kind: ConfigMap"),
        ("service-account", "manifests/a.yaml", account),
        ("bundle-size", "manifests/a.yaml", &*large),
        ("olm-dependency", "metadata/dependencies.yaml", dependency),
        ("olm-dependency", "metadata/properties.yaml", "properties: [{type: olm.constraint, value: {}}]"),
        ("annotations-missing", ANNOTATIONS, "[]"),
    ] {
        let bundle = changed(|directory| write(directory, file, text));
        assert!(codes(&bundle).contains(&code), "{code}: {:?}", codes(&bundle));
    }
    let copy = |directory: &Path, file: &str| {
        fs::copy(directory.join(file), directory.join("manifests/copy.yaml")).unwrap();
    };
    assert_eq!(codes(&changed(|directory| copy(directory, DEFINITION))), ["crd-duplicate"]);
    assert_eq!(codes(&changed(|directory| copy(directory, CSV))), ["csv-count"]);
    assert_eq!(codes(&changed(|directory| fs::remove_file(directory.join(CSV)).unwrap())), ["csv-count"]);
    let webhooks = changed(|directory| {
        let webhook = json!({
            "type": "MutatingAdmissionWebhook",
            "generateName": "loggers.example.com",
            "deploymentName": "logger-operator-controller-manager",
        });
        set(directory, CSV, "/spec/webhookdefinitions", json!([webhook]));
        set(directory, CSV, "/spec/installModes/0/supported", json!(true));
    });
    assert_eq!(codes(&webhooks), ["webhook-install-modes"]);
    assert!(Bundle::read(Path::new("no-such-directory")).unwrap_err().to_string().contains("no-such-directory"));
}

#[test]
fn findings_are_text_and_json() {
    let findings = olm::validate(&changed(|directory| set(directory, CSV, "/spec/install/strategy", json!("helm"))));
    let Finding { level: _, code, file, field, message, help } = findings[0].clone();
    let expected = json!({
        "level": "error", "code": code, "file": CSV, "field": "spec.install", "message": message, "help": help,
    });
    assert_eq!(json!(findings[0]), expected);
    assert_eq!(findings[0].to_string(), format!("error[install-strategy] {file}: {field}: {message}; {help}"));
}

fn failed(results: &[ScorecardResult]) -> Vec<&'static str> {
    results.iter().filter(|result| result.state == State::Fail).map(|result| result.name).collect()
}

#[test]
fn each_check_of_the_scorecard_can_fail() {
    let owned = "/spec/customresourcedefinitions/owned/0";
    let unknown = r#"[{"apiVersion": "example.com/v1", "kind": "Logger", "spec": {"colour": "red"}}]"#;
    for (name, pointer, value) in [
        ("basic-check-spec", "/metadata/annotations/alm-examples", json!("[]")),
        ("olm-bundle-validation", "/spec/install/strategy", json!("helm")),
        ("olm-crds-have-validation", "/metadata/annotations/alm-examples", json!(unknown)),
        ("olm-crds-have-resources", &*format!("{owned}/resources"), json!([])),
        ("olm-spec-descriptors", &*format!("{owned}/specDescriptors"), json!([])),
        ("olm-status-descriptors", &*format!("{owned}/statusDescriptors"), json!([])),
    ] {
        let results = olm::scorecard(&changed(|directory| set(directory, CSV, pointer, value)));
        assert_eq!(results.len(), 6);
        assert_eq!(failed(&results), [name], "{results:#?}");
    }
}

fn version(version: &str, replaces: Option<&str>) -> Bundle {
    let mut project = project("");
    project.settings.olm.replaces = replaces.map(str::to_owned);
    let options = BundleOptions { version: Some(version.to_owned()), ..BundleOptions::default() };
    let root = write(&olm::bundle(&project, &package(), &sources(), &options).unwrap());
    Bundle::read(&root.path().join("bundle")).unwrap()
}

#[test]
fn bundles_are_appended_to_a_catalog() {
    let options = CatalogOptions { channels: Vec::new(), image: "bundles:1".to_owned() };
    let append = |catalog: &str, bundle: &Bundle, options: &CatalogOptions| {
        olm::append(parse_catalog(catalog).unwrap(), bundle, options)
    };
    let first = append("", &version("0.1.0", None), &options).unwrap();
    let documents = parse_catalog(&first).unwrap();
    let schemas: Vec<_> = documents.iter().map(|document| document["schema"].as_str().unwrap()).collect();
    assert_eq!(schemas, ["olm.package", "olm.channel", "olm.bundle"]);
    assert_eq!(documents[0]["defaultChannel"], "stable");
    let properties = documents[2]["properties"].as_array().unwrap();
    let package = json!({"type": "olm.package", "value": {"packageName": "logger-operator", "version": "0.1.0"}});
    let gvk = json!({"type": "olm.gvk", "value": {"group": "example.com", "kind": "Logger", "version": "v1"}});
    assert!(properties.contains(&package) && properties.contains(&gvk), "{properties:?}");

    assert_eq!(append(&first, &version("0.1.0", None), &options).unwrap(), first, "it contains the bundle");
    let other = CatalogOptions { image: "bundles:2".to_owned(), ..options.clone() };
    let released = append(&first, &version("0.1.0", None), &other);
    assert!(matches!(released, Err(CatalogError::Released(name)) if name == "logger-operator.v0.1.0"));
    let heads = append(&first, &version("0.2.0", None), &other);
    assert!(matches!(heads, Err(CatalogError::Heads { channel, .. }) if channel == "stable"));

    let next = version("0.2.0", Some("logger-operator.v0.1.0"));
    let second = parse_catalog(&append(&first, &next, &other).unwrap()).unwrap();
    let entries = json!([
        {"name": "logger-operator.v0.1.0"},
        {"name": "logger-operator.v0.2.0", "replaces": "logger-operator.v0.1.0"},
    ]);
    assert_eq!((second.len(), &second[1]["entries"]), (4, &entries));
    let fast = CatalogOptions { channels: vec!["fast".to_owned()], ..other };
    let third = parse_catalog(&append(&first, &next, &fast).unwrap()).unwrap();
    let channels: Vec<_> = third.iter().filter(|document| document["schema"] == "olm.channel").collect();
    assert_eq!((channels.len(), &channels[1]["name"]), (2, &json!("fast")));

    let bad = changed(|directory| set(directory, CSV, "/spec/install/strategy", json!("helm")));
    assert!(matches!(append("", &bad, &options), Err(CatalogError::Invalid(_))));
}
