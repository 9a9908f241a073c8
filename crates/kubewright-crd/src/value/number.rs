//! Bounds of numbers, with Go's comparison of integers and floats.
//!
//! After `k8s.io/kube-openapi/pkg/validation/validate/values.go` of 1.36.

use serde_json::{Number, Value};

use super::expected_type::ExpectedType;
use crate::{go, schema::Schema};

/// The bounds of a number.
pub(super) struct Bounds<'a> {
    pub(super) schema: Schema<'a>,
    pub(super) expected: &'a ExpectedType<'a>,
    pub(super) path: &'a str,
}

/// A violated bound.
pub(super) struct Violation {
    /// Whether the error is at the field, and not at the root.
    pub(super) is_at_field: bool,
    pub(super) message: String,
    /// The value as it was compared.
    pub(super) value: Value,
}

impl Bounds<'_> {
    pub(super) fn violations(&self, number: &Number) -> Vec<Violation> {
        let at_root = |message| Violation { is_at_field: false, message, value: Value::Null };
        let mut violations = Vec::new();
        let value = Value::Number(number.clone());
        if let Some(message) = self.out_of_range(&value, "Checked") {
            violations.push(at_root(message));
        }
        for keyword in ["multipleOf", "maximum", "minimum"] {
            let Some(bound) = self.schema.number(keyword) else { continue };
            let prefix = match keyword {
                "multipleOf" => "MultipleOf",
                "maximum" => "Maximum boundary",
                _ => "Minimum boundary",
            };
            let mut value = value.clone();
            // A bound that is not of the type is compared as a float.
            if let Some(message) = self.out_of_range(&bound.into(), prefix) {
                violations.push(at_root(message));
                value = number.as_f64().map_or(value, Value::from);
            }
            violations.extend(match (value.as_i64(), value.as_f64().unwrap_or(f64::NAN)) {
                (Some(integer), _) => self.validate_integer(keyword, truncated(bound), integer),
                (None, float) => self.validate_float(keyword, bound, float),
            });
        }
        violations
    }

    fn validate_integer(&self, keyword: &str, bound: i64, value: i64) -> Option<Violation> {
        let exclusive = self.is_exclusive(keyword);
        let is_violated = match keyword {
            "multipleOf" if bound <= 0 => return Some(self.invalid_factor(bound)),
            "multipleOf" => value % bound != 0,
            "maximum" => value > bound || exclusive && value == bound,
            _ => value < bound || exclusive && value == bound,
        };
        is_violated.then(|| self.violation(keyword, bound, value))
    }

    fn validate_float(&self, keyword: &str, bound: f64, value: f64) -> Option<Violation> {
        let exclusive = self.is_exclusive(keyword);
        let is_violated = match keyword {
            "multipleOf" if bound <= 0.0 => return Some(self.invalid_factor(bound)),
            "multipleOf" if bound < 1.0 => !is_integral(1.0 / bound * value),
            "multipleOf" => !is_integral(value / bound),
            "maximum" => value > bound || exclusive && value >= bound,
            _ => value < bound || exclusive && value <= bound,
        };
        is_violated.then(|| self.violation(keyword, bound, value))
    }

    fn violation(&self, keyword: &str, bound: impl Into<Value>, value: impl Into<Value>) -> Violation {
        let should = requirement(keyword, self.is_exclusive(keyword));
        let message = format!("{} in body should be {should} {}", self.path, go::plain(&bound.into()));
        Violation { is_at_field: true, message, value: value.into() }
    }

    fn invalid_factor(&self, factor: impl Into<Value>) -> Violation {
        let factor = factor.into();
        let message = format!("factor MultipleOf declared for {} must be positive: {}", self.path, go::plain(&factor));
        Violation { is_at_field: true, message, value: factor }
    }

    fn is_exclusive(&self, keyword: &str) -> bool {
        match keyword {
            "maximum" => self.schema.flag("exclusiveMaximum"),
            "minimum" => self.schema.flag("exclusiveMinimum"),
            _ => false,
        }
    }

    /// Returns the error of a number, or of a bound, that is out of range for the type of the schema.
    fn out_of_range(&self, value: &Value, prefix: &str) -> Option<String> {
        let [type_] = self.expected.types[..] else { return None };
        let (fits, format) = match (type_, self.expected.format) {
            ("integer", format) => {
                let format = if matches!(format, "int32" | "int64") { format } else { "" };
                (integer(value).is_some_and(|value| format != "int32" || i32::try_from(value).is_ok()), format)
            }
            ("number", "float") => (value.as_f64().is_some_and(|value| value.abs() <= f64::from(f32::MAX)), "float"),
            _ => return None,
        };
        let expected = if format.is_empty() {
            format!("{type_} (default format)")
        } else {
            format!("{type_} with format {format}")
        };
        (!fits).then(|| format!("{prefix} value must be of type {expected} in {}", self.path))
    }
}

fn requirement(keyword: &str, exclusive: bool) -> &'static str {
    match (keyword, exclusive) {
        ("multipleOf", _) => "a multiple of",
        ("maximum", true) => "less than",
        ("maximum", false) => "less than or equal to",
        (_, true) => "greater than",
        (_, false) => "greater than or equal to",
    }
}

/// Returns an integral number as an integer.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().filter(|value| value.fract() == 0.0)?.to_string().parse().ok())
}

/// Returns the integer part, as a conversion in Go does, saturating.
pub(super) fn truncated(value: f64) -> i64 {
    value as i64
}

/// Whether a float is an integer, up to rounding errors: `swag.IsFloat64AJSONInteger`.
pub(super) fn is_integral(value: f64) -> bool {
    const MAX_SAFE: f64 = 9_007_199_254_740_991.0;
    if !value.is_finite() || value.abs() > MAX_SAFE {
        return false;
    }
    let truncated = value.trunc();
    let difference = (value - truncated).abs();
    difference == 0.0 || truncated != 0.0 && difference / (value.abs() + truncated.abs()) < 1e-9
}
