//! The expansions of `ApiObject` and `ApiType` have no warnings, and use absolute paths.

#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![deny(nonstandard_style, rust_2018_idioms, unused)]
#![deny(missing_debug_implementations, single_use_lifetimes, trivial_casts, unreachable_pub, unused_qualifications)]
#![deny(unused_lifetimes, unused_import_braces, unused_results, variant_size_differences)]
#![forbid(unsafe_code)]

/// Version `v1`.
pub mod v1 {
    use kubewright_core::{ApiObject, ApiType, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta};
    use serde::{Deserialize, Serialize};

    kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, r#Gadget, GadgetList] }

    /// The names that the expansion must not use.
    pub mod core {}
    /// Another one.
    pub mod std {}
    /// Another one.
    #[derive(Debug)]
    pub struct Vec;

    /// A Widget.
    #[deprecated(note = "use Gadget")]
    #[derive(Clone, Debug, Default, PartialEq, ApiObject)]
    #[genclient]
    pub struct Widget {
        /// Standard object's metadata.
        pub metadata: ObjectMeta,
        /// The desired state.
        pub spec: WidgetSpec,
    }

    /// The desired state of a Widget.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
    pub struct WidgetSpec {
        /// The size.
        pub size: i32,
    }

    /// A kind that cannot be compared.
    #[derive(Clone, Debug, ApiObject)]
    #[k8s(scope = "Cluster", kind = "my-gadget")]
    pub(crate) struct Gadget {
        /// Standard object's metadata.
        pub(crate) metadata: ObjectMeta,
    }
}

#[test]
fn compiles() {
    let mut scheme = kubewright_core::Scheme::new();
    v1::add_to_scheme(&mut scheme).unwrap();
    let kinds: Vec<_> = scheme.kinds().map(|gvk| gvk.kind.to_string()).collect();
    assert_eq!(kinds, ["Widget", "WidgetList", "my-gadget", "my-gadgetList"]);
    let list = v1::GadgetList {
        items: vec![v1::Gadget { metadata: kubewright_core::wire::ObjectMeta::default() }],
        ..Default::default()
    };
    assert_eq!(list.items.len(), 1);
}
