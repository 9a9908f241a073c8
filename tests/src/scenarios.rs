//! Scenarios of the generated clients on a server. Each runs in a dedicated namespace on the embedded API server, on
//! the program and on a real kube-apiserver. If the outcomes differ, the embedded server is wrong.

mod apply;
mod authorization;
mod controllers;
mod conversion;
mod defaults;
mod election;
mod events;
mod fixture;
mod generic;
mod informer;
mod limits;
mod matrix;
mod nullable;
mod policies;
mod rejections;
mod releases;
mod validation;
mod verbs;

use std::pin::Pin;

use kube::Client;

/// A scenario.
pub struct Scenario {
    /// The module and the function of the scenario, `verbs::delete_removes_the_object`.
    pub name: &'static str,
    /// Runs the scenario on a server. It panics if an expectation fails.
    pub run: fn(Client) -> Pin<Box<dyn Future<Output = ()> + Send>>,
}

macro_rules! scenarios {
    ($($module:ident::$name:ident),* $(,)?) => {
        /// Every scenario.
        pub static ALL: &[Scenario] = &[$(
            Scenario {
                name: concat!(stringify!($module), "::", stringify!($name)),
                run: |client| Box::pin($module::$name(client)),
            },
        )*];
    };
}

scenarios! {
    verbs::reads_select_versions_labels_and_namespaces,
    verbs::delete_collection_deletes_by_selector,
    verbs::watch_starts_at_a_resource_version,
    validation::client_and_server_report_the_same_errors_of_new_objects,
    validation::client_and_server_report_the_same_errors_of_updates,
    rejections::invalid_specs_are_rejected_by_field,
    rejections::misspelt_states_are_rejected,
    rejections::errors_name_the_request_and_the_cause,
    authorization::denials_name_the_user_the_resource_and_the_scope,
    authorization::roles_allow_their_verbs_and_names,
    authorization::an_apply_that_creates_an_object_needs_both_verbs,
    authorization::access_reviews_name_the_binding,
    authorization::roles_beyond_the_permissions_of_their_author_are_rejected,
    limits::config_maps_and_secrets_of_more_than_1_mib_are_rejected,
    limits::annotations_of_more_than_256_kib_are_rejected,
    limits::objects_above_the_limits_of_etcd_are_rejected,
    limits::json_patches_that_multiply_an_object_are_rejected,
    limits::bodies_and_aliases_above_the_limits_are_rejected,
    informer::informers_deliver_events_and_listers_read_the_store,
    informer::late_handlers_receive_existing_objects,
    informer::an_optional_kind_is_empty_until_it_is_installed_and_after_it_is_removed,
    fixture::cluster_kinds_have_no_namespace,
    fixture::kinds_without_a_status_are_created_and_updated,
    fixture::unset_fields_are_not_sent,
    fixture::kinds_without_update_status_serve_the_subresource,
    fixture::clients_have_their_granted_verbs,
    fixture::extension_methods_read_and_write_objects,
    fixture::extension_methods_reach_subresources,
    defaults::server_defaults_equal_those_of_decoding,
    defaults::server_defaults_equal_those_of_rust,
    defaults::every_write_is_defaulted,
    defaults::an_absent_status_is_defaulted,
    nullable::nulls_and_absent_fields_round_trip,
    nullable::nulls_are_applied_extracted_and_applied_again,
    nullable::a_null_in_a_merge_patch_removes_the_field,
    nullable::nullable_fields_are_validated,
    generic::generic_clients_are_found_by_resource,
    generic::generic_informers_are_found_by_resource_and_objects_by_index,
    generic::deletes_honour_preconditions,
    generic::kinds_of_the_core_group_can_be_declared,
    conversion::versions_are_written_and_read_through_every_other_one,
    conversion::watches_receive_events_in_their_version,
    conversion::managers_apply_in_different_versions,
    conversion::scales_and_statuses_are_converted,
    conversion::unusable_responses_fail_the_request,
    conversion::requests_fail_while_the_converter_is_down,
    apply::an_extracted_configuration_equals_the_applied_one,
    apply::field_managers_share_an_object_and_conflict_over_a_field,
    apply::dropped_fields_are_removed_unless_another_manager_owns_them,
    apply::lists_are_merged_by_key_as_sets_or_replaced,
    apply::a_status_is_applied_with_its_own_managed_fields_entry,
    apply::a_configuration_for_another_namespace_is_rejected_by_the_client,
    apply::cluster_kinds_and_built_in_kinds_are_applied,
    apply::extension_methods_apply,
    controllers::a_controller_reconciles_status_child_and_finalizer,
    controllers::a_controller_of_objects_reconciles_status_child_and_finalizer,
    controllers::kubes_controller_reconciles_status_child_and_finalizer,
    events::repeated_events_are_one_series,
    events::recorded_events_are_valid,
    election::three_electors_lead_one_after_another,
    policies::generated_rules_deny_and_warn,
    policies::generated_defaults_are_set,
    releases::webhooks_of_one_release_only_are_taken_back,
    matrix::granted_verbs_work_in_every_scope_and_with_every_status,
    matrix::extension_methods_of_every_verb_reach_objects_and_subresources,
}
