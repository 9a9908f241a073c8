//! Every scenario on the embedded API server, with authorization by roles as on the real one.

use kube::Client;
use kubewright_apiserver::{ApiServer, serve};
use libtest_mimic::Trial;
use tests::scenarios::ALL;
use tokio::sync::OnceCell;

pub(super) fn trials() -> impl Iterator<Item = Trial> {
    ALL.iter().map(|scenario| super::scenario("embedded", scenario, connect))
}

/// Returns a client of the server that all trials share. The first caller starts it and installs every generated CRD.
async fn connect() -> Client {
    static SERVER: OnceCell<ApiServer> = OnceCell::const_new();
    let start = async || {
        let server = ApiServer::builder().rbac(true).build();
        serve::call_webhooks(&server);
        tests::install_crds(&server.client()).await;
        server
    };
    SERVER.get_or_init(start).await.client()
}
