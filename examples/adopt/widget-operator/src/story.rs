//! The story: a Widget comes, changes and goes, while the controller keeps its ConfigMap.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::{Condition, await_condition, conditions};
use kube::{Api, Client, CustomResourceExt, Resource};
use logger_runtime::CancellationToken;
use serde::de::DeserializeOwned;
use serde_json::json;
use widget_client::{Clientset, SharedInformerFactory};
use widget_types::{Style, Theme, Widget, WidgetSpec, WidgetVisit};

use crate::controller::controller;

const NAME: &str = "greeting";
/// How long any step may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Installs the definitions, tells the story, and removes what was made.
pub(crate) async fn tell(client: Client, namespace: &str) -> Result<()> {
    let (definitions, mut made) = (Api::all(client.clone()), Vec::new());
    let told = match install(&definitions, &mut made).await {
        Ok(()) => beside_the_controller(client, namespace).await,
        Err(error) => Err(error),
    };
    for name in made {
        definitions.delete(&name, &DeleteParams::default()).await?;
    }
    told
}

/// The definitions are those of kube's derive. Notes which were not there before.
async fn install(definitions: &Api<CustomResourceDefinition>, made: &mut Vec<String>) -> Result<()> {
    for crd in [Widget::crd(), Theme::crd(), WidgetVisit::crd()] {
        let name = crd.metadata.name.clone().unwrap_or_default();
        match definitions.create(&PostParams::default(), &crd).await {
            Ok(_) => made.push(name.clone()),
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            Err(error) => return Err(error.into()),
        }
        wait(definitions, &name, conditions::is_crd_established()).await?;
        println!("story:    {name} is served");
    }
    Ok(())
}

async fn beside_the_controller(client: Client, namespace: &str) -> Result<()> {
    let clientset = Clientset::new(client.clone());
    if clientset.core_v1().config_maps(namespace).get_opt(NAME).await?.is_some() {
        bail!("a ConfigMap {namespace}/{NAME} is there already; it is left alone: name another --namespace");
    }
    let factory = SharedInformerFactory::namespaced(&clientset, namespace);
    let (controller, stop) = (controller(clientset.clone(), &factory), CancellationToken::new());
    factory.start();
    factory.wait_for_sync(PATIENCE).await?;
    let controller = tokio::spawn(controller.run(stop.clone()));

    let widgets = clientset.widgets_v1().widgets(namespace);
    println!("story:    Widget {namespace}/{NAME} is created");
    let spec = WidgetSpec { text: "hello".to_owned(), style: Style::Plain };
    // One that is there already is an error, and left alone.
    widgets.create(&Widget::new(NAME, spec), &PostParams::default()).await?;
    let changed = change(&clientset, namespace).await;

    println!("story:    the Widget is deleted");
    widgets.delete(NAME, &DeleteParams::default()).await?;
    let config_maps: Api<ConfigMap> = Api::namespaced(client, namespace);
    wait(&config_maps, NAME, |found: Option<&ConfigMap>| found.is_none()).await?;
    println!("story:    its ConfigMap is gone");
    stop.cancel();
    controller.await??;
    factory.shutdown().await;
    changed
}

async fn change(clientset: &Clientset, namespace: &str) -> Result<()> {
    let widgets = clientset.widgets_v1().widgets(namespace);
    let config_maps = clientset.core_v1().config_maps(namespace);
    says(clientset, namespace, "hello").await?;

    println!("story:    the Widget gets loud");
    let loud = Patch::Merge(json!({"spec": {"style": Style::Loud}}));
    widgets.patch(NAME, &loud, &PatchParams::default()).await?;
    says(clientset, namespace, "HELLO!").await?;

    println!("story:    somebody else writes into its ConfigMap");
    let spoilt = Patch::Merge(json!({"data": {"text": "spoilt", "note": "mine"}}));
    config_maps.patch(NAME, &spoilt, &PatchParams::default()).await?;
    says(clientset, namespace, "HELLO!").await?;

    let widgets: Api<Widget> = Api::namespaced(clientset.client().clone(), namespace);
    wait(&widgets, NAME, |found: Option<&Widget>| {
        found.is_some_and(|widget| widget.status.as_ref().is_some_and(|status| status.shows == "HELLO!"))
    })
    .await?;
    println!("story:    {:?}", widgets.get(NAME).await?.status.unwrap_or_default());
    println!("story:    the ConfigMap holds {:?}", config_maps.get(NAME).await?.data.unwrap_or_default());
    Ok(())
}

/// Waits until the ConfigMap says this.
async fn says(clientset: &Clientset, namespace: &str, text: &'static str) -> Result<()> {
    let config_maps: Api<ConfigMap> = Api::namespaced(clientset.client().clone(), namespace);
    wait(&config_maps, NAME, |found: Option<&ConfigMap>| {
        found.and_then(|config_map| config_map.data.as_ref()?.get("text")).is_some_and(|said| said == text)
    })
    .await
}

async fn wait<K>(api: &Api<K>, name: &str, is_so: impl Condition<K>) -> Result<()>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let seen = tokio::time::timeout(PATIENCE, await_condition(api.clone(), name, is_so)).await;
    seen.with_context(|| format!("waited for {name} in vain"))??;
    Ok(())
}
