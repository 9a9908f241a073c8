//! Sources determine the directory of their package at run time. Checkouts with one target directory share their
//! binaries, so that a path that is compiled in can belong to another checkout.

use proc_macro2::{TokenStream, TokenTree};
use tidy::{assert_none, files, read};

const VARIABLE: &str = "CARGO_MANIFEST_DIR";

/// The macros that read a file during compilation.
const INCLUDES: [&str; 3] = ["include", "include_bytes", "include_str"];

/// Returns the lines that compile the directory of the package in, except in the arguments of [`INCLUDES`].
fn compiled_in(source: TokenStream) -> Vec<usize> {
    let tokens: Vec<TokenTree> = source.into_iter().collect();
    let mut lines = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let TokenTree::Group(arguments) = token else { continue };
        let name = macro_name(&tokens[..index]).unwrap_or_default();
        if name == "env" || name == "option_env" {
            let first = arguments.stream().into_iter().next();
            if first.is_some_and(|first| first.to_string() == format!("{VARIABLE:?}")) {
                lines.push(arguments.span_open().start().line);
            }
        } else if !INCLUDES.contains(&name.as_str()) {
            lines.extend(compiled_in(arguments.stream()));
        }
    }
    lines
}

/// Returns the name of the macro whose arguments come after these tokens.
fn macro_name(before: &[TokenTree]) -> Option<String> {
    match before {
        [.., TokenTree::Ident(name), TokenTree::Punct(mark)] if mark.as_char() == '!' => Some(name.to_string()),
        _ => None,
    }
}

#[test]
fn no_source_compiles_the_directory_of_its_package_in() {
    let mut violations = Vec::new();
    for file in files("rs") {
        let source = read(&file);
        if source.contains(VARIABLE) {
            let tokens: TokenStream = source.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
            violations.extend(compiled_in(tokens).iter().map(|line| format!("{file}:{line}")));
        }
    }
    assert_none(&format!("uses of `env!({VARIABLE:?})`, which must be read with `std::env::var_os`"), &violations);
}

#[test]
fn included_files_are_an_exception() {
    let source = r#"
        #![doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"))]
        const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        const BYTES: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/data"));
        const CARGO: &str = env!("CARGO");
        /// Not `env!("CARGO_MANIFEST_DIR")`.
        fn directory() -> PathBuf {
            PathBuf::from(option_env!("CARGO_MANIFEST_DIR").unwrap_or("CARGO_MANIFEST_DIR"))
        }
    "#;
    assert_eq!(compiled_in(source.parse().unwrap()), [3, 8]);
}
