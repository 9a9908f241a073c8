//! The endpoints, and the paths of requests.

/// Which checks an endpoint runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Live,
    Ready,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Live => Endpoint::Livez.name(),
            Kind::Ready => Endpoint::Readyz.name(),
        }
    }
}

/// An endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Livez,
    Readyz,
    /// The older name of `livez`, which scaffolds of kubebuilder use.
    Healthz,
}

impl Endpoint {
    const ALL: [Endpoint; 3] = [Endpoint::Livez, Endpoint::Readyz, Endpoint::Healthz];

    /// Returns the endpoint of a path such as `/livez`, and the name of the check of one such as `/livez/ping`.
    pub(super) fn parse(path: &str) -> Option<(Self, Option<&str>)> {
        let path = path.strip_prefix('/')?;
        let (name, check) = path.split_once('/').unwrap_or((path, ""));
        let endpoint = Self::ALL.into_iter().find(|endpoint| endpoint.name() == name)?;
        Some((endpoint, Some(check).filter(|check| !check.is_empty())))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Endpoint::Livez => "livez",
            Endpoint::Readyz => "readyz",
            Endpoint::Healthz => "healthz",
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Endpoint::Livez | Endpoint::Healthz => Kind::Live,
            Endpoint::Readyz => Kind::Ready,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_an_endpoint_and_an_optional_check() {
        assert_eq!(Endpoint::parse("/livez"), Some((Endpoint::Livez, None)));
        assert_eq!(Endpoint::parse("/readyz/"), Some((Endpoint::Readyz, None)));
        assert_eq!(Endpoint::parse("/healthz/ping"), Some((Endpoint::Healthz, Some("ping"))));
        for path in ["", "/", "livez", "/metrics", "//livez"] {
            assert_eq!(Endpoint::parse(path), None, "{path}");
        }
    }
}
