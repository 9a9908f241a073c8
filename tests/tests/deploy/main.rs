//! The Logger operator is deployed with kubectl and removed without a trace: on a real control plane whose nodes kwok
//! runs, and on the in-memory API server with the simulator.
//!
//! Without a control plane and its components the tests are ignored, and one line describes how to build them. With
//! `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1`, as in CI, that is a failure.

use std::{
    error::Error,
    fs,
    future::pending,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use envtest::Cluster;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kubewright_apiserver::{
    ApiServer,
    serve::{self, Limits},
};
use kubewright_project::deploy::{Installation, Kubectl, Manifest};
use kubewright_runtime::CancellationToken;
use kubewright_simulator::NodeConfig;
use libtest_mimic::{Arguments, Failed};
use serde_json::{Value, json};
use tokio::{net::TcpListener, runtime::Runtime, task::spawn_blocking};

/// The name of the operator in `config/project.toml`.
const OPERATOR: &str = "logger-operator";
/// An image that is in no file.
const IMAGE: &str = "registry.example.com/logger-operator:test";
const NODE: &str = "deploy";

/// A cluster, and a kubectl of its version.
struct Environment {
    cluster: Cluster,
    kubectl: PathBuf,
}

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let suite = envtest::Suite::with_components("deploy", |assets, components| {
        Ok(Environment { cluster: Cluster::start(assets, components)?, kubectl: assets.kubectl() })
    })?;
    let trials = vec![
        suite.test("control_plane::the_operator_is_deployed_and_removed", on_control_plane),
        suite.test("simulator::the_operator_is_deployed_and_removed", on_simulator),
        suite.test("the_installer_equals_the_output_of_kustomize", installer),
    ];
    Ok(suite.run(args, trials).exit_code())
}

fn on_control_plane(environment: &Environment) -> Result<(), Failed> {
    let kubeconfig = environment.cluster.control_plane().kubeconfig();
    Runtime::new()?.block_on(async {
        let client = Client::try_from(tests::config(kubeconfig).await?)?;
        tests::node(&client, NODE).await;
        install_monitoring(&client).await?;
        Ok::<_, Failed>(())
    })?;
    deployed_and_removed(&environment.kubectl, kubeconfig)
        .map_err(|failed| format!("{}\n{}", failed.message().unwrap_or_default(), environment.cluster.logs()).into())
}

fn on_simulator(environment: &Environment) -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let (kubeconfig, kubectl) = (directory.path().join("kubeconfig"), environment.kubectl.clone());
    Runtime::new()?.block_on(async {
        let server = ApiServer::new();
        let client = server.client();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        serve::write_kubeconfig(&kubeconfig, listener.local_addr()?)?;
        let simulator = kubewright_simulator::Cluster::builder(client.clone()).build()?;
        let trial = async {
            simulator.add_node(NodeConfig::new(NODE)).await?;
            install_monitoring(&client).await?;
            spawn_blocking(move || deployed_and_removed(&kubectl, &kubeconfig)).await?
        };
        tokio::select! {
            result = trial => result,
            result = simulator.run(CancellationToken::new()) => Err(format!("the simulator ended: {result:?}").into()),
            () = serve::serve(server, listener, Limits::default(), pending()) => Err("the server ended".into()),
        }
    })
}

/// Installs the kinds of the Prometheus operator that the configuration contains.
async fn install_monitoring(client: &Client) -> Result<(), Failed> {
    for (kind, plural) in [("ServiceMonitor", "servicemonitors"), ("PrometheusRule", "prometheusrules")] {
        let spec = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
        let definition = json!({
            "metadata": {"name": format!("{plural}.monitoring.coreos.com")},
            "spec": {
                "group": "monitoring.coreos.com",
                "names": {"kind": kind, "plural": plural},
                "scope": "Namespaced",
                "versions": [version],
            },
        });
        let definition: CustomResourceDefinition = serde_json::from_value(definition)?;
        tests::install(client, [definition]).await;
    }
    Ok(())
}

fn deployed_and_removed(program: &Path, kubeconfig: &Path) -> Result<(), Failed> {
    let kubectl = Kubectl::at(program).kubeconfig(kubeconfig);
    let mut manifest = Manifest::parse(&kubectl.kustomize(&configuration())?)?;
    manifest.set_image(IMAGE)?;
    let installation = Installation::new(OPERATOR, manifest.clone(), kubectl, "2m".parse()?)?;
    check(installation.plan()?.len() == manifest.objects().len(), "a plan with all objects")?;
    check(existing(program, kubeconfig, &manifest)?.is_empty(), "nothing after a plan")?;

    installation.deploy()?;
    let found = existing(program, kubeconfig, &manifest)?;
    check(found.len() == manifest.objects().len(), &format!("all objects, found {found:?}"))?;
    let image = "jsonpath={.items[*].spec.containers[*].image}";
    let pods = ["get", "pods", "--namespace=logger-operator-system", "--output", image];
    let images = run_kubectl(program, kubeconfig, &pods)?;
    check(!images.is_empty() && images.split(' ').all(|image| image == IMAGE), &images)?;
    // A second one changes nothing.
    installation.deploy()?;

    let sample = tests::workspace_root().join("config/samples/example_v2_logger.yaml");
    run_kubectl(program, kubeconfig, &["create", "--filename", &sample.to_string_lossy()])?;
    installation.undeploy(true)?;
    let loggers = run_kubectl(program, kubeconfig, &["get", "loggers", "--all-namespaces", "--output=name"])?;
    check(!loggers.is_empty(), "an orphaned Logger")?;
    installation.deploy()?;
    installation.undeploy(false)?;
    let found = existing(program, kubeconfig, &manifest)?;
    check(found.is_empty(), &format!("nothing after the removal, found {found:?}"))?;
    // It can be repeated.
    Ok(installation.undeploy(false).map(drop)?)
}

/// The file contains the objects of kustomize: with another image, that is the only difference.
fn installer(environment: &Environment) -> Result<(), Failed> {
    let text = Kubectl::at(&environment.kubectl).kustomize(&configuration())?;
    let expected = Manifest::parse(&text)?;
    let mut manifest = expected.clone();
    manifest.set_image(IMAGE)?;
    let written = Manifest::parse(&manifest.to_yaml()?)?;
    let mut differences = 0;
    for (written, expected) in written.objects().into_iter().zip(expected.objects()) {
        if written != expected {
            differences += 1;
            let mut expected = expected.clone();
            expected["spec"]["template"]["spec"]["containers"][0]["image"] = Value::from(IMAGE);
            check(*written == expected, &format!("only another image in {written}"))?;
        }
    }
    check(differences == 1, "one object with another image")?;
    check(written.objects().len() == expected.objects().len(), "the same number of objects")
}

fn configuration() -> PathBuf {
    tests::workspace_root().join("config/default")
}

/// Returns the objects of the manifest that exist.
fn existing(program: &Path, kubeconfig: &Path, manifest: &Manifest) -> Result<Vec<String>, Failed> {
    let directory = tempfile::tempdir()?;
    let mut found = Vec::new();
    for (number, object) in manifest.objects().into_iter().enumerate() {
        let file = directory.path().join(format!("{number}.json"));
        fs::write(&file, object.to_string())?;
        let args = ["get", "--ignore-not-found", "--output=name", "--filename", &file.to_string_lossy()];
        found.extend(run_kubectl(program, kubeconfig, &args)?.lines().map(str::to_owned));
    }
    Ok(found)
}

fn run_kubectl(program: &Path, kubeconfig: &Path, args: &[&str]) -> Result<String, Failed> {
    let output = Command::new(program).arg("--kubeconfig").arg(kubeconfig).args(args).output()?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("kubectl {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr)).into()),
    }
}

fn check(is_met: bool, expected: &str) -> Result<(), Failed> {
    if is_met { Ok(()) } else { Err(format!("expected: {expected}").into()) }
}
