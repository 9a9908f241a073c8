//! Uses of a kind and its list by other code, which must not add errors to those of a rejected derive.

use k8s_openapi::{ListableResource, Metadata, Resource};
use kubewright_core::{DeepCopy, Kind, KindList, Listed, Object, Scheme};
use kubewright_runtime::kube::api::{ListParams, PostParams};
use kubewright_runtime::kube::{Client, ResourceExt};
use kubewright_runtime::{AllNamespaces, Error, InformerFactory, Lister, NamespaceLister, TypedClient};

use super::{Widget, WidgetList};

pub async fn client(client: Client, widget: &Widget) -> Result<Vec<Widget>, Error> {
    let widgets: TypedClient<Widget> = TypedClient::namespaced(client.clone(), "default");
    widgets.create(widget, &PostParams::default()).await?;
    widgets.update_status(widget, &PostParams::default()).await?;
    let list: WidgetList = AllNamespaces::<Widget>::new(client)
        .list(&ListParams::default())
        .await?;
    Ok(list.into_items())
}

pub fn lister(factory: &InformerFactory) -> (Lister<Widget>, NamespaceLister<Widget>) {
    let all = factory.informer::<Widget>().lister();
    let some = all.namespace("default");
    (all, some)
}

pub fn objects(widget: Widget, list: <Widget as Listed>::List) -> [Box<dyn Object>; 2] {
    let first: Option<&Widget> = list.items().first();
    drop(first.map(|first| (first.name_any(), first.metadata().uid.clone(), first.clone())));
    [Box::new(widget.deep_copy()), list.deep_copy_object()]
}

pub fn names() -> [&'static str; 4] {
    [
        Widget::KIND,
        WidgetList::KIND,
        Widget::LIST_KIND,
        Widget::API_KIND.plural,
    ]
}

pub fn json(widget: &Widget) -> impl serde::Serialize + use<'_> {
    widget
}

pub fn scheme(scheme: &mut Scheme) {
    drop(super::add_to_scheme(scheme));
    drop(super::GROUP_VERSION.api_version);
}
