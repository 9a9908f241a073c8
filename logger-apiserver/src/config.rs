//! What a server can be told before it starts

use crate::{ApiServer, store::DEFAULT_HISTORY};

/// A server to be: [`ApiServer::builder`] begins, [`build`](Self::build) ends.
#[derive(Debug, Clone, Copy)]
pub struct Builder {
    pub(crate) history: usize,
    pub(crate) watch_list: bool,
    pub(crate) collects: bool,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { history: DEFAULT_HISTORY, watch_list: true, collects: true }
    }

    /// How many changes are kept, over all kinds, deletions among them: 1024 unless told. A list or a watch from before them is
    /// answered with 410. With 0 there is no past at all.
    #[must_use]
    pub fn history(mut self, events: usize) -> Self {
        self.history = events;
        self
    }

    /// Whether watches can begin with what is there (`sendInitialEvents`), which servers do from Kubernetes 1.34 on by default.
    /// Without it such a watch is refused with 422, as by an older server.
    #[must_use]
    pub fn watch_list(mut self, served: bool) -> Self {
        self.watch_list = served;
        self
    }

    /// Whether the server does what kube-controller-manager does beside a real one: it collects what lost its owners, and
    /// empties namespaces that go. Both are done before the request that causes them is answered. Without it the server is as
    /// bare as a kube-apiserver alone: what is deleted with dependents, and a namespace, waits for somebody to finish it.
    #[must_use]
    pub fn collects_garbage(mut self, collects: bool) -> Self {
        self.collects = collects;
        self
    }

    /// Starts the server on a data directory, which is made if it is not there: with what was acknowledged when it last ran, and
    /// its versions go on. Lists and watches of versions from before are answered with 410.
    ///
    /// Every change is written there before it is answered and before anybody sees it; the thread that handles the request
    /// waits for the disk.
    ///
    /// # Errors
    /// Another server has the directory, or it cannot be read or written.
    #[cfg(feature = "serve")]
    pub fn build_on(
        self,
        data_dir: impl AsRef<std::path::Path>,
        safety: crate::Safety,
    ) -> Result<ApiServer, crate::DataDirError> {
        crate::data_dir::start(self, data_dir.as_ref(), safety)
    }

    /// Starts the server.
    #[must_use]
    pub fn build(self) -> ApiServer {
        ApiServer::start(self)
    }
}
