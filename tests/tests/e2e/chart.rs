//! The chart of the Logger operator: helm renders every combination of its switches and lints those that differ from
//! all or none by two, the defaults render the objects of `config/default`, and the server accepts every object.
//!
//! Without helm the tests are ignored, and one line describes how to build it. With `KUBEWRIGHT_REQUIRE_TOOLS=1` that
//! is a failure.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    error::Error,
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use envtest::{ControlPlane, HOW_TO_GET_HELM};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    Suite, external,
    manifests::{accept, built, is_appliable, kubectl, succeeded},
};

const RELEASE: &str = "logger-operator";
/// The namespace of `config/default`.
const CONFIGURED_NAMESPACE: &str = "logger-operator-system";
/// The namespace of the dry run.
const NAMESPACE: &str = "logger-operator-chart";
const PROCESSES: usize = 2;
const MAX_SWITCHES: usize = 12;

/// The kinds of `config/default` that a release with default values lacks, each with the reason.
const DIFFERENCES: [(&str, &str); 2] = [
    ("Namespace", "helm creates the namespace of a release"),
    ("CustomResourceDefinition", "a Job applies the definitions, so that they outlive the release"),
];

pub(super) fn trials(suite: &Arc<Suite>, arguments: &Arguments) -> Result<[Trial; 3], Box<dyn Error>> {
    let chart = Chart::find(arguments)?.map(Arc::new);
    let (linted, compared, applied) = (chart.clone(), chart.clone(), chart);
    Ok([
        Trial::ignorable_test("chart::helm_lints_every_pair_of_switches", move || {
            with(linted, helm_lints_every_pair_of_switches)
        }),
        suite.ignorable_test("chart::the_defaults_render_the_configuration", move |environment| {
            with(compared, |chart| the_defaults_render_the_configuration(chart, &environment.control_plane))
        }),
        suite.ignorable_test("chart::the_server_accepts_every_rendered_object", move |environment| {
            with(applied, |chart| the_server_accepts_every_rendered_object(chart, &environment.control_plane))
        }),
    ])
}

fn with(chart: Option<Arc<Chart>>, run: impl FnOnce(&Chart) -> Result<(), Failed>) -> Result<Completion, Failed> {
    match chart {
        Some(chart) => run(&chart).map(|()| Completion::Completed),
        None => Ok(Completion::ignored_with("no helm")),
    }
}

/// The chart, and helm with an empty configuration.
struct Chart {
    helm: PathBuf,
    home: TempDir,
    directory: PathBuf,
}

impl Chart {
    /// Finds helm; `None` if there is none, and none is required.
    fn find(arguments: &Arguments) -> Result<Option<Self>, Box<dyn Error>> {
        if let Some(helm) = envtest::find_helm()? {
            let directory = tests::workspace_root().join("charts").join(RELEASE);
            return Ok(Some(Chart { helm, home: tempfile::tempdir()?, directory }));
        }
        if env::var_os("KUBEWRIGHT_REQUIRE_TOOLS").is_some_and(|value| value == "1") {
            return Err(format!("chart: KUBEWRIGHT_REQUIRE_TOOLS is 1, but there is no helm; {HOW_TO_GET_HELM}").into());
        }
        if !arguments.list {
            eprintln!("SKIPPED chart (3 tests): there is no helm; {HOW_TO_GET_HELM}");
        }
        Ok(None)
    }

    /// Returns what helm prints.
    fn run(&self, args: &[&str]) -> Result<String, Failed> {
        let mut command = Command::new(&self.helm);
        command.args(args).stdin(Stdio::null()).env_remove("KUBECONFIG");
        for variable in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            command.env(variable, self.home.path());
        }
        let output = command.output()?;
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        match output.status.success() {
            true => Ok(stdout.into_owned()),
            false => Err(format!("helm {}: {}\n{stdout}{stderr}", args.join(" "), output.status).into()),
        }
    }

    fn path(&self) -> String {
        self.directory.display().to_string()
    }

    /// Returns the objects of a release.
    fn render(&self, namespace: &str, values: &str) -> Result<Vec<Value>, Failed> {
        let path = self.path();
        let printed = self.run(&["template", RELEASE, &path, "--namespace", namespace, "--set", values])?;
        objects(&printed)
    }

    /// Returns the boolean values.
    fn switches(&self) -> Result<Vec<String>, Failed> {
        let values: BTreeMap<String, Value> =
            serde_saphyr::from_str(&fs::read_to_string(self.directory.join("values.yaml"))?)?;
        let groups = values.iter().filter_map(|(group, values)| Some((group, values.as_object()?)));
        let values = groups.flat_map(|(group, values)| values.iter().map(move |(name, value)| (group, name, value)));
        let switches: Vec<_> = values
            .filter(|(_, _, value)| value.is_boolean())
            .map(|(group, name, _)| format!("{group}.{name}"))
            .collect();
        match switches.len() {
            count if (1..=MAX_SWITCHES).contains(&count) => Ok(switches),
            count => Err(format!("{count} switches have too few or too many combinations").into()),
        }
    }

    /// Calls a function with the combinations of switches that are selected by the numbers of those on and off, as the
    /// option `--set`.
    fn each_combination<T: Send>(
        &self,
        is_selected: fn(u32, u32) -> bool,
        run: impl Fn(&str) -> Result<T, Failed> + Sync,
    ) -> Result<Vec<T>, Failed> {
        let switches = self.switches()?;
        let combinations: Vec<u32> = (0..1 << switches.len())
            .filter(|on: &u32| is_selected(on.count_ones(), switches.len() as u32 - on.count_ones()))
            .collect();
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let worker = || {
            while let Some(combination) = combinations.get(next.fetch_add(1, Ordering::Relaxed)) {
                let values = switches.iter().enumerate().map(|(index, name)| {
                    let is_on = combination & (1 << index) != 0;
                    format!("{name}={is_on}")
                });
                let result = run(&values.collect::<Vec<_>>().join(","));
                results.lock().push(result);
            }
        };
        thread::scope(|scope| (0..PROCESSES).for_each(|_| drop(scope.spawn(worker))));
        results.into_inner().into_iter().collect()
    }
}

/// Parses the documents of a stream of YAML.
fn objects(text: &str) -> Result<Vec<Value>, Failed> {
    let has_object = |document: &&str| document.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let text = format!("\n{text}");
    let documents = text.split("\n---\n").filter(has_object);
    documents.map(|document| Ok(serde_saphyr::from_str(document)?)).collect()
}

fn helm_lints_every_pair_of_switches(chart: &Chart) -> Result<(), Failed> {
    let path = chart.path();
    let lint = |values: &str| chart.run(&["lint", "--strict", "--quiet", &path, "--set", values]);
    chart.each_combination(|on, off| on.min(off) <= 2, lint).map(drop)
}

fn the_defaults_render_the_configuration(chart: &Chart, control_plane: &ControlPlane) -> Result<(), Failed> {
    let configured = by_name(built(control_plane)?);
    let mut expected = configured.clone();
    for (kind, reason) in DIFFERENCES {
        let before = expected.len();
        expected.retain(|_, object| object["kind"] != kind);
        assert_ne!(expected.len(), before, "{kind} is no longer a difference: {reason}");
    }
    let defaults = chart.render(CONFIGURED_NAMESPACE, "")?;
    assert!(defaults.iter().any(is_hook), "a Job applies the definitions");
    assert_same(&by_name(defaults), &expected);
    // Definitions that are templates are those of the configuration, too.
    let mut expected = configured;
    expected.retain(|_, object| object["kind"] != "Namespace");
    assert_same(&by_name(chart.render(CONFIGURED_NAMESPACE, "crds.job=false,crds.keep=false")?), &expected);
    Ok(())
}

fn assert_same(ours: &BTreeMap<String, Value>, expected: &BTreeMap<String, Value>) {
    assert_eq!(ours.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, object) in ours {
        assert_eq!(object, &expected[name], "{name}");
    }
}

/// The objects that exist as long as the release, without the labels of the release, by kind and name.
fn by_name(objects: Vec<Value>) -> BTreeMap<String, Value> {
    let lasting = objects.into_iter().filter(|object| !is_hook(object));
    let entry = |mut object: Value| {
        remove_release_labels(&mut object);
        (format!("{} {}", object["kind"], object["metadata"]["name"]), object)
    };
    lasting.map(entry).collect()
}

/// Returns whether the object exists only during an install or an upgrade.
fn is_hook(object: &Value) -> bool {
    object["metadata"]["annotations"].get("helm.sh/hook").is_some()
}

fn remove_release_labels(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for label in ["app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "helm.sh/chart"] {
                map.remove(label);
            }
            map.values_mut().for_each(remove_release_labels);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_release_labels),
        _ => {}
    }
}

/// Applies the different objects of all combinations in a strict dry run.
fn the_server_accepts_every_rendered_object(chart: &Chart, control_plane: &ControlPlane) -> Result<(), Failed> {
    let rendered = chart.each_combination(|_, _| true, |values| chart.render(NAMESPACE, values))?;
    let is_installed = external::install(control_plane)?;
    let distinct: BTreeMap<String, &Value> = rendered
        .iter()
        .flatten()
        .filter(|object| is_appliable(object, is_installed))
        .map(|object| (object.to_string(), object))
        .collect();
    let kinds: BTreeSet<_> = distinct.values().filter_map(|object| object["kind"].as_str()).collect();
    for kind in ["Deployment", "Job", "Role", "ClusterRole", "NetworkPolicy", "PodDisruptionBudget", "Service"] {
        assert!(kinds.contains(kind), "no {kind} is rendered");
    }
    let labels = ["enforce", "warn"].map(|mode| (format!("pod-security.kubernetes.io/{mode}"), json!("restricted")));
    let labels = serde_json::Map::from_iter(labels);
    let metadata = json!({"name": NAMESPACE, "labels": labels});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
    succeeded(&kubectl(control_plane, &["apply", "--server-side", "-f", "-"], &namespace)?)?;
    let list = json!({"apiVersion": "v1", "kind": "List", "items": distinct.into_values().collect::<Vec<_>>()});
    let result = accept(control_plane, &list);
    succeeded(&kubectl(control_plane, &["delete", "--wait=false", "-f", "-"], &namespace)?)?;
    result
}
