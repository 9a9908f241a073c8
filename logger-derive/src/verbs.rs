//! The verbs of `#[genclient]`: what the client of a kind can do.

use darling::{Error, FromMeta, Result};
use quote::ToTokens;
use syn::{Expr, Ident};

use crate::attr::Genclient;
use crate::errors::Errors;
use crate::model::Kind;

/// Every verb: Go's word in snake case, as attributes say it, and the name of its marker.
pub(crate) const VERBS: [(&str, &str); 11] = [
    ("create", "Create"),
    ("update", "Update"),
    ("update_status", "UpdateStatus"),
    ("delete", "Delete"),
    ("delete_collection", "DeleteCollection"),
    ("get", "Get"),
    ("list", "List"),
    ("watch", "Watch"),
    ("patch", "Patch"),
    ("apply", "Apply"),
    ("apply_status", "ApplyStatus"),
];

/// The verbs that need a status.
const OF_STATUS: [&str; 2] = ["update_status", "apply_status"];

/// The verbs as attributes say them.
pub(crate) fn words() -> Vec<&'static str> {
    VERBS.map(|(word, _)| word).to_vec()
}

const READONLY: [&str; 3] = ["get", "list", "watch"];

/// `[get, list]`
pub(crate) struct VerbList(pub(crate) Vec<Ident>);

impl FromMeta for VerbList {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let Expr::Array(array) = expr else {
            return Err(Error::custom("expected a list of verbs, such as `[get, list]`").with_span(expr));
        };
        let mut errors = Error::accumulator();
        let verbs: Vec<Ident> = array.elems.iter().filter_map(|verb| errors.handle(self::verb(verb))).collect();
        for (i, verb) in verbs.iter().enumerate().filter(|(i, verb)| verbs[..*i].contains(verb)) {
            errors.push(Error::custom(format_args!("`{verb}`: given twice; keep one")).with_span(&verbs[i]));
        }
        if array.elems.is_empty() {
            errors.push(Error::custom("expected a verb; for a client without verbs say `no_verbs`").with_span(array));
        }
        errors.finish_with(VerbList(verbs))
    }
}

fn verb(expr: &Expr) -> Result<Ident> {
    let word = match expr {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    };
    let words = VERBS.map(|(word, _)| word);
    match word {
        Some(word) if words.iter().any(|known| word == known) => Ok(word.clone()),
        Some(word) => {
            let likeliest = words.into_iter().find(|known| is_near(&word.to_string(), known));
            let hint = likeliest.map_or_else(String::new, |known| format!("did you mean `{known}`? "));
            let expected = words.map(|word| format!("`{word}`")).join(", ");
            Err(Error::custom(format_args!("unknown verb `{word}`; {hint}expected one of {expected}")).with_span(expr))
        }
        None => Err(Error::custom("expected a verb, such as `get`").with_span(expr)),
    }
}

/// Whether this was meant: the same but for case and underscores (Go's spelling), or but for one letter more or less.
fn is_near(written: &str, known: &str) -> bool {
    let plain = |word: &str| word.to_lowercase().replace('_', "");
    let (written, known) = (plain(written), plain(known));
    let without_one = |word: &str, other: &str| {
        (0..word.len()).any(|i| {
            word.is_char_boundary(i) && {
                let mut shorter = word.to_owned();
                shorter.remove(i);
                shorter == other
            }
        })
    };
    written == known || without_one(&written, &known) || without_one(&known, &written)
}

impl Kind {
    /// The verbs its client has, in the order of [`VERBS`], as names of markers.
    pub(crate) fn verbs(&self) -> Vec<&'static str> {
        let of = |(_, client): &(_, Genclient)| client.verbs(self.k8s.subresource.status.is_present());
        self.genclient.as_ref().map_or_else(Vec::new, of)
    }
}

impl Genclient {
    /// The verbs this grants a kind with a status or without, in the order of [`VERBS`], as names of markers.
    pub(crate) fn verbs(&self, has_status: bool) -> Vec<&'static str> {
        VERBS.into_iter().filter(|(word, _)| self.grants(word, has_status)).map(|(_, marker)| marker).collect()
    }

    fn grants(&self, word: &str, has_status: bool) -> bool {
        let is_listed = |list: &Option<VerbList>| {
            list.as_ref().is_some_and(|VerbList(verbs)| verbs.iter().any(|verb| verb == word))
        };
        !self.no_verbs.is_present()
            && (!OF_STATUS.contains(&word) || (has_status && !self.no_status.is_present()))
            && (!self.readonly.is_present() || READONLY.contains(&word))
            && (self.only_verbs.is_none() || is_listed(&self.only_verbs))
            && !is_listed(&self.skip_verbs)
    }
}

/// `no_verbs`, `readonly`, `only_verbs` and `skip_verbs` each say which verbs there are: one of them at most. And what is
/// listed must be there to be granted or skipped.
pub(crate) fn check(kind: &Kind, errors: &mut Errors) {
    let Some((attr, client)) = &kind.genclient else { return };
    one_at_most(attr, client, errors);
    status_is_there(client, kind.k8s.subresource.status.is_present(), "`#[k8s(subresource(status))]`", errors);
}

/// `no_verbs`, `readonly`, `only_verbs` and `skip_verbs` contradict each other.
pub(crate) fn one_at_most(at: impl ToTokens, client: &Genclient, errors: &mut Errors) {
    let said = [
        (client.no_verbs.is_present(), "no_verbs"),
        (client.readonly.is_present(), "readonly"),
        (client.only_verbs.is_some(), "only_verbs"),
        (client.skip_verbs.is_some(), "skip_verbs"),
    ];
    let said: Vec<_> = said.into_iter().filter(|(is_said, _)| *is_said).map(|(_, word)| format!("`{word}`")).collect();
    if said.len() > 1 {
        errors.push(at, format_args!("{} contradict each other; keep one", said.join(" and ")));
    }
}

/// A verb of the status is listed where there is one; `add` is what gives one.
pub(crate) fn status_is_there(client: &Genclient, has_status: bool, add: &str, errors: &mut Errors) {
    let lists = [&client.only_verbs, &client.skip_verbs].into_iter().flatten();
    for verb in lists.flat_map(|VerbList(verbs)| verbs).filter(|verb| OF_STATUS.iter().any(|word| *verb == word)) {
        if client.no_status.is_present() {
            errors.push(verb, format_args!("`no_status` says that there is no `{verb}`; keep one of the two"));
        } else if !has_status {
            errors.push(verb, format_args!("there is no status: add {add} or remove this"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_verbs_are_near_and_others_are_not() {
        for (written, known) in [("gett", "get"), ("ge", "get"), ("updateStatus", "update_status"), ("List", "list")] {
            assert!(is_near(written, known), "{written}");
        }
        assert!(!is_near("explode", "list") && !is_near("", "get"));
    }
}
