//! Checks of the options of webhooks, which the API server would reject in a configuration.

use std::{collections::BTreeSet, ops::RangeInclusive};

use kubewright_core::description::{AdmissionType, AdmissionWebhookDescription, ReinvocationPolicy};
use kubewright_names::validation::is_dns_1123_subdomain;

use super::{error::WebhookError, webhook::Webhook};

/// The minimum number of labels of a name.
const MIN_LABELS: usize = 3;
/// The timeouts that the API server accepts, in seconds.
const TIMEOUTS: RangeInclusive<i32> = 1..=30;
/// The maximum number of conditions that the API server accepts.
const MAX_MATCH_CONDITIONS: usize = 64;

/// Validates the names and the options.
pub(super) fn check(webhooks: &[Webhook]) -> Result<(), WebhookError> {
    let mut names = BTreeSet::new();
    for Webhook { description, .. } in webhooks {
        check_name(&description.name)?;
        check_options(description)?;
        if !names.insert((description.admission, &description.name)) {
            let admission = match description.admission {
                AdmissionType::Mutating => "mutating",
                AdmissionType::Validating => "validating",
            };
            return Err(WebhookError::DuplicateName { admission, name: description.name.clone() });
        }
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), WebhookError> {
    if is_dns_1123_subdomain(name) && name.split('.').count() >= MIN_LABELS {
        return Ok(());
    }
    Err(WebhookError::InvalidName { name: name.to_owned() })
}

fn check_options(webhook: &AdmissionWebhookDescription) -> Result<(), WebhookError> {
    let is_validating = webhook.admission == AdmissionType::Validating;
    let message = if !TIMEOUTS.contains(&webhook.timeout_seconds) {
        "the timeout must be from 1 to 30 seconds"
    } else if webhook.operations.is_empty() {
        "there must be at least one operation"
    } else if webhook.match_conditions.len() > MAX_MATCH_CONDITIONS {
        "there must be at most 64 match conditions"
    } else if is_validating && webhook.reinvocation_policy != ReinvocationPolicy::default() {
        "a validating webhook has no reinvocation policy"
    } else {
        return Ok(());
    };
    Err(WebhookError::InvalidOption { name: webhook.name.clone(), message })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;
    use crate::webhooks::{Operation, Validator, Webhooks};

    struct Accepting;

    impl Validator<Pod> for Accepting {}

    fn pods() -> Webhook {
        Webhook::validating::<Pod>(Accepting)
    }

    fn error(webhooks: &Webhooks) -> String {
        webhooks.check().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(Webhooks::new().webhook(pods()).check(), Ok(()));
    }

    #[test]
    fn names_and_paths_are_unique() {
        let expected =
            "two validating webhooks have the name `vpod-v1.core.k8s.io`: set another one with `Webhook::name`";
        assert_eq!(error(&Webhooks::new().webhook(pods()).webhook(pods())), expected);
        let other = pods().name("other.example.com");
        let expected = "invalid path of a webhook: `POST /validate--v1-pod` has two handlers; register each path once";
        assert_eq!(error(&Webhooks::new().webhook(pods()).webhook(other)), expected);
        let other = pods().name("other.example.com").path("/other");
        assert_eq!(Webhooks::new().webhook(pods()).webhook(other).check(), Ok(()));
    }

    #[test]
    fn invalid_options_are_errors() {
        let error_of = |webhook: Webhook| error(&Webhooks::new().webhook(webhook));
        assert!(error_of(pods().name("example.com")).starts_with("invalid name of a webhook `example.com`"));
        assert!(error_of(pods().name("A.example.com")).starts_with("invalid name of a webhook `A.example.com`"));
        assert!(error_of(pods().timeout_seconds(31)).ends_with("the timeout must be from 1 to 30 seconds"));
        assert!(error_of(pods().operations([])).ends_with("there must be at least one operation"));
        assert!(error_of(pods().path("relative")).contains("invalid path `relative`"));
        let reinvoked = pods().operations([Operation::Create]).reinvocation_policy(ReinvocationPolicy::IfNeeded);
        assert!(error_of(reinvoked).ends_with("a validating webhook has no reinvocation policy"));
    }
}
