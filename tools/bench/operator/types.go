package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "example.com", Version: "v2"}

// Logger is the kind of config/crd/bases/example.com_loggers.yaml, with the fields that the operator uses.
type Logger struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LoggerSpec   `json:"spec,omitempty"`
	Status LoggerStatus `json:"status,omitempty"`
}

// LoggerSpec is the desired state of a Logger.
type LoggerSpec struct {
	Name     string `json:"name"`
	Interval string `json:"interval"`
	Replicas *int32 `json:"replicas,omitempty"`
}

// LoggerStatus is the observed state of a Logger.
type LoggerStatus struct {
	State              string `json:"state,omitempty"`
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
	Replicas           int32  `json:"replicas,omitempty"`
	Selector           string `json:"selector,omitempty"`
}

// LoggerList is a list of Loggers.
type LoggerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Logger `json:"items"`
}

func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Logger{}, &LoggerList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}

// DeepCopyInto writes a deep copy into out.
func (in *Logger) DeepCopyInto(out *Logger) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if in.Spec.Replicas != nil {
		replicas := *in.Spec.Replicas
		out.Spec.Replicas = &replicas
	}
}

// DeepCopy returns a deep copy.
func (in *Logger) DeepCopy() *Logger {
	out := new(Logger)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject implements runtime.Object.
func (in *Logger) DeepCopyObject() runtime.Object {
	return in.DeepCopy()
}

// DeepCopyObject implements runtime.Object.
func (in *LoggerList) DeepCopyObject() runtime.Object {
	out := &LoggerList{TypeMeta: in.TypeMeta, Items: make([]Logger, len(in.Items))}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		in.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}
