//! Whether an optional kind is not served: discovery does not list it, or its requests fail with 404 for some time.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::{Driver, Item};
use crate::{
    error::Error,
    object::{ApiObject, ResourceVersion, resource_name},
    reflector::ObjectEvent,
};

/// How long requests fail with 404 before a kind is absent, if discovery fails.
const ABSENT_AFTER: Duration = Duration::from_secs(60);
/// The timeout of discovery.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(10);

impl<K: ApiObject> Driver<K> {
    /// Returns whether the server does not serve the kind, and the kind is optional. A single response with 404 does
    /// not prove it: a gateway can respond with 404, and a definition can be about to be served.
    pub(super) async fn is_absent_kind(&mut self, error: &kube::Error) -> bool {
        if !self.config.is_optional || !matches!(error, kube::Error::Api(status) if status.code == 404) {
            return false;
        }
        if self.is_absent {
            return true;
        }
        let since = *self.not_found_since.get_or_insert_with(Instant::now);
        match timeout(DISCOVERY_TIMEOUT, self.list_watch.is_served()).await {
            Ok(Ok(is_served)) => !is_served,
            Ok(Err(_)) | Err(_) => since.elapsed() >= ABSENT_AFTER,
        }
    }

    /// Returns the error of a request; for an absent kind, that it has no objects, once.
    pub(super) fn absent_or_failed(&mut self, is_absent: bool, error: Error) -> Option<Item<K>> {
        if !is_absent {
            return Some(Err(error));
        }
        self.activity.succeeded();
        if std::mem::replace(&mut self.is_absent, true) {
            return None;
        }
        let resource = resource_name::<K>();
        tracing::info!(resource, "the kind is not served; its objects are listed when its definition is installed");
        Some(Ok(ObjectEvent::Replaced { objects: Vec::new(), version: ResourceVersion::new("") }))
    }
}
