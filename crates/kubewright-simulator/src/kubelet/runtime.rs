//! How the containers of a node run: simulated, or as local processes.

use std::{net::Ipv4Addr, sync::Arc};

use k8s_openapi::api::core::v1::{Container, Pod};
use tokio::time::Instant;

use super::{
    lifecycle::{Exit, Start},
    process::{ProcessContainer, ProcessError, ProcessProber, Processes},
    simulated::{Simulated, SimulatedContainer},
};

/// How the containers of a node run.
#[derive(Clone, Debug)]
pub enum Runtime {
    /// They are simulated.
    Simulated(Simulated),
    /// They are processes on this machine.
    Processes(Processes),
}

impl Default for Runtime {
    fn default() -> Self {
        Runtime::Simulated(Simulated::default())
    }
}

/// A running container. It is killed on drop.
pub(super) enum Running {
    Simulated(SimulatedContainer),
    Process(Box<ProcessContainer>),
}

/// How the probes of a container are executed.
#[derive(Clone)]
pub(super) enum Prober {
    /// It is ready at this time, or never.
    Simulated(Option<Instant>),
    Process(Arc<ProcessProber>),
}

impl Runtime {
    /// Returns why the image of a container cannot be pulled; `None` if it can.
    pub(super) fn image_error(&self, pod: &Pod, container: &Container) -> Option<String> {
        let is_missing = match self {
            Runtime::Simulated(simulated) => simulated.behavior(pod, container).is_image_missing(),
            Runtime::Processes(processes) => !processes.has_image(container),
        };
        let image = container.image.as_deref().unwrap_or_default();
        is_missing.then(|| format!("failed to pull and unpack image {image:?}: not found"))
    }

    /// Returns the address of the n-th pod of a node. Processes listen on loopback addresses.
    pub(super) fn pod_ip(&self, node: u32, number: u32) -> String {
        let ip = match self {
            Runtime::Simulated(_) => Ipv4Addr::from(0x0a80_0000 + node % 8191 * 1024 + number % 1022 + 1),
            Runtime::Processes(processes) => processes.pod_ip(node, number),
        };
        ip.to_string()
    }

    pub(super) fn start(&self, start: &Start<'_>) -> Result<Running, ProcessError> {
        match self {
            Runtime::Simulated(simulated) => {
                let behavior = simulated.behavior(start.pod, start.container);
                Ok(Running::Simulated(SimulatedContainer::start(behavior)))
            }
            Runtime::Processes(processes) => Ok(Running::Process(Box::new(processes.start(start)?))),
        }
    }

    /// Removes what is left of a pod that was deleted.
    pub(super) fn remove(&self, node: &str, pod: &Pod) {
        if let Runtime::Processes(processes) = self {
            processes.remove(node, pod);
        }
    }
}

impl Running {
    /// Waits until the container ends. Can be cancelled and called again.
    pub(super) async fn wait(&mut self) -> Exit {
        match self {
            Running::Simulated(container) => container.wait().await,
            Running::Process(container) => container.wait().await,
        }
    }

    pub(super) fn terminate(&mut self) {
        match self {
            Running::Simulated(container) => container.terminate(),
            Running::Process(container) => container.terminate(),
        }
    }

    pub(super) fn kill(&mut self) {
        match self {
            Running::Simulated(container) => container.kill(),
            Running::Process(container) => container.kill(),
        }
    }

    /// Returns the end of the log; `None` without one.
    pub(super) fn log_tail(&self) -> Option<String> {
        match self {
            Running::Simulated(_) => None,
            Running::Process(container) => container.log_tail(),
        }
    }

    pub(super) fn prober(&self) -> Prober {
        match self {
            Running::Simulated(container) => Prober::Simulated(container.ready_at()),
            Running::Process(container) => Prober::Process(container.prober()),
        }
    }
}
