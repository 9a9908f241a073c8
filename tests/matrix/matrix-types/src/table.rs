//! The table of the matrix: every selection of verbs, with the verbs that it grants.

/// Calls a macro with every kind of the matrix. The first part has the selections of verbs that exist in both scopes:
/// with a status, with a status that the client does not write, and without a status. The second part has selections
/// that exist in one scope only: those that name a verb of the status need one, and those that skip a verb take longer
/// to compile than all others together.
///
/// The macro is called with one entry for each kind: scope, status, kind, list type if it has one, apply configuration,
/// getter of its client, options of `#[genclient]`, and the granted verbs.
#[macro_export]
macro_rules! for_each_kind {
    ($callback:ident) => {
        $crate::in_each_scope_and_status! {
            $callback
            {
                All alls [List] []
                    [create update delete delete_collection get list watch patch apply] [update_status apply_status];
                NoVerbs no_verbses [] [no_verbs]
                    [] [];
                Readonly readonlies [List] [readonly]
                    [get list watch] [];
                OnlyCreate only_creates [] [only_verbs = [create]]
                    [create] [];
                OnlyUpdate only_updates [] [only_verbs = [update]]
                    [update] [];
                OnlyDelete only_deletes [] [only_verbs = [delete]]
                    [delete] [];
                OnlyDeleteCollection only_delete_collections [] [only_verbs = [delete_collection]]
                    [delete_collection] [];
                OnlyGet only_gets [] [only_verbs = [get]]
                    [get] [];
                OnlyList only_lists [List] [only_verbs = [list]]
                    [list] [];
                OnlyWatch only_watches [] [only_verbs = [watch]]
                    [watch] [];
                OnlyPatch only_patches [] [only_verbs = [patch]]
                    [patch] [];
                OnlyApply only_applies [] [only_verbs = [apply]]
                    [apply] [];
            }
            {
                Namespaced OnlyUpdateStatus only_update_statuses [] [only_verbs = [update_status]]
                    [] [update_status];
                Cluster OnlyUpdateStatus only_update_statuses [] [only_verbs = [update_status]]
                    [] [update_status];
                Namespaced OnlyApplyStatus only_apply_statuses [] [only_verbs = [apply_status]]
                    [] [apply_status];
                Cluster OnlyApplyStatus only_apply_statuses [] [only_verbs = [apply_status]]
                    [] [apply_status];
                Namespaced SkipCreate skip_creates [List] [skip_verbs = [create]]
                    [update delete delete_collection get list watch patch apply] [update_status apply_status];
                Cluster SkipUpdate skip_updates [List] [skip_verbs = [update]]
                    [create delete delete_collection get list watch patch apply] [update_status apply_status];
                Namespaced SkipDelete skip_deletes [List] [skip_verbs = [delete]]
                    [create update delete_collection get list watch patch apply] [update_status apply_status];
                Cluster SkipDeleteCollection skip_delete_collections [List] [skip_verbs = [delete_collection]]
                    [create update delete get list watch patch apply] [update_status apply_status];
                Namespaced SkipGet skip_gets [List] [skip_verbs = [get]]
                    [create update delete delete_collection list watch patch apply] [update_status apply_status];
                Cluster SkipList skip_lists [] [skip_verbs = [list]]
                    [create update delete delete_collection get watch patch apply] [update_status apply_status];
                Namespaced SkipWatch skip_watches [List] [skip_verbs = [watch]]
                    [create update delete delete_collection get list patch apply] [update_status apply_status];
                Cluster SkipPatch skip_patches [List] [skip_verbs = [patch]]
                    [create update delete delete_collection get list watch apply] [update_status apply_status];
                Namespaced SkipApply skip_applies [List] [skip_verbs = [apply]]
                    [create update delete delete_collection get list watch patch] [update_status apply_status];
                Cluster SkipUpdateStatus skip_update_statuses [List] [skip_verbs = [update_status]]
                    [create update delete delete_collection get list watch patch apply] [apply_status];
                Namespaced SkipApplyStatus skip_apply_statuses [List] [skip_verbs = [apply_status]]
                    [create update delete delete_collection get list watch patch apply] [update_status];
            }
        }
    };
}

/// Expands the product: each selection of the first part becomes a kind for each scope and status. Without a status to
/// write, the verbs of the status are not granted. It concatenates identifiers, which `macro_rules` alone cannot do.
#[doc(hidden)]
#[macro_export]
macro_rules! in_each_scope_and_status {
    (
        $callback:ident
        {$(
            $name:ident $getter:ident [$($list:ident)?] [$($options:tt)*]
                [$($verb:ident)*] [$($of_status:ident)*];
        )*}
        {$(
            $its_scope:ident $its_name:ident $its_getter:ident [$($its_list:ident)?] $its_options:tt
                [$($its_verb:ident)*] [$($its_of_status:ident)*];
        )*}
    ) => { $crate::paste! { $callback! {
        $(
            Namespaced Status [<NamespacedStatus $name>] ($([<NamespacedStatus $name $list>])?)
                [<NamespacedStatus $name Apply>] [<namespaced_status_ $getter>] [$($options)*] [$($verb)* $($of_status)*];
            Cluster Status [<ClusterStatus $name>] ($([<ClusterStatus $name $list>])?)
                [<ClusterStatus $name Apply>] [<cluster_status_ $getter>] [$($options)*] [$($verb)* $($of_status)*];
            Namespaced NoStatus [<NamespacedNoStatus $name>] ($([<NamespacedNoStatus $name $list>])?)
                [<NamespacedNoStatus $name Apply>] [<namespaced_no_status_ $getter>] [$($options)*] [$($verb)*];
            Cluster NoStatus [<ClusterNoStatus $name>] ($([<ClusterNoStatus $name $list>])?)
                [<ClusterNoStatus $name Apply>] [<cluster_no_status_ $getter>] [$($options)*] [$($verb)*];
            Namespaced Plain [<NamespacedPlain $name>] ($([<NamespacedPlain $name $list>])?)
                [<NamespacedPlain $name Apply>] [<namespaced_plain_ $getter>] [$($options)*] [$($verb)*];
            Cluster Plain [<ClusterPlain $name>] ($([<ClusterPlain $name $list>])?)
                [<ClusterPlain $name Apply>] [<cluster_plain_ $getter>] [$($options)*] [$($verb)*];
        )*
        $(
            $its_scope Status [<$its_scope Status $its_name>] ($([<$its_scope Status $its_name $its_list>])?)
                [<$its_scope Status $its_name Apply>] [<$its_scope:lower _status_ $its_getter>]
                $its_options [$($its_verb)* $($its_of_status)*];
        )*
    } } };
}
