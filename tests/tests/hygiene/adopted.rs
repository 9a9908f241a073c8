//! The output of `adopt!` uses absolute paths, and adopted types can have other names than their kinds.
#![deny(warnings, unreachable_pub, missing_docs, rust_2018_idioms)]

/// A spec of kube's derive.
#[allow(missing_docs)]
pub mod gauge {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, kube::CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(group = "example.com", version = "v1", kind = "Gauge", root = "PressureGauge", namespaced)]
    pub struct GaugeSpec {}
}

/// The adopted kinds.
pub mod kinds {
    mod core {}
    mod std {}
    mod kubewright_core {}

    pub use super::gauge::PressureGauge;
    pub use k8s_openapi::api::events::v1::Event as NewEvent;

    renamed::adopt! {
        crate = renamed,
        built_in = [k8s_openapi::api::core::v1::Event, NewEvent, k8s_openapi::api::core::v1::Pod],
        custom_resources = [self::PressureGauge(skip_verbs = [delete])],
    }
}

#[test]
fn compiles() {
    let groups = kinds::api_groups();
    let names = |kind: &renamed::meta::ApiKind| (kind.kind, kind.rust_name);
    let names: Vec<_> = groups.iter().flat_map(|group| group.kinds()).map(names).collect();
    let expected = [("Event", "Event"), ("Pod", "Pod"), ("Event", "NewEvent"), ("Gauge", "PressureGauge")];
    assert_eq!(names, expected);
    let _: Option<(kinds::Pod, kinds::Event)> = None;
}
