//! Comparison of the last version with that of the server, where no bookmark shows that the server went back.

use tokio::time::{Instant, timeout};

use super::{Driver, Item};
use crate::{
    object::ApiObject,
    reflector::{failure::Failure, failure::ReflectorError, list_options::ListOptions},
};

impl<K: ApiObject> Driver<K> {
    /// Lists one object, only for the version of the list.
    pub(super) async fn compare(&mut self, options: ListOptions) -> Option<Item<K>> {
        let list_timeout = self.config.list_timeout;
        let result = match self.config.list_options(options) {
            Ok(options) => timeout(list_timeout, self.list_watch.list(&options, |_, _| Ok(())))
                .await
                .unwrap_or_else(|_| Err(ReflectorError::ListTimeout(list_timeout).into())),
            Err(panicked) => Err(kube::Error::Service(Box::new(panicked))),
        };
        match result {
            Ok(meta) => {
                self.activity.succeeded();
                let error = self.machine.compared(Instant::now(), &meta.resource_version)?;
                Some(Err(self.request_error("list", error.into())))
            }
            Err(error) => {
                self.record_failure(&error);
                self.machine.comparison_failed(Instant::now(), Failure::classify(&error));
                Some(Err(self.request_error("list", error)))
            }
        }
    }
}
