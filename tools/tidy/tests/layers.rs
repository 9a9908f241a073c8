//! Folders are layers: a module imports only from its own layer and from those below, and modules have no import
//! cycles.

use std::collections::{BTreeMap, BTreeSet};

use tidy::{assert_none, modules, modules::Module};

/// A crate with the layers of its top-level modules, lowest first.
type Layers = (&'static str, &'static [&'static [&'static str]]);

const CRATES: [Layers; 8] = [
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
            &["api", "output"],
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

#[test]
fn modules_import_only_from_below() {
    for (directory, layers) in CRATES {
        let rank = |module: &str| layers.iter().position(|layer| layer.contains(&module));
        let modules = modules::of_crate(directory);
        assert!(modules.len() > 8, "{directory} has {} modules", modules.len());
        let mut violations = Vec::new();
        for module in modules.iter().filter(|module| !module.path.is_empty()) {
            let own = &module.path[0];
            let Some(own_rank) = rank(own) else {
                violations.push(format!("{}: `{own}` is in no layer", module.file));
                continue;
            };
            for (path, line) in &module.references {
                let Some(target) = path.first().filter(|target| *target != own) else { continue };
                match rank(target) {
                    Some(rank) if rank <= own_rank => {}
                    Some(_) => violations.push(format!("{}:{line}: `{target}` is above `{own}`", module.file)),
                    None => violations.push(format!("{}:{line}: `crate::{target}` is in no layer", module.file)),
                }
            }
        }
        assert_none(&format!("violations of the layers of {directory}"), &violations);
    }
}

#[test]
fn top_level_modules_have_no_import_cycles() {
    for (directory, _) in CRATES {
        let imports = imports(&modules::of_crate(directory));
        let mut remaining: BTreeSet<&String> = imports.keys().collect();
        // Modules without a remaining import are removed until none is left, or only cycles are.
        while let Some(free) =
            remaining.iter().copied().find(|module| imports[*module].iter().all(|target| !remaining.contains(target)))
        {
            remaining.remove(free);
        }
        assert!(remaining.is_empty(), "{directory} has an import cycle among {remaining:?}");
    }
}

/// Returns the other top-level modules that each top-level module imports.
fn imports(modules: &[Module]) -> BTreeMap<String, BTreeSet<String>> {
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for module in modules.iter().filter(|module| !module.path.is_empty()) {
        let targets = module.references.iter().filter_map(|(path, _)| path.first().cloned());
        let own = &module.path[0];
        imports.entry(own.clone()).or_default().extend(targets.filter(|target| target != own));
    }
    let known: BTreeSet<String> = imports.keys().cloned().collect();
    imports.values_mut().for_each(|targets| targets.retain(|target| known.contains(target)));
    imports
}

#[test]
fn every_layer_exists() {
    for (directory, layers) in CRATES {
        let modules = modules::of_crate(directory);
        for name in layers.iter().flat_map(|layer| layer.iter()) {
            assert!(modules.iter().any(|module| module.path == [*name]), "{directory} has no module `{name}`");
        }
    }
}
