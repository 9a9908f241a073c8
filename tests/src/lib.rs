//! Helpers that the test suites share: CRDs, namespaces, builders, and the scenarios that run on every server.

pub mod availability;
#[cfg(doctest)]
mod book;
pub mod definitions;
pub mod history;
pub mod http_client;
pub mod journal;
pub mod load;
pub mod matrix;
pub mod ownership;
pub mod page;
pub mod process;
pub mod proxy;
pub mod replica;
pub mod scenarios;
pub mod terminal;
pub mod user_project;
pub mod values;
pub mod workloads;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use k8s_openapi::{
    api::core::v1::{Namespace, Node},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Client, Config,
    api::PostParams,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
    runtime::wait::{await_condition, conditions},
};
use logger_types::v2::{Logger, LoggerSpec};

/// Returns the root of the workspace that the running test belongs to.
///
/// It is determined at run time. Checkouts with one target directory share their binaries, so that a path that is
/// compiled in can belong to another checkout.
///
/// # Panics
/// If cargo did not start the test.
pub fn workspace_root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for tests");
    Path::new(&package).parent().expect("the package is below the root").to_owned()
}

/// Reads the generated CRDs of the reference API and of the fixture API.
///
/// # Panics
/// If they cannot be read.
pub fn crds() -> Vec<String> {
    let directories = ["config/crd/bases", "tests/fixture/config/crd/bases"];
    let read = |directory: &str| {
        let files = std::fs::read_dir(workspace_root().join(directory)).expect("the directory exists");
        files.map(|file| std::fs::read_to_string(file.expect("an entry").path()).expect("the file can be read"))
    };
    directories.into_iter().flat_map(read).collect()
}

/// Installs every generated CRD and waits until its kind is served.
pub async fn install_crds(client: &Client) {
    install(client, crds().iter().map(|text| serde_saphyr::from_str(text).expect("a CRD"))).await;
}

/// Installs these CRDs and waits until their kinds are served.
pub async fn install(client: &Client, crds: impl IntoIterator<Item = CustomResourceDefinition>) {
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    for crd in crds {
        let name = crd.metadata.name.clone().expect("a name");
        api.create(&PostParams::default(), &crd).await.unwrap_or_else(|error| panic!("{name} is rejected: {error}"));
        await_condition(api.clone(), &name, conditions::is_crd_established())
            .await
            .expect("the CRD becomes established");
    }
}

/// Creates a namespace for one test and returns its name.
pub async fn namespace(client: &Client, name: &str) -> String {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let namespace = Namespace { metadata, ..Namespace::default() };
    Api::all(client.clone()).create(&PostParams::default(), &namespace).await.expect("the namespace is created");
    name.to_owned()
}

/// Creates a node, which kwok or a simulator runs.
pub async fn node(client: &Client, name: &str) {
    let labels = [("kubernetes.io/hostname".to_owned(), name.to_owned())].into();
    let metadata = ObjectMeta { name: Some(name.to_owned()), labels: Some(labels), ..ObjectMeta::default() };
    let node = Node { metadata, ..Node::default() };
    Api::all(client.clone()).create(&PostParams::default(), &node).await.expect("the node is created");
}

/// Reads the configuration of a client from a kubeconfig.
///
/// # Errors
/// Fails if the file cannot be read, or its current context is invalid.
pub async fn config(kubeconfig: &Path) -> Result<Config, KubeconfigError> {
    Config::from_custom_kubeconfig(Kubeconfig::read_from(kubeconfig)?, &KubeConfigOptions::default()).await
}

/// Returns the duration in an environment variable: a number of `s`, `m` or `h`. `None` if it is not set.
///
/// # Panics
/// If the variable has another format.
pub fn duration_of_env(name: &str) -> Option<Duration> {
    let text = std::env::var(name).ok()?;
    let unit = |unit, seconds| Some(Duration::from_secs(text.strip_suffix(unit)?.parse::<u64>().ok()? * seconds));
    let duration = unit('s', 1).or_else(|| unit('m', 60)).or_else(|| unit('h', 3600));
    Some(duration.unwrap_or_else(|| panic!("{name} is a number of `s`, `m` or `h`, not `{text}`")))
}

/// Starts an embedded API server with every generated CRD and returns a client of it.
pub async fn embedded() -> Client {
    let client = kubewright_apiserver::ApiServer::new().client();
    install_crds(&client).await;
    client
}

/// Returns a valid Logger.
pub fn logger(name: &str) -> Logger {
    Logger {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: LoggerSpec { name: name.to_owned(), interval: "1m".to_owned(), ..LoggerSpec::default() },
        status: None,
    }
}

/// Runs the quickstart with these arguments, and returns its output.
///
/// # Panics
/// If it cannot be built or started.
pub fn quickstart(args: &[&str]) -> Output {
    let mut quickstart = Command::new(program("quickstart"));
    quickstart.args(args).current_dir(workspace_root()).env("KUBECONFIG", "/nowhere");
    quickstart.output().expect("the program starts")
}

/// The features that `cargo xtask test` enables, as `xtask/src/suite.rs` declares them.
pub const FEATURES: &str = "kubewright-apiserver/program,kubewright/compact,kubewright/otlp,tests/compact";

/// Builds a program of the workspace, and returns the path of its executable. The features are those of the suite,
/// which has compiled all dependencies of the program.
///
/// # Panics
/// If it cannot be built.
pub fn program(name: &str) -> PathBuf {
    let args = ["build", "--quiet", "--workspace", "--features", FEATURES, "--bin", name, "--message-format", "json"];
    let output = cargo(&args).stderr(Stdio::inherit()).output().expect("cargo starts");
    assert!(output.status.success(), "{name} is built");
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut executables = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executables.next_back().expect("cargo reports the path of the executable")
}

/// Returns a cargo command in this workspace, as a user starts it.
pub fn cargo(args: &[&str]) -> Command {
    // Settings, such as those of profiles, are the same for all commands, which then share the compiled packages.
    let mut cargo = kubewright_project::workspace::cargo(args);
    cargo.current_dir(workspace_root());
    cargo
}
