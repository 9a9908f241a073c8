//! The option `--ensure-default-logger`.

use std::time::Duration;

use kubewright_apiserver::{Fault, Requests, Verb};
use kubewright_runtime::metrics::Metrics;
use logger_operator::{DEFAULT_LOGGER, NamespaceNotWatched, OperatorOptions, operator};
use logger_types::v2::Logger;

use crate::fixture::{Cluster, IMAGE, Operator, logger};

fn options() -> OperatorOptions {
    OperatorOptions { ensure_default_logger: true, ..OperatorOptions::new(IMAGE) }
}

#[tokio::test(start_paused = true)]
async fn the_default_logger_is_created_and_recreated() {
    let cluster = Cluster::new();
    let operator = Operator::start(&cluster, &options());
    let first = cluster.wait::<Logger>(DEFAULT_LOGGER, |logger| logger.is_some()).await.unwrap();
    cluster.delete::<Logger>(DEFAULT_LOGGER).await;
    let is_new = |logger: Option<&Logger>| logger.is_some_and(|logger| logger.metadata.uid != first.metadata.uid);
    cluster.wait::<Logger>(DEFAULT_LOGGER, is_new).await;
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn it_is_created_when_the_last_logger_is_deleted_and_not_before() {
    let cluster = Cluster::new();
    for name in ["audit", "access"] {
        cluster.create(&logger(name)).await;
    }
    let operator = Operator::start(&cluster, &options());
    cluster.settle().await;
    cluster.delete::<Logger>("audit").await;
    cluster.settle().await;
    assert!(cluster.get::<Logger>(DEFAULT_LOGGER).await.is_none());
    cluster.delete::<Logger>("access").await;
    cluster.wait::<Logger>(DEFAULT_LOGGER, |logger| logger.is_some()).await;
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn it_is_recreated_if_it_is_deleted_before_its_creation_is_answered() {
    let cluster = Cluster::new();
    let creations = Requests::to("loggers").verb(Verb::Create);
    cluster.clientset.faults().once(creations, Fault::late(Duration::from_secs(10)));
    let operator = Operator::start(&cluster, &options());
    let first = cluster.wait::<Logger>(DEFAULT_LOGGER, |logger| logger.is_some()).await.unwrap();
    cluster.delete::<Logger>(DEFAULT_LOGGER).await;
    let is_new = |logger: Option<&Logger>| logger.is_some_and(|logger| logger.metadata.uid != first.metadata.uid);
    cluster.wait::<Logger>(DEFAULT_LOGGER, is_new).await;
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_creation_is_retried() {
    let cluster = Cluster::new();
    let creations = || Requests::to("loggers").verb(Verb::Create);
    cluster.clientset.faults().next(3, creations(), Fault::status(500, "InternalError", "no"));
    let operator = Operator::start(&cluster, &options());
    cluster.wait::<Logger>(DEFAULT_LOGGER, |logger| logger.is_some()).await;
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn without_the_option_no_logger_is_created() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.settle().await;
    assert!(cluster.list::<Logger>().await.is_empty());
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn its_namespace_must_be_watched() {
    let cluster = Cluster::new();
    let options = OperatorOptions { default_logger_namespace: Some("b".to_owned()), ..options() };
    let builder = kubewright_manager::Manager::builder(cluster.clientset.client().clone());
    let error = operator().add_to(builder, options, vec!["a".to_owned()], Metrics::default()).unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&NamespaceNotWatched { namespace: "b".to_owned() }));
}
