//! The Leases in the simulated API server.

use std::collections::BTreeMap;

use k8s_openapi::api::coordination::v1::Lease;

use crate::sharding::state_machine::{Request, Response};

/// Stores Leases as the API server does: an update needs the current resource version.
#[derive(Debug, Default)]
pub(super) struct Server {
    leases: BTreeMap<String, Lease>,
    version: u64,
}

impl Server {
    /// Processes a request.
    pub(super) fn apply(&mut self, request: Request) -> Response {
        match request {
            Request::List => Response::Leases(self.leases.values().cloned().collect()),
            Request::Create(lease) => match self.leases.contains_key(&name(&lease)) {
                true => Response::Conflict,
                false => self.store(*lease),
            },
            Request::Update(lease) => {
                let stored = self.leases.get(&name(&lease));
                let is_current = |stored: &Lease| stored.metadata.resource_version == lease.metadata.resource_version;
                match stored.is_some_and(is_current) {
                    true => self.store(*lease),
                    false => Response::Conflict,
                }
            }
        }
    }

    fn store(&mut self, mut lease: Lease) -> Response {
        self.version += 1;
        lease.metadata.resource_version = Some(self.version.to_string());
        self.leases.insert(name(&lease), lease.clone());
        Response::Lease(Box::new(lease))
    }
}

fn name(lease: &Lease) -> String {
    lease.metadata.name.clone().unwrap()
}
