//! `#[k8s(printcolumns = [..])]`: the columns of `kubectl get`, each written as a call.
//!
//! `[string("State", ".status.state"), date("Age", ".metadata.creationTimestamp").priority(1)]`: the type, the heading,
//! the path, and what else is to be said. A list of expressions, since clippy takes keywords that two columns give the
//! same value, as `type = "string"` would be, for a mistake.

use darling::{Error, FromMeta, Result};
use syn::{Expr, ExprCall, ExprLit, Ident, Lit, LitInt, LitStr};

use crate::grammar::COLUMN;

/// What the API server takes for a column.
pub(crate) const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const EXAMPLE: &str = "expected a column, such as `string(\"State\", \".status.state\")`";

/// The columns, in order.
#[derive(Default)]
pub(crate) struct PrintColumns(pub(crate) Vec<PrintColumn>);

/// A column.
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
            return Err(
                Error::custom("expected `printcolumns = [string(\"State\", \".status.state\")]`").with_span(expr)
            );
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
                    return Err(Error::custom("expected one value").with_span(&call.method));
                };
                column.set(&call.method, argument)?;
                Ok(column)
            }
            other => Err(Error::custom(EXAMPLE).with_span(other)),
        }
    }

    /// `string("State", ".status.state")`
    fn base(call: &ExprCall) -> Result<Self> {
        let Expr::Path(path) = &*call.func else { return Err(Error::custom(EXAMPLE).with_span(&call.func)) };
        let column_type = path.path.get_ident().filter(|name| TYPES.iter().any(|known| *name == known)).cloned();
        let Some(column_type) = column_type else {
            let types = TYPES.map(|name| format!("`{name}`")).join(", ");
            return Err(Error::custom(format_args!("unknown column type; expected one of {types}")).with_span(path));
        };
        let (Some(name), Some(json_path), 2) = (text(call.args.first()), text(call.args.get(1)), call.args.len())
        else {
            let message = format!("expected `{column_type}(\"Heading\", \".json.path\")`: heading and path");
            return Err(Error::custom(message).with_span(call));
        };
        Ok(PrintColumn { column_type, name, json_path, description: None, format: None, priority: None })
    }

    /// `.description("..")`, `.format("..")`, `.priority(1)`
    fn set(&mut self, keyword: &Ident, value: &Expr) -> Result<()> {
        let known = COLUMN.keywords.iter().map(|known| known.word).find(|known| keyword == known);
        let set_before = match known {
            Some("description") => {
                self.description.replace(literal(value, "a text in quotes", text(Some(value)))?).is_some()
            }
            Some("format") => self.format.replace(literal(value, "a text in quotes", text(Some(value)))?).is_some(),
            Some("priority") => {
                let expected = "0 (always shown) or more (with `-o wide`)";
                self.priority.replace(literal(value, expected, number(value))?).is_some()
            }
            _ => {
                let expected = COLUMN.keywords.iter().map(|keyword| format!("`{}`", keyword.form)).collect::<Vec<_>>();
                let message = format!("unknown keyword; expected one of {}", expected.join(", "));
                return Err(Error::custom(message).with_span(keyword));
            }
        };
        match set_before {
            true => Err(Error::custom(format_args!("`{keyword}`: given twice; keep one")).with_span(keyword)),
            false => Ok(()),
        }
    }
}

fn literal<T>(at: &Expr, expected: &str, found: Option<T>) -> Result<T> {
    found.ok_or_else(|| Error::custom(format_args!("expected {expected}")).with_span(at))
}

fn text(expr: Option<&Expr>) -> Option<LitStr> {
    match expr? {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}

/// An integer without a sign: `-1` is no literal.
fn number(expr: &Expr) -> Option<LitInt> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) if number.base10_parse::<i32>().is_ok() => {
            Some(number.clone())
        }
        _ => None,
    }
}
