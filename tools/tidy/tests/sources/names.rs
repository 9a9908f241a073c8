//! Names are nouns and verbs: no binding, parameter, field or function is called `of`, `why`, `own` or `one`, and no
//! constructor `of_*`.

use proc_macro2::{Ident, TokenTree};
use quote::ToTokens;
use regex::Regex;
use syn::visit::{Visit, visit_field, visit_pat_ident, visit_signature};
use tidy::{assert_none, files, read};

/// The names without a meaning.
const WORDS: [&str; 4] = ["of", "one", "own", "why"];

/// Collects the declared names that are one of [`WORDS`], with their lines.
#[derive(Default)]
struct Declarations {
    found: Vec<(usize, String)>,
}

impl Declarations {
    fn add(&mut self, name: &Ident) {
        if WORDS.iter().any(|word| name == word) {
            self.found.push((name.span().start().line, name.to_string()));
        }
    }
}

impl<'ast> Visit<'ast> for Declarations {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.add(&pattern.ident);
        visit_pat_ident(self, pattern);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        field.ident.iter().for_each(|name| self.add(name));
        visit_field(self, field);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.add(&signature.ident);
        if is_constructor(signature) && signature.ident.to_string().starts_with("of_") {
            self.found.push((signature.ident.span().start().line, signature.ident.to_string()));
        }
        visit_signature(self, signature);
    }
}

/// Whether a function without a receiver returns `Self`, also in an `Option` or a `Result`.
fn is_constructor(signature: &syn::Signature) -> bool {
    let syn::ReturnType::Type(_, output) = &signature.output else { return false };
    signature.receiver().is_none() && output.to_token_stream().into_iter().any(|token| has_self(&token))
}

fn has_self(token: &TokenTree) -> bool {
    match token {
        TokenTree::Ident(ident) => ident == "Self",
        TokenTree::Group(group) => group.stream().into_iter().any(|token| has_self(&token)),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    }
}

fn declarations(file: &str, source: &str) -> Vec<(usize, String)> {
    let parsed = syn::parse_file(source).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut declarations = Declarations::default();
    declarations.visit_file(&parsed);
    declarations.found
}

/// Returns the expression of the words in code. Only files that match it are parsed.
fn words_in_code() -> Regex {
    Regex::new(&format!(r"(?m)^(?:[^/\n]|/[^/\n])*\b(?:{}|fn of_\w+)\b", WORDS.join("|"))).unwrap()
}

#[test]
fn names_are_nouns_and_verbs() {
    let words_in_code = words_in_code();
    let mut violations = Vec::new();
    for file in &files("rs") {
        let source = read(file);
        if source.starts_with("// @generated") || !words_in_code.is_match(&source) {
            continue;
        }
        violations.extend(declarations(file, &source).iter().map(|(line, name)| format!("{file}:{line}: `{name}`")));
    }
    assert_none("names to replace by a noun or a verb", &violations);
}

#[test]
fn bindings_parameters_fields_and_functions_are_checked() {
    let source = "struct A { own: u8 }\nfn of(one: u8) {}\nimpl A { fn why(&self) { if let Some(one) = f() {} } }";
    let names: Vec<String> =
        declarations("test.rs", source).into_iter().map(|(line, name)| format!("{line} {name}")).collect();
    assert_eq!(names, ["1 own", "2 of", "2 one", "3 why", "3 one"]);
    let source = "impl A { fn of_b(b: B) -> Result<Self, E> {} fn of_c(&self) -> Self {} fn of_d() -> D {} }";
    assert_eq!(declarations("test.rs", source), [(1, "of_b".to_owned())]);
    assert!(declarations("test.rs", "fn owner(first: u8) { s.of(\"one\"); let _ = A { of: first }; }").is_empty());
}

#[test]
fn files_with_the_words_in_comments_only_are_not_parsed() {
    let is_match = |source: &str| words_in_code().is_match(source);
    assert!(!is_match("// one of\nlet a = 1 / 2; /// own\n"));
    assert!(is_match("// a\n    let one = 1; // b\n"));
}
