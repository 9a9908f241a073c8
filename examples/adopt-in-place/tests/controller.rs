//! The controller on the fake clientset, which serves the definition that kube's derive declares.

use std::time::Duration;

use kube::api::PostParams;
use kubewright_runtime::CancellationToken;
use probe_operator::{
    client::{SharedInformerFactory, fake},
    controller::controller,
    crd::{Probe, ProbeSpec},
};

const TIMEOUT: Duration = Duration::from_secs(60);

fn probe(name: &str, target: &str) -> Probe {
    let mut probe = Probe::new(name, ProbeSpec { target: target.to_owned(), interval_seconds: 5 });
    probe.metadata.namespace = Some("default".to_owned());
    probe
}

#[tokio::test(start_paused = true)]
async fn probes_get_a_status() {
    let clientset = fake::Clientset::new([probe("up", "a.example"), probe("down", "a.invalid")]).unwrap();
    let factory = SharedInformerFactory::new(&clientset);
    let (controller, lister) = (controller(&clientset, &factory), factory.probes_v1().probes().lister());
    factory.start();
    let stop = CancellationToken::new();
    let running = tokio::spawn(controller.run(stop.clone()));
    for (name, healthy) in [("up", true), ("down", false)] {
        let has_status = |probe: Option<&Probe>| {
            probe.and_then(|probe| probe.status.as_ref()).is_some_and(|status| status.healthy == healthy)
        };
        lister.namespace("default").wait_until(name, TIMEOUT, has_status).await.unwrap();
    }
    stop.cancel();
    running.await.unwrap().unwrap();
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn the_fake_rejects_what_the_cluster_rejects() {
    let clientset = fake::Clientset::empty().unwrap();
    let probes = clientset.probes_v1().probes("default");
    let rejected = probes.create(&probe("empty", ""), &PostParams::default()).await.unwrap_err();
    assert!(rejected.is_invalid(), "{rejected}");
    assert!(rejected.to_string().contains("spec.target"), "{rejected}");
}
