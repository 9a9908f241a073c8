//! Conversions of Rust values.

use kubewright_core::{conversion::ConversionError, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta};

use super::*;

fn hub_widget() -> v2::Widget {
    let object = widget(V2, hub_spec(json!({"class": "fast", "interval": "1m", "color": "red", "level": "info"})));
    serde_json::from_value(object).unwrap()
}

#[test]
fn kinds_convert_without_loss() {
    let hub = hub_widget();
    let spoke = v1::Widget::try_from(hub.clone()).unwrap();
    assert_eq!(spoke.spec.time_interval, 60);
    assert!(spoke.metadata.annotations.as_ref().unwrap().contains_key("example.com/converted-v2"));
    assert_eq!(v2::Widget::try_from(spoke).unwrap(), hub);
}

#[test]
fn new_objects_are_complete() {
    let object = json!({"metadata": {}, "spec": {"name": "a", "interval": "b"}});
    let spoke: v1alpha1::Widget = serde_json::from_value(object).unwrap();
    let hub = v2::Widget::try_from(spoke).unwrap();
    assert_eq!(hub.spec.interval, "a");
    assert_eq!(
        (hub.spec.replicas, hub.spec.mode, hub.spec.shape),
        (1, v2::Mode::Memory, v2::Shape::Square { side: 1 })
    );
    assert_eq!(hub.metadata, ObjectMeta::default());
}

#[test]
fn types_without_metadata_convert_if_everything_fits() {
    let circle = v1::Circle { radius: 2 };
    assert_eq!(v2::Circle::try_from(circle.clone()).unwrap(), v2::Circle { radius: 4, filled: None });
    assert_eq!(v1::Circle::try_from(v2::Circle { radius: 4, filled: None }).unwrap(), circle);
    let error = v1::Circle::try_from(v2::Circle { radius: 5, filled: Some(true) }).unwrap_err();
    let ConversionError::DoesNotFit(paths) = &error else { panic!("{error}") };
    assert_eq!(*paths, ["filled", "radius"]);
    assert!(error.to_string().starts_with("`filled`, `radius` cannot be expressed"), "{error}");
}
