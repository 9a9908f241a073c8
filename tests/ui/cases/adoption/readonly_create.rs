//! A verb that is not granted.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

use kube::api::PostParams;
use kubewright_runtime::TypedClient;

kubewright_core::adopt! { custom_resources = [kube_kinds::Widget(readonly)] }

pub fn write(widgets: &TypedClient<Widget>, widget: &Widget) {
    let _ = widgets.create(widget, &PostParams::default());
    let _ = widgets.update_status(widget, &PostParams::default());
}

fn main() {}
