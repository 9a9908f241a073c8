// +k8s:deepcopy-gen=package
// +groupName=example.com

// Package v1 contains the Go types of the Logger, the kind of all benchmarks.
package v1
