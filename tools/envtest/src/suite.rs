//! The harness of test suites on a control plane.

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::Result;
use kubewright_envtest::Assets;
use libtest_mimic::{Arguments, Completion, Conclusion, Failed, Trial};

use crate::assets::{self, Absence, ComponentAssets};

type Setup<T> = Box<dyn Fn(&Assets) -> Result<T, Box<dyn Error>> + Send + Sync>;

/// A test suite whose tests share an environment on a control plane, such as a [`ControlPlane`](crate::ControlPlane).
///
/// The first test that runs sets the environment up; the end of [`run`](Self::run) drops it. Without a control plane
/// every test of the suite is reported as ignored, and one line on stderr describes how to get one. With
/// `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1` in the environment, [`new`](Self::new) fails instead. With
/// `KUBEWRIGHT_SKIP_CONTROL_PLANE=1`, no control plane is used, even if there is one. Both are an error.
pub struct Suite<T> {
    name: String,
    assets: Result<Assets, Absence>,
    setup: Setup<T>,
    environment: OnceLock<Result<T, String>>,
    tests: AtomicUsize,
}

impl<T: Send + Sync + 'static> Suite<T> {
    /// Creates a suite. `setup` receives the binaries and returns the environment.
    pub fn new(
        name: &str,
        setup: impl Fn(&Assets) -> Result<T, Box<dyn Error>> + Send + Sync + 'static,
    ) -> Result<Arc<Self>> {
        Ok(Self::with_assets(name, assets::find_optional(name)?, setup))
    }

    /// Creates a suite like [`new`](Self::new) on a control plane with its components. Without the components, every
    /// test is reported as ignored, too.
    pub fn with_components(
        name: &str,
        setup: impl Fn(&Assets, &ComponentAssets) -> Result<T, Box<dyn Error>> + Send + Sync + 'static,
    ) -> Result<Arc<Self>> {
        Ok(match assets::find_optional_components(name)? {
            Ok((assets, components)) => Self::with_assets(name, Ok(assets), move |assets| setup(assets, &components)),
            Err(absence) => Self::with_assets(name, Err(absence), |_| Err("there are no components".into())),
        })
    }

    fn with_assets(
        name: &str,
        assets: Result<Assets, Absence>,
        setup: impl Fn(&Assets) -> Result<T, Box<dyn Error>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (environment, tests) = (OnceLock::new(), AtomicUsize::new(0));
        Arc::new(Self { name: name.to_owned(), assets, setup: Box::new(setup), environment, tests })
    }

    /// Returns the binaries; `None` without a control plane.
    pub fn assets(&self) -> Option<&Assets> {
        self.assets.as_ref().ok()
    }

    /// Creates a test on the environment, which is ignored without a control plane.
    pub fn test(
        self: &Arc<Self>,
        name: impl Into<String>,
        run: impl FnOnce(&T) -> Result<(), Failed> + Send + 'static,
    ) -> Trial {
        self.ignorable_test(name, move |environment| run(environment).map(|()| Completion::Completed))
    }

    /// Creates a test like [`test`](Self::test) that can also be ignored for another reason.
    pub fn ignorable_test(
        self: &Arc<Self>,
        name: impl Into<String>,
        run: impl FnOnce(&T) -> Result<Completion, Failed> + Send + 'static,
    ) -> Trial {
        self.tests.fetch_add(1, Ordering::Relaxed);
        let suite = Arc::clone(self);
        Trial::ignorable_test(name, move || match &suite.assets {
            Ok(assets) => run(suite.environment(assets)?),
            Err(Absence::NotFound) => Ok(Completion::ignored_with("no control plane")),
            Err(Absence::NoComponents) => Ok(Completion::ignored_with("no components of the control plane")),
            Err(absence @ Absence::Skipped) => Ok(Completion::ignored_with(absence)),
        })
    }

    fn environment(&self, assets: &Assets) -> Result<&T, Failed> {
        let environment = self.environment.get_or_init(|| (self.setup)(assets).map_err(|error| error.to_string()));
        environment.as_ref().map_err(|error| format!("cannot set up the suite `{}`: {error}", self.name).into())
    }

    /// Runs the tests, then drops the environment. `trials` can include tests that need no control plane.
    pub fn run(self: Arc<Self>, arguments: &Arguments, trials: Vec<Trial>) -> Conclusion {
        if let Err(absence) = self.assets
            && !arguments.list
        {
            let tests = self.tests.load(Ordering::Relaxed);
            let line = format!("SKIPPED {} ({tests} tests): {absence}\n", self.name);
            // One write, so that the lines of concurrent suites do not interleave.
            drop(io::stderr().write_all(line.as_bytes()));
        }
        libtest_mimic::run(arguments, trials)
    }
}

/// Returns the exit code of a suite, and prints an error to stderr.
///
/// A suite must drop its environment before its `main` exits, since `std::process::exit` runs no destructors.
pub fn exit_code(outcome: Result<ExitCode, Box<dyn Error>>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments() -> Arguments {
        Arguments { quiet: true, ..Arguments::default() }
    }

    fn run<T: Send + Sync + 'static>(suite: Arc<Suite<T>>, trials: Vec<Trial>) -> (u64, u64, u64) {
        let conclusion = suite.run(&arguments(), trials);
        (conclusion.num_passed, conclusion.num_failed, conclusion.num_ignored)
    }

    fn assets() -> Result<Assets, Absence> {
        let dir = tempfile::tempdir().unwrap();
        for name in ["etcd", "kube-apiserver", "kubectl"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        Ok(Assets::in_dir(dir.path()).unwrap())
    }

    #[test]
    fn without_a_control_plane_every_test_of_the_suite_is_ignored() {
        for absence in [Absence::NotFound, Absence::NoComponents, Absence::Skipped] {
            let suite = Suite::with_assets("suite", Err(absence), |_| -> Result<(), _> { Err("not called".into()) });
            let mut trials: Vec<_> = ["a", "b"].map(|name| suite.test(name, |()| Err("not called".into()))).into();
            trials.push(Trial::test("c", || Ok(())));
            assert_eq!(run(suite, trials), (1, 0, 2));
        }
    }

    #[test]
    fn an_ignorable_test_can_be_ignored_on_a_control_plane() {
        let suite = Suite::with_assets("suite", assets(), |_| Ok(()));
        let trials = vec![
            suite.ignorable_test("a", |()| Ok(Completion::ignored_with("no Go"))),
            suite.ignorable_test("b", |()| Ok(Completion::Completed)),
        ];
        assert_eq!(run(suite, trials), (1, 0, 1));
    }

    #[test]
    fn the_environment_is_set_up_once_and_dropped_at_the_end() {
        let environment = Arc::new(());
        let shared = Arc::clone(&environment);
        let setups = AtomicUsize::new(0);
        let suite = Suite::with_assets("suite", assets(), move |_| {
            assert_eq!(setups.fetch_add(1, Ordering::SeqCst), 0);
            Ok(Arc::clone(&shared))
        });
        let trials = ["a", "b"].map(|name| suite.test(name, |_| Ok(()))).into();
        assert_eq!(run(suite, trials), (2, 0, 0));
        assert_eq!(Arc::strong_count(&environment), 1);
    }

    #[test]
    fn no_test_means_no_setup() {
        let suite = Suite::with_assets("suite", assets(), |_| -> Result<(), _> { panic!("set up") });
        assert_eq!(run(suite, vec![Trial::test("a", || Ok(()))]), (1, 0, 0));
    }

    #[test]
    fn a_failed_setup_fails_every_test() {
        let suite = Suite::with_assets("suite", assets(), |_| -> Result<(), _> { Err("no port".into()) });
        let trials = ["a", "b"].map(|name| suite.test(name, |()| Ok(()))).into();
        assert_eq!(run(suite, trials), (0, 2, 0));
    }
}
