//! The checks of `adopt!`.

use proc_macro2::Span;

use super::verbs;
use crate::{
    errors::Errors,
    model::{Adoption, CustomResource, adopt::name},
};

/// Checks the kinds and their keys. Keys that the parser rejected are reported there.
pub(crate) fn adopt(adoption: &Adoption, errors: &mut Errors) {
    if errors.is_empty() && adoption.is_empty() {
        let message = "nothing to adopt; list kinds in `built_in = [..]` or `custom_resources = [..]`";
        errors.extend(syn::Error::new(Span::call_site(), message));
    }
    for meta in &adoption.with_keys {
        errors.push(meta, "a built-in kind has no keys, because every verb is granted; remove the parentheses");
    }
    for path in &adoption.misplaced {
        errors.push(path, "this is a built-in kind of Kubernetes; list it in `built_in = [..]`");
    }
    adoption.custom.iter().for_each(|kind| check_custom_resource(kind, errors));
    check_names(adoption, errors);
}

fn check_custom_resource(kind: &CustomResource, errors: &mut Errors) {
    let genclient = &kind.keys.genclient;
    verbs::check_conflicts(&kind.path, genclient, errors);
    verbs::check_status_verbs(genclient, kind.has_status(), "the key `status`", errors);
    if genclient.non_namespaced.is_present() {
        let message = "the scope is that of kube's derive; remove this";
        errors.extend(syn::Error::new(genclient.non_namespaced.span(), message));
    }
    for method in &genclient.method {
        errors.push(&method.name, "adopted kinds do not support extension methods; write an extension trait instead");
    }
    for index in &genclient.index {
        errors.push(&index.name, "adopted kinds do not support indexes; call `add_index` on the informer instead");
    }
}

/// Types in one module must have distinct names.
fn check_names(adoption: &Adoption, errors: &mut Errors) {
    for (path, earlier) in adoption.duplicates() {
        let name = name(path);
        let message = match earlier == path {
            true => "duplicate type; keep one".to_owned(),
            false => format!(
                "duplicate name `{name}` of another kind; rename this one, `pub use path::{name} as Other{name};`, and \
                 list the new name"
            ),
        };
        errors.push(path, message);
    }
}
