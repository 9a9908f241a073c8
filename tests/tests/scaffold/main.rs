//! Projects of `cargo kubewright init`: from the empty folder to green tests, installed on API servers, moved, and
//! built by another user and by their Dockerfile.
//!
//! Without a control plane, helm or the definitions of other projects nothing is installed, and one line describes how
//! to get them. With `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1` and `KUBEWRIGHT_REQUIRE_TOOLS=1`, as in CI, that is a
//! failure.

mod clone;
mod dockerfile;
mod install;
mod project;
mod server;

use std::{
    env,
    error::Error,
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, LazyLock},
};

use envtest::{Assets, HOW_TO_GET_DEFINITIONS, HOW_TO_GET_HELM};
use install::Installed;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use project::Scaffold;
use server::Server;

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

/// The project that the trials share. The first of them creates it.
type Shared = Arc<LazyLock<Scaffold>>;

fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let shared: Shared = Arc::new(LazyLock::new(Scaffold::create));
    let suite = envtest::Suite::new("scaffold", |assets| Ok(assets.clone()))?;
    let tools = Arc::new(Tools::find(args)?);
    let installs = [
        ("install::on_the_api_server_in_memory", Server::in_memory as fn(&Assets) -> Result<Server, Failed>),
        ("install::on_the_control_plane", Server::control_plane),
    ];
    let mut trials = vec![
        trial("a_new_project_works_at_once", {
            let (shared, assets) = (Arc::clone(&shared), suite.assets().cloned());
            move || shared.check(assets.as_ref())
        }),
        trial("a_project_moves_with_its_toolchain", project::a_project_moves_with_its_toolchain),
        trial("another_user_builds_a_clone_and_its_image", {
            let shared = Arc::clone(&shared);
            move || clone::another_user_builds_a_clone_and_its_image(&shared)
        }),
    ];
    trials.extend(installs.map(|(name, start)| {
        let (shared, tools) = (Arc::clone(&shared), Arc::clone(&tools));
        suite.ignorable_test(name, move |assets| match &*tools {
            Some(tools) => install(&shared, tools, &start(assets)?).map(|()| Completion::Completed),
            None => Ok(Completion::ignored_with("no helm or no definitions of other projects")),
        })
    }));
    Ok(suite.run(args, trials).exit_code())
}

fn trial(name: &str, run: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        run();
        Ok(())
    })
}

fn install(scaffold: &Scaffold, tools: &Tools, server: &Server) -> Result<(), Failed> {
    let Tools { helm, definitions } = tools;
    let (project, program) = (scaffold.copy(), scaffold.program());
    Installed { project: &project, program: &program, helm, definitions, server }.check()
}

/// What the installation of a project requires beside a control plane.
struct Tools {
    helm: PathBuf,
    /// The definitions of other projects.
    definitions: Vec<PathBuf>,
}

impl Tools {
    /// Finds the tools; `None` if one is missing, and none is required.
    fn find(arguments: &Arguments) -> Result<Option<Self>, Box<dyn Error>> {
        let missing = match (envtest::find_helm()?, envtest::find_definitions()?) {
            (Some(helm), Some(definitions)) => return Ok(Some(Tools { helm, definitions })),
            (None, _) => format!("there is no helm; {HOW_TO_GET_HELM}"),
            (_, None) => format!("there are no definitions of other projects; {HOW_TO_GET_DEFINITIONS}"),
        };
        if env::var_os("KUBEWRIGHT_REQUIRE_TOOLS").is_some_and(|value| value == "1") {
            return Err(format!("scaffold: KUBEWRIGHT_REQUIRE_TOOLS is 1, but {missing}").into());
        }
        if !arguments.list {
            eprintln!("SKIPPED scaffold (2 tests): {missing}");
        }
        Ok(None)
    }
}
