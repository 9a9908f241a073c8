//! A kind can have any number of fields.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

macro_rules! widget {
    ($($field:ident)*) => {
        #[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
        #[genclient]
        pub struct Widget {
            pub metadata: ObjectMeta,
            $(pub $field: Option<u8>,)*
        }
    };
}

widget! { a b c d e f g h i j k l m n o p q r s t u v w x y z }

#[test]
fn compiles() {
    let json = r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{},"a":1,"z":26}"#;
    let widget: Widget = kubewright_core::serde_json::from_str(json).unwrap();
    assert_eq!((widget.a, widget.b, widget.z), (Some(1), None, Some(26)));
    assert_eq!(kubewright_core::serde_json::to_string(&widget).unwrap(), json);
}
