//! The source of a module: its header, imports and items.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;

use super::{
    super::model::{Body, Module, Type},
    item::item,
    kind,
    scope::Scope,
};
use crate::diagnostic::Diagnostics;

/// Returns the source of a module.
pub(in super::super) fn module(module: &Module, errors: &mut Diagnostics) -> String {
    let scope = Scope::new(module);
    let mut source = header(module, &scope);
    let mut items: Vec<TokenStream> = Vec::new();
    for i in 0..module.types.items.len() {
        match module.kinds.iter().find(|kind| kind.item == i) {
            Some(kind) => items.extend(kind::items(kind, i, &scope)),
            None => items.extend(item(i, &scope)),
        }
    }
    items.push(kind::group_version(module, &scope));
    for item in items {
        source.push('\n');
        match syn::parse2(item) {
            Ok(file) => source.push_str(&prettyplease::unparse(&file)),
            Err(error) => errors.push(module.group.as_str(), format!("the imported module is not valid Rust: {error}")),
        }
    }
    source
}

/// Returns the documentation of the module, its lint attributes and its imports.
fn header(module: &Module, scope: &Scope<'_>) -> String {
    let Module { group, version, kinds, .. } = module;
    let mut lines = vec![
        format!("//! Version `{version}` of group `{group}`, imported with `cargo xtask crd import`."),
        "// Documentation and names are those of the definition.".to_owned(),
        "#![allow(missing_docs, rustdoc::bare_urls, rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]"
            .to_owned(),
        "#![allow(rustdoc::invalid_rust_codeblocks)]".to_owned(),
        "#![allow(clippy::doc_lazy_continuation, clippy::doc_link_with_quotes, clippy::needless_doctest_main, clippy::doc_markdown)]".to_owned(),
        "#![allow(clippy::doc_overindented_list_items, clippy::enum_variant_names, clippy::large_enum_variant)]"
            .to_owned(),
        "#![allow(clippy::struct_excessive_bools, clippy::struct_field_names, clippy::too_long_first_doc_paragraph)]"
            .to_owned(),
    ];
    if kinds.iter().any(|kind| kind.deprecated.is_some()) {
        lines.push("#![allow(deprecated)]".to_owned());
    }
    lines.push(String::new());
    let (std, others) = imports(module, scope);
    if !std.is_empty() {
        lines.extend(std);
        lines.push(String::new());
    }
    lines.extend(others);
    lines.join("\n") + "\n"
}

/// Returns the imports from the standard library, and all others.
fn imports(module: &Module, scope: &Scope<'_>) -> (Vec<String>, Vec<String>) {
    let types = &module.types;
    let is_open = types.items.iter().any(|item| matches!(item.body, Body::Struct { open: true, .. }));
    let lacks_status = module.kinds.iter().any(|kind| kind::lacks_status(kind, types));
    let (mut has_maps, mut has_json) = (is_open, is_open || lacks_status);
    types.for_each_type(&mut |ty| match ty {
        Type::Map(_) => has_maps = true,
        Type::Json => has_json = true,
        _ => {}
    });
    let mut paths: Vec<String> = Vec::new();
    let meta = "k8s_openapi::apimachinery::pkg::apis::meta::v1";
    paths.push(format!("{meta}::ObjectMeta"));
    paths.extend(types.kubernetes().iter().map(|known| format!("{}::{}", known.module, known.name)));
    paths.push("kubewright_core::ApiObject".to_owned());
    if module.kinds.iter().any(|kind| kind::has_own_list(kind, &scope.items[kind.item])) {
        paths.push(format!("{meta}::ListMeta"));
        paths.extend(["DeepCopy", "ObjectList"].map(|name| format!("kubewright_core::{name}")));
    }
    if types.items.len() > module.kinds.len() {
        paths.push("kubewright_core::ApiType".to_owned());
        paths.extend(["Deserialize", "Serialize"].map(|name| format!("serde::{name}")));
    }
    paths.extend(has_json.then(|| "serde_json::Value".to_owned()));
    let std = has_maps.then(|| "std::collections::BTreeMap".to_owned()).into_iter().collect();
    (use_items(std, scope), use_items(paths, scope))
}

/// Returns one `use` for each module.
fn use_items(paths: Vec<String>, scope: &Scope<'_>) -> Vec<String> {
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in paths.into_iter().filter(|path| scope.is_importable(path)) {
        let (module, name) = path.rsplit_once("::").unwrap_or(("", &path));
        modules.entry(module.to_owned()).or_default().insert(name.to_owned());
    }
    let line = |(module, names): (String, BTreeSet<String>)| {
        let names: Vec<String> = names.into_iter().collect();
        match names.as_slice() {
            [only] => format!("use {module}::{only};"),
            names => format!("use {module}::{{{}}};", names.join(", ")),
        }
    };
    modules.into_iter().map(line).collect()
}
