//! Marker traits for the verbs that `#[genclient]` grants to the client of a kind.
//!
//! The derive implements them, and the generic client requires them, so that a verb that is not granted is a compile
//! error with a helpful message.

use crate::meta::ClientVerb;

/// The verbs that are granted to the client of a kind, as data.
pub trait Granted {
    /// The granted verbs.
    const VERBS: &'static [ClientVerb];
}

/// The client of the kind has `create`, which creates an object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `create`",
    label = "`create` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless `readonly`, `only_verbs`, `skip_verbs` or `no_verbs` is set"
)]
pub trait Create {}

/// The client of the kind has `update`, which replaces an object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `update`",
    label = "`update` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless `readonly`, `only_verbs`, `skip_verbs` or `no_verbs` is set"
)]
pub trait Update {}

/// The client of the kind has `update_status`, which replaces the status of an object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `update_status`",
    label = "`update_status` is not granted",
    note = "`#[genclient]` grants it to a kind with `#[k8s(subresource(status))]`, and `adopt!` to a kind with the key `status`, unless `no_status` is set"
)]
pub trait UpdateStatus {}

/// The client of the kind has `delete`, which deletes one object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `delete`",
    label = "`delete` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless `readonly`, `only_verbs`, `skip_verbs` or `no_verbs` is set"
)]
pub trait Delete {}

/// The client of the kind has `delete_collection`, which deletes a collection of objects.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `delete_collection`",
    label = "`delete_collection` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless `readonly`, `only_verbs`, `skip_verbs` or `no_verbs` is set"
)]
pub trait DeleteCollection {}

/// The client of the kind has `get`, which reads one object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `get`",
    label = "`get` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless `readonly`, `only_verbs`, `skip_verbs` or `no_verbs` is set"
)]
pub trait Get {}

/// The client of the kind has `list`, which reads a collection of objects.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `list`",
    label = "`list` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless `readonly`, `only_verbs`, `skip_verbs` or `no_verbs` is set"
)]
pub trait List {}

/// The client of the kind has `watch`, which watches for changes.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `watch`",
    label = "`watch` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless `readonly`, `only_verbs`, `skip_verbs` or `no_verbs` is set"
)]
pub trait Watch {}

/// The client of the kind has `patch`, which patches an object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `patch`",
    label = "`patch` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless `readonly`, `only_verbs`, `skip_verbs` or `no_verbs` is set"
)]
pub trait Patch {}

/// The client of the kind has `apply`, which applies the fields of an object that a field manager owns.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `apply`",
    label = "`apply` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless `readonly`, `only_verbs`, `skip_verbs` or `no_verbs` is set"
)]
pub trait Apply {}

/// The client of the kind has `apply_status`, which applies the fields of a status that a field manager owns.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `apply_status`",
    label = "`apply_status` is not granted",
    note = "`#[genclient]` grants it to a kind with `#[k8s(subresource(status))]`, and `adopt!` to a kind with the key `status`, unless `no_status` is set"
)]
pub trait ApplyStatus {}
