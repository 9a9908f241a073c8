//! The operator on an API server in memory.

use kubewright::kube::{Api, runtime::wait::await_condition};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_note_is_published() -> anyhow::Result<()> {
    let server = fake::ApiServer::new();
    server.load_yaml(&codegen::definitions(&[API_GROUP])?)?;
    server.load_yaml(
        "{apiVersion: notes.example.com/v1, kind: Note, metadata: {name: a, namespace: x}, spec: {text: hello}}",
    )?;
    let running = operator().start(&server.client()).map_err(anyhow::Error::from_boxed)?;
    let published =
        |map: Option<&ConfigMap>| map.is_some_and(|map| map.data.as_ref().is_some_and(|data| data["text"] == "hello"));
    await_condition(Api::namespaced(server.client(), "x"), "a", published).await?;
    running.stop().await.map_err(anyhow::Error::from_boxed)
}
