//! The options of a list or watch request, and the query they are on the wire.

use std::time::Duration;

use crate::version::ResourceVersion;

/// What a request asks for. The names are those of Kubernetes' `ListOptions`, which lists and watches share.
///
/// Source: `ListOptions` in apimachinery's `pkg/apis/meta/v1/types.go`, Kubernetes 1.36.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Only objects with these labels, such as `app=web,tier!=cache`.
    pub label_selector: Option<String>,
    /// Only objects with these fields, such as `metadata.name=audit`; a server knows few of them for each kind.
    pub field_selector: Option<String>,
    /// Only objects of these hash ranges (KEP-5866, alpha in Kubernetes 1.36). A server without it ignores it.
    pub shard_selector: Option<String>,
    /// How old the answer may be: `None` is the newest there is, `"0"` is whatever the server has at hand.
    pub resource_version: Option<ResourceVersion>,
    /// How [`resource_version`](Self::resource_version) is meant, such as `NotOlderThan`.
    pub resource_version_match: Option<&'static str>,
    /// So many objects at most; `None` is all.
    pub limit: Option<u32>,
    /// Where the page before this one ended. A page is of its list's version: no version is sent with it.
    pub continue_token: Option<String>,
    /// The server ends a watch after this time, in whole seconds.
    pub timeout: Option<Duration>,
    /// A watch begins with what is there, and tells when that was all.
    pub send_initial_events: bool,
    /// A watch also tells how far it is while nothing changes.
    pub allow_watch_bookmarks: bool,
}

impl ListOptions {
    /// The query of a list.
    pub(super) fn list_query(&self) -> String {
        self.query(false)
    }

    /// The query of a watch.
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
    fn lists_ask_for_version_zero_and_pages_together() {
        let any = ResourceVersion::new("0");
        let options = ListOptions { resource_version: Some(any), limit: Some(500), ..ListOptions::default() };
        assert_eq!(options.list_query(), "resourceVersion=0&limit=500");
    }

    #[test]
    fn watches_say_that_they_are_one_and_escape_selectors() {
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
