// Package v1 is `tests/fixture/fixture-types/src/twin_v1.rs` in Go: what controller-gen makes of it is compared with ours.
//
// +groupName=twin.example.org
// +versionName=v1
package v1
