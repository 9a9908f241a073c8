//! The controller: Widgets and ConfigMaps → queue → reconcile → a ConfigMap applied, a status written.

use kube::api::{DeleteParams, PostParams};
use logger_apply::core_v1::ConfigMapApply;
use logger_runtime::{Error, FieldManager, ObjectKey, WorkQueue};
use widget_client::informers::core_v1::ConfigMapInformer;
use widget_client::informers::widgets_v1::WidgetInformer;
use widget_client::{Clientset, SharedInformerFactory};
use widget_types::{Style, Widget, WidgetSpec, WidgetStatus};

/// The label of our ConfigMaps.
const OURS: &str = "widgets.example.dev/widget";

/// Keeps a ConfigMap for each Widget.
#[derive(Clone)]
pub(crate) struct Controller {
    clientset: Clientset,
    widgets: WidgetInformer,
    config_maps: ConfigMapInformer,
    queue: WorkQueue<ObjectKey>,
}

impl Controller {
    /// A controller that hears of changes through this factory's informers.
    pub(crate) fn new(clientset: Clientset, factory: &SharedInformerFactory) -> Self {
        let (widgets, config_maps) = (factory.widgets_v1().widgets(), factory.core_v1().config_maps());
        let queue = WorkQueue::new();
        let events = queue.clone();
        let heard = widgets.add_event_handler(move |event| events.add(ObjectKey::of(event.object().as_ref())));
        heard.expect("the informer has not run yet");
        // A ConfigMap of ours has the name of its Widget.
        let events = queue.clone();
        let heard = config_maps.add_event_handler(move |event| {
            if event.object().metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(OURS)) {
                events.add(ObjectKey::of(event.object().as_ref()));
            }
        });
        heard.expect("the informer has not run yet");
        Controller { clientset, widgets, config_maps, queue }
    }

    /// Works on one key after the other until [`stop`](Self::stop).
    pub(crate) async fn work(self) {
        while let Some(key) = self.queue.get().await {
            match self.reconcile(&key).await {
                Ok(()) => self.queue.forget(&key),
                // A conflict means that the informer is about to bring something newer.
                Err(error) => {
                    if !error.is_conflict() {
                        eprintln!("{key}: {error}; trying again");
                    }
                    self.queue.add_rate_limited(key.clone());
                }
            }
        }
    }

    /// Ends the work once what is queued is done.
    pub(crate) fn stop(&self) {
        self.queue.shut_down();
    }

    async fn reconcile(&self, key: &ObjectKey) -> Result<(), Error> {
        let config_maps = self.clientset.core_v1().config_maps(key.namespace());
        let current = self.config_maps.lister().namespace(key.namespace()).get(key.name()).ok();
        let Ok(widget) = self.widgets.lister().namespace(key.namespace()).get(key.name()) else {
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
