//! Folders are layers: a module imports only from its own layer and from those below, and modules have no import
//! cycles.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use tidy::{assert_none, modules, modules::Module};

/// A crate with the layers of its top-level modules, lowest first.
type Layers = (&'static str, &'static [&'static [&'static str]]);

const CRATES: [Layers; 11] = [
    (
        "logger-derive",
        &[&["grammar"], &["errors", "crate_path"], &["attr"], &["model"], &["check", "emit"], &["expand"]],
    ),
    (
        "crates/kubewright-core",
        &[
            &["group_version", "condition", "grammar", "description", "wire"],
            &["deep_copy", "defaults", "nullable", "apply"],
            &["meta"],
            &["object", "schema", "verbs"],
            &["unstructured", "validation", "built_in"],
            &["scheme"],
            &["adopt", "conversion"],
        ],
    ),
    (
        "logger-operator",
        &[
            &["reason", "names", "metrics", "spec"],
            &["children", "validation"],
            &["readiness"],
            &["status"],
            &["options"],
            &["reconcile", "default_logger"],
            &["webhooks"],
            &["observability"],
            &["operator"],
        ],
    ),
    (
        "logger-agent",
        &[
            &["interface", "record", "file_system"],
            &["metrics", "segment", "deduplication"],
            &["journal", "verify"],
            &["health", "sources"],
            &["server"],
            &["agent"],
            &["cli"],
        ],
    ),
    (
        "crates/kubewright-apiserver",
        &[
            &["api"],
            &["wire"],
            &["authorization"],
            &["resource"],
            &["authentication"],
            &["storage"],
            &["lifecycle"],
            &["controllers"],
            &["handlers"],
            &["response"],
            &["meta"],
            &["server"],
            &["testing"],
        ],
    ),
    (
        "crates/kubewright-codegen",
        &[
            &["crates", "names", "parallel", "diagnostic", "layout", "schema_path"],
            &["api", "output", "snippet"],
            &["apply", "crd", "explain"],
            &["emit", "docs", "import", "policy"],
            &["generate"],
            &["cli"],
        ],
    ),
    (
        "crates/kubewright-crd",
        &[
            &["go", "schema", "quantity", "pattern"],
            &["field"],
            &["cel"],
            &["policy"],
            &["value"],
            &["structural", "validator"],
            &["definition"],
            &["diff"],
        ],
    ),
    (
        "crates/kubewright-runtime",
        &[
            &["retry"],
            &["object", "error", "metrics", "signal"],
            &["client", "decode", "workqueue", "leader_election"],
            &["events", "sharding"],
            &["memory"],
            &["reflector"],
            &["store"],
            &["informer"],
            &["factory"],
            &["controller"],
        ],
    ),
    (
        "crates/kubewright-manager",
        &[&["health", "crds"], &["serving"], &["webhooks"], &["manager"], &["telemetry"], &["operator"]],
    ),
    (
        "crates/kubewright-project",
        &[&["settings", "rbac"], &["config"], &["helm", "scaffold"], &["workspace"], &["deploy", "olm"], &["cli"]],
    ),
    (
        "crates/kubewright-simulator",
        &[&["model"], &["environment"], &["controllers", "scheduler", "node_lifecycle", "kubelet"], &["cluster"]],
    ),
];

/// The modules of each crate of [`CRATES`].
static MODULES: LazyLock<[Vec<Module>; CRATES.len()]> =
    LazyLock::new(|| CRATES.map(|(directory, _)| modules::of_crate(directory)));

/// Returns each crate with its layers and its modules.
fn crates() -> impl Iterator<Item = (Layers, &'static [Module])> {
    CRATES.into_iter().zip(MODULES.iter().map(Vec::as_slice))
}

#[test]
fn modules_import_only_from_below() {
    for ((directory, layers), modules) in crates() {
        let rank = |module: &str| layers.iter().position(|layer| layer.contains(&module));
        assert!(modules.len() > 8, "{directory} has {} modules", modules.len());
        let mut violations = Vec::new();
        for module in modules.iter().filter(|module| !module.path.is_empty()) {
            let source = &module.path[0];
            let Some(source_rank) = rank(source) else {
                violations.push(format!("{}: `{source}` is in no layer", module.file));
                continue;
            };
            for (path, line) in &module.references {
                let Some(target) = path.first().filter(|target| *target != source) else { continue };
                match rank(target) {
                    Some(rank) if rank <= source_rank => {}
                    Some(_) => violations.push(format!("{}:{line}: `{target}` is above `{source}`", module.file)),
                    None => violations.push(format!("{}:{line}: `crate::{target}` is in no layer", module.file)),
                }
            }
        }
        assert_none(&format!("violations of the layers of {directory}"), &violations);
    }
}

#[test]
fn top_level_modules_have_no_import_cycles() {
    for ((directory, _), modules) in crates() {
        let circles = circles(&imports(modules, |path| path.get(..1).map(<[_]>::to_vec)));
        assert!(circles.is_empty(), "{directory} has import cycles: {circles:?}");
    }
}

#[test]
fn files_have_no_import_cycles() {
    let mut cycles = Vec::new();
    for ((directory, _), modules) in crates() {
        let paths: BTreeSet<&Vec<String>> = modules.iter().map(|module| &module.path).collect();
        let file = |path: &[String]| (0..=path.len()).rev().map(|n| path[..n].to_vec()).find(|p| paths.contains(p));
        for circle in circles(&imports(modules, file)) {
            let names: Vec<String> = circle.iter().map(|path| path.join("::")).collect();
            cycles.push(format!("{directory}: {}", names.join(", ")));
        }
    }
    assert_none("import cycles among files", &cycles);
}

type Imports = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

/// Returns the other modules that each module imports, with the paths that `reduce` maps to. A parent and its child may
/// import each other.
fn imports(modules: &[Module], reduce: impl Fn(&[String]) -> Option<Vec<String>>) -> Imports {
    let mut imports = Imports::new();
    for module in modules {
        let Some(source) = reduce(&module.path) else { continue };
        let is_parent =
            |parent: &[String], child: &[String]| child.split_last().is_some_and(|(_, rest)| rest == parent);
        let targets = module
            .references
            .iter()
            .filter_map(|(path, _)| reduce(path))
            .filter(|target| *target != source && !is_parent(target, &source) && !is_parent(&source, target));
        let targets: Vec<_> = targets.collect();
        imports.entry(source).or_default().extend(targets);
    }
    let known: BTreeSet<Vec<String>> = imports.keys().cloned().collect();
    imports.values_mut().for_each(|targets| targets.retain(|target| known.contains(target)));
    imports
}

/// Returns the groups of modules that import each other, directly or through others.
fn circles(imports: &Imports) -> BTreeSet<BTreeSet<Vec<String>>> {
    let reachable = |start: &Vec<String>| {
        let (mut reached, mut pending) = (BTreeSet::new(), vec![start]);
        while let Some(module) = pending.pop() {
            pending.extend(imports[module].iter().filter(|target| reached.insert((*target).clone())));
        }
        reached
    };
    let reachable: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
        imports.keys().map(|module| (module, reachable(module))).collect();
    let circle = |module: &&Vec<String>| {
        let others = reachable[*module].iter().filter(|other| reachable[*other].contains(*module));
        others.cloned().collect::<BTreeSet<_>>()
    };
    imports.keys().map(|module| circle(&module)).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn every_layer_exists() {
    for ((directory, layers), modules) in crates() {
        for name in layers.iter().flat_map(|layer| layer.iter()) {
            assert!(modules.iter().any(|module| module.path == [*name]), "{directory} has no module `{name}`");
        }
    }
}
