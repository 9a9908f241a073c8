//! The driver of a sharded reflector: it lists the objects when the selected slots change.

use tokio::time::Instant;

use super::{Driver, Item};
use crate::{
    object::{ApiObject, ResourceVersion},
    reflector::{ObjectEvent, StoredEvent, selection::Selection},
    sharding::Shard,
};

impl<K: ApiObject> Driver<K> {
    /// Executes the next request, until the selection changes.
    pub(super) async fn next_selected(&mut self, selection: &mut Selection) -> Option<Item<K>> {
        let item = match selection.update() {
            Some(shard) => {
                self.select_shard(shard);
                selection.is_empty().then(|| Ok(self.replaced_by_none()))
            }
            None if selection.is_empty() => {
                let _pause = self.config.activity.pause();
                selection.changed().await;
                None
            }
            None => tokio::select! {
                biased;
                () = selection.changed() => None,
                item = self.request() => item,
            },
        };
        if matches!(item, Some(Ok(ObjectEvent::Replaced { .. }))) {
            selection.delivered();
        }
        item
    }

    /// Starts to list and watch another shard. A request that was in progress has been cancelled.
    fn select_shard(&mut self, shard: Shard) {
        self.watch = None;
        self.clear_buffer();
        self.config.shard = Some(shard);
        self.machine.relist(Instant::now());
    }

    /// Returns the event of a selection without objects, which needs no list.
    fn replaced_by_none(&mut self) -> StoredEvent<K> {
        self.report_list_skipped();
        ObjectEvent::Replaced { objects: Vec::new(), version: ResourceVersion::new("") }
    }
}
