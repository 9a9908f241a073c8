//! A real control plane and a cluster start, serve kubectl, and leave no processes and no files behind.

use std::{
    env,
    error::Error,
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::Path,
    process::{Command, ExitCode, Stdio},
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use envtest::{Assets, Cluster, ControlPlane, HOW_TO_GET_COMPONENTS, Suite};
use kubewright_envtest::internals::{Launch, Ports, START_ATTEMPTS};
use libtest_mimic::{Arguments, Completion, Failed};

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let suite = Suite::new("envtest", |assets| Ok(assets.clone()))?;
    let test = |name: &str, run: fn(&Assets) -> Result<(), Failed>| suite.test(name, run);
    let trials = vec![
        test("a_control_plane_serves_and_leaves_nothing_behind_when_stopped", stop_leaves_nothing_behind),
        test("a_dropped_control_plane_leaves_nothing_behind", drop_leaves_nothing_behind),
        test("an_open_watch_does_not_delay_the_shutdown", open_watch_does_not_delay_the_shutdown),
        test("a_port_that_stays_in_use_is_an_error_with_the_log_and_leaves_nothing_behind", port_stays_in_use),
        test("a_port_in_use_is_replaced", port_in_use_is_replaced),
        test("a_cancelled_start_leaves_nothing_behind", cancelled_start_leaves_nothing_behind),
        suite.ignorable_test("a_cluster_runs_nodes_and_leaves_nothing_behind", cluster_leaves_nothing_behind),
    ];
    Ok(suite.run(arguments, trials).exit_code())
}

fn stop_leaves_nothing_behind(assets: &Assets) -> Result<(), Failed> {
    let control_plane = ControlPlane::start(assets)?;
    let dir = directory(&control_plane).to_owned();
    assert_eq!(count_processes(&dir)?, 2);

    let output = control_plane.kubectl().args(["get", "ns", "default", "-o", "name"]).output()?;
    assert_eq!(String::from_utf8(output.stdout)?, "namespace/default\n");
    let output = control_plane.kubectl().args(["auth", "can-i", "*", "*"]).output()?;
    assert_eq!(String::from_utf8(output.stdout)?, "yes\n");

    control_plane.stop()?;
    assert_eq!(count_processes(&dir)?, 0);
    assert!(!dir.exists());
    Ok(())
}

fn drop_leaves_nothing_behind(assets: &Assets) -> Result<(), Failed> {
    let control_plane = ControlPlane::start(assets)?;
    let dir = directory(&control_plane).to_owned();
    drop(control_plane);
    assert_eq!(count_processes(&dir)?, 0);
    assert!(!dir.exists());
    Ok(())
}

fn open_watch_does_not_delay_the_shutdown(assets: &Assets) -> Result<(), Failed> {
    let control_plane = ControlPlane::start(assets)?;
    let mut watch = control_plane.kubectl();
    watch.args(["get", "--raw", "/api/v1/namespaces?watch=true"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut watch = watch.spawn()?;
    let mut event = String::new();
    BufReader::new(watch.stdout.as_mut().ok_or("stdout is piped")?).read_line(&mut event)?;
    assert!(event.contains("ADDED"), "{event}");

    let start = Instant::now();
    control_plane.stop()?;
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    watch.wait()?;
    Ok(())
}

fn port_stays_in_use(assets: &Assets) -> Result<(), Failed> {
    let parent = tempfile::tempdir()?;
    let (_listener, ports) = port_in_use()?;
    let never = AtomicBool::new(false);
    let launch = Launch { assets, flags: &[], parent: parent.path(), detached: false, cancelled: &never };
    let mut attempts = 0;
    let outcome = launch.run(|| {
        attempts += 1;
        Ok(ports)
    });
    let error = format!("{:?}", outcome.err().ok_or("the control plane started")?);
    assert!(error.contains("etcd ended") && error.contains("address already in use"), "{error}");
    assert_eq!(attempts, START_ATTEMPTS);
    assert_eq!(fs::read_dir(parent.path())?.count(), 0);
    Ok(())
}

fn port_in_use_is_replaced(assets: &Assets) -> Result<(), Failed> {
    let parent = tempfile::tempdir()?;
    let (_listener, ports) = port_in_use()?;
    let never = AtomicBool::new(false);
    let launch = Launch { assets, flags: &[], parent: parent.path(), detached: false, cancelled: &never };
    let mut attempts = [Ok(ports), Ports::free()].into_iter();
    launch.run(|| attempts.next().expect("the second attempt succeeds"))?.stop()?;
    Ok(())
}

fn cancelled_start_leaves_nothing_behind(assets: &Assets) -> Result<(), Failed> {
    let parent = tempfile::tempdir()?;
    let cancelled = AtomicBool::new(true);
    let launch = Launch { assets, flags: &[], parent: parent.path(), detached: true, cancelled: &cancelled };
    let error = format!("{:?}", launch.run(Ports::free).err().ok_or("the control plane started")?);
    assert!(error.ends_with("interrupted"), "{error}");
    assert_eq!(fs::read_dir(parent.path())?.count(), 0);
    Ok(())
}

fn cluster_leaves_nothing_behind(assets: &Assets) -> Result<Completion, Failed> {
    let Some(components) = envtest::find_components()? else {
        if env::var_os("KUBEWRIGHT_REQUIRE_CONTROL_PLANE").is_some_and(|value| value == "1") {
            let error =
                format!("KUBEWRIGHT_REQUIRE_CONTROL_PLANE is 1, but there are no components; {HOW_TO_GET_COMPONENTS}");
            return Err(error.into());
        }
        eprintln!("SKIPPED envtest cluster (1 test): {HOW_TO_GET_COMPONENTS}");
        return Ok(Completion::ignored_with("no components of the control plane"));
    };
    let cluster = Cluster::start(assets, &components)?;
    let dir = directory(cluster.control_plane()).to_owned();
    assert_eq!(count_processes(&dir)?, 5);

    fs::write(dir.join("node.yaml"), "apiVersion: v1\nkind: Node\nmetadata:\n  name: one\n")?;
    let kubectl = || cluster.control_plane().kubectl();
    let created = kubectl().arg("create").arg("-f").arg(dir.join("node.yaml")).status()?;
    let ready = kubectl().args(["wait", "node/one", "--for=condition=Ready", "--timeout=60s"]).status()?;
    assert!(created.success() && ready.success(), "{}", cluster.logs());

    cluster.stop()?;
    assert_eq!(count_processes(&dir)?, 0);
    assert!(!dir.exists());

    let cluster = Cluster::start(assets, &components)?;
    let dir = directory(cluster.control_plane()).to_owned();
    drop(cluster);
    assert_eq!(count_processes(&dir)?, 0);
    assert!(!dir.exists());
    Ok(Completion::Completed)
}

/// Returns ports one of which is in use, and the listener that uses it.
fn port_in_use() -> Result<(TcpListener, Ports), Failed> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let etcd_client = listener.local_addr()?.port();
    Ok((listener, Ports { etcd_client, ..Ports::free()? }))
}

fn directory(control_plane: &ControlPlane) -> &Path {
    control_plane.kubeconfig().parent().expect("a file is in a directory")
}

/// Counts the processes with the directory in their command line, which all servers have.
fn count_processes(dir: &Path) -> Result<usize, Failed> {
    let output = Command::new("ps").args(["-A", "-ww", "-o", "args="]).output()?;
    assert!(output.status.success(), "ps failed");
    let dir = dir.display().to_string();
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.contains(&dir)).count())
}
