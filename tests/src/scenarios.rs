//! What a server and the generated clients do together. Each scenario runs on the embedded API server and on the real
//! one, in a namespace of its own; where they differ, the embedded one is wrong.

mod apply;
mod built_in;
mod controllers;
mod defaults;
mod fixture;
mod generic;
mod informer;
mod managed_fields;
mod matrix;
mod nullable;
mod refusals;
mod validation;
mod verbs;

use std::pin::Pin;

use kube::Client;

/// A scenario by its name.
pub struct Scenario {
    /// What it shows.
    pub name: &'static str,
    /// Runs it on this server; it panics where something is not as it should be.
    pub run: fn(Client) -> Pin<Box<dyn Future<Output = ()> + Send>>,
}

macro_rules! scenarios {
    ($($module:ident::$name:ident),* $(,)?) => {
        /// Every scenario.
        pub const ALL: &[Scenario] = &[$(
            Scenario { name: stringify!($name), run: |client| Box::pin($module::$name(client)) },
        )*];
    };
}

scenarios! {
    verbs::created_objects_come_back_as_the_server_has_them,
    verbs::updates_replace_the_spec_and_status_updates_the_status,
    verbs::stale_updates_are_conflicts,
    verbs::lists_are_of_a_namespace_or_of_all,
    verbs::patches_change_parts,
    verbs::deleted_objects_are_gone,
    verbs::collections_are_deleted_by_selector,
    verbs::watches_begin_at_a_version,
    validation::the_client_says_of_new_objects_what_the_server_says,
    validation::the_client_says_of_updates_what_the_server_says,
    refusals::broken_specs_are_refused_with_the_field_named,
    refusals::misspelt_states_are_refused,
    refusals::errors_name_the_request_the_cause_and_the_way_out,
    informer::informers_follow_from_the_start_and_listers_read,
    informer::late_handlers_hear_of_everything,
    managed_fields::writes_own_what_they_write,
    managed_fields::appliers_share_what_is_equal_and_conflict_over_the_rest,
    managed_fields::what_an_applier_gives_up_is_removed,
    managed_fields::items_are_merged_by_their_keys,
    managed_fields::sets_are_merged_and_atomic_values_are_not,
    managed_fields::a_status_is_owned_apart,
    managed_fields::appliers_take_over_from_updaters,
    managed_fields::an_apply_that_changes_nothing_is_no_write,
    managed_fields::applies_make_what_is_not_there,
    managed_fields::applies_that_say_too_little_or_too_much_are_refused,
    managed_fields::who_scales_owns_the_replicas,
    managed_fields::kubectl_takes_over_what_it_applied_from_its_side,
    built_in::every_built_in_kind_is_kept_with_its_defaults,
    built_in::discovery_lists_built_in_kinds,
    built_in::config_maps_are_kept_listed_watched_and_patched,
    built_in::secrets_keep_text_as_data,
    built_in::deployments_are_scaled_and_reported_on,
    built_in::managers_share_a_deployment,
    built_in::scales_of_deployments_are_applied,
    built_in::unreadable_built_in_objects_are_refused,
    built_in::broken_built_in_objects_are_refused,
    fixture::cluster_kinds_have_no_namespace,
    fixture::kinds_without_status_work,
    fixture::unset_fields_are_not_sent,
    fixture::kinds_without_update_status_still_serve_it,
    fixture::clients_do_what_their_verbs_say,
    fixture::further_methods_read_and_write_what_they_say,
    fixture::further_methods_reach_subresources,
    defaults::defaults_are_those_of_decoding,
    defaults::defaults_are_those_of_rust,
    defaults::defaults_come_with_every_write,
    defaults::an_absent_status_has_its_default,
    nullable::nulls_come_back_as_nulls_and_absent_fields_as_absent,
    nullable::nulls_are_applied_extracted_and_applied_again,
    nullable::a_null_in_a_merge_patch_still_removes,
    nullable::nullable_fields_keep_their_rules,
    generic::resources_are_found_by_name,
    generic::informers_are_found_by_name_and_listers_by_index,
    generic::a_deletion_says_which_object_it_means,
    generic::kinds_of_the_core_group_are_declared_like_any_other,
    apply::what_is_applied_and_extracted_is_the_same_and_applied_again_changes_nothing,
    apply::managers_share_an_object_and_conflict_over_a_field,
    apply::what_is_given_up_is_removed_unless_another_owns_it,
    apply::lists_are_merged_by_key_as_sets_or_replaced,
    apply::a_status_is_applied_apart_and_by_its_own_manager_entry,
    apply::a_configuration_for_another_namespace_is_not_sent,
    apply::cluster_kinds_and_built_in_kinds_are_applied,
    apply::further_methods_apply,
    controllers::a_controller_keeps_what_it_is_for,
    controllers::kubes_controller_keeps_what_it_is_for,
    matrix::verbs_do_what_they_say_in_every_scope_and_with_every_status,
    matrix::further_methods_of_every_verb_reach_objects_and_subresources,
}
