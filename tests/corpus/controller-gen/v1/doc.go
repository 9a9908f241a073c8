// Package v1 is `tests/fixture/fixture-types/src/twin_v1.rs` in Go: controller-gen's definitions are compared with ours.
//
// +groupName=twin.example.org
// +versionName=v1
package v1
