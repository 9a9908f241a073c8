//! The in-memory API server with the command lines of etcd and kube-apiserver, so that envtest starts it.
//!
//! The packages `sigs.k8s.io/controller-runtime/pkg/envtest` and `envtest` of this workspace start the programs
//! `etcd` and `kube-apiserver` in a directory. The programs `envtest-etcd` and `envtest-kube-apiserver` of this crate
//! can have these names there: tests for a real control plane then run on the in-memory API server without a change.

pub mod etcd;
pub mod kube_apiserver;
