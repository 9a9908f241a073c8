//! The Logger operator as a process with the token of its service account, under the roles that it is deployed with:
//! the audit log of the server contains no denied request, and what is declared and never used has a reason.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};

use envtest::{Assets, ControlPlane};
use kubewright_apiserver::{Coverage, CoverageReport, audited_authorizations};
use kubewright_core::description::OperatorDescription;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::{
    process::{Process, Signal, wait_until},
    program,
};

use super::{
    Suite, kubectl,
    manifests::{NAMESPACE, built, kubectl as kubectl_with_input, succeeded},
};

const ACCOUNT: &str = "logger-operator-controller-manager";
/// The arguments of `config/project.toml`.
const ARGS: [&str; 2] = ["--leader-elect", "--agent-image=logger-agent:latest"];
const AUDIT_POLICY: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
";

/// What the operator declares and never uses, for the reasons in `logger-operator/tests/operator/permissions.rs`.
const UNUSED: &str = include_str!("../../../logger-operator/tests/operator/unused_permissions.txt");

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![suite.test("permissions::the_operator_needs_what_it_declares_and_nothing_else", |environment| {
        let scenario = Scenario::start(&environment.assets)?;
        let operator = scenario.start_operator()?;
        scenario.act()?;
        scenario.check(operator)
    })]
}

/// A control plane with an audit log, the roles of the operator, and its program.
struct Scenario {
    control_plane: ControlPlane,
    files: TempDir,
    kubectl: PathBuf,
    program: PathBuf,
    metrics_port: u16,
}

impl Scenario {
    fn start(assets: &Assets) -> Result<Self, Failed> {
        let files = tempfile::tempdir()?;
        let (policy, log) = (files.path().join("policy.yaml"), files.path().join("audit.log"));
        fs::write(&policy, AUDIT_POLICY)?;
        let flags =
            [format!("--audit-policy-file={}", policy.display()), format!("--audit-log-path={}", log.display())];
        let control_plane = ControlPlane::start_with(assets, &flags.each_ref().map(String::as_str))?;
        kubectl::install(&control_plane)?;
        let metrics_port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let program = program("logger-operator");
        let scenario = Scenario { control_plane, files, kubectl: assets.kubectl(), program, metrics_port };
        scenario.install_access()?;
        Ok(scenario)
    }

    /// Installs the roles and the definitions of `config/default`, and waits until the server authorizes by the roles.
    /// The definitions have a conversion, whose CA bundle the operator writes.
    fn install_access(&self) -> Result<(), Failed> {
        let objects = built(&self.control_plane)?;
        let is_access = |object: &&Value| {
            let version = object["apiVersion"].as_str().unwrap_or_default();
            let is_kind = ["CustomResourceDefinition", "ServiceAccount"].iter().any(|kind| object["kind"] == *kind);
            is_kind || version.starts_with("rbac.authorization.k8s.io/")
        };
        let namespace = objects.iter().find(|object| object["kind"] == "Namespace").ok_or("a namespace is rendered")?;
        let access: Vec<_> = objects.iter().filter(is_access).collect();
        for object in [namespace, &json!({"apiVersion": "v1", "kind": "List", "items": access})] {
            let args = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
            succeeded(&kubectl_with_input(&self.control_plane, &args, object)?)?;
        }
        let user = format!("--as={}", self.user());
        let leases = format!("create leases -n {NAMESPACE}");
        for bound in ["list loggers -A", "create tokenreviews.authentication.k8s.io", &leases] {
            wait_until::<Failed>(bound, || {
                let mut can_i = self.control_plane.kubectl();
                can_i.args(["auth", "can-i"]).args(bound.split(' ')).arg(&user);
                Ok(can_i.output()?.status.success())
            })?;
        }
        Ok(())
    }

    fn user(&self) -> String {
        format!("system:serviceaccount:{NAMESPACE}:{ACCOUNT}")
    }

    /// Starts the operator with the token of its service account.
    fn start_operator(&self) -> Result<Process, Failed> {
        let kubeconfig = self.files.path().join("operator.kubeconfig");
        fs::copy(self.control_plane.kubeconfig(), &kubeconfig)?;
        let token = self.run(&["create", "token", ACCOUNT, "-n", NAMESPACE])?;
        for args in [
            &["set-credentials", "operator", &format!("--token={token}")][..],
            &["set-context", "--current", "--user=operator", &format!("--namespace={NAMESPACE}")],
        ] {
            let output = self.kubectl(&kubeconfig).arg("config").args(args).output()?;
            succeeded(&output)?;
        }
        let mut operator = Command::new(&self.program);
        operator.arg("run").args(ARGS).env("KUBECONFIG", kubeconfig);
        operator.args(["--health-probe-bind-address=127.0.0.1:0", "--webhook-bind-address=127.0.0.1:0"]);
        operator.arg(format!("--metrics-bind-address=127.0.0.1:{}", self.metrics_port));
        Ok(Process::start("logger-operator", &mut operator, self.files.path().join("operator.log"))?)
    }

    /// Creates, scales, moves and deletes a Logger, and requests the metrics.
    fn act(&self) -> Result<(), Failed> {
        let spec = json!({"name": "audit", "interval": "1m", "replicas": 2});
        let metadata = json!({"name": "audit", "namespace": "default"});
        let logger = json!({"apiVersion": "example.com/v2", "kind": "Logger", "metadata": metadata, "spec": spec});
        succeeded(&kubectl_with_input(&self.control_plane, &["create", "-f", "-"], &logger)?)?;
        wait_until::<Failed>("the Deployment", || {
            let mut get = self.control_plane.kubectl();
            Ok(get.args(["get", "deployment", "logger-audit"]).output()?.status.success())
        })?;
        // The second time, its events are a series.
        for (replicas, reason) in [(0, "NoReplicas"), (2, "AsDesired"), (0, "NoReplicas"), (2, "AsDesired")] {
            self.run(&["scale", "logger", "audit", &format!("--replicas={replicas}")])?;
            let reasons = "jsonpath={.status.conditions[*].reason}";
            wait_until::<Failed>(reason, || {
                let reasons = self.run(&["get", "logger", "audit", "-o", reasons])?;
                Ok(reasons.split(' ').any(|found| found == reason))
            })?;
        }
        self.restrict_clients()?;
        self.replace_workloads()?;
        self.run(&["delete", "logger", "audit"])?;
        self.request_metrics()
    }

    /// Names peers and tokens of the Logger, and none again.
    fn restrict_clients(&self) -> Result<(), Failed> {
        let source = json!({"from": [{"podSelector": {}}], "auditTokens": {"name": "clients", "key": "audit"}});
        for (source, exists) in [(source, true), (Value::Null, false)] {
            let patch = json!({"spec": {"source": source}}).to_string();
            self.run(&["patch", "logger", "audit", "--type=merge", "-p", &patch])?;
            wait_until::<Failed>("the NetworkPolicy and the tokens", || {
                let found = self.run(&["get", "networkpolicy", "logger-audit", "--ignore-not-found", "-o", "name"])?;
                let volumes = "jsonpath={.spec.template.spec.volumes[*].name}";
                let volumes = self.run(&["get", "deployment", "logger-audit", "-o", volumes])?;
                Ok(found.is_empty() != exists && volumes.contains("tokens") == exists)
            })?;
        }
        Ok(())
    }

    /// Changes the workload of the Logger to each kind and back.
    fn replace_workloads(&self) -> Result<(), Failed> {
        let nodes = json!({
            "observedGeneration": 1, "desiredNumberScheduled": 0, "currentNumberScheduled": 0, "numberMisscheduled": 0,
            "numberReady": 0,
        });
        let replicas = json!({
            "observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
        });
        let claim = json!({"placement": null, "storage": {"volumeClaim": {"size": "1Gi"}}});
        for (spec, former, new, complete) in [
            (json!({"placement": "PerNode"}), "deployment", "daemonset", &nodes),
            (claim, "daemonset", "statefulset", &replicas),
            (json!({"storage": null}), "statefulset", "deployment", &replicas),
        ] {
            let patch = |object: &[&str], patch: Value| {
                self.run(&[&["patch"], object, &["--type=merge", "-p", &patch.to_string()]].concat())
            };
            patch(&["logger", "audit"], json!({"spec": spec}))?;
            let exists = |kind: &str| self.run(&["get", kind, "logger-audit", "--ignore-not-found", "-o", "name"]);
            wait_until::<Failed>(new, || Ok(!exists(new)?.is_empty()))?;
            // No controller runs the workload: the former one is deleted when the new one is complete.
            patch(&[new, "logger-audit", "--subresource=status"], json!({"status": complete}))?;
            wait_until::<Failed>(former, || Ok(exists(former)?.is_empty()))?;
        }
        Ok(())
    }

    /// Requests the metrics with the token of a service account that may read them.
    fn request_metrics(&self) -> Result<(), Failed> {
        self.run(&["create", "serviceaccount", "prometheus"])?;
        let role = "--clusterrole=logger-operator-metrics-reader";
        self.run(&["create", "clusterrolebinding", "prometheus", role, "--serviceaccount=default:prometheus"])?;
        self.wait_for_metrics_access()?;
        let token = self.run(&["create", "token", "prometheus"])?;
        let mut get = self.kubectl(Path::new("/dev/null"));
        get.args(["--insecure-skip-tls-verify", "get", "--raw", "/metrics", "--token", &token]);
        let output = get.arg(format!("--server=https://127.0.0.1:{}", self.metrics_port)).output()?;
        succeeded(&output)?;
        match String::from_utf8_lossy(&output.stdout).contains("controller_runtime_reconcile_total") {
            true => Ok(()),
            false => Err("the operator serves no metrics".into()),
        }
    }

    fn wait_for_metrics_access(&self) -> Result<(), Failed> {
        wait_until("access to the metrics", || {
            let mut can_i = self.control_plane.kubectl();
            can_i.args(["auth", "can-i", "get", "/metrics", "--as=system:serviceaccount:default:prometheus"]);
            Ok(can_i.output()?.status.success())
        })
    }

    /// Stops the operator when it has used everything, and checks the audit log.
    fn check(&self, operator: Process) -> Result<(), Failed> {
        let description = self.describe()?;
        let expected: Vec<_> = UNUSED.lines().collect();
        let is_complete = || {
            let report = self.report(&description)?;
            Ok::<_, Failed>(!report.undeclared.is_empty() || report.unused == expected)
        };
        // The report below contains what is missing.
        let complete = wait_until("every declared permission to be used", is_complete);
        operator.signal(Signal::TERM)?;
        let exit = operator.wait()?;
        let unused = self.report(&description)?.check().map_err(|report| report.to_string())?;
        if unused != expected {
            return Err(format!("never used: {unused:?}; expected: {expected:?}\n{}", exit.errors).into());
        }
        complete?;
        if exit.code == Some(0) { Ok(()) } else { Err(exit.errors.into()) }
    }

    /// Returns what the operator declares.
    fn describe(&self) -> Result<OperatorDescription, Failed> {
        let output = Command::new(&self.program).arg("manifests").args(ARGS).output()?;
        succeeded(&output)?;
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    fn report(&self, description: &OperatorDescription) -> Result<CoverageReport, Failed> {
        let log = fs::read_to_string(self.files.path().join("audit.log"))?;
        let rules = description.permissions.iter().map(|permission| permission.rule.clone());
        let coverage = Coverage::new(self.user(), rules).kind("example.com", "loggers", "Logger");
        Ok(coverage.report(&audited_authorizations(&log)?))
    }

    /// Runs kubectl as the administrator in the namespace `default`, and returns its output.
    fn run(&self, args: &[&str]) -> Result<String, Failed> {
        let output: Output = self.control_plane.kubectl().args(args).output()?;
        succeeded(&output).map_err(|failed| format!("kubectl {args:?}: {}", failed.message().unwrap_or_default()))?;
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// Returns kubectl with another configuration.
    fn kubectl(&self, kubeconfig: &Path) -> Command {
        let mut kubectl = Command::new(&self.kubectl);
        kubectl.arg("--kubeconfig").arg(kubeconfig).env_remove("KUBECONFIG").env("HOME", self.files.path());
        kubectl
    }
}
