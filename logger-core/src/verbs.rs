//! Verb markers: what `#[genclient]` grants a kind. A verb that was not granted does not exist for its client.
//!
//! The derive implements them; the generic client asks for them, so that a misuse is a compile error in our words.

use crate::meta::Verb;

/// The verbs that a kind's client has, as data.
pub trait Granted {
    /// The verbs.
    const VERBS: &'static [Verb];
}

/// The client of the kind has `create`: make a new object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `create`",
    label = "`create` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless it says `readonly`, `only_verbs`, `skip_verbs` or `no_verbs`"
)]
pub trait Create {}

/// The client of the kind has `update`: replace an object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `update`",
    label = "`update` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless it says `readonly`, `only_verbs`, `skip_verbs` or `no_verbs`"
)]
pub trait Update {}

/// The client of the kind has `update_status`: replace the status of an object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `update_status`",
    label = "`update_status` is not granted",
    note = "`#[genclient]` grants it to a kind with `#[k8s(subresource(status))]`, and `adopt!` to a kind of which it says `status`, unless `no_status` is set"
)]
pub trait UpdateStatus {}

/// The client of the kind has `delete`: remove one object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `delete`",
    label = "`delete` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless it says `readonly`, `only_verbs`, `skip_verbs` or `no_verbs`"
)]
pub trait Delete {}

/// The client of the kind has `delete_collection`: remove many objects.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `delete_collection`",
    label = "`delete_collection` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless it says `readonly`, `only_verbs`, `skip_verbs` or `no_verbs`"
)]
pub trait DeleteCollection {}

/// The client of the kind has `get`: read one object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `get`",
    label = "`get` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless it says `readonly`, `only_verbs`, `skip_verbs` or `no_verbs`"
)]
pub trait Get {}

/// The client of the kind has `list`: read many objects.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `list`",
    label = "`list` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless it says `readonly`, `only_verbs`, `skip_verbs` or `no_verbs`"
)]
pub trait List {}

/// The client of the kind has `watch`: follow changes.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `watch`",
    label = "`watch` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless it says `readonly`, `only_verbs`, `skip_verbs` or `no_verbs`"
)]
pub trait Watch {}

/// The client of the kind has `patch`: change parts of an object.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `patch`",
    label = "`patch` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless it says `readonly`, `only_verbs`, `skip_verbs` or `no_verbs`"
)]
pub trait Patch {}

/// The client of the kind has `apply`: say what an object must have, and own that.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `apply`",
    label = "`apply` is not granted",
    note = "`#[genclient]` on the kind, or `adopt!`, grants it, unless it says `readonly`, `only_verbs`, `skip_verbs` or `no_verbs`"
)]
pub trait Apply {}

/// The client of the kind has `apply_status`: say what the status of an object must have, and own that.
#[diagnostic::on_unimplemented(
    message = "the client of `{Self}` has no `apply_status`",
    label = "`apply_status` is not granted",
    note = "`#[genclient]` grants it to a kind with `#[k8s(subresource(status))]`, and `adopt!` to a kind of which it says `status`, unless `no_status` is set"
)]
pub trait ApplyStatus {}
