//! Turns controllers into a process.
//!
//! | module | contents |
//! |---|---|
//! | [`serving`] | HTTP and HTTPS servers with limits, certificates, the metrics endpoint, authentication |

pub mod serving;
