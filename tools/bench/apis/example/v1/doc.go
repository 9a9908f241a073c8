// +k8s:deepcopy-gen=package
// +groupName=example.com

// Package v1 is the Logger that every bench is about, as Go types.
package v1
