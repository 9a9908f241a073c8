//! The checks of the extension methods of `#[genclient(..)]`.

use crate::{
    errors::Errors,
    grammar::verbs::{METHOD_VERBS, VERBS},
    model::{Kind, method_verb},
};

/// The methods that a client has in addition to its verbs.
const RESERVED: [&str; 4] = ["cluster", "get_opt", "get_with", "namespaced"];

/// Checks names, verbs and types of the extension methods.
pub(super) fn check(kind: &Kind, errors: &mut Errors) {
    let methods = kind.methods();
    for (i, method) in methods.iter().enumerate() {
        let is_reserved = |name: &str| RESERVED.contains(&name) || VERBS.iter().any(|(verb, _)| *verb == name);
        match method.name.get_ident().map(ToString::to_string) {
            None => errors.push(&method.name, "expected a method name, such as `get_scale`"),
            Some(name) if is_reserved(&name) => errors
                .push(&method.name, "reserved name: the client already has a method of this name; rename this one"),
            Some(_) if methods[..i].iter().any(|earlier| earlier.name == method.name) => {
                errors.push(&method.name, "duplicate method name; rename one");
            }
            Some(_) => {}
        }
        match (method_verb(method), &method.input) {
            (None, _) => {
                let expected = METHOD_VERBS.map(|(verb, ..)| format!("`{verb}`")).join(", ");
                errors.push(
                    &method.verb,
                    format_args!("unsupported verb of an extension method; expected one of {expected}"),
                );
            }
            (Some((verb, _, false)), Some(input)) => {
                errors.push(input, format_args!("`{verb}` has no request body; remove `input`"));
            }
            (Some(_), _) => {}
        }
    }
}
