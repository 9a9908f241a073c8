//! Types that are not public.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

use kube_kinds::Widget;

mod hidden {
    #[derive(Clone, Debug, kube::CustomResource, schemars::JsonSchema, serde::Deserialize, serde::Serialize)]
    #[kube(group = "example.com", version = "v1", kind = "Gauge")]
    pub(crate) struct GaugeSpec {}
}

kubewright_core::adopt! { custom_resources = [Widget(status), hidden::Gauge] }

fn main() {}
