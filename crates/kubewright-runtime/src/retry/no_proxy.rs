//! The exceptions from the proxy of the environment, which kube compares with the proxy instead of the server.

use std::env;

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use kube::Config;

/// Removes the proxy if it is that of `HTTPS_PROXY`, and `NO_PROXY` contains the server. A proxy of a kubeconfig has no
/// exceptions, as in client-go.
pub(crate) fn apply_no_proxy(config: &mut Config) {
    let variable = |upper: &str, lower: &str| {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        set(upper).or_else(|| set(lower))
    };
    let Some(no_proxy) = variable("NO_PROXY", "no_proxy") else { return };
    let proxy = variable("HTTPS_PROXY", "https_proxy").and_then(|proxy| proxy.parse().ok());
    if proxy.is_some() && proxy == config.proxy_url && contains(no_proxy, &config.cluster_url) {
        config.proxy_url = None;
    }
}

/// Returns whether a list of hosts, domains, addresses and blocks contains the server.
fn contains(no_proxy: String, server: &Uri) -> bool {
    let any = "http://proxy";
    Matcher::builder().http(any).https(any).no(no_proxy).build().intercept(server).is_none()
}

#[cfg(test)]
mod tests {
    use kube::Client;

    use super::*;

    #[test]
    fn no_proxy_contains_hosts_domains_addresses_and_blocks() {
        for (no_proxy, server, expected) in [
            ("api.example.com", "https://api.example.com:6443", true),
            ("other.org,example.com", "https://api.example.com:6443", true),
            (".example.com", "https://api.example.com:6443", true),
            ("10.0.0.0/8", "https://10.1.2.3:443", true),
            ("fd00::/8", "https://[fd00::1]:443", true),
            ("*", "https://api.example.com", true),
            ("example.org,10.0.0.1", "https://api.example.com:6443", false),
            ("10.0.0.0/8", "https://11.1.2.3:443", false),
        ] {
            assert_eq!(contains(no_proxy.to_owned(), &server.parse().unwrap()), expected, "{no_proxy} {server}");
        }
    }

    #[tokio::test]
    async fn clients_of_http_proxies_can_be_created() {
        for proxy in ["http://proxy:3128", "https://proxy:3128"] {
            let mut config = Config::new(Uri::from_static("https://api.example.com:6443"));
            config.proxy_url = Some(proxy.parse().unwrap());
            assert!(Client::try_from(config).is_ok(), "{proxy}");
        }
    }
}
