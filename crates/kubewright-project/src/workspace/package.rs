//! The metadata of a package, as cargo prints them.

use serde::Deserialize;

/// The metadata of the package of an operator, from its Cargo.toml.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Package {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The description.
    #[serde(default)]
    pub description: Option<String>,
    /// The authors, such as `Ada <ada@example.com>`.
    #[serde(default)]
    pub authors: Vec<String>,
    /// The address of the repository.
    #[serde(default)]
    pub repository: Option<String>,
    /// The address of the home page.
    #[serde(default)]
    pub homepage: Option<String>,
    /// The licence, such as `Apache-2.0`.
    #[serde(default)]
    pub license: Option<String>,
    /// The keywords.
    #[serde(default)]
    pub keywords: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

impl Package {
    /// Returns the package of this name in the output of `cargo metadata`.
    pub(super) fn find(metadata: &[u8], name: &str) -> Result<Option<Self>, serde_json::Error> {
        let metadata: Metadata = serde_json::from_slice(metadata)?;
        Ok(metadata.packages.into_iter().find(|package| package.name == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_of_the_operator_is_found_by_its_name() {
        let metadata = br#"{"packages": [
            {"name": "my-types", "version": "0.1.0", "description": null, "authors": []},
            {"name": "my-operator", "version": "1.2.0", "authors": ["Ada <ada@example.com>"], "edition": "2024"}
        ], "version": 1}"#;
        let package = Package::find(metadata, "my-operator").unwrap().unwrap();
        assert_eq!((package.version.as_str(), package.authors.len()), ("1.2.0", 1));
        assert_eq!(Package::find(metadata, "operator").unwrap(), None);
    }
}
