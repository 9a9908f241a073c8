// Package v1beta1 is `tests/fixture/fixture-types/src/twin_v1beta1.rs` in Go: an older version of a kind.
//
// +groupName=twin.example.org
// +versionName=v1beta1
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Fleet in its previous version.
//
// +kubebuilder:resource:path=fleet,singular=onefleet,shortName=fl;flt,categories=all;twins,scope=Namespaced
// +kubebuilder:deprecatedversion:warning="use v1"
// +kubebuilder:unservedversion
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The desired state.
	Spec FleetSpec `json:"spec"`
}

// FleetSpec is the desired state of a Fleet.
type FleetSpec struct {
	// The home harbour.
	Harbour string `json:"harbour"`
}
