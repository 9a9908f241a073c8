//! The scenario: a Widget is created, updated and deleted while the controller reconciles its ConfigMap.

use std::{fmt::Debug, time::Duration};

use anyhow::{Context, Result, bail};
use k8s_openapi::{
    api::core::v1::ConfigMap, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, CustomResourceExt, Resource,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::wait::{Condition, await_condition, conditions},
};
use kubewright_runtime::CancellationToken;
use serde::de::DeserializeOwned;
use serde_json::json;
use widget_client::{Clientset, SharedInformerFactory};
use widget_types::{Style, Theme, Widget, WidgetSpec, WidgetVisit};

use crate::controller::controller;

const NAME: &str = "greeting";
/// How long any step may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Installs the definitions, runs the scenario, and removes the created objects.
pub(crate) async fn run(client: Client, namespace: &str) -> Result<()> {
    let (definitions, mut created) = (Api::all(client.clone()), Vec::new());
    let outcome = match install(&definitions, &mut created).await {
        Ok(()) => run_with_controller(client, namespace).await,
        Err(error) => Err(error),
    };
    for name in created {
        definitions.delete(&name, &DeleteParams::default()).await?;
    }
    outcome
}

/// Installs the definitions of kube's derive, and records those that did not exist before.
async fn install(definitions: &Api<CustomResourceDefinition>, created: &mut Vec<String>) -> Result<()> {
    for crd in [Widget::crd(), Theme::crd(), WidgetVisit::crd()] {
        let name = crd.metadata.name.clone().unwrap_or_default();
        match definitions.create(&PostParams::default(), &crd).await {
            Ok(_) => created.push(name.clone()),
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            Err(error) => return Err(error.into()),
        }
        wait(definitions, &name, conditions::is_crd_established()).await?;
        println!("scenario: {name} is served");
    }
    Ok(())
}

async fn run_with_controller(client: Client, namespace: &str) -> Result<()> {
    let clientset = Clientset::new(client.clone());
    if clientset.core_v1().config_maps(namespace).get_opt(NAME).await?.is_some() {
        bail!("a ConfigMap {namespace}/{NAME} already exists and is not changed; choose another --namespace");
    }
    let factory = SharedInformerFactory::namespaced(&clientset, namespace);
    let (controller, stop) = (controller(clientset.clone(), &factory), CancellationToken::new());
    factory.start();
    factory.wait_for_sync(TIMEOUT).await?;
    let controller = tokio::spawn(controller.run(stop.clone()));

    let widgets = clientset.widgets_v1().widgets(namespace);
    println!("scenario: Widget {namespace}/{NAME} is created");
    let spec = WidgetSpec { text: "hello".to_owned(), style: Style::Plain };
    // An existing Widget is an error and is not changed.
    widgets.create(&Widget::new(NAME, spec), &PostParams::default()).await?;
    let outcome = update(&clientset, namespace).await;

    println!("scenario: the Widget is deleted");
    widgets.delete(NAME, &DeleteParams::default()).await?;
    let config_maps: Api<ConfigMap> = Api::namespaced(client, namespace);
    wait(&config_maps, NAME, |found: Option<&ConfigMap>| found.is_none()).await?;
    println!("scenario: its ConfigMap is deleted");
    stop.cancel();
    controller.await??;
    factory.shutdown().await;
    outcome
}

async fn update(clientset: &Clientset, namespace: &str) -> Result<()> {
    let widgets = clientset.widgets_v1().widgets(namespace);
    let config_maps = clientset.core_v1().config_maps(namespace);
    wait_for_text(clientset, namespace, "hello").await?;

    println!("scenario: the style of the Widget is changed");
    let loud = Patch::Merge(json!({"spec": {"style": Style::Loud}}));
    widgets.patch(NAME, &loud, &PatchParams::default()).await?;
    wait_for_text(clientset, namespace, "HELLO!").await?;

    println!("scenario: another client changes the ConfigMap");
    let change = Patch::Merge(json!({"data": {"text": "overwritten", "note": "mine"}}));
    config_maps.patch(NAME, &change, &PatchParams::default()).await?;
    wait_for_text(clientset, namespace, "HELLO!").await?;

    let widgets: Api<Widget> = Api::namespaced(clientset.client().clone(), namespace);
    wait(&widgets, NAME, |found: Option<&Widget>| {
        found.is_some_and(|widget| widget.status.as_ref().is_some_and(|status| status.shows == "HELLO!"))
    })
    .await?;
    println!("scenario: {:?}", widgets.get(NAME).await?.status.unwrap_or_default());
    println!("scenario: the ConfigMap contains {:?}", config_maps.get(NAME).await?.data.unwrap_or_default());
    Ok(())
}

/// Waits until the ConfigMap contains this text.
async fn wait_for_text(clientset: &Clientset, namespace: &str, text: &'static str) -> Result<()> {
    let config_maps: Api<ConfigMap> = Api::namespaced(clientset.client().clone(), namespace);
    wait(&config_maps, NAME, |found: Option<&ConfigMap>| {
        found.and_then(|config_map| config_map.data.as_ref()?.get("text")).is_some_and(|found| found == text)
    })
    .await
}

async fn wait<K>(api: &Api<K>, name: &str, condition: impl Condition<K>) -> Result<()>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let result = tokio::time::timeout(TIMEOUT, await_condition(api.clone(), name, condition)).await;
    result.with_context(|| format!("{name} did not reach the expected state within {TIMEOUT:?}"))??;
    Ok(())
}
