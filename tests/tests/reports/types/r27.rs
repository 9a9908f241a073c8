//! Conversion of nested types in options, lists, maps, boxes and variants.

pub mod v2 {
    use std::collections::BTreeMap;

    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_core::{Convert, CrdSchema, DeepCopy, Object};
    use serde::{Deserialize, Serialize};

    /// A case.
    #[derive(Clone, Convert, Debug, DeepCopy, CrdSchema, Object, PartialEq)]
    #[k8s(scope = "Namespaced", storage)]
    #[convert(hub)]
    pub struct Pipe {
        pub metadata: ObjectMeta,
        pub spec: PipeSpec,
    }

    #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    #[convert(hub)]
    pub struct PipeSpec {
        pub stages: Option<Vec<Stage>>,
        pub by_name: BTreeMap<String, Vec<Stage>>,
        pub last: Option<Box<Stage>>,
        pub trigger: Trigger,
    }

    #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    #[convert(hub)]
    pub struct Stage {
        pub max_runs: i32,
    }

    #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
    #[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
    #[convert(hub)]
    pub enum Trigger {
        Manual,
        Timer { every_seconds: i64, first: Option<Stage> },
        Stage(Stage),
    }

    kubewright_core::group_version! { group = "r27.reports.example", version = "v2", kinds = [Pipe] }
}

pub mod v1 {
    use std::collections::BTreeMap;

    use super::v2;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_core::{Convert, CrdSchema, DeepCopy, Object};
    use serde::{Deserialize, Serialize};

    /// A case.
    #[derive(Clone, Convert, Debug, DeepCopy, CrdSchema, Object, PartialEq)]
    #[k8s(scope = "Namespaced")]
    #[convert(hub = v2::Pipe)]
    pub struct Pipe {
        pub metadata: ObjectMeta,
        pub spec: PipeSpec,
    }

    #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    #[convert(hub = v2::PipeSpec)]
    pub struct PipeSpec {
        pub stages: Option<Vec<Stage>>,
        pub by_name: BTreeMap<String, Vec<Stage>>,
        pub last: Option<Box<Stage>>,
        pub trigger: Trigger,
    }

    #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    #[convert(hub = v2::Stage)]
    pub struct Stage {
        #[convert(from = "max_runs")]
        pub runs: i32,
    }

    #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
    #[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
    #[convert(hub = v2::Trigger)]
    pub enum Trigger {
        Manual,
        Timer {
            #[convert(from = "every_seconds")]
            seconds: i64,
            first: Option<Stage>,
        },
        Stage(Stage),
    }

    kubewright_core::group_version! { group = "r27.reports.example", version = "v1", kinds = [Pipe] }
}
