//! The table `olm` of the settings.

use serde::Deserialize;

/// Settings of bundles for Operator Lifecycle Manager. The name of the package is that of the operator; its version,
/// description, maintainers, keywords and links are those of its Cargo.toml.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct OlmSettings {
    /// The name for people [default: from the name of the operator].
    pub display_name: Option<String>,
    /// The channels of bundles; the first is the default of the package.
    pub channels: Vec<String>,
    /// The maturity, such as `alpha` or `stable`.
    pub maturity: String,
    /// The lowest supported version of Kubernetes, such as `1.30.0`.
    pub min_kube_version: Option<String>,
    /// The capability level, such as `Basic Install` or `Deep Insights`.
    pub capabilities: String,
    /// The categories of the catalog, such as `Observability`.
    pub categories: Vec<String>,
    /// The publisher [default: the first author].
    pub provider: Option<String>,
    /// The file of the icon, relative to the root of the project: `.svg`, `.png`, `.jpg` or `.gif`.
    pub icon: Option<String>,
    /// The image of the tests of the Operator SDK's scorecard. Without it, bundles have no configuration for that
    /// program.
    pub scorecard_image: Option<String>,
    /// The bundle that this one replaces, such as `my-operator.v1.0.0`.
    pub replaces: Option<String>,
    /// The bundles that an upgrade to this one skips.
    pub skips: Vec<String>,
    /// The range of versions that can be upgraded to this one, such as `>=1.0.0 <1.2.0`.
    pub skip_range: Option<String>,
}

impl Default for OlmSettings {
    fn default() -> Self {
        OlmSettings {
            display_name: None,
            channels: vec!["stable".to_owned()],
            maturity: "alpha".to_owned(),
            min_kube_version: None,
            capabilities: "Basic Install".to_owned(),
            categories: Vec::new(),
            provider: None,
            icon: None,
            scorecard_image: None,
            replaces: None,
            skips: Vec::new(),
            skip_range: None,
        }
    }
}
