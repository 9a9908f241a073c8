//! The modules of a crate and the paths that each names.

use std::path::{Path, PathBuf};

use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, visit::Visit};

/// One module of a crate that is compiled outside tests.
#[derive(Debug)]
pub struct Module {
    /// The file, relative to the root of the workspace.
    pub file: String,
    /// The path within the crate, such as `["store", "table"]`; empty for `lib.rs`.
    pub path: Vec<String>,
    /// The paths within the crate that the module names, with the line of each.
    pub references: Vec<(Vec<String>, usize)>,
}

/// Reads the modules of a crate, from its `src/lib.rs` on. Modules and items under `#[cfg(test)]` are left out.
///
/// # Panics
/// If a file cannot be read or parsed.
#[must_use]
pub fn of_crate(directory: &str) -> Vec<Module> {
    let root = crate::workspace_root();
    let mut modules = Vec::new();
    let mut pending = vec![(root.join(directory).join("src/lib.rs"), Vec::new())];
    while let Some((file, path)) = pending.pop() {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut references = References { module: path.clone(), found: Vec::new(), children: Vec::new() };
        references.visit_file(&parsed);
        for child in references.children {
            let below = [&path[..], std::slice::from_ref(&child)].concat();
            pending.push((file_of(&file, path.is_empty(), &child), below));
        }
        let file = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        modules.push(Module { file, path, references: references.found });
    }
    modules.sort_by(|left, right| left.file.cmp(&right.file));
    modules
}

fn file_of(parent: &Path, is_root: bool, child: &str) -> PathBuf {
    let directory = if is_root { parent.with_file_name("") } else { parent.with_extension("") };
    let flat = directory.join(format!("{child}.rs"));
    if flat.exists() { flat } else { directory.join(child).join("mod.rs") }
}

/// Collects the paths of one file.
struct References {
    module: Vec<String>,
    found: Vec<(Vec<String>, usize)>,
    children: Vec<String>,
}

impl References {
    /// Resolves `crate::..`, `super::..` and `self::..`; other paths name other crates or items in scope.
    fn add(&mut self, segments: &[String], line: usize) {
        let mut path = self.module.clone();
        let mut rest = segments;
        match rest.first().map(String::as_str) {
            Some("crate") => path.clear(),
            Some("self" | "super") => {}
            _ => return,
        }
        while let Some(first) =
            rest.first().map(String::as_str).filter(|first| ["crate", "self", "super"].contains(first))
        {
            if first == "super" {
                path.pop();
            }
            rest = &rest[1..];
        }
        path.extend_from_slice(rest);
        self.found.push((path, line));
    }

    fn add_tree(&mut self, prefix: &[String], tree: &UseTree, line: usize) {
        let with = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&with(&path.ident), &path.tree, line),
            UseTree::Name(name) => self.add(&with(&name.ident), line),
            UseTree::Rename(rename) => self.add(&with(&rename.ident), line),
            UseTree::Glob(_) => self.add(prefix, line),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_tree(prefix, tree, line)),
        }
    }
}

impl<'ast> Visit<'ast> for References {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if module.content.is_none() {
            self.children.push(module.ident.to_string());
        }
        self.module.push(module.ident.to_string());
        syn::visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.add_tree(&[], &item.tree, line_of(item.use_token.span));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let Some(first) = path.segments.first().filter(|_| segments.len() > 1) {
            self.add(&segments, line_of(first.ident.span()));
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

fn line_of(span: proc_macro2::Span) -> usize {
    span.start().line
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
