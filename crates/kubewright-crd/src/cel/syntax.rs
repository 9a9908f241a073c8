//! Source text to abstract syntax tree: lexer, parser, macro expansion and error formatting.

mod ast;
mod error;
mod factory;
mod lexer;
mod literal;
mod macros;
pub(crate) mod operator;
mod parser;
mod recovery;
mod token_set;

pub(crate) use ast::{
    ACCUMULATOR, Call, Comprehension, Expr, ExprKind, Id, ListElement, Literal, MapEntry, Select, StructExpr,
    StructField,
};
pub(crate) use error::{CelError, Source};
pub(crate) use kubewright_names::cel::escape;
pub(crate) use kubewright_names::cel::{is_reserved, unescape};
pub(crate) use parser::{ParsedExpr, parse};
