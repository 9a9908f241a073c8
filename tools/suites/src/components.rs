//! kube-controller-manager, kube-scheduler and kwok beside a server: the scenarios of workloads in `tests`.

use anyhow::{Context, Result};

use crate::{cargo, outcome::Outcomes, sandbox::Sandbox, server::Server};

/// Runs the scenarios on a server.
pub(crate) fn run(server: &Server, sandbox: &Sandbox) -> Result<Outcomes> {
    envtest::find_components()?.with_context(|| format!("no components; {}", envtest::HOW_TO_GET_COMPONENTS))?;
    let binary = cargo::build_tests(&["--workspace", "--test", "workloads"], &[])?;
    let mut tests = server.command(sandbox, binary);
    // The trials of that name start a cluster of envtest.
    tests
        .arg("control_plane::")
        .env("KUBEWRIGHT_REQUIRE_CONTROL_PLANE", "1")
        .env_remove("KUBEWRIGHT_SKIP_CONTROL_PLANE");
    let package = envtest::workspace_root()?.join("tests");
    cargo::run_tests(&mut tests, &package, &format!("components-{}", server.name))
}
