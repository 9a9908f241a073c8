//! Bounds of numbers, with Go's ways of comparing integers with floats.

use serde_json::{Number, Value};

use super::validate::Typed;
use crate::{go, schema::Schema};

/// What a schema says of a number.
pub(super) struct Bounds<'a> {
    pub(super) schema: Schema<'a>,
    pub(super) typed: &'a Typed<'a>,
    pub(super) path: &'a str,
}

/// A broken rule: whether it is one of the value (and not of the schema), its text, and the value as it was looked at.
pub(super) type Broken = (bool, String, Value);

impl Bounds<'_> {
    pub(super) fn broken(&self, number: &Number) -> Vec<Broken> {
        let mut broken = Vec::new();
        let value = Value::Number(number.clone());
        if let Some(text) = self.out_of_range(&value, "Checked") {
            broken.push((false, text, Value::Null));
        }
        for keyword in ["multipleOf", "maximum", "minimum"] {
            let Some(bound) = self.schema.number(keyword) else { continue };
            let prefix = match keyword {
                "multipleOf" => "MultipleOf",
                "maximum" => "Maximum boundary",
                _ => "Minimum boundary",
            };
            let mut value = value.clone();
            // A bound that is none of the type is compared as a float.
            if let Some(text) = self.out_of_range(&bound.into(), prefix) {
                broken.push((false, text, Value::Null));
                value = number.as_f64().map_or(value, Value::from);
            }
            broken.extend(match (value.as_i64(), value.as_f64().unwrap_or(f64::NAN)) {
                (Some(integer), _) => self.broken_by_integer(keyword, truncated(bound), integer),
                (None, float) => self.broken_by_float(keyword, bound, float),
            });
        }
        broken
    }

    fn broken_by_integer(&self, keyword: &str, bound: i64, value: i64) -> Option<Broken> {
        let exclusive = self.is_exclusive(keyword);
        let breaks = match keyword {
            "multipleOf" if bound <= 0 => return Some(self.no_factor(bound)),
            "multipleOf" => value % bound != 0,
            "maximum" => value > bound || exclusive && value == bound,
            _ => value < bound || exclusive && value == bound,
        };
        breaks.then(|| self.beyond(keyword, bound, value))
    }

    fn broken_by_float(&self, keyword: &str, bound: f64, value: f64) -> Option<Broken> {
        let exclusive = self.is_exclusive(keyword);
        let breaks = match keyword {
            "multipleOf" if bound <= 0.0 => return Some(self.no_factor(bound)),
            "multipleOf" if bound < 1.0 => !is_whole(1.0 / bound * value),
            "multipleOf" => !is_whole(value / bound),
            "maximum" => value > bound || exclusive && value >= bound,
            _ => value < bound || exclusive && value <= bound,
        };
        breaks.then(|| self.beyond(keyword, bound, value))
    }

    /// What a number should be, but is not.
    fn beyond(&self, keyword: &str, bound: impl Into<Value>, value: impl Into<Value>) -> Broken {
        let should = wording(keyword, self.is_exclusive(keyword));
        (true, format!("{} in body should be {should} {}", self.path, go::plain(&bound.into())), value.into())
    }

    fn no_factor(&self, factor: impl Into<Value>) -> Broken {
        let factor = factor.into();
        let text = format!("factor MultipleOf declared for {} must be positive: {}", self.path, go::plain(&factor));
        (true, text, factor)
    }

    fn is_exclusive(&self, keyword: &str) -> bool {
        match keyword {
            "maximum" => self.schema.flag("exclusiveMaximum"),
            "minimum" => self.schema.flag("exclusiveMinimum"),
            _ => false,
        }
    }

    /// What a number, or a bound, cannot be held in.
    fn out_of_range(&self, value: &Value, prefix: &str) -> Option<String> {
        let [type_] = self.typed.types[..] else { return None };
        let (fits, format) = match (type_, self.typed.format) {
            ("integer", format) => {
                let format = if matches!(format, "int32" | "int64") { format } else { "" };
                (integer(value).is_some_and(|value| format != "int32" || i32::try_from(value).is_ok()), format)
            }
            ("number", "float") => (value.as_f64().is_some_and(|value| value.abs() <= f64::from(f32::MAX)), "float"),
            _ => return None,
        };
        let of = if format.is_empty() {
            format!("{type_} (default format)")
        } else {
            format!("{type_} with format {format}")
        };
        (!fits).then(|| format!("{prefix} value must be of type {of} in {}", self.path))
    }
}

fn wording(keyword: &str, exclusive: bool) -> &'static str {
    match (keyword, exclusive) {
        ("multipleOf", _) => "a multiple of",
        ("maximum", true) => "less than",
        ("maximum", false) => "less than or equal to",
        (_, true) => "greater than",
        (_, false) => "greater than or equal to",
    }
}

/// The integer that a number is written as.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().filter(|value| value.fract() == 0.0)?.to_string().parse().ok())
}

/// The integer part, within the bounds of integers.
#[expect(clippy::cast_possible_truncation, reason = "it is what Go does")]
pub(super) fn truncated(value: f64) -> i64 {
    value as i64
}

/// Whether a float is an integer that JSON can hold, or as good as one.
pub(super) fn is_whole(value: f64) -> bool {
    const MOST: f64 = 9_007_199_254_740_991.0;
    if !value.is_finite() || value.abs() > MOST {
        return false;
    }
    let whole = value.trunc();
    let off = (value - whole).abs();
    off == 0.0 || whole != 0.0 && off / (value.abs() + whole.abs()) < 1e-9
}
