//! Asserts that the modules of `cel` are layers and that the files within a layer have no import cycles.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The layers from bottom to top.
const LAYERS: [&str; 9] =
    ["syntax", "schema", "types", "formats", "checker", "cost", "interpreter", "validation", "policy"];

fn directory() -> PathBuf {
    envtest::workspace_root().unwrap().join("crates/kubewright-crd/src/cel")
}

/// All source files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The module path of a file, such as `["syntax", "lexer"]`.
fn module(file: &Path) -> Vec<String> {
    let relative = file.strip_prefix(directory()).unwrap().with_extension("");
    relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect()
}

/// Splits a use tree at the commas outside of braces.
fn branches(tree: &str) -> Vec<&str> {
    let mut depth = 0;
    let at_comma = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    };
    tree.split(at_comma).map(str::trim).filter(|branch| !branch.is_empty()).collect()
}

/// The paths that a use tree imports.
fn expand(tree: &str) -> Vec<String> {
    let Some((prefix, group)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let group = group.strip_suffix('}').unwrap();
    branches(group).into_iter().flat_map(expand).map(|path| format!("{prefix}{path}")).collect()
}

/// The modules of `cel` that a file imports, outside of its tests.
fn imports(file: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap();
    let module = module(file);
    let parent = module[..module.len() - 1].join("::");
    let statements = code.split(';').filter_map(|statement| {
        let start = statement.find("use ")?;
        statement[..start].trim().is_empty().then(|| statement[start + 4..].to_owned())
    });
    statements
        .flat_map(|tree| expand(tree.trim()))
        .filter_map(|path| match path.strip_prefix("super::") {
            Some(path) => Some(format!("{parent}::{path}")),
            None => path.strip_prefix("crate::cel::").map(str::to_owned),
        })
        .map(|path| path.split("::").map(|part| part.trim().to_owned()).collect())
        .collect()
}

#[test]
fn use_trees_are_expanded() {
    let expanded = expand("crate::cel::{\n    a::{B, c::D},\n    e,\n}");
    assert_eq!(expanded, ["crate::cel::a::B", "crate::cel::a::c::D", "crate::cel::e"]);
}

#[test]
fn layers_import_only_lower_layers() {
    let rank = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let mut imported = 0;
    for file in files(&directory()) {
        let module = module(&file);
        let Some(module_rank) = rank(&module[0]) else { continue };
        for import in imports(&file) {
            let Some(import_rank) = rank(&import[0]) else { continue };
            imported += usize::from(import_rank < module_rank);
            assert!(import_rank <= module_rank, "{} imports {}", module.join("::"), import.join("::"));
        }
    }
    assert!(imported > 50, "{imported} imports of lower layers: the imports are not recognized");
}

#[test]
fn files_of_a_layer_have_no_import_cycle() {
    let modules: BTreeMap<Vec<String>, PathBuf> =
        files(&directory()).into_iter().map(|file| (module(&file), file)).collect();
    let is_leaf =
        |module: &[String]| modules.keys().all(|other| other.len() <= module.len() || other[..module.len()] != *module);
    // A parent module declares and re-exports its children, so only files without children are in the graph.
    let graph: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = modules
        .iter()
        .filter(|(module, _)| is_leaf(module))
        .map(|(module, file)| {
            let imports = imports(file);
            let target = |import: &Vec<String>| {
                (1..=import.len()).rev().map(|length| import[..length].to_vec()).find(|path| modules.contains_key(path))
            };
            let targets = imports.iter().filter_map(target).filter(|target| is_leaf(target) && target != module);
            (module.clone(), targets.collect())
        })
        .collect();
    let mut remaining = graph;
    // Removes files that import none of the remaining ones, until none is left or all are in a cycle.
    loop {
        let removable: Vec<_> = remaining
            .iter()
            .filter(|(_, targets)| targets.iter().all(|target| !remaining.contains_key(target)))
            .map(|(module, _)| module.clone())
            .collect();
        if removable.is_empty() {
            break;
        }
        for module in removable {
            remaining.remove(&module);
        }
    }
    assert!(remaining.is_empty(), "import cycle: {remaining:?}");
}
