//! `#[k8s(printcolumns = [..])]`: the columns of `kubectl get`, each in the syntax of a call.
//!
//! `[string("State", ".status.state"), date("Age", ".metadata.creationTimestamp").priority(1)]`: the type, the heading,
//! the path, and optional properties. The columns are expressions because clippy reports two equal keys with equal
//! values in one attribute, such as `type = "string"`, as duplicates.

use darling::{Error, FromMeta, Result};
use syn::{Expr, ExprCall, ExprLit, Ident, Lit, LitInt, LitStr};

use super::keys::worded;
use crate::grammar::{COLUMN, COLUMN_TYPES};

const EXAMPLE: &str = "expected a column, such as `string(\"State\", \".status.state\")`";

/// The columns, in display order.
#[derive(Default)]
pub(crate) struct PrintColumns(pub(crate) Vec<PrintColumn>);

/// A column of `kubectl get`.
pub(crate) struct PrintColumn {
    pub(crate) column_type: Ident,
    pub(crate) name: LitStr,
    pub(crate) json_path: LitStr,
    pub(crate) description: Option<LitStr>,
    pub(crate) format: Option<LitStr>,
    pub(crate) priority: Option<LitInt>,
}

impl FromMeta for PrintColumns {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let Expr::Array(array) = expr else {
            return Err(worded("expected `printcolumns = [string(\"State\", \".status.state\")]`").with_span(expr));
        };
        let mut errors = Error::accumulator();
        let columns = array.elems.iter().filter_map(|column| errors.handle(PrintColumn::parse(column))).collect();
        errors.finish_with(PrintColumns(columns))
    }
}

impl PrintColumn {
    fn parse(expr: &Expr) -> Result<Self> {
        match expr {
            Expr::Call(call) => Self::base(call),
            Expr::MethodCall(call) => {
                let mut column = Self::parse(&call.receiver)?;
                let [argument] = call.args.iter().collect::<Vec<_>>()[..] else {
                    return Err(worded("expected one argument").with_span(&call.method));
                };
                column.set(&call.method, argument)?;
                Ok(column)
            }
            other => Err(worded(EXAMPLE).with_span(other)),
        }
    }

    /// `string("State", ".status.state")`
    fn base(call: &ExprCall) -> Result<Self> {
        let Expr::Path(path) = &*call.func else { return Err(worded(EXAMPLE).with_span(&call.func)) };
        let column_type = path.path.get_ident().filter(|name| COLUMN_TYPES.iter().any(|known| *name == known)).cloned();
        let Some(column_type) = column_type else {
            let types = COLUMN_TYPES.map(|name| format!("`{name}`")).join(", ");
            return Err(worded(format_args!("unknown column type; expected one of {types}")).with_span(path));
        };
        let (Some(name), Some(json_path), 2) = (text(call.args.first()), text(call.args.get(1)), call.args.len())
        else {
            let message = format!("expected `{column_type}(\"Heading\", \".json.path\")`, with heading and JSON path");
            return Err(worded(message).with_span(call));
        };
        Ok(PrintColumn { column_type, name, json_path, description: None, format: None, priority: None })
    }

    /// `.description("..")`, `.format("..")`, `.priority(1)`
    fn set(&mut self, key: &Ident, value: &Expr) -> Result<()> {
        let known = COLUMN.keys.iter().map(|known| known.key).find(|known| key == known);
        let set_before = match known {
            Some("description") => {
                self.description.replace(literal(value, "a string literal", text(Some(value)))?).is_some()
            }
            Some("format") => self.format.replace(literal(value, "a string literal", text(Some(value)))?).is_some(),
            Some("priority") => {
                let expected = "0 (always shown) or a greater integer (shown with `-o wide`)";
                self.priority.replace(literal(value, expected, number(value))?).is_some()
            }
            _ => {
                let expected = COLUMN.keys.iter().map(|known| format!("`{}`", known.syntax)).collect::<Vec<_>>();
                let message = format!("unknown method of a column; expected one of {}", expected.join(", "));
                return Err(worded(message).with_span(key));
            }
        };
        match set_before {
            true => Err(worded(format_args!("duplicate `{key}`; keep one")).with_span(key)),
            false => Ok(()),
        }
    }
}

fn literal<T>(at: &Expr, expected: &str, found: Option<T>) -> Result<T> {
    found.ok_or_else(|| worded(format_args!("expected {expected}")).with_span(at))
}

fn text(expr: Option<&Expr>) -> Option<LitStr> {
    match expr? {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}

/// Returns an integer literal without a sign: `-1` is an expression, not a literal.
fn number(expr: &Expr) -> Option<LitInt> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) if number.base10_parse::<i32>().is_ok() => {
            Some(number.clone())
        }
        _ => None,
    }
}
