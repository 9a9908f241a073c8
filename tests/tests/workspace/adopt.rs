//! `adopt!`: kinds declared elsewhere, in the generator and in a scheme.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
use kubewright_codegen::{Layout, generate};
use kubewright_core::{DeepCopy, GroupVersionKind, Scheme, adopt::CustomList, meta::Scope};
use serde_json::json;

/// A kind as kube's `CustomResource` derive generates it, expanded.
mod widget {
    use std::borrow::Cow;

    use k8s_openapi::NamespaceResourceScope;
    use kube::api::ObjectMeta;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Widget {
        pub api_version: String,
        pub kind: String,
        pub metadata: ObjectMeta,
        pub speed: i32,
    }

    impl kube::Resource for Widget {
        type DynamicType = ();
        type Scope = NamespaceResourceScope;

        fn kind(_: &()) -> Cow<'_, str> {
            "Widget".into()
        }

        fn group(_: &()) -> Cow<'_, str> {
            "widgets.example.com".into()
        }

        fn version(_: &()) -> Cow<'_, str> {
            "v1".into()
        }

        fn plural(_: &()) -> Cow<'_, str> {
            "widgets".into()
        }

        fn meta(&self) -> &ObjectMeta {
            &self.metadata
        }

        fn meta_mut(&mut self) -> &mut ObjectMeta {
            &mut self.metadata
        }
    }
}

mod adopted {
    kubewright_core::adopt! {
        built_in = [k8s_openapi::api::apps::v1::Deployment, k8s_openapi::api::core::v1::Pod],
        custom_resources = [super::widget::Widget],
    }
}

use adopted::Widget;

fn scheme() -> Scheme {
    let mut scheme = Scheme::new();
    adopted::add_to_scheme(&mut scheme).unwrap();
    adopted::add_to_scheme(&mut scheme).expect("registering the same types again is no conflict");
    scheme
}

#[test]
fn adopted_kinds_and_their_lists_are_registered() {
    let scheme = scheme();
    let names: Vec<_> = scheme.kinds().map(ToString::to_string).collect();
    let expected = [
        "v1, Kind=Pod",
        "v1, Kind=PodList",
        "apps/v1, Kind=Deployment",
        "apps/v1, Kind=DeploymentList",
        "widgets.example.com/v1, Kind=Widget",
        "widgets.example.com/v1, Kind=WidgetList",
    ];
    assert_eq!(names, expected);
    let widget = GroupVersionKind::from_type_meta("widgets.example.com/v1", "Widget");
    let resource = scheme.resource_for(&widget).unwrap();
    assert_eq!((resource.resource.as_ref(), scheme.scope(&widget)), ("widgets", Some(Scope::Namespaced)));
    assert_eq!(scheme.kind_for(&resource), Some(&widget));
    assert_eq!(scheme.list_kind_for(&widget).unwrap().kind, "WidgetList");
}

#[test]
fn adopted_kinds_are_decoded_copied_and_serialized() {
    let scheme = scheme();
    let widget = json!({
        "apiVersion": "widgets.example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "speed": 3,
    });
    let list = json!({
        "apiVersion": "widgets.example.com/v1", "kind": "WidgetList", "metadata": {"continue": "x"}, "items": [widget],
    });
    for value in [&widget, &list] {
        let object = scheme.decode(value.to_string().as_bytes()).unwrap().deep_copy();
        assert_eq!(object.group_version_kind().kind, value["kind"].as_str().unwrap());
        assert_eq!(&serde_json::to_value(&object).unwrap(), value);
    }
    let object = scheme.decode(widget.to_string().as_bytes()).unwrap();
    assert_eq!(object.object_meta().unwrap().name.as_deref(), Some("a"));
    assert_eq!(object.downcast::<Widget>().unwrap().speed, 3);
    let object = scheme.decode(list.to_string().as_bytes()).unwrap();
    assert_eq!(object.downcast::<CustomList<Widget>>().unwrap().items[0].speed, 3);
    let manifest = "{apiVersion: v1, kind: Pod}\n---\n{apiVersion: apps/v1, kind: Deployment}\n";
    let objects = scheme.decode_all(manifest).unwrap();
    assert!(objects[0].downcast_ref::<Pod>().is_some() && objects[1].downcast_ref::<Deployment>().is_some());
}

#[test]
fn the_generated_scheme_calls_an_adopting_module_once() {
    let files = generate(&adopted::api_groups(), &Layout::for_types_crate("widget_types")).unwrap();
    let scheme = files.iter().find(|file| file.path.ends_with("src/scheme.rs")).unwrap();
    assert_eq!(scheme.contents.matches("adopt::adopted::add_to_scheme(scheme)?;").count(), 1, "{}", scheme.contents);
}
