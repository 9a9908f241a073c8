//! The bundle of the Logger operator for Operator Lifecycle Manager: the server accepts its objects, and the validator
//! of the Operator Framework accepts and rejects what `cargo xtask bundle validate` accepts and rejects.
//!
//! Without operator-verify the comparison is ignored, and one line describes how to build it. With
//! `KUBEWRIGHT_REQUIRE_TOOLS=1` that is a failure.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use envtest::{ControlPlane, HOW_TO_GET_OPERATOR_VERIFY};
use kubewright_project::olm::{self, Bundle, Level};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde_json::{Value, json};

use super::{
    Suite, external,
    manifests::{accept, kubectl, succeeded},
};

const NAMESPACE: &str = "logger-operator-bundle";
const CSV: &str = "manifests/logger-operator.clusterserviceversion.yaml";
const DEFINITION: &str = "manifests/example.com_loggers.yaml";

/// Changes of one field that make a bundle invalid: the file, the field, and the value, null to remove it.
const INVALID: [(&str, &str, &str); 12] = [
    (CSV, "/metadata/name", r#""logger-operator""#),
    (CSV, "/metadata/annotations/alm-examples", r#""[{""#),
    (CSV, "/metadata/annotations/capabilities", r#""Autopilot""#),
    (CSV, "/spec/version", r#""0.1""#),
    (CSV, "/spec/minKubeVersion", r#""1.x""#),
    (CSV, "/spec/installModes", "null"),
    (CSV, "/spec/install/strategy", r#""helm""#),
    (CSV, "/spec/customresourcedefinitions/owned", "[]"),
    (CSV, "/spec/customresourcedefinitions/owned/0/name", r#""loggers""#),
    (CSV, "/spec/customresourcedefinitions/owned/0/version", r#""v9""#),
    (DEFINITION, "/spec/names/plural", r#""lumberjacks""#),
    (DEFINITION, "/spec/versions/1/storage", "false"),
];

pub(super) fn trials(suite: &Arc<Suite>, arguments: &Arguments) -> Result<[Trial; 2], Box<dyn Error>> {
    let program = find(arguments)?;
    Ok([
        suite.ignorable_test("olm::the_server_accepts_every_object_of_the_bundle", |environment| {
            the_server_accepts_every_object_of_the_bundle(&environment.control_plane)
        }),
        Trial::ignorable_test("olm::the_validator_of_the_operator_framework_agrees", move || match program {
            Some(program) => the_validator_of_the_operator_framework_agrees(&program).map(|()| Completion::Completed),
            None => Ok(Completion::ignored_with("no operator-verify")),
        }),
    ])
}

/// Finds operator-verify; `None` if there is none, and none is required.
fn find(arguments: &Arguments) -> Result<Option<PathBuf>, Box<dyn Error>> {
    let program = envtest::find_operator_verify()?;
    if program.is_none() && env::var_os("KUBEWRIGHT_REQUIRE_TOOLS").is_some_and(|value| value == "1") {
        let problem = "olm: KUBEWRIGHT_REQUIRE_TOOLS is 1, but there is no operator-verify";
        return Err(format!("{problem}; {HOW_TO_GET_OPERATOR_VERIFY}").into());
    }
    if program.is_none() && !arguments.list {
        eprintln!("SKIPPED olm (1 test): there is no operator-verify; {HOW_TO_GET_OPERATOR_VERIFY}");
    }
    Ok(program)
}

fn directory() -> PathBuf {
    tests::workspace_root().join("bundle")
}

fn read(path: &Path) -> Result<Value, Failed> {
    Ok(serde_saphyr::from_str(&fs::read_to_string(path)?)?)
}

fn the_server_accepts_every_object_of_the_bundle(control_plane: &ControlPlane) -> Result<Completion, Failed> {
    if !external::install(control_plane)? {
        return Ok(Completion::ignored_with("no definitions of other projects"));
    }
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    succeeded(&kubectl(control_plane, &["apply", "--server-side", "-f", "-"], &namespace)?)?;
    let result = bundled_objects().and_then(|objects| {
        let kinds: Vec<_> = objects.iter().filter_map(|object| object["kind"].as_str()).collect();
        for kind in ["ClusterServiceVersion", "ServiceMonitor", "PrometheusRule", "ClusterExtension"] {
            assert!(kinds.contains(&kind), "no {kind} in {kinds:?}");
        }
        objects.iter().try_for_each(|object| accept(control_plane, object))
    });
    succeeded(&kubectl(control_plane, &["delete", "--wait=false", "-f", "-"], &namespace)?)?;
    result.map(|()| Completion::Completed)
}

/// Returns the objects of the bundle but the definition, which other trials apply, and the documented ClusterExtension.
fn bundled_objects() -> Result<Vec<Value>, Failed> {
    let mut objects = Vec::new();
    for entry in fs::read_dir(directory().join("manifests"))? {
        let mut object = read(&entry?.path())?;
        if object["kind"] != "CustomResourceDefinition" {
            let is_namespaced = object["kind"] != "ClusterRole";
            object["metadata"]["namespace"] = if is_namespaced { json!(NAMESPACE) } else { Value::Null };
            objects.push(object);
        }
    }
    let page = fs::read_to_string(tests::workspace_root().join("docs/guides/olm.md"))?;
    let (_, example) = page.split_once("```yaml\n").ok_or("the page has an example")?;
    let (example, _) = example.split_once("```").ok_or("the example ends")?;
    objects.push(serde_saphyr::from_str(example)?);
    Ok(objects)
}

fn the_validator_of_the_operator_framework_agrees(program: &Path) -> Result<(), Failed> {
    let errors = verify(program, &directory())?;
    assert!(errors.is_empty(), "{errors}");
    for (file, field, value) in INVALID {
        let copy = changed(file, field, serde_json::from_str(value)?)?;
        let theirs = verify(program, copy.path())?;
        assert!(!theirs.is_empty(), "operator-verify accepts {file}: {field} = {value}");
        let ours = olm::validate(&Bundle::read(copy.path())?);
        let has_error = ours.iter().any(|finding| finding.level == Level::Error);
        assert!(has_error, "without an error of ours: {file}: {field} = {value}: {theirs}");
    }
    Ok(())
}

/// Returns the errors that operator-verify finds in a bundle.
fn verify(program: &Path, bundle: &Path) -> Result<String, Failed> {
    let output = Command::new(program)
        .args(["manifests", "--operatorhub_validate", "--object_validate"])
        .arg(bundle)
        .output()?;
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_error = |line: &&str| line.contains("level=error") || line.contains("level=fatal");
    let errors: Vec<_> = printed.lines().filter(is_error).collect();
    if errors.is_empty() && !output.status.success() {
        return Err(format!("operator-verify: {}\n{printed}", output.status).into());
    }
    Ok(errors.join("\n"))
}

/// Copies the bundle with a changed field.
fn changed(file: &str, field: &str, value: Value) -> Result<tempfile::TempDir, Failed> {
    let copy = tempfile::tempdir()?;
    for part in ["manifests", "metadata"] {
        fs::create_dir(copy.path().join(part))?;
        for entry in fs::read_dir(directory().join(part))? {
            let entry = entry?;
            fs::copy(entry.path(), copy.path().join(part).join(entry.file_name()))?;
        }
    }
    let path = copy.path().join(file);
    let mut object = read(&path)?;
    let (parent, name) = field.rsplit_once('/').ok_or("a pointer has a slash")?;
    let parent = object.pointer_mut(parent).and_then(Value::as_object_mut).ok_or("the field has a parent")?;
    match value {
        Value::Null => drop(parent.remove(name).ok_or("the field exists")?),
        value => drop(parent.insert(name.to_owned(), value)),
    }
    fs::write(&path, serde_saphyr::to_string(&object)?)?;
    Ok(copy)
}
