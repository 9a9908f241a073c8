//! The operator, on the cluster of the environment.

use probe_operator::{
    client::{Clientset, SharedInformerFactory},
    controller::controller,
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The controller logs failures before it requeues them.
    tracing_subscriber::fmt().with_max_level(tracing_subscriber::filter::LevelFilter::WARN).init();
    let clientset = Clientset::try_default().await?;
    let factory = SharedInformerFactory::new(&clientset);
    controller(&clientset, &factory).run_until_signal().await?;
    factory.shutdown().await;
    Ok(())
}
