//! The options of a list or watch request, and their query string.

use std::time::Duration;

use crate::object::ResourceVersion;

/// The options of a request. The names are those of Kubernetes' `ListOptions`, which lists and watches share.
///
/// Source: `ListOptions` in apimachinery's `pkg/apis/meta/v1/types.go`, Kubernetes 1.36.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// A label selector, such as `app=web,tier!=cache`.
    pub label_selector: Option<String>,
    /// A field selector, such as `metadata.name=audit`. Servers support few fields per kind.
    pub field_selector: Option<String>,
    /// A shard selector: hash ranges of objects (KEP-5866, alpha in Kubernetes 1.36). Other servers ignore it.
    pub shard_selector: Option<String>,
    /// The minimum version of the response: `None` for the most recent one, `"0"` for any version in the server's
    /// cache.
    pub resource_version: Option<ResourceVersion>,
    /// How [`resource_version`](Self::resource_version) is matched, such as `NotOlderThan`.
    pub resource_version_match: Option<&'static str>,
    /// The maximum number of objects; `None` for all.
    pub limit: Option<u32>,
    /// The continue token of the previous page. It determines the version, so no version is sent with it.
    pub continue_token: Option<String>,
    /// The time after which the server ends a watch, in whole seconds.
    pub timeout: Option<Duration>,
    /// Whether a watch starts with the existing objects, and marks the end of these initial events.
    pub send_initial_events: bool,
    /// Whether a watch sends bookmarks while nothing changes.
    pub allow_watch_bookmarks: bool,
}

impl ListOptions {
    /// Returns the query string of a list.
    pub(super) fn list_query(&self) -> String {
        self.query(false)
    }

    /// Returns the query string of a watch.
    pub(super) fn watch_query(&self) -> String {
        self.query(true)
    }

    fn query(&self, watch: bool) -> String {
        let flag = |set: bool| set.then(|| "true".to_owned());
        let version = self.resource_version.as_ref().map(|version| version.as_str().to_owned());
        let pairs = [
            ("watch", flag(watch)),
            ("labelSelector", self.label_selector.clone()),
            ("fieldSelector", self.field_selector.clone()),
            ("shardSelector", self.shard_selector.clone()),
            ("resourceVersion", version),
            ("resourceVersionMatch", self.resource_version_match.map(str::to_owned)),
            ("limit", self.limit.map(|limit| limit.to_string())),
            ("continue", self.continue_token.clone()),
            ("timeoutSeconds", self.timeout.map(|timeout| timeout.as_secs().to_string())),
            ("sendInitialEvents", flag(self.send_initial_events)),
            ("allowWatchBookmarks", flag(self.allow_watch_bookmarks)),
        ];
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(pairs.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))));
        query.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_can_combine_version_zero_with_a_limit() {
        let version = ResourceVersion::new("0");
        let options = ListOptions { resource_version: Some(version), limit: Some(500), ..ListOptions::default() };
        assert_eq!(options.list_query(), "resourceVersion=0&limit=500");
    }

    #[test]
    fn watches_set_the_watch_parameter_and_escape_selectors() {
        let options = ListOptions {
            label_selector: Some("a in (b,c)".into()),
            timeout: Some(Duration::from_millis(300_900)),
            allow_watch_bookmarks: true,
            ..ListOptions::default()
        };
        let query = "watch=true&labelSelector=a+in+%28b%2Cc%29&timeoutSeconds=300&allowWatchBookmarks=true";
        assert_eq!(options.watch_query(), query);
    }
}
