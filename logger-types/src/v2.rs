//! Version `v2` of group `example.com`: the hub of conversions, in which objects are stored.

mod logger;

pub use logger::{
    Logger, LoggerDurability, LoggerEmptyDir, LoggerList, LoggerPlacement, LoggerRetention, LoggerRotation,
    LoggerSource, LoggerSpec, LoggerState, LoggerStatus, LoggerStorage, LoggerVolumeClaim, LoggerWorkload,
    RecordSource,
};

kubewright::core::group_version! {
    group = "example.com",
    version = "v2",
    kinds = [Logger, LoggerList],
}
