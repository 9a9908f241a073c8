package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Logger writes user activity to files on a fixed interval.
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=lg
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
type Logger struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is wanted.
	Spec LoggerSpec `json:"spec,omitempty"`
	// What was last observed.
	Status LoggerStatus `json:"status,omitempty"`
}

// LoggerSpec is what is wanted of a Logger.
type LoggerSpec struct {
	// Name of the log.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// Seconds between two records.
	// +kubebuilder:validation:Minimum=1
	TimeInterval int32 `json:"timeInterval"`
	// How many instances write the log.
	Replicas *int32 `json:"replicas,omitempty"`
	// Labels put on every record.
	Labels map[string]string `json:"labels,omitempty"`
	// Where the records go.
	Sinks []LoggerSink `json:"sinks,omitempty"`
}

// LoggerSink is one destination of a Logger.
type LoggerSink struct {
	// The file.
	Path string `json:"path"`
	// Bytes after which a new file is begun.
	MaxSize *int64 `json:"maxSize,omitempty"`
	// Time after which a new file is begun.
	Rotate *metav1.Duration `json:"rotate,omitempty"`
}

// LoggerStatus is what was last observed of a Logger.
type LoggerStatus struct {
	// Whether the log is being written.
	// +kubebuilder:validation:Enum=Available;Unavailable
	State string `json:"state,omitempty"`
	// The generation that this status is about.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// The observations in detail.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// LoggerList is a list of Loggers.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type LoggerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// The Loggers.
	Items []Logger `json:"items"`
}
