//! The bounds of a limit range, with the messages of the real server.

use kubewright_crd::quantity::Quantity;
use serde_json::Value;

use crate::resource::amounts::{self, Amounts};

/// One item of a limit range: the bounds of containers, pods or claims.
pub(super) struct Bounds<'a> {
    pub(super) item: &'a Value,
    pub(super) type_: &'a str,
}

impl Bounds<'_> {
    /// Checks requests and limits, and appends the violations.
    pub(super) fn check(&self, requests: &Amounts, limits: &Amounts, errors: &mut Vec<String>) {
        for (name, bound) in amounts::parse(&self.item["min"]) {
            errors.extend(self.minimum(&name, bound, requests.get(&name), limits.get(&name)));
        }
        for (name, bound) in amounts::parse(&self.item["max"]) {
            errors.extend(self.maximum(&name, bound, requests.get(&name), limits.get(&name)));
        }
        for (name, bound) in amounts::parse(&self.item["maxLimitRequestRatio"]) {
            errors.extend(self.ratio(&name, bound, requests.get(&name), limits.get(&name)));
        }
    }

    /// Checks the requests of a claim, which has no limits, and appends the violations.
    pub(super) fn check_requests(&self, requests: &Amounts, errors: &mut Vec<String>) {
        for (name, bound) in amounts::parse(&self.item["min"]) {
            errors.extend(self.minimum(&name, bound, requests.get(&name), None));
        }
        for (name, bound) in amounts::parse(&self.item["max"]) {
            let prefix = format!("maximum {name} usage per {} is {bound}", self.type_);
            errors.extend(match requests.get(&name) {
                None => Some(format!("{prefix}.  No request is specified")),
                Some(request) => (*request > bound).then(|| format!("{prefix}, but request is {request}")),
            });
        }
    }

    fn minimum(
        &self,
        name: &str,
        bound: Quantity,
        request: Option<&Quantity>,
        limit: Option<&Quantity>,
    ) -> Option<String> {
        let prefix = format!("minimum {name} usage per {} is {bound}", self.type_);
        match (request, limit) {
            (None, _) => Some(format!("{prefix}.  No request is specified")),
            (Some(request), _) if *request < bound => Some(format!("{prefix}, but request is {request}")),
            (_, Some(limit)) if *limit < bound => Some(format!("{prefix}, but limit is {limit}")),
            _ => None,
        }
    }

    fn maximum(
        &self,
        name: &str,
        bound: Quantity,
        request: Option<&Quantity>,
        limit: Option<&Quantity>,
    ) -> Option<String> {
        let prefix = format!("maximum {name} usage per {} is {bound}", self.type_);
        match (request, limit) {
            (_, None) => Some(format!("{prefix}.  No limit is specified")),
            (_, Some(limit)) if *limit > bound => Some(format!("{prefix}, but limit is {limit}")),
            (Some(request), _) if *request > bound => Some(format!("{prefix}, but request is {request}")),
            _ => None,
        }
    }

    fn ratio(
        &self,
        name: &str,
        bound: Quantity,
        request: Option<&Quantity>,
        limit: Option<&Quantity>,
    ) -> Option<String> {
        let prefix = format!("{name} max limit to request ratio per {} is {bound}, but", self.type_);
        let nanos = |amount: Option<&Quantity>| amount.map(|amount| amount.nanos()).filter(|nanos| *nanos != 0);
        let Some(request) = nanos(request) else {
            return Some(format!("{prefix} no request is specified or request is 0"));
        };
        let Some(limit) = nanos(limit) else {
            return Some(format!("{prefix} no limit is specified or limit is 0"));
        };
        let (ratio, max) = (limit as f64 / request as f64, bound.nanos() as f64 / NANOS);
        (ratio > max).then(|| format!("{prefix} provided ratio is {ratio:.6}"))
    }
}

/// The nanos of one.
const NANOS: f64 = 1e9;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn violations(bounds: &Value, requests: &Value, limits: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        Bounds { item: bounds, type_: "Container" }.check(
            &amounts::parse(requests),
            &amounts::parse(limits),
            &mut errors,
        );
        errors
    }

    #[test]
    fn violations_have_the_messages_of_the_real_server() {
        let cases = [
            (json!({ "min": { "cpu": "1" } }), "minimum cpu usage per Container is 1, but request is 500m"),
            (
                json!({ "min": { "memory": "1Gi" } }),
                "minimum memory usage per Container is 1Gi.  No request is specified",
            ),
            (json!({ "max": { "cpu": "1" } }), "maximum cpu usage per Container is 1, but limit is 2"),
            (
                json!({ "max": { "memory": "1Gi" } }),
                "maximum memory usage per Container is 1Gi.  No limit is specified",
            ),
            (
                json!({ "maxLimitRequestRatio": { "cpu": "3" } }),
                "cpu max limit to request ratio per Container is 3, but provided ratio is 4.000000",
            ),
        ];
        for (bounds, expected) in cases {
            assert_eq!(violations(&bounds, &json!({ "cpu": "500m" }), &json!({ "cpu": 2 })), [expected]);
        }
        let allowed = json!({ "min": { "cpu": "500m" }, "max": { "cpu": 2 }, "maxLimitRequestRatio": { "cpu": "4" } });
        assert!(violations(&allowed, &json!({ "cpu": "0.5" }), &json!({ "cpu": 2 })).is_empty());
    }
}
