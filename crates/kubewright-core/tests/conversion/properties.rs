//! The properties of conversions hold for random objects, and the tests of them fail where they do not.

#![cfg(feature = "validation")]

use kubewright_core::{
    Scheme,
    conversion::testing::{Failure, Options, samples, verify, verify_released},
    object::Kind,
};

use super::*;

#[test]
fn v1_converts_without_loss() -> Result<(), Failure> {
    verify::<v1::Widget>(&Options { rounds: 2000, seed: 0 })
}

#[test]
fn v1alpha1_converts_without_loss() -> Result<(), Failure> {
    verify::<v1alpha1::Widget>(&Options { rounds: 2000, seed: 10_000 })
}

/// A version with a plan that the derive rejects: two fields convert into one.
mod broken {
    use kubewright_core::{
        CrdSchema, DeepCopy, Object,
        conversion::{
            ConvertTo, Spoke,
            plan::{Conversion, Field, Struct},
        },
        k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    };

    use super::v2;

    #[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
    #[genclient]
    pub struct Widget {
        pub metadata: ObjectMeta,
        pub spec: v2::WidgetSpec,
        pub copy: Option<v2::WidgetSpec>,
    }

    impl Spoke for Widget {
        type Hub = v2::Widget;
    }

    impl ConvertTo<v2::Widget> for Widget {
        fn conversion() -> Conversion {
            const PLAN: &Struct = &Struct {
                fields: &[
                    Field { spoke: "spec", hub: Some("spec"), ..Field::DEFAULT },
                    Field { spoke: "copy", hub: Some("spec"), ..Field::DEFAULT },
                ],
                hub_only: &[],
            };
            Conversion::Struct(PLAN)
        }
    }

    kubewright_core::group_version! { group = "example.com", version = "v1beta1", kinds = [Widget] }
}

#[test]
fn a_failure_names_the_field_and_the_seed() {
    let failure = verify::<broken::Widget>(&Options { rounds: 50, seed: 3 }).unwrap_err().to_string();
    assert!(failure.contains("difference: ") && failure.contains("seed: "), "{failure}");
}

#[test]
fn samples_are_valid_and_convert() {
    let objects = samples(&v1::Widget::API_KIND, V1, 4).unwrap();
    assert_eq!(objects.len(), 4);
    for object in &objects {
        serde_json::from_value::<v1::Widget>(object.clone()).unwrap();
        let mut expected = object["spec"].clone();
        expected.as_object_mut().unwrap().remove("trace");
        assert_eq!(convert(&convert(object, V2), V1)["spec"], expected);
    }
    assert_eq!(samples(&v1::Widget::API_KIND, V1, 4).unwrap(), objects, "the same objects each time");
}

#[test]
fn released_objects_are_verified() {
    let mut scheme = Scheme::new();
    v1::add_to_scheme(&mut scheme).unwrap();
    v2::add_to_scheme(&mut scheme).unwrap();
    v1alpha1::add_to_scheme(&mut scheme).unwrap();
    let root = concat!(env!("CARGO_TARGET_TMPDIR"), "/released");
    let directory = format!("{root}/1.0.0");
    std::fs::create_dir_all(&directory).unwrap();
    let verify = |object: &Value| {
        std::fs::write(format!("{directory}/widgets.yaml"), object.to_string()).unwrap();
        verify_released(&scheme, &[converter()], root)
    };
    let object = widget(V1, spoke_spec(json!({"logLevel": "info", "steps": [{"command": "a"}]})));
    assert_eq!(verify(&object).unwrap(), 1);
    let renamed = widget(V1, spoke_spec(json!({"logLevel": "info", "oldName": 3})));
    let failure = verify(&renamed).unwrap_err().to_string();
    assert!(failure.contains(".spec.oldName") && failure.contains("widgets.yaml"), "{failure}");
    assert_eq!(verify_released(&scheme, &[], format!("{root}/none")).unwrap(), 0);
}
