//! The chart, the configuration and the bundle of a new project on the API server in memory and on a real one: the
//! servers accept and delete every object, and the operator runs with the arguments, the environment and the service
//! account of its Deployment. The test has the part of the controllers that the servers lack.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use libtest_mimic::Failed;
use serde_json::{Value, json};
use tests::process::{Process, Signal, wait_until};

use super::server::Server;

const OPERATOR: &str = "my-operator";
/// The namespace of `config/default`.
const CONFIGURED: &str = "my-operator-system";
/// The namespace of the release.
const RELEASED: &str = "my-operator-release";
/// The namespace of the bundle.
const BUNDLED: &str = "my-operator-bundle";
/// The definitions of the project.
const DEFINITIONS: [&str; 3] = ["gears.tools.example.com", "logfiles.apps.example.com", "people.example.com"];
/// What the operator requests first, by each of its roles.
const REQUESTS: [&str; 3] =
    ["list gears.tools.example.com -A", "create tokenreviews.authentication.k8s.io", "create leases -n NAMESPACE"];
/// The options of the operator outside of the cluster, which shares the ports of this machine.
const FREE_PORTS: [&str; 3] = [
    "--health-probe-bind-address=127.0.0.1:0",
    "--metrics-bind-address=127.0.0.1:0",
    "--webhook-bind-address=127.0.0.1:0",
];

/// What is installed.
pub(super) struct Installed<'a> {
    /// The root of the project.
    pub(super) project: &'a Path,
    /// The program of its operator.
    pub(super) program: &'a Path,
    pub(super) helm: &'a Path,
    /// The definitions of other projects.
    pub(super) definitions: &'a [PathBuf],
    pub(super) server: &'a Server,
}

impl Installed<'_> {
    /// Installs everything, and removes it again.
    pub(super) fn check(&self) -> Result<(), Failed> {
        self.check_release()?;
        self.check_configuration()?;
        self.check_bundle()
    }

    /// Installs, upgrades and uninstalls the chart. The definitions and their objects outlive the release.
    fn check_release(&self) -> Result<(), Failed> {
        let server = self.server;
        let installed = self.release(&["install", "--create-namespace"])?;
        assert_eq!(installed.matches(": new").count(), DEFINITIONS.len(), "{installed}");
        self.operate(RELEASED)?;
        let upgraded = self.release(&["upgrade", "--set=replicas=3"])?;
        assert_eq!(upgraded.matches(": no change").count(), DEFINITIONS.len(), "{upgraded}");
        let deployment = server.get(RELEASED, "deployment", "my-operator-controller-manager")?;
        assert_eq!(deployment["spec"]["replicas"], 3);
        let manifest = server.files().join("release.yaml");
        fs::write(&manifest, self.helm(&["get", "manifest", OPERATOR])?)?;
        assert!(server.existing(&manifest)?.contains("deployment.apps/my-operator-controller-manager"));
        self.helm(&["uninstall", OPERATOR])?;
        let remaining = server.existing(&manifest)?;
        assert!(remaining.is_empty(), "helm uninstall leaves {remaining}");
        let gear = server.get(RELEASED, "gear", "gear-sample")?;
        assert_eq!(gear["metadata"]["name"], "gear-sample");
        server.kubectl(&[&["delete", "customresourcedefinition"], &DEFINITIONS[..]].concat()).map(drop)
    }

    /// Applies `config/default` twice, and deletes it. Without a namespace controller the namespace remains.
    fn check_configuration(&self) -> Result<(), Failed> {
        let server = self.server;
        let directory = self.project.join("config/default");
        let directory = directory.to_string_lossy();
        let manifest = server.files().join("default.yaml");
        fs::write(&manifest, server.kubectl(&["kustomize", &directory])?)?;
        let created = server.apply(&["--kustomize", &directory])?;
        assert!(created.lines().all(|line| line.ends_with(" created")), "{created}");
        self.wait_for_definitions()?;
        let versions = || {
            let items = "jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{'\\n'}{end}";
            server.kubectl(&["get", "--filename", &manifest.to_string_lossy(), "--output", items])
        };
        let before = versions()?;
        assert_eq!(before.lines().count(), created.lines().count(), "{before}");
        server.apply(&["--kustomize", &directory])?;
        assert_eq!(versions()?, before, "the second application changes nothing");
        self.operate(CONFIGURED)?;
        server.kubectl(&["delete", "--wait=false", "--ignore-not-found", "--kustomize", &directory])?;
        wait_until::<Failed>("the deletion of the configuration", || {
            let remaining = server.existing(&manifest)?;
            Ok(remaining.lines().all(|object| object.starts_with("namespace/")))
        })
    }

    /// Applies the objects of the bundle, and the Deployment of its ClusterServiceVersion.
    fn check_bundle(&self) -> Result<(), Failed> {
        let server = self.server;
        let external: Vec<_> = self.definitions.iter().map(|file| format!("--filename={}", file.display())).collect();
        let external: Vec<_> = external.iter().map(String::as_str).collect();
        server.apply(&[&["--server-side"], &external[..]].concat())?;
        server.kubectl(&[&["wait", "--for=condition=Established", "--timeout=60s"], &external[..]].concat())?;
        server.kubectl(&["create", "namespace", BUNDLED])?;
        let manifests = self.project.join("bundle/manifests");
        let options =
            ["--server-side", "--validate=strict", "--namespace", BUNDLED, "--filename", &manifests.to_string_lossy()];
        let applied = server.apply(&options)?;
        assert_eq!(applied.lines().count(), fs::read_dir(&manifests)?.count(), "{applied}");
        self.wait_for_definitions()?;
        let version = server.get(BUNDLED, "clusterserviceversion", "my-operator.v0.1.0")?;
        let deployments = version["spec"]["install"]["spec"]["deployments"].as_array().ok_or("no deployments")?;
        assert_eq!(deployments.len(), 1, "{deployments:?}");
        for deployment in deployments {
            let file = server.files().join("deployment.json");
            let metadata = json!({"name": deployment["name"], "namespace": BUNDLED});
            let object = json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": deployment["spec"],
            });
            fs::write(&file, object.to_string())?;
            server.apply(&["--server-side", "--validate=strict", "--filename", &file.to_string_lossy()])?;
        }
        server.kubectl(&["delete", "--namespace", BUNDLED, "--filename", &manifests.to_string_lossy()]).map(drop)
    }

    fn wait_for_definitions(&self) -> Result<(), Failed> {
        let wait = ["wait", "--for=condition=Established", "--timeout=60s", "customresourcedefinition"];
        self.server.kubectl(&[&wait, &DEFINITIONS[..]].concat()).map(drop)
    }

    /// Runs a command of helm that creates the Job of the chart, runs the Job meanwhile, and returns the output of the
    /// Job.
    fn release(&self, command: &[&str]) -> Result<String, Failed> {
        let server = self.server;
        assert_eq!(server.get(RELEASED, "job", "my-operator-crds")?, Value::Null, "the last Job is deleted");
        let mut helm = self.helm_command();
        helm.args(command).arg(OPERATOR).arg(self.project.join("charts").join(OPERATOR));
        let mut helm = Process::start("helm", &mut helm, server.files().join("helm.log"))?;
        let mut job = Value::Null;
        wait_until::<Failed>("the Job", || {
            job = server.get(RELEASED, "job", "my-operator-crds")?;
            Ok(!job.is_null() || !helm.is_running()?)
        })?;
        let printed = if job.is_null() { String::new() } else { self.complete(&job)? };
        let exit = helm.wait()?;
        match exit.code {
            Some(0) => Ok(printed),
            _ => Err(format!("helm {}: {}", command.join(" "), exit.errors).into()),
        }
    }

    /// Runs the container of the Job, sets the status of the Job as its controller does, and returns the output.
    fn complete(&self, job: &Value) -> Result<String, Failed> {
        let requests = ["create customresourcedefinitions", "patch customresourcedefinitions/gears.tools.example.com"];
        let mut container = self.container(RELEASED, &job["spec"]["template"]["spec"], &requests)?;
        let output = container.output()?;
        if !output.status.success() {
            return Err(format!("the Job: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let time = "2026-01-01T00:00:00Z";
        let condition = |name: &str| json!({"type": name, "status": "True", "reason": "CompletionsReached", "lastTransitionTime": time});
        let status = json!({
            "startTime": time, "completionTime": time, "succeeded": 1, "uncountedTerminatedPods": {},
            "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
        });
        let patch = json!({"status": status}).to_string();
        let args = ["patch", "job", "my-operator-crds", "--subresource=status", "--type=merge", "--patch", &patch];
        self.server.kubectl(&[&["--namespace", RELEASED], &args[..]].concat())?;
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs the operator until a sample is ready, and stops it.
    fn operate(&self, namespace: &str) -> Result<(), Failed> {
        let server = self.server;
        let deployment = server.get(namespace, "deployment", "my-operator-controller-manager")?;
        let requests = REQUESTS.map(|request| request.replace("NAMESPACE", namespace));
        let requests = requests.each_ref().map(String::as_str);
        let mut container = self.container(namespace, &deployment["spec"]["template"]["spec"], &requests)?;
        container.args(FREE_PORTS);
        let operator = Process::start(OPERATOR, &mut container, server.files().join("operator.log"))?;
        let sample = self.project.join("config/samples/tools_v1_gear.yaml");
        server.apply(&["--namespace", namespace, "--filename", &sample.to_string_lossy()])?;
        let ready = ["wait", "--for=condition=Ready", "--timeout=60s", "gear/gear-sample", "--namespace", namespace];
        let ready = server.kubectl(&ready);
        operator.signal(Signal::TERM)?;
        let exit = operator.wait()?;
        ready.map_err(|failed| format!("{}\n{}", failed.message().unwrap_or_default(), exit.errors))?;
        assert_eq!(exit.code, Some(0), "{}", exit.errors);
        assert!(!exit.errors.contains("forbidden"), "{}", exit.errors);
        Ok(())
    }

    /// Returns the program as the only container of a pod runs it, with a token of its service account.
    fn container(&self, namespace: &str, pod: &Value, requests: &[&str]) -> Result<Command, Failed> {
        let container = match pod["containers"].as_array().map(Vec::as_slice) {
            Some([container]) => container,
            other => return Err(format!("expected one container: {other:?}").into()),
        };
        let account = pod["serviceAccountName"].as_str().ok_or("the pod has a service account")?;
        let mut command = Command::new(self.program);
        command.env_clear().env("KUBECONFIG", self.server.log_in(namespace, account, requests)?);
        for arg in container["args"].as_array().into_iter().flatten() {
            command.arg(arg.as_str().ok_or("an argument is a string")?);
        }
        for variable in container["env"].as_array().into_iter().flatten() {
            let (name, value) = (variable["name"].as_str(), variable["value"].as_str());
            command.env(name.ok_or("a variable has a name")?, value.ok_or("a variable has a value")?);
        }
        Ok(command)
    }

    /// Runs helm in the namespace of the release, and returns its output.
    fn helm(&self, args: &[&str]) -> Result<String, Failed> {
        let output = self.helm_command().args(args).output()?;
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout)?),
            false => Err(format!("helm {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr)).into()),
        }
    }

    fn helm_command(&self) -> Command {
        let mut helm = Command::new(self.helm);
        helm.arg("--kubeconfig").arg(self.server.kubeconfig()).args(["--namespace", RELEASED]);
        for variable in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            helm.env(variable, self.server.files());
        }
        helm.env_remove("KUBECONFIG");
        helm
    }
}
