//! Creates a bucket outside of the cluster for each App, and deletes it before the App.

use std::io;

use kubewright::prelude::*;

use crate::{buckets::Buckets, kind::App};

pub fn controller(setup: &Setup, buckets: Buckets) -> Controller {
    setup.controller("apps").reconcile_with(|_| buckets, reconcile).finalizer("example.com/bucket", cleanup).build()
}

async fn reconcile(app: Arc<App>, ctx: ReconcileContext<Buckets>) -> io::Result<()> {
    ctx.create(&app.name_any()).await
}

async fn cleanup(app: Arc<App>, ctx: ReconcileContext<Buckets>) -> io::Result<()> {
    ctx.delete(&app.name_any()).await
}
