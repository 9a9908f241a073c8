//! The shared parts of the benchmark programs: the Logger kind, the copy methods, the measurements, and the workload of
//! our runtime.

pub mod clock;
pub mod copy_methods;
pub mod logger;
pub mod measure;
pub mod runtime_workload;
