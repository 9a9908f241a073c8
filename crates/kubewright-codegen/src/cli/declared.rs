//! Finds versions that the sources of the types crate declare, but that are not passed to the generator.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use kubewright_core::meta::ApiGroup;
use proc_macro2::{TokenStream, TokenTree};

/// A `group_version!` in a source file.
#[derive(Debug, PartialEq)]
struct Declaration {
    path: PathBuf,
    /// The module below the crate, such as `v1` or `api::v1`; empty for the root.
    module: String,
    group: String,
    version: String,
}

/// Fails if a source file below a directory declares a version that is not among the groups.
pub(super) fn check_all_passed(sources: &Path, groups: &[ApiGroup]) -> Result<()> {
    let is_passed = |declaration: &Declaration| {
        groups.iter().any(|group| group.group == declaration.group && group.version == declaration.version)
    };
    let Some(missing) = declarations(sources, "")?.into_iter().find(|declaration| !is_passed(declaration)) else {
        return Ok(());
    };
    let Declaration { path, module, group, version } = missing;
    let constant = if module.is_empty() { "API_GROUP".to_owned() } else { format!("{module}::API_GROUP") };
    bail!(
        "{} declares version {version} of group {group}, but it is not passed to the generator: add `{constant}` to the \
         groups",
        path.display()
    )
}

/// Returns the declarations of all Rust files of a directory, which is that of a module. Files with invalid syntax are
/// not part of the crate.
fn declarations(directory: &Path, module: &str) -> Result<Vec<Declaration>> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return Ok(found) };
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read the directory {}", directory.display()))?.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            found.extend(declarations(&path, &submodule(module, &stem))?);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && let Ok(text) = fs::read_to_string(&path)
            && text.contains("group_version")
            && let Ok(file) = syn::parse_file(&text)
        {
            let is_parent = ["lib", "main", "mod"].contains(&stem.as_str());
            let module = if is_parent { module.to_owned() } else { submodule(module, &stem) };
            in_items(&file.items, &path, &module, &mut found);
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn submodule(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

fn in_items(items: &[syn::Item], path: &Path, module: &str, found: &mut Vec<Declaration>) {
    let is_conditional = |attrs: &[syn::Attribute]| attrs.iter().any(|attr| attr.path().is_ident("cfg"));
    for item in items {
        match item {
            syn::Item::Macro(item) if !is_conditional(&item.attrs) => {
                let is_declaration = item.mac.path.segments.last().is_some_and(|last| last.ident == "group_version");
                if let (true, Some(group), Some(version)) =
                    (is_declaration, literal(&item.mac.tokens, "group"), literal(&item.mac.tokens, "version"))
                {
                    found.push(Declaration { path: path.to_owned(), module: module.to_owned(), group, version });
                }
            }
            syn::Item::Mod(item) if !is_conditional(&item.attrs) => {
                if let Some((_, items)) = &item.content {
                    in_items(items, path, &submodule(module, &item.ident.to_string()), found);
                }
            }
            _ => {}
        }
    }
}

/// Returns the string of `key = ".."`.
fn literal(tokens: &TokenStream, key: &str) -> Option<String> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.windows(3).find_map(|window| match window {
        [TokenTree::Ident(ident), TokenTree::Punct(punct), TokenTree::Literal(value)]
            if *ident == key && punct.as_char() == '=' =>
        {
            syn::parse_str::<syn::LitStr>(&value.to_string()).ok().map(|text| text.value())
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str =
        "kubewright_core::group_version! { group = \"example.com\", version = \"v1\", kinds = [Widget] }\n";
    const CONDITIONAL: &str =
        "#[cfg(feature = \"v3\")]\ngroup_version! { group = \"example.com\", version = \"v3\", kinds = [] }\n";

    fn group(version: &'static str) -> ApiGroup {
        ApiGroup { group: "example.com", version, module: "my_types::v1", ..ApiGroup::DEFAULT }
    }

    #[test]
    fn versions_that_are_not_passed_are_errors() {
        let sources = tempfile::tempdir().unwrap();
        fs::create_dir(sources.path().join("v2")).unwrap();
        fs::write(sources.path().join("v1.rs"), V1).unwrap();
        fs::write(sources.path().join("v3.rs"), CONDITIONAL).unwrap();
        let v2 = format!("mod inner {{ {} }}", V1.replace("v1", "v2"));
        fs::write(sources.path().join("v2/widget.rs"), v2).unwrap();
        assert!(check_all_passed(sources.path(), &[group("v1"), group("v2")]).is_ok());
        let error = check_all_passed(sources.path(), &[group("v1")]).unwrap_err().to_string();
        assert!(error.contains("widget.rs declares version v2 of group example.com, but it is not passed"), "{error}");
        assert!(error.ends_with("add `v2::widget::inner::API_GROUP` to the groups"), "{error}");
        fs::write(sources.path().join("lib.rs"), V1.replace("v1", "v4")).unwrap();
        let error = check_all_passed(sources.path(), &[group("v1"), group("v2")]).unwrap_err().to_string();
        assert!(error.ends_with("add `API_GROUP` to the groups"), "{error}");
        assert!(check_all_passed(Path::new("/nowhere"), &[]).is_ok());
    }
}
