//! The reasons of denied requests.

/// The `reason` of the `Status` of a denied request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DenialReason {
    /// `Unauthorized`, with the code 401.
    Unauthorized,
    /// `Forbidden`, with the code 403.
    Forbidden,
    /// `Invalid`, with the code 422.
    #[default]
    Invalid,
    /// `RequestEntityTooLarge`, with the code 413.
    RequestEntityTooLarge,
}

impl DenialReason {
    /// All reasons, sorted by name.
    pub const ALL: [DenialReason; 4] = [
        DenialReason::Forbidden,
        DenialReason::Invalid,
        DenialReason::RequestEntityTooLarge,
        DenialReason::Unauthorized,
    ];

    /// Returns the name in the `Status`.
    pub const fn name(self) -> &'static str {
        match self {
            DenialReason::Unauthorized => "Unauthorized",
            DenialReason::Forbidden => "Forbidden",
            DenialReason::Invalid => "Invalid",
            DenialReason::RequestEntityTooLarge => "RequestEntityTooLarge",
        }
    }

    /// Returns the HTTP status code.
    pub const fn code(self) -> u16 {
        match self {
            DenialReason::Unauthorized => 401,
            DenialReason::Forbidden => 403,
            DenialReason::Invalid => 422,
            DenialReason::RequestEntityTooLarge => 413,
        }
    }

    /// Returns the reason with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}
