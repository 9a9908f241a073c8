//! The checks of `group_version!`.

use std::collections::HashSet;

use kubewright_names::{case::is_snake_case, resource::is_group, version::is_version};
use proc_macro2::Span;
use syn::LitStr;

use crate::{attr::group_version::Listed, errors::Errors, grammar, model::Declaration};

/// Checks a declaration. Keys that the parser rejected are reported there, and not as missing here.
pub(crate) fn group_version(declaration: &Declaration, errors: &mut Errors) {
    if errors.is_empty() {
        check_required_keys(declaration, errors);
    }
    check_duplicates(declaration, errors);
    let check = |literal: &Option<LitStr>, is_valid: fn(&str) -> bool, message: &str, errors: &mut Errors| {
        if let Some(literal) = literal.as_ref().filter(|literal| !is_valid(&literal.value())) {
            errors.push(literal, message);
        }
    };
    let Declaration { group, version, group_ident, .. } = declaration;
    let message = "expected an identifier in snake case, such as `second_example`";
    check(group_ident, is_snake_case, message, errors);
    let message = "invalid group: expected a lower-case domain name with a dot, such as `example.com`";
    check(group, is_group, message, errors);
    let message = "invalid version: expected at most 63 lower-case letters, digits and `-`, starting with a letter, such \
                   as `v1` or `v1beta1`";
    check(version, is_version, message, errors);
}

fn check_required_keys(declaration: &Declaration, errors: &mut Errors) {
    let Declaration { group, version, kinds, .. } = declaration;
    for (is_missing, key) in [(group.is_none(), "group"), (version.is_none(), "version"), (kinds.is_none(), "kinds")] {
        if is_missing {
            errors.extend(syn::Error::new(Span::call_site(), grammar::missing(None, key)));
        }
    }
}

/// A type is listed once, unless its entries are conditional.
fn check_duplicates(declaration: &Declaration, errors: &mut Errors) {
    let mut known = HashSet::new();
    let unconditional = declaration.kinds().iter().filter(|kind| kind.cfgs.is_empty());
    for Listed { ty, .. } in unconditional.filter(|kind| !known.insert(kind.ty.to_string())) {
        errors.push(ty, "duplicate type; keep one");
    }
}
