//! Packages for Operator Lifecycle Manager (OLM): bundles, their validation, catalogs and scorecards.
//!
//! Guarantees:
//! - a bundle contains the objects of `config/`, so that an operator has the same permissions however it is installed;
//! - equal inputs give equal files: nothing depends on the time or the machine;
//! - an object that OLM does not support is an error, and no object is dropped silently;
//! - a released bundle is never changed in a catalog.

mod bundle;
mod catalog;
mod csv;
mod directory;
mod scorecard;
mod validate;

pub use bundle::{BUNDLE_MARK, BundleError, BundleOptions, bundle};
pub use catalog::{CatalogError, CatalogOptions, append, parse_catalog};
pub use directory::{Bundle, BundleReadError, Manifest};
pub use scorecard::{ScorecardResult, State, scorecard};
pub use validate::{Finding, Level, validate};

/// The kinds that a bundle can contain, besides the ClusterServiceVersion and its definitions.
const SUPPORTED_KINDS: [&str; 20] = [
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "ConsoleCLIDownload",
    "ConsoleLink",
    "ConsolePlugin",
    "ConsoleQuickStart",
    "ConsoleSample",
    "ConsoleYAMLSample",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "PriorityClass",
    "PrometheusRule",
    "Role",
    "RoleBinding",
    "Secret",
    "Service",
    "ServiceAccount",
    "ServiceMonitor",
    "VerticalPodAutoscaler",
];

const CSV_KIND: &str = "ClusterServiceVersion";
const DEFINITION_KIND: &str = "CustomResourceDefinition";

/// The prefix of the annotations of a bundle.
const ANNOTATION: &str = "operators.operatorframework.io.bundle.";
/// The annotation of a ClusterServiceVersion with an example of each kind.
const EXAMPLES: &str = "alm-examples";
const SKIP_RANGE: &str = "olm.skipRange";
