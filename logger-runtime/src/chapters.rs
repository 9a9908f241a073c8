//! Chapters: how to write a controller, and how to come here from client-go and from kube's runtime.

#[doc = include_str!("../../docs/controllers.md")]
pub mod controllers {}

#[doc = include_str!("../../docs/coming-from-client-go.md")]
pub mod coming_from_client_go {}

#[doc = include_str!("../../docs/coming-from-kube-runtime.md")]
pub mod coming_from_kube_runtime {}
