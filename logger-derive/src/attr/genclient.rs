//! `#[genclient(..)]`: the client of a kind, with its verbs, extension methods and indexes.

use darling::{Error, FromMeta, Result, util::Flag};
use syn::{Expr, Ident, LitStr, Path};

use super::keys::worded;
use crate::grammar::verbs::VERBS;

/// `#[genclient(..)]`: Go's `+genclient`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Genclient {
    /// `+genclient:nonNamespaced`
    pub(crate) non_namespaced: Flag,
    /// `+genclient:noStatus`
    pub(crate) no_status: Flag,
    /// `+genclient:noVerbs`
    pub(crate) no_verbs: Flag,
    /// `+genclient:readonly`
    pub(crate) readonly: Flag,
    /// `+genclient:onlyVerbs=get,list`
    pub(crate) only_verbs: Option<VerbList>,
    /// `+genclient:skipVerbs=get,list`
    pub(crate) skip_verbs: Option<VerbList>,
    /// `+genclient:method=GetScale,verb=get,subresource=scale,result=..`
    #[darling(multiple)]
    pub(crate) method: Vec<Method>,
    #[darling(multiple)]
    pub(crate) index: Vec<Index>,
}

/// `#[genclient(method(..))]`: Go's `+genclient:method=`.
#[derive(FromMeta)]
pub(crate) struct Method {
    pub(crate) name: Path,
    pub(crate) verb: Path,
    #[darling(default)]
    pub(crate) subresource: Option<LitStr>,
    #[darling(default)]
    pub(crate) input: Option<Path>,
    #[darling(default)]
    pub(crate) result: Option<Path>,
}

/// `index(name = by_state, by = path::function)`
#[derive(FromMeta)]
pub(crate) struct Index {
    pub(crate) name: Path,
    pub(crate) by: Path,
}

impl Index {
    pub(crate) fn name(&self) -> String {
        self.name.get_ident().map(ToString::to_string).unwrap_or_default()
    }
}

/// `[get, list]`
pub(crate) struct VerbList(pub(crate) Vec<Ident>);

impl FromMeta for VerbList {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let Expr::Array(array) = expr else {
            return Err(worded("expected a list of verbs, such as `[get, list]`").with_span(expr));
        };
        let mut errors = Error::accumulator();
        let verbs: Vec<Ident> = array.elems.iter().filter_map(|verb| errors.handle(self::verb(verb))).collect();
        for (i, verb) in verbs.iter().enumerate().filter(|(i, verb)| verbs[..*i].contains(verb)) {
            errors.push(worded(format_args!("duplicate verb `{verb}`; keep one")).with_span(&verbs[i]));
        }
        if array.elems.is_empty() {
            errors.push(worded("empty list of verbs; for a client without verbs use `no_verbs`").with_span(array));
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
            let similar = words.into_iter().find(|known| is_similar(&word.to_string(), known));
            let hint = similar.map_or_else(String::new, |known| format!("did you mean `{known}`? "));
            let expected = words.map(|word| format!("`{word}`")).join(", ");
            Err(worded(format_args!("unknown verb `{word}`; {hint}expected one of {expected}")).with_span(expr))
        }
        None => Err(worded("expected a verb, such as `get`").with_span(expr)),
    }
}

/// Whether the names are equal except for case and underscores (Go's spelling), or except for one letter.
fn is_similar(written: &str, known: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_verbs_are_similar() {
        for (written, known) in [("gett", "get"), ("ge", "get"), ("updateStatus", "update_status"), ("List", "list")] {
            assert!(is_similar(written, known), "{written}");
        }
        assert!(!is_similar("explode", "list") && !is_similar("", "get"));
    }
}
