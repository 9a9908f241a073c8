//! One style of imports: the items of a crate are in one nested `use` declaration.

use std::collections::BTreeMap;

use syn::{Item, UseTree, Visibility};
use tidy::{assert_none, files, read};

/// The mark of generated files, which import each item by itself so that they differ in few lines.
const GENERATED: &str = "// @generated";

/// Directories with the sources of other projects: compile-fail cases, corpora and generated APIs.
const OTHER_PROJECTS: [&str; 4] = [
    "tests/ui/cases/",
    "tests/tests/hygiene/",
    "crates/kubewright-crd/tests/shapes/",
    "crates/kubewright-codegen/tests/import/",
];

/// Returns the crates that several private `use` declarations of a module name, without those under attributes.
fn repeated(items: &[Item]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for item in items {
        let Item::Use(import) = item else { continue };
        if let (UseTree::Path(path), Visibility::Inherited, []) = (&import.tree, &import.vis, &import.attrs[..]) {
            *counts.entry(path.ident.to_string()).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(root, _)| root).collect()
}

#[test]
fn every_file_imports_a_crate_once() {
    let is_other = |file: &String| OTHER_PROJECTS.iter().any(|directory| file.starts_with(directory));
    let mut violations = Vec::new();
    for file in files("rs").iter().filter(|file| !is_other(file)) {
        let source = read(file);
        if source.starts_with(GENERATED) {
            continue;
        }
        let parsed = syn::parse_file(&source).unwrap_or_else(|error| panic!("{file}: {error}"));
        violations.extend(repeated(&parsed.items).iter().map(|root| format!("{file}: `{root}`")));
    }
    assert_none("crates with several `use` declarations; nest them in one", &violations);
}

#[test]
fn declarations_with_a_visibility_or_an_attribute_are_separate() {
    let source = "use std::fmt; use std::io; pub use kube::Client; use kube::Api; use a::b; #[cfg(test)] use a::c;";
    assert_eq!(repeated(&syn::parse_file(source).unwrap().items), ["std"]);
}
