//! Starts that fail: each ends with one error that names what to change, and nothing is left half started.

use std::{fs, net::TcpListener, path::PathBuf, sync::Arc};

use envtest::ControlPlane;
use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;
use tests::{
    history::Run,
    journal::Event,
    process::{Exit, Signal},
    replica::{LEASE, Options, Replica},
};
use tokio::runtime::Runtime;

use super::{Suite, replica::start_replica};

/// The service account of the operators.
const ACCOUNT: &str = "operator";

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![
        suite.test("start::a_missing_permission_for_leases_is_named", no_permission_for_leases),
        suite.test("start::a_port_in_use_is_named", port_in_use),
        suite.test("start::a_certificate_that_cannot_be_read_is_named", no_certificate),
        suite.test("start::a_kubeconfig_that_cannot_be_read_is_named", no_kubeconfig),
        suite.test("start::sigterm_during_the_start_is_a_graceful_stop", terminated),
    ]
}

/// The service account may read and write ConfigMaps, but no Leases.
fn no_permission_for_leases(control_plane: &ControlPlane) -> Result<(), Failed> {
    let fixture = Fixture::new(control_plane, "start-leases")?;
    fixture.grant("configmaps")?;
    let replica = start_replica(&Options { kubeconfig: fixture.account()?, ..fixture.options() })?;
    let error = fixture.failure(replica)?;
    assert!(error.starts_with("leader election by lease `start-leases/replicas` failed for "), "{error}");
    let account = "User \"system:serviceaccount:start-leases:operator\"";
    let resource = "resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"start-leases\"";
    assert!(error.contains(&format!("{account} cannot get {resource}")), "{error}");
    assert!(error.contains("kubectl auth can-i get leases.coordination.k8s.io"), "{error}");
    Ok(())
}

fn port_in_use(control_plane: &ControlPlane) -> Result<(), Failed> {
    let fixture = Fixture::new(control_plane, "start-port")?;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let replica = start_replica(&Options { port, ..fixture.options() })?;
    let error = fixture.failure(replica)?;
    let expected = format!("the server `status` cannot listen on 127.0.0.1:{port}: ");
    assert!(error.starts_with(&expected), "{error}");
    assert!(error.ends_with("; stop the other process or configure another port"), "{error}");
    Ok(())
}

fn no_certificate(control_plane: &ControlPlane) -> Result<(), Failed> {
    let fixture = Fixture::new(control_plane, "start-certificate")?;
    let directory = fixture.path("certificates");
    let replica = start_replica(&Options { certificates: Some(directory.clone()), ..fixture.options() })?;
    let error = fixture.failure(replica)?;
    assert!(error.contains(&directory.join("tls.crt").display().to_string()), "{error}");
    Ok(())
}

fn no_kubeconfig(control_plane: &ControlPlane) -> Result<(), Failed> {
    let fixture = Fixture::new(control_plane, "start-kubeconfig")?;
    let kubeconfig = fixture.path("kubeconfig");
    let replica = start_replica(&Options { kubeconfig: kubeconfig.clone(), ..fixture.options() })?;
    let error = fixture.failure(replica)?;
    assert!(error.contains(&kubeconfig.display().to_string()), "{error}");
    Ok(())
}

/// The informers of the replica cannot sync, as the service account has no permission.
fn terminated(control_plane: &ControlPlane) -> Result<(), Failed> {
    let fixture = Fixture::new(control_plane, "start-terminated")?;
    let mut replica = start_replica(&Options { kubeconfig: fixture.account()?, ..fixture.options() })?;
    replica.wait_for("/livez", &Runtime::new()?)?;
    replica.signal(Signal::TERM)?;
    let (run, exit) = replica.end()?;
    assert!(exit.code == Some(0) && errors(&exit).is_empty(), "{}", exit.errors);
    assert!(!has_reconciled(&run));
    fixture.assert_no_lease()
}

/// A namespace with a service account, and a directory for files.
struct Fixture<'a> {
    control_plane: &'a ControlPlane,
    namespace: &'static str,
    directory: TempDir,
}

impl<'a> Fixture<'a> {
    fn new(control_plane: &'a ControlPlane, namespace: &'static str) -> Result<Self, Failed> {
        let fixture = Fixture { control_plane, namespace, directory: tempfile::tempdir()? };
        fixture.kubectl(&["create", "namespace", namespace])?;
        fixture.kubectl(&["create", "serviceaccount", ACCOUNT])?;
        Ok(fixture)
    }

    /// Returns the options of a replica of the administrator.
    fn options(&self) -> Options {
        Options::new(self.control_plane.kubeconfig(), self.namespace, "a", self.directory.path())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Allows the service account to read and write objects of this resource.
    fn grant(&self, resource: &str) -> Result<(), Failed> {
        let subject = format!("--serviceaccount={}:{ACCOUNT}", self.namespace);
        self.kubectl(&["create", "role", ACCOUNT, "--verb=get,list,watch,patch", "--resource", resource])?;
        self.kubectl(&["create", "rolebinding", ACCOUNT, "--role", ACCOUNT, &subject])?;
        Ok(())
    }

    /// Creates a kubeconfig of the service account: that of the administrator with another token.
    fn account(&self) -> Result<PathBuf, Failed> {
        let token = self.kubectl(&["create", "token", ACCOUNT])?;
        let administrator = fs::read_to_string(self.control_plane.kubeconfig())?;
        let line = |line: &str| match line.split_once("token: ") {
            Some((indentation, _)) => format!("{indentation}token: {}\n", token.trim()),
            None => format!("{line}\n"),
        };
        let path = self.path("account");
        fs::write(&path, administrator.lines().map(line).collect::<String>())?;
        Ok(path)
    }

    /// Waits for the end of a replica that cannot start, and returns its error. It has reconciled nothing, and holds no
    /// lease.
    fn failure(&self, replica: Replica) -> Result<String, Failed> {
        let (run, exit) = replica.end()?;
        assert_eq!(exit.code, Some(1), "{}", exit.errors);
        assert!(!has_reconciled(&run));
        self.assert_no_lease()?;
        match errors(&exit).as_slice() {
            [error] => Ok(error.clone()),
            errors => Err(format!("expected one error, found {errors:?} in {}", exit.errors).into()),
        }
    }

    fn assert_no_lease(&self) -> Result<(), Failed> {
        assert_eq!(self.kubectl(&["get", "lease", LEASE, "--ignore-not-found", "--output", "name"])?, "");
        Ok(())
    }

    /// Runs kubectl in the namespace, and returns its output.
    fn kubectl(&self, args: &[&str]) -> Result<String, Failed> {
        let output = self.control_plane.kubectl().args(["--namespace", self.namespace]).args(args).output()?;
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout)?),
            false => Err(format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }
}

/// Returns the errors in the output, without the log.
fn errors(exit: &Exit) -> Vec<String> {
    exit.errors.lines().filter_map(|line| line.strip_prefix("error: ")).map(str::to_owned).collect()
}

fn has_reconciled(run: &Run) -> bool {
    run.entries.iter().any(|entry| matches!(entry.event, Event::Started(_)))
}
