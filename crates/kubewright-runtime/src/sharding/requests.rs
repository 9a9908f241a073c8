//! The requests for the Leases of a fleet: each has a hard deadline and is sent once.

use std::collections::BTreeMap;

use k8s_openapi::api::coordination::v1::Lease;
use kube::{
    Api, Client,
    api::{ListParams, PostParams},
};
use tokio::time::Instant;

use super::state_machine::{Request, Response};
use crate::{error::Error, leader_election::respond_by, object::resource_name};

/// The label of all Leases of a fleet: its name.
const FLEET_LABEL: &str = "kubewright-runtime/sharding";

/// Sends requests for the Leases of a fleet.
pub(super) struct Requests {
    api: Api<Lease>,
    namespace: String,
    fleet: String,
}

impl Requests {
    pub(super) fn new(client: Client, namespace: String, fleet: &str) -> Self {
        Requests { api: Api::namespaced(client, &namespace), namespace, fleet: fleet.to_owned() }
    }

    /// Returns the namespace and the name of the fleet.
    pub(super) fn fleet(&self) -> String {
        format!("{}/{}", self.namespace, self.fleet)
    }

    /// Adds the label by which the Leases are listed.
    pub(super) fn labels(&self, mut labels: BTreeMap<String, String>) -> BTreeMap<String, String> {
        labels.insert(FLEET_LABEL.to_owned(), self.fleet.clone());
        labels
    }

    /// Sends a request and waits for the response until the deadline.
    pub(super) async fn send(&self, request: Request, deadline: Instant) -> Result<Response, Error> {
        let (verb, name) = match &request {
            Request::List => ("list", String::new()),
            Request::Create(lease) => ("create", name(lease)),
            Request::Update(lease) => ("update", name(lease)),
        };
        let is_update = verb == "update";
        respond_by(deadline, self.request(request)).await.or_else(|error| {
            let error = Error::new(verb, resource_name::<Lease>(), &name, error).with_namespace(Some(&self.namespace));
            // An updated Lease that does not exist was deleted.
            let is_conflict = error.is_conflict() || error.is_already_exists() || (is_update && error.is_not_found());
            if !is_conflict {
                return Err(error);
            }
            tracing::debug!(fleet = self.fleet, %error, "a Lease was changed by another client");
            Ok(Response::Conflict)
        })
    }

    async fn request(&self, request: Request) -> Result<Response, kube::Error> {
        let options = PostParams::default();
        let lease = match request {
            Request::List => {
                let selector = ListParams::default().labels(&format!("{FLEET_LABEL}={}", self.fleet));
                return Ok(Response::Leases(self.api.list(&selector).await?.items));
            }
            Request::Create(mut lease) => {
                lease.metadata.namespace = Some(self.namespace.clone());
                self.api.create(&options, &lease).await?
            }
            Request::Update(lease) => self.api.replace(&name(&lease), &options, &lease).await?,
        };
        Ok(Response::Lease(Box::new(lease)))
    }
}

fn name(lease: &Lease) -> String {
    lease.metadata.name.clone().unwrap_or_default()
}
