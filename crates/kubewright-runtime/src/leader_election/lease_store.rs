//! A store of one Lease with resource versions, for tests of the state machine.

use k8s_openapi::api::coordination::v1::Lease;

use super::{
    record::LeaderElectionRecord,
    state_machine::{Request, Response},
};

/// Stores one Lease as the API server does: an update needs the current resource version.
#[derive(Debug, Default)]
pub(super) struct LeaseStore {
    pub(super) lease: Option<Lease>,
    version: u64,
}

impl LeaseStore {
    /// Processes a request.
    pub(super) fn apply(&mut self, request: &Request) -> Response {
        match (request, &self.lease) {
            (Request::Get, Some(lease)) => Response::Lease(Box::new(lease.clone())),
            (Request::Get, None) => Response::NotFound,
            (Request::Create(_), Some(_)) => Response::Conflict,
            (Request::Create(record), None) => {
                self.store(Lease { spec: Some(record.clone().into()), ..Lease::default() })
            }
            (Request::Update(_), None) => Response::Failed,
            (Request::Update(new), Some(old)) => match new.metadata.resource_version == old.metadata.resource_version {
                true => self.store(Lease::clone(new)),
                false => Response::Conflict,
            },
        }
    }

    /// Replaces the record, as another client does.
    pub(super) fn set(&mut self, record: LeaderElectionRecord) {
        self.store(Lease { spec: Some(record.into()), ..Lease::default() });
    }

    /// Returns the current record.
    pub(super) fn record(&self) -> LeaderElectionRecord {
        let spec = self.lease.as_ref().and_then(|lease| lease.spec.clone());
        spec.unwrap_or_default().into()
    }

    fn store(&mut self, mut lease: Lease) -> Response {
        self.version += 1;
        lease.metadata.resource_version = Some(self.version.to_string());
        self.lease = Some(lease.clone());
        Response::Lease(Box::new(lease))
    }
}
