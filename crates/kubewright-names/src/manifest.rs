//! The dependencies of a package on kubewright: the path by which its sources refer to the crates.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

/// The package that re-exports all others.
const FACADE: &str = "kubewright";
/// The package of the traits that derives implement.
const CORE: &str = "kubewright-core";

/// The dependency by which the sources of a package refer to kubewright, with its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// `kubewright`, whose modules are the other crates.
    Facade(String),
    /// `kubewright-core`, beside other crates such as `kubewright-runtime`.
    Core(String),
}

/// A manifest without a usable dependency on kubewright.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestError {
    /// The file cannot be read.
    Unreadable(PathBuf),
    /// It depends neither on `kubewright` nor on `kubewright-core`.
    Missing(PathBuf),
    /// It requires different versions of the two.
    Versions {
        /// The manifest.
        manifest: PathBuf,
        /// The dependency on `kubewright`, such as `kubewright = "0.2"`.
        facade: String,
        /// The dependency on `kubewright-core`.
        core: String,
    },
}

/// Returns the dependency of a package on kubewright. `kubewright` precedes `kubewright-core`, and a dependency of the
/// package precedes one of its tests.
///
/// # Errors
/// There is none, or its version is ambiguous.
pub fn dependency(manifest: &Path) -> Result<Dependency, ManifestError> {
    let content = read(manifest).ok_or_else(|| ManifestError::Unreadable(manifest.to_owned()))?;
    match content.get("package").and_then(|package| package.get("name")).and_then(Value::as_str) {
        Some(FACADE) => return Ok(Dependency::Facade(FACADE.to_owned())),
        Some(CORE) => return Ok(Dependency::Core(crate_name(CORE))),
        _ => {}
    }
    let entries = entries(&content, manifest);
    check_versions(&entries, manifest)?;
    let first = entries.into_iter().min_by_key(|entry| (entry.is_dev, entry.is_optional, !entry.is_facade));
    first.map(Entry::into_dependency).ok_or_else(|| ManifestError::Missing(manifest.to_owned()))
}

/// Returns the edition of a package, also if it inherits it. For the manifest of a workspace without a package, it is
/// the one to inherit.
pub fn edition(manifest: &Path) -> Option<String> {
    let content = read(manifest)?;
    match content.get("package") {
        Some(package) if !package.get("edition").is_some_and(is_inherited) => text(package, "edition"),
        _ => workspace_table(&content, manifest, "package").get("edition")?.as_str().map(str::to_owned),
    }
}

/// A dependency on one of the two packages.
struct Entry {
    /// Its name in the manifest.
    name: String,
    is_facade: bool,
    is_dev: bool,
    is_optional: bool,
    version: Option<String>,
}

impl Entry {
    fn into_dependency(self) -> Dependency {
        match self.is_facade {
            true => Dependency::Facade(crate_name(&self.name)),
            false => Dependency::Core(crate_name(&self.name)),
        }
    }
}

/// Returns the dependencies on the two packages.
fn entries(content: &Table, manifest: &Path) -> Vec<Entry> {
    let tables = |table: &Table| -> Vec<(bool, Table)> {
        let table = |is_dev, name: &str| Some((is_dev, table.get(name)?.as_table()?.clone()));
        [table(false, "dependencies"), table(true, "dev-dependencies")].into_iter().flatten().collect()
    };
    let targets = content.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let of_targets = targets.filter_map(Value::as_table).flat_map(tables);
    let all: Vec<_> = tables(content).into_iter().chain(of_targets).collect();
    let inherits = all.iter().flat_map(|(_, table)| table.values()).any(is_inherited);
    let inherited = if inherits { workspace_table(content, manifest, "dependencies") } else { Table::new() };
    let entry = |is_dev, (name, value): (String, Value)| {
        let source = if is_inherited(&value) { inherited.get(&name).unwrap_or(&value) } else { &value };
        let package = text(source, "package").unwrap_or_else(|| name.clone());
        [FACADE, CORE].contains(&package.as_str()).then(|| Entry {
            is_facade: package == FACADE,
            is_dev,
            is_optional: value.get("optional").and_then(Value::as_bool) == Some(true),
            version: source.as_str().map(str::to_owned).or_else(|| text(source, "version")),
            name,
        })
    };
    all.into_iter()
        .flat_map(|(is_dev, table)| table.into_iter().filter_map(move |dependency| entry(is_dev, dependency)))
        .collect()
}

fn check_versions(entries: &[Entry], manifest: &Path) -> Result<(), ManifestError> {
    let line = |is_facade| {
        let entry = entries.iter().find(|entry| entry.is_facade == is_facade && entry.version.is_some())?;
        Some((entry.version.as_ref()?, format!("{} = {:?}", entry.name, entry.version.as_ref()?)))
    };
    match (line(true), line(false)) {
        (Some((facade_version, facade)), Some((core_version, core))) if facade_version != core_version => {
            Err(ManifestError::Versions { manifest: manifest.to_owned(), facade, core })
        }
        _ => Ok(()),
    }
}

/// Whether the dependency is `{ workspace = true }`.
fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// Returns the table of `[workspace]` that the package inherits, such as `[workspace.dependencies]`.
fn workspace_table(content: &Table, manifest: &Path, name: &str) -> Table {
    let inherited = |content: &Table| {
        content.get("workspace").map(|workspace| workspace.get(name).and_then(Value::as_table).cloned())
    };
    let declared = content.get("package").and_then(|package| text(package, "workspace"));
    let root = declared.and_then(|path| inherited(&read(&manifest.with_file_name(path).join("Cargo.toml"))?));
    let parents = || manifest.ancestors().skip(1).find_map(|parent| inherited(&read(&parent.join("Cargo.toml"))?));
    root.or_else(parents).flatten().unwrap_or_default()
}

fn read(manifest: &Path) -> Option<Table> {
    fs::read_to_string(manifest).ok()?.parse().ok()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn crate_name(package: &str) -> String {
    package.replace('-', "_")
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManifestError::Unreadable(manifest) => write!(f, "cannot read {}", manifest.display()),
            ManifestError::Missing(manifest) => write!(
                f,
                "no dependency on `{FACADE}` in {}; add `{FACADE} = {{ git = \"..\" }}` under `[dependencies]`",
                manifest.display()
            ),
            ManifestError::Versions { manifest, facade, core } => write!(
                f,
                "different versions of one library in {}: `{facade}` and `{core}`; remove the latter, and use \
                 `{FACADE}::core` in its place",
                manifest.display()
            ),
        }
    }
}

impl std::error::Error for ManifestError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the dependency of the package in `member` of a workspace.
    fn resolve(workspace: &str, member: &str) -> Result<Dependency, String> {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("member")).unwrap();
        fs::write(directory.path().join("Cargo.toml"), workspace).unwrap();
        let manifest = directory.path().join("member/Cargo.toml");
        fs::write(&manifest, member).unwrap();
        let root = directory.path().to_string_lossy().into_owned();
        super::dependency(&manifest).map_err(|error| error.to_string().replace(&root, ""))
    }

    fn facade(name: &str) -> Result<Dependency, String> {
        Ok(Dependency::Facade(name.to_owned()))
    }

    fn core(name: &str) -> Result<Dependency, String> {
        Ok(Dependency::Core(name.to_owned()))
    }

    #[test]
    fn dependencies_are_found_under_their_names() {
        for (member, expected) in [
            ("[dependencies]\nkubewright = \"0.1\"", facade("kubewright")),
            ("[dependencies]\nkubewright-core = \"0.1\"", core("kubewright_core")),
            ("[dependencies]\nmy-kw = { package = \"kubewright\", path = \"..\" }", facade("my_kw")),
            ("[dependencies.api]\npackage = \"kubewright-core\"\nversion = \"0.1\"", core("api")),
            ("[target.'cfg(unix)'.dependencies]\nkubewright = \"0.1\"", facade("kubewright")),
            ("[dev-dependencies]\nkubewright = \"0.1\"", facade("kubewright")),
            ("[package]\nname = \"kubewright\"\n[dependencies]\nkubewright-core = \"0.1\"", facade("kubewright")),
            ("[package]\nname = \"kubewright-core\"", core("kubewright_core")),
        ] {
            assert_eq!(resolve("", member), expected, "{member}");
        }
    }

    #[test]
    fn dependencies_are_inherited_from_the_workspace() {
        let workspace =
            "[workspace.dependencies]\nkw = { package = \"kubewright\", version = \"0.1\" }\nkubewright-core = \"0.1\"";
        assert_eq!(resolve(workspace, "[dependencies]\nkw.workspace = true"), facade("kw"));
        assert_eq!(
            resolve(workspace, "[dependencies]\nkubewright-core = { workspace = true }"),
            core("kubewright_core")
        );
        let declared = "[package]\nname = \"a\"\nworkspace = \"..\"\n[dependencies]\nkw.workspace = true";
        assert_eq!(resolve(workspace, declared), facade("kw"));
    }

    #[test]
    fn editions_are_inherited_from_the_workspace() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("Cargo.toml");
        let member = directory.path().join("member/Cargo.toml");
        fs::create_dir(directory.path().join("member")).unwrap();
        fs::write(&root, "[workspace.package]\nedition = \"2021\"").unwrap();
        for (package, expected) in
            [("edition.workspace = true", Some("2021")), ("edition = \"2024\"", Some("2024")), ("name = \"a\"", None)]
        {
            fs::write(&member, format!("[package]\n{package}")).unwrap();
            assert_eq!(edition(&member).as_deref(), expected, "{package}");
        }
        assert_eq!(edition(&root).as_deref(), Some("2021"));
        assert_eq!(edition(&directory.path().join("none/Cargo.toml")), None);
    }

    #[test]
    fn the_facade_and_dependencies_of_the_library_take_precedence() {
        let both = "[dependencies]\nkubewright-core = \"0.1\"\nkubewright = \"0.1\"";
        assert_eq!(resolve("", both), facade("kubewright"));
        let in_tests = "[dependencies]\nkubewright-core = \"0.1\"\n[dev-dependencies]\nkubewright = \"0.1\"";
        assert_eq!(resolve("", in_tests), core("kubewright_core"));
        let optional = "[dependencies]\nkubewright-core = \"0.1\"\nkubewright = { version = \"0.1\", optional = true }";
        assert_eq!(resolve("", optional), core("kubewright_core"));
    }

    #[test]
    fn errors_name_the_manifest_and_the_lines() {
        let missing = resolve("", "[dependencies]\nserde = \"1\"").unwrap_err();
        let expected = "no dependency on `kubewright` in /member/Cargo.toml; add `kubewright = { git = \"..\" }` under \
                        `[dependencies]`";
        assert_eq!(missing, expected);
        let versions =
            resolve("", "[dependencies]\nkubewright-core = \"0.1\"\nkubewright = { version = \"0.2\" }").unwrap_err();
        assert_eq!(
            versions,
            "different versions of one library in /member/Cargo.toml: `kubewright = \"0.2\"` and `kubewright-core = \
             \"0.1\"`; remove the latter, and use `kubewright::core` in its place"
        );
        assert_eq!(resolve("", "[dependencies").unwrap_err(), "cannot read /member/Cargo.toml");
    }
}
