//! The controller: applies a ConfigMap for each Widget and updates its status.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, PostParams};
use kubewright_apply::core_v1::ConfigMapApply;
use kubewright_runtime::{Action, Controller, Error, FieldManager, ObjectKey, ReconcileError, Reconciler};
use widget_client::{
    Clientset, SharedInformerFactory,
    listers::{core_v1::ConfigMapLister, widgets_v1::WidgetLister},
};
use widget_types::{Style, Widget, WidgetSpec, WidgetStatus};

/// The label of managed ConfigMaps.
const LABEL: &str = "widgets.example.dev/widget";

/// Creates a controller on the informers of this factory.
pub(crate) fn controller(clientset: Clientset, factory: &SharedInformerFactory) -> Controller {
    let (widgets, config_maps) = (factory.widgets_v1().widgets(), factory.core_v1().config_maps());
    let reconciler = WidgetReconciler { clientset, widgets: widgets.lister(), config_maps: config_maps.lister() };
    Controller::new("widgets", &widgets).watches(&config_maps, widget_of).build(reconciler)
}

/// Maps a managed ConfigMap to its Widget, which has the same name.
fn widget_of(config_map: &ConfigMap) -> Option<ObjectKey> {
    let is_managed = config_map.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(LABEL));
    is_managed.then(|| ObjectKey::from_object(config_map))
}

/// Reconciles Widgets.
struct WidgetReconciler {
    clientset: Clientset,
    widgets: WidgetLister,
    config_maps: ConfigMapLister,
}

impl Reconciler for WidgetReconciler {
    async fn reconcile(&self, key: ObjectKey) -> Result<Action, ReconcileError> {
        self.reconcile_widget(&key).await?;
        Ok(Action::Done)
    }
}

impl WidgetReconciler {
    async fn reconcile_widget(&self, key: &ObjectKey) -> Result<(), Error> {
        let config_maps = self.clientset.core_v1().config_maps(key.namespace());
        let current = self.config_maps.namespace(key.namespace()).get(key.name()).ok();
        let Ok(widget) = self.widgets.namespace(key.namespace()).get(key.name()) else {
            return match current {
                Some(_) => config_maps.delete(key.name(), &DeleteParams::default()).await.or_else(ignore_not_found),
                None => Ok(()),
            };
        };
        let text = text(&widget.spec);
        if current.and_then(|current| current.data.as_ref()?.get("text").cloned()).as_ref() != Some(&text) {
            // Fields that are not applied here belong to other managers.
            let desired = ConfigMapApply::new(key.name(), key.namespace()).with_labels([(LABEL, "true")]);
            let manager = FieldManager::new("widget-operator").force();
            config_maps.apply(&desired.with_data([("text", &text)]), &manager).await?;
            println!("operator: ConfigMap {key} contains {text}");
        }
        let status = WidgetStatus { config_map: key.name().to_owned(), shows: text };
        if widget.status.as_ref() == Some(&status) {
            return Ok(());
        }
        // Objects of listers are shared: clone before a change.
        let updated = Widget { status: Some(status), ..Widget::clone(&widget) };
        let widgets = self.clientset.widgets_v1().widgets(key.namespace());
        widgets.update_status(&updated, &PostParams::default()).await.map(drop).or_else(ignore_not_found)
    }
}

fn text(spec: &WidgetSpec) -> String {
    match spec.style {
        Style::Plain => spec.text.clone(),
        Style::Loud => format!("{}!", spec.text.to_uppercase()),
    }
}

fn ignore_not_found(error: Error) -> Result<(), Error> {
    if error.is_not_found() { Ok(()) } else { Err(error) }
}
