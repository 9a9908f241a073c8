//! The operator, on the cluster of the environment.

use probe_operator::{
    client::{Clientset, SharedInformerFactory},
    controller::controller,
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let clientset = Clientset::try_default().await?;
    let factory = SharedInformerFactory::new(&clientset);
    controller(&clientset, &factory).run_until_signal().await?;
    factory.shutdown().await;
    Ok(())
}
