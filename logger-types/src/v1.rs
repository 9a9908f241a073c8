//! Version `v1` of group `example.com`.

mod logger;

pub use logger::{Logger, LoggerList, LoggerSpec, LoggerState, LoggerStatus};

kubewright::core::group_version! {
    group = "example.com",
    version = "v1",
    kinds = [Logger, LoggerList],
}
