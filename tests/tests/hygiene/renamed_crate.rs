//! `crate = path` supports `kubewright_core` under another name.

pub mod v1 {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
    use renamed::{Convert, DeepCopy, Object, ObjectList};
    use schemars::JsonSchema;

    mod kubewright_core {}

    renamed::group_version! { crate = renamed, group = "example.com", version = "v1", kinds = [Widget, WidgetList, Gadget] }

    #[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
    #[genclient]
    #[deep_copy(crate = renamed)]
    #[k8s(crate = renamed, subresource(status))]
    pub struct Widget {
        pub metadata: ObjectMeta,
        pub spec: Shape<String>,
        pub status: Option<String>,
    }

    #[derive(Clone, Debug, DeepCopy, ObjectList)]
    #[deep_copy(crate = renamed)]
    #[k8s(crate = renamed)]
    pub struct WidgetList {
        pub metadata: ListMeta,
        pub items: Vec<Widget>,
    }

    #[derive(Convert, serde::Deserialize, serde::Serialize)]
    #[convert(crate = renamed, hub)]
    pub struct Hub {
        pub size: i64,
    }

    #[derive(Convert, serde::Deserialize, serde::Serialize)]
    #[convert(crate = renamed, hub = Hub)]
    pub struct Spoke {
        #[convert(store)]
        pub size: i32,
    }

    #[derive(Clone, Debug, renamed::ApiObject)]
    #[k8s(crate = renamed, scope = "Cluster")]
    pub struct Gadget {
        pub metadata: ObjectMeta,
        pub spec: GadgetSpec,
    }

    #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, renamed::ApiType)]
    #[schema(crate = renamed)]
    pub struct GadgetSpec {}

    #[renamed::defaults(crate = renamed)]
    #[derive(Clone, Debug, DeepCopy, JsonSchema, serde::Deserialize, serde::Serialize)]
    #[deep_copy(crate = renamed)]
    pub enum Shape<T: Default> {
        Round,
        Other(T),
        Named {
            #[default(with = T::default)]
            name: T,
        },
    }
}

#[test]
fn compiles() {
    let mut scheme = renamed::Scheme::new();
    v1::add_to_scheme(&mut scheme).unwrap();
    assert_eq!(scheme.kinds().count(), 4);
}
