//! A version can have any name that the API server accepts.

use k8s_openapi::Resource;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};

macro_rules! version {
    ($module:ident, $version:literal) => {
        mod $module {
            use super::*;

            kubewright_core::group_version! { group = "example.com", version = $version, kinds = [Widget] }

            #[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
            #[genclient]
            pub struct Widget {
                pub metadata: ObjectMeta,
            }
        }
        assert_eq!($module::Widget::VERSION, $version);
    };
}

#[test]
fn compiles() {
    version!(first, "v1alpha1x");
    version!(second, "beta");
    version!(third, "v1-rc1");
}
