//! What a kubelet knows of the containers of a pod.

use k8s_openapi::api::core::v1::{Container, ContainerState, ContainerStateTerminated, ContainerStatus, Pod};

/// The containers of a pod.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    pub(super) init: Vec<Record>,
    pub(super) main: Vec<Record>,
    /// Whether all init containers have succeeded.
    pub(super) is_initialized: bool,
    /// Whether no container runs anymore or is restarted.
    pub(super) has_ended: bool,
}

/// One container.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) image: String,
    pub(super) state: ContainerState,
    pub(super) last: Option<ContainerStateTerminated>,
    pub(super) restarts: i32,
    pub(super) is_ready: bool,
    pub(super) is_started: bool,
}

/// The position of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Init(usize),
    Main(usize),
}

impl Records {
    /// Returns the containers of a pod before they start. Those that ran before a restart of the node are restarted.
    pub(super) fn new(pod: &Pod) -> Self {
        let (spec, status) = (pod.spec.clone().unwrap_or_default(), pod.status.clone().unwrap_or_default());
        let statuses = status.container_statuses.unwrap_or_default();
        let init = spec.init_containers.unwrap_or_default();
        Records {
            is_initialized: init.is_empty(),
            init: init.iter().map(|container| Record::new(container, None)).collect(),
            main: spec.containers.iter().map(|container| Record::new(container, find(&statuses, container))).collect(),
            has_ended: false,
        }
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&Record> {
        match slot {
            Slot::Init(index) => self.init.get(index),
            Slot::Main(index) => self.main.get(index),
        }
    }

    pub(super) fn get_mut(&mut self, slot: Slot) -> Option<&mut Record> {
        match slot {
            Slot::Init(index) => self.init.get_mut(index),
            Slot::Main(index) => self.main.get_mut(index),
        }
    }
}

impl Record {
    fn new(container: &Container, before: Option<&ContainerStatus>) -> Self {
        let ran = before.filter(|status| {
            let state = status.state.as_ref();
            state.is_some_and(|state| state.running.is_some() || state.terminated.is_some())
        });
        Record {
            name: container.name.clone(),
            image: container.image.clone().unwrap_or_default(),
            last: ran.and_then(|status| status.state.as_ref()?.terminated.clone()),
            restarts: before.map_or(0, |status| status.restart_count) + i32::from(ran.is_some()),
            ..Record::default()
        }
    }
}

fn find<'a>(statuses: &'a [ContainerStatus], container: &Container) -> Option<&'a ContainerStatus> {
    statuses.iter().find(|status| status.name == container.name)
}
