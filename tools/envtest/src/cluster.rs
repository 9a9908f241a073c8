//! A running cluster: a control plane with kube-controller-manager, kube-scheduler and kwok, which simulates nodes.

use std::{fs, path::Path, process::Command, sync::atomic::AtomicBool};

use anyhow::{Context, Result};
use kubewright_envtest::{
    Assets, ControlPlane, Error,
    internals::{Process, Wait, loopback, retry_taken_ports},
};

use crate::{
    assets::ComponentAssets,
    components::{self, ComponentPorts},
};

/// What kwok does with nodes and pods, in the order of their lives.
const STAGES: &str = include_str!("../kwok/stages.yaml");

/// A running cluster. Dropping it stops it and removes its directory.
///
/// kwok runs every Node that is created. Its pods behave as their annotations specify, which are those of
/// `kubewright-simulator`. An image with the tag `missing` cannot be pulled. A node is cut off while the lease of its
/// heartbeats, in the namespace `kube-node-lease`, has another holder: kwok then changes neither the node nor its pods.
///
/// Guarantees:
/// - the components stop before the API server;
/// - all of them use the credentials of the administrator, and files of the cluster are in the directory of the control
///   plane;
/// - a component that ends during the start is an error with the end of its log.
pub struct Cluster {
    // Dropped in this order.
    kwok: Process,
    scheduler: Process,
    controller_manager: Process,
    control_plane: ControlPlane,
    components: ComponentAssets,
    ports: ComponentPorts,
}

impl Cluster {
    /// Starts a control plane, then the components, on free ports. Waits at most a minute for the control plane, and
    /// another one for the components, until they are ready.
    pub fn start(assets: &Assets, components: &ComponentAssets) -> Result<Cluster> {
        let control_plane = ControlPlane::start(assets)?;
        let stages = control_plane.dir().join("kwok-stages.yaml");
        fs::write(&stages, STAGES).with_context(|| format!("cannot write {}", stages.display()))?;
        let attempt = || {
            let ports = ComponentPorts::free()?;
            let start = Start { components, control_plane: &control_plane, ports };
            Ok((start.all(&stages)?, ports))
        };
        let ([kwok, scheduler, controller_manager], ports) =
            retry_taken_ports(attempt).context("cannot start the cluster")?;
        let components = components.clone();
        Ok(Cluster { kwok, scheduler, controller_manager, control_plane, components, ports })
    }

    /// Returns the control plane.
    pub fn control_plane(&self) -> &ControlPlane {
        &self.control_plane
    }

    /// Restarts the API server as [`ControlPlane::restart_api_server`] does, and kube-controller-manager, as the loss
    /// of its lease does in production: its informers would connect again with a back-off that can exceed its grace
    /// period of nodes, which starts again. The other components connect again. Waits at most a minute for each.
    pub fn restart_api_server(&mut self) -> Result<()> {
        self.controller_manager.stop()?;
        self.control_plane.restart_api_server()?;
        let start = Start { components: &self.components, control_plane: &self.control_plane, ports: self.ports };
        self.controller_manager = start.controller_manager()?;
        let never = AtomicBool::new(false);
        start.wait_for_controller_manager(&Wait::start(&never), &mut [&mut self.controller_manager])?;
        self.controller_manager.mark_ready();
        Ok(())
    }

    /// Returns the end of the log of each server, for the message of a failed test.
    pub fn logs(&self) -> String {
        let components = [&self.controller_manager, &self.scheduler, &self.kwok];
        let api_server = format!("kube-apiserver:\n{}", self.control_plane.log_tail());
        let logs = components.map(|process| format!("{}:\n{}", process.name(), process.log_tail()));
        [&[api_server][..], &logs].concat().join("\n\n")
    }

    /// Stops the cluster as dropping does, and returns errors.
    pub fn stop(self) -> Result<()> {
        let Cluster { mut kwok, mut scheduler, mut controller_manager, control_plane, .. } = self;
        for process in [&mut kwok, &mut scheduler, &mut controller_manager] {
            process.stop()?;
        }
        Ok(control_plane.stop()?)
    }
}

/// What a start of the components needs.
struct Start<'a> {
    components: &'a ComponentAssets,
    control_plane: &'a ControlPlane,
    ports: ComponentPorts,
}

impl Start<'_> {
    /// Starts all components, so that they become ready concurrently.
    fn all(&self, stages: &Path) -> Result<[Process; 3], Error> {
        let (dir, kubeconfig) = (self.control_plane.dir(), self.control_plane.kubeconfig());
        let (assets, ports, credentials) = (self.components, self.ports, self.control_plane.credentials());
        let mut controller_manager = self.controller_manager()?;
        let command = components::kube_scheduler(assets, kubeconfig, ports.scheduler, credentials);
        let mut scheduler = Process::spawn("kube-scheduler", command, dir)?;
        let command = components::kwok(assets, kubeconfig, ports.kwok, stages);
        let mut kwok = Process::spawn("kwok", command, dir)?;

        let never = AtomicBool::new(false);
        let wait = Wait::start(&never);
        self.wait_for_controller_manager(&wait, &mut [&mut kwok, &mut scheduler, &mut controller_manager])?;
        let processes = &mut [&mut kwok, &mut controller_manager, &mut scheduler];
        wait.for_paths(ports.scheduler, || self.kubectl(ports.scheduler), &["/readyz"], processes)?;
        // It listens when its controllers run.
        wait.for_port(ports.kwok, &mut kwok)?;

        let mut processes = [kwok, scheduler, controller_manager];
        processes.iter_mut().for_each(Process::mark_ready);
        Ok(processes)
    }

    fn controller_manager(&self) -> Result<Process, Error> {
        let (dir, kubeconfig) = (self.control_plane.dir(), self.control_plane.kubeconfig());
        let (port, credentials) = (self.ports.controller_manager, self.control_plane.credentials());
        let command = components::kube_controller_manager(self.components, kubeconfig, port, credentials);
        Process::spawn("kube-controller-manager", command, dir)
    }

    /// Waits until kube-controller-manager, the last one of the processes, is healthy. The end of any is an error.
    fn wait_for_controller_manager(&self, wait: &Wait<'_>, processes: &mut [&mut Process]) -> Result<(), Error> {
        let port = self.ports.controller_manager;
        wait.for_paths(port, || self.kubectl(port), &["/healthz"], processes)
    }

    /// Returns a kubectl command that sends its requests to a component.
    fn kubectl(&self, port: u16) -> Command {
        let mut kubectl = self.control_plane.kubectl();
        kubectl.arg(format!("--server=https://{}", loopback(port)));
        kubectl
    }
}
