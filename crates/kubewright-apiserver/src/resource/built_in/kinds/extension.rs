//! Custom resource definitions.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::resource::{
    built_in::{BuiltIn, TypeInfo},
    definition, managed_fields,
    strategy::{Generation, Lifecycle, Strategy},
};

pub(super) static CUSTOM_RESOURCE_DEFINITION: BuiltIn =
    BuiltIn::new("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", || {
        let types = &managed_fields::built_in::DEFINITION;
        TypeInfo::typed::<CustomResourceDefinition>(types, managed_fields::built_in::empty_definition(), None)
    })
    .short_names(&["crd", "crds"])
    .in_category(&["api-extensions"])
    .cluster()
    .status()
    .strategy(Strategy {
        lifecycle: Lifecycle::Definition,
        generation: Generation::Content,
        allows_unconditional_update: false,
        validates_own_metadata: true,
        validates_status: false,
        default: definition::default,
        prepare_for_create: |definition| definition::prepare(definition, None),
        prepare_for_update: |definition, old| definition::prepare(definition, Some(old)),
        validate: definition::check,
        ..Strategy::DEFAULT
    });
