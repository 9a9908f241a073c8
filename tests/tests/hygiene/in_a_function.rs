//! The derives support types in a function body, and types of a macro.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;

macro_rules! kind {
    ($kind:ident, $list:ident, $plural:literal, $spec:ty, $default:expr) => {
        #[kubewright_core::defaults]
        #[derive(Clone, Debug, Default, DeepCopy, JsonSchema, Object)]
        #[genclient]
        #[k8s(plural = $plural)]
        pub struct $kind {
            pub metadata: ObjectMeta,
            #[default($default)]
            pub spec: $spec,
            #[serde(default)]
            pub extra: Vec<$spec>,
        }

        #[derive(Clone, Debug, DeepCopy, ObjectList)]
        pub struct $list {
            pub metadata: ListMeta,
            pub items: Vec<$kind>,
        }
    };
}

#[test]
fn compiles() {
    const ROUND: &str = "round";
    kind!(Widget, WidgetList, "widgetry", Option<String>, ROUND);
    kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }
    assert_eq!(API_GROUP.kinds().next().unwrap().plural, "widgetry");
    assert_eq!(Widget::default().spec.as_deref(), Some(ROUND));
    assert_eq!(resource("widgetry").to_string(), "example.com/v1, Resource=widgetry");
}
