//! Metrics of an elector.

#[tokio::test(start_paused = true)]
async fn metrics_have_the_names_of_client_go() {
    use std::time::Duration;

    use kubewright_apiserver::{ApiServer, Fault, Faults, Verb};
    use kubewright_runtime::metrics::Metrics;

    use super::fixture::{OnCancel, Running, SECOND, config};

    let (server, metrics) = (ApiServer::new(), Metrics::default());
    let has = |line: &str| metrics.text().lines().any(|found| found == line);
    let options = |identity| config(identity).metrics(metrics.clone());
    let end = OnCancel::EndAfter(Duration::ZERO);
    let mut elector = Running::start_with(&server, options("a"), Faults::new(), end);
    assert!(has("leader_election_master_status{name=\"lease\"} 0.0"), "{}", metrics.text());
    elector.wait_until_leading().await;
    assert!(has("leader_election_master_status{name=\"lease\"} 1.0"), "{}", metrics.text());
    assert!(has("leader_election_slowpath_total{name=\"lease\"} 0"), "{}", metrics.text());
    elector.faults.next(2, Verb::Update, Fault::status(409, "Conflict", "the object has been modified"));
    tokio::time::sleep(20 * SECOND).await;
    assert!(has("leader_election_slowpath_total{name=\"lease\"} 1"), "{}", metrics.text());
    elector.stop().await.unwrap();
    assert!(has("leader_election_master_status{name=\"lease\"} 0.0"), "{}", metrics.text());
}
