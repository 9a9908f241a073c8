//! Definitions of other projects on the control plane: of cert-manager, the Prometheus operator and Operator Lifecycle
//! Manager.
//!
//! Without them their objects are not applied, and one line describes how to download them. With
//! `KUBEWRIGHT_REQUIRE_TOOLS=1` that is a failure.

use std::env;

use envtest::{ControlPlane, HOW_TO_GET_DEFINITIONS, find_definitions};
use libtest_mimic::Failed;
use serde_json::Value;

use super::manifests::succeeded;

/// The groups of the definitions.
const GROUPS: [&str; 4] =
    ["cert-manager.io/", "monitoring.coreos.com/", "olm.operatorframework.io/", "operators.coreos.com/"];

/// Installs the definitions. Returns whether there are any.
pub(super) fn install(control_plane: &ControlPlane) -> Result<bool, Failed> {
    let Some(files) = find_definitions()? else {
        let is_required = env::var_os("KUBEWRIGHT_REQUIRE_TOOLS").is_some_and(|value| value == "1");
        eprintln!("SKIPPED objects of other projects: there are no definitions; {HOW_TO_GET_DEFINITIONS}");
        return if is_required {
            Err("KUBEWRIGHT_REQUIRE_TOOLS is 1, but there are no definitions".into())
        } else {
            Ok(false)
        };
    };
    let with_files = |args: &[&str]| {
        let files = files.iter().map(|file| format!("--filename={}", file.display()));
        Ok::<_, Failed>(control_plane.kubectl().args(args).args(files).output()?)
    };
    succeeded(&with_files(&["apply", "--server-side"])?)?;
    succeeded(&with_files(&["wait", "--for=condition=Established", "--timeout=60s"])?)?;
    Ok(true)
}

/// Returns whether the definition of the object is one of them.
pub(super) fn is_external(object: &Value) -> bool {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    GROUPS.iter().any(|group| version.starts_with(group))
}
