package main

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// Logger is the hub, in version v2.
type Logger struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LoggerSpec   `json:"spec,omitempty"`
	Status LoggerStatus `json:"status,omitempty"`
}

// LoggerSpec is the desired state of a Logger.
type LoggerSpec struct {
	Name         string              `json:"name"`
	Interval     string              `json:"interval"`
	Replicas     *int32              `json:"replicas,omitempty"`
	Labels       map[string]string   `json:"labels,omitempty"`
	Destinations []LoggerDestination `json:"destinations,omitempty"`
}

// LoggerDestination is one destination of a Logger.
type LoggerDestination struct {
	File    string `json:"file"`
	MaxSize *int64 `json:"maxSize,omitempty"`
	Rotate  string `json:"rotate,omitempty"`
}

// LoggerStatus is the last observed state of a Logger, the same in both versions.
type LoggerStatus struct {
	State              string             `json:"state,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// OldLogger is the spoke, in version v1.
type OldLogger struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   OldLoggerSpec `json:"spec,omitempty"`
	Status LoggerStatus  `json:"status,omitempty"`
}

// OldLoggerSpec is the desired state of a Logger.
type OldLoggerSpec struct {
	Name         string            `json:"name"`
	TimeInterval int32             `json:"timeInterval"`
	Replicas     *int32            `json:"replicas,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	Sinks        []LoggerSink      `json:"sinks,omitempty"`
}

// LoggerSink is one destination of a Logger.
type LoggerSink struct {
	Path    string `json:"path"`
	MaxSize *int64 `json:"maxSize,omitempty"`
	Rotate  string `json:"rotate,omitempty"`
}

// Hub marks the hub.
func (*Logger) Hub() {}

// ConvertTo converts to the hub.
func (in *OldLogger) ConvertTo(hub conversion.Hub) error {
	out, isLogger := hub.(*Logger)
	if !isLogger {
		return fmt.Errorf("not a Logger: %T", hub)
	}
	out.ObjectMeta, out.Status = in.ObjectMeta, in.Status
	spec := &in.Spec
	out.Spec = LoggerSpec{
		Name:     spec.Name,
		Interval: strconv.Itoa(int(spec.TimeInterval)) + "s",
		Replicas: spec.Replicas,
		Labels:   spec.Labels,
	}
	for _, sink := range spec.Sinks {
		out.Spec.Destinations = append(out.Spec.Destinations, LoggerDestination{sink.Path, sink.MaxSize, sink.Rotate})
	}
	return nil
}

// ConvertFrom converts from the hub.
func (out *OldLogger) ConvertFrom(hub conversion.Hub) error {
	in, isLogger := hub.(*Logger)
	if !isLogger {
		return fmt.Errorf("not a Logger: %T", hub)
	}
	seconds, err := strconv.Atoi(strings.TrimSuffix(in.Spec.Interval, "s"))
	if err != nil {
		return err
	}
	out.ObjectMeta, out.Status = in.ObjectMeta, in.Status
	spec := &in.Spec
	out.Spec = OldLoggerSpec{
		Name:         spec.Name,
		TimeInterval: int32(seconds),
		Replicas:     spec.Replicas,
		Labels:       spec.Labels,
	}
	for _, destination := range spec.Destinations {
		out.Spec.Sinks = append(out.Spec.Sinks, LoggerSink{destination.File, destination.MaxSize, destination.Rotate})
	}
	return nil
}

// addToScheme registers both versions.
func addToScheme(scheme *runtime.Scheme) error {
	for version, object := range map[string]runtime.Object{"v1": &OldLogger{}, "v2": &Logger{}} {
		scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Logger"}, object)
	}
	return nil
}

// DeepCopyObject copies the object. The handler does not call it.
func (in *Logger) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject copies the object. The handler does not call it.
func (in *OldLogger) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}
