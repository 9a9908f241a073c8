//! The controller on the embedded API server.

use gadget_client::Clientset;
use gadget_types::v1::{Gadget, GadgetSpec};
use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kubewright_runtime::{
    CancellationToken,
    kube::{Api, api::PostParams, runtime::wait::await_condition},
};

const CRD: &str = include_str!("../../config/crd/bases/gadgets.example.dev_gadgets.yaml");

#[tokio::test(start_paused = true)]
async fn gadgets_become_ready() {
    let client = kubewright_apiserver::ApiServer::new().client();
    let crd: CustomResourceDefinition = serde_saphyr::from_str(CRD).unwrap();
    Api::all(client.clone()).create(&PostParams::default(), &crd).await.unwrap();

    let clientset = Clientset::new(client.clone());
    let stop = CancellationToken::new();
    let controller = tokio::spawn(gadget_operator::run(clientset.clone(), stop.clone()));

    let gadgets = clientset.gadgets_v1().gadgets("default");
    let metadata = ObjectMeta { name: Some("lamp".into()), ..ObjectMeta::default() };
    let spec = GadgetSpec { purpose: "light".into() };
    gadgets.create(&Gadget { metadata, spec, status: None }, &PostParams::default()).await.unwrap();

    let ready = |gadget: Option<&Gadget>| gadget.is_some_and(|g| g.status.as_ref().is_some_and(|status| status.ready));
    await_condition(Api::<Gadget>::namespaced(client, "default"), "lamp", ready).await.unwrap();
    stop.cancel();
    controller.await.unwrap().unwrap();
}
