//! The tests of controller-runtime, which start their servers with its envtest.

use std::fs;

use anyhow::{Context, Result};
use envtest::GoModule;

use crate::{
    ginkgo,
    go::{self, Package},
    outcome::Outcomes,
    sandbox::Sandbox,
    server::Server,
};

/// The version for Kubernetes 1.36.
const MODULE: GoModule = GoModule {
    path: "sigs.k8s.io/controller-runtime",
    version: "v0.24.1",
    sum: "h1:miPEwrmirImAvgME1L9qebGHrOnGJoVmVdtOU9fRfo4=",
};

const GINKGO: &str = "github.com/onsi/ginkgo/v2";
/// The report of a package, in its directory.
const REPORT: &str = "ginkgo.json";
/// The arguments of tests with Ginkgo. A fixed seed gives specs of the same name the same order. Specs that depend on
/// time are repeated if they fail.
const GINKGO_ARGS: [&str; 4] =
    ["-ginkgo.json-report=ginkgo.json", "-ginkgo.no-color", "-ginkgo.seed=1", "-ginkgo.flake-attempts=3"];

/// Runs the tests on a server.
pub(crate) fn run(server: &Server, sandbox: &Sandbox) -> Result<Outcomes> {
    let sources = go::check_out(&MODULE)?;
    let go = || {
        let mut go = server.command(sandbox, "go");
        go.current_dir(&sources).env("GOWORK", "off");
        go
    };
    let packages = go::packages(go())?;
    let (with_ginkgo, without): (Vec<&Package>, Vec<&Package>) =
        packages.iter().partition(|package| package.tests_import(GINKGO));
    let mut outcomes = Outcomes::default();
    let parts = [(with_ginkgo, &GINKGO_ARGS[..], "ginkgo"), (without, &[], "go")];
    // Without packages, go would test that in the root.
    for (packages, args, part) in parts.into_iter().filter(|(packages, ..)| !packages.is_empty()) {
        let log = format!("controller-runtime-{}-{part}", server.name);
        let mut tests = go::test(go(), &packages, args, &log)?;
        for package in packages {
            let tests = tests.remove(&package.import_path).unwrap_or_default();
            outcomes.add_part(name(&package.import_path), tests.outcomes(report(package)?));
        }
    }
    Ok(outcomes)
}

/// Returns the path of a package in the module; `.` for that in its root.
fn name(import_path: &str) -> &str {
    match import_path.strip_prefix(MODULE.path) {
        Some("") => ".",
        Some(rest) => rest.trim_start_matches('/'),
        None => import_path,
    }
}

/// Returns the outcomes in the report of a package; `None` if it has none.
fn report(package: &Package) -> Result<Option<Outcomes>> {
    let path = package.directory.join(REPORT);
    if !path.is_file() {
        return Ok(None);
    }
    let json = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    ginkgo::parse(&json).with_context(|| format!("cannot read {}", path.display())).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_by_their_path_in_the_module() {
        assert_eq!(name("sigs.k8s.io/controller-runtime/pkg/cache"), "pkg/cache");
        assert_eq!(name("sigs.k8s.io/controller-runtime"), ".");
    }

    #[test]
    fn the_report_is_written_where_it_is_read() {
        assert_eq!(GINKGO_ARGS[0], format!("-ginkgo.json-report={REPORT}"));
    }
}
