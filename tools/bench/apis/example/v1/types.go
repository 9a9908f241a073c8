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

	// The desired state.
	Spec LoggerSpec `json:"spec,omitempty"`
	// The last observed state.
	Status LoggerStatus `json:"status,omitempty"`
}

// LoggerSpec is the desired state of a Logger.
type LoggerSpec struct {
	// Name of the log.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// Seconds between two records.
	// +kubebuilder:validation:Minimum=1
	TimeInterval int32 `json:"timeInterval"`
	// Number of instances that write the log.
	Replicas *int32 `json:"replicas,omitempty"`
	// Labels of every record.
	Labels map[string]string `json:"labels,omitempty"`
	// Destinations of the records.
	Sinks []LoggerSink `json:"sinks,omitempty"`
}

// LoggerSink is one destination of a Logger.
type LoggerSink struct {
	// The file.
	Path string `json:"path"`
	// Size in bytes at which a new file is started.
	MaxSize *int64 `json:"maxSize,omitempty"`
	// Interval after which a new file is started.
	Rotate *metav1.Duration `json:"rotate,omitempty"`
}

// LoggerStatus is the last observed state of a Logger.
type LoggerStatus struct {
	// Whether the log is being written.
	// +kubebuilder:validation:Enum=Available;Unavailable
	State string `json:"state,omitempty"`
	// Generation of the spec that this status describes.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions of the Logger.
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
