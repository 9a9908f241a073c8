//! The controller: for each Widget a ConfigMap applied and a status written.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, PostParams};
use logger_apply::core_v1::ConfigMapApply;
use logger_runtime::{Action, Controller, Error, FieldManager, ObjectKey, ReconcileError, Reconciler};
use widget_client::listers::core_v1::ConfigMapLister;
use widget_client::listers::widgets_v1::WidgetLister;
use widget_client::{Clientset, SharedInformerFactory};
use widget_types::{Style, Widget, WidgetSpec, WidgetStatus};

/// The label of our ConfigMaps.
const OURS: &str = "widgets.example.dev/widget";

/// A controller that hears of changes through this factory's informers.
pub(crate) fn controller(clientset: Clientset, factory: &SharedInformerFactory) -> Controller {
    let (widgets, config_maps) = (factory.widgets_v1().widgets(), factory.core_v1().config_maps());
    let keeper = Keeper { clientset, widgets: widgets.lister(), config_maps: config_maps.lister() };
    Controller::for_informer("widgets", &widgets).watches(&config_maps, widget_of).build(keeper)
}

/// A ConfigMap of ours has the name of its Widget.
fn widget_of(config_map: &ConfigMap) -> Option<ObjectKey> {
    let is_ours = config_map.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(OURS));
    is_ours.then(|| ObjectKey::of(config_map))
}

/// Keeps a ConfigMap for each Widget.
struct Keeper {
    clientset: Clientset,
    widgets: WidgetLister,
    config_maps: ConfigMapLister,
}

impl Reconciler for Keeper {
    async fn reconcile(&self, key: ObjectKey) -> Result<Action, ReconcileError> {
        self.keep(&key).await?;
        Ok(Action::Done)
    }
}

impl Keeper {
    async fn keep(&self, key: &ObjectKey) -> Result<(), Error> {
        let config_maps = self.clientset.core_v1().config_maps(key.namespace());
        let current = self.config_maps.namespace(key.namespace()).get(key.name()).ok();
        let Ok(widget) = self.widgets.namespace(key.namespace()).get(key.name()) else {
            return match current {
                Some(_) => config_maps.delete(key.name(), &DeleteParams::default()).await.or_else(unless_gone),
                None => Ok(()),
            };
        };
        let text = text(&widget.spec);
        if current.and_then(|current| current.data.as_ref()?.get("text").cloned()).as_ref() != Some(&text) {
            // What is not said here belongs to others.
            let wanted = ConfigMapApply::new(key.name(), key.namespace()).with_labels([(OURS, "true")]);
            let manager = FieldManager::new("widget-operator").force();
            config_maps.apply(&wanted.with_data([("text", &text)]), &manager).await?;
            println!("operator: ConfigMap {key} says {text}");
        }
        let status = WidgetStatus { config_map: key.name().to_owned(), shows: text };
        if widget.status.as_ref() == Some(&status) {
            return Ok(());
        }
        // What a lister gives is shared: copy it before you change it.
        let reported = Widget { status: Some(status), ..Widget::clone(&widget) };
        let widgets = self.clientset.widgets_v1().widgets(key.namespace());
        widgets.update_status(&reported, &PostParams::default()).await.map(drop).or_else(unless_gone)
    }
}

fn text(spec: &WidgetSpec) -> String {
    match spec.style {
        Style::Plain => spec.text.clone(),
        Style::Loud => format!("{}!", spec.text.to_uppercase()),
    }
}

fn unless_gone(error: Error) -> Result<(), Error> {
    if error.is_not_found() { Ok(()) } else { Err(error) }
}
