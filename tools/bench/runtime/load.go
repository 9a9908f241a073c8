package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "example.com/logger/tools/bench/apis/example/v1"
)

const (
	namespaces = 100
	// The number of concurrent requests.
	writers = 32
)

func namespaceOf(i int) string { return fmt.Sprintf("bench-%03d", i%namespaces) }
func nameOf(i int) string      { return fmt.Sprintf("logger-%06d", i) }

// load creates missing Loggers up to n, spread over the namespaces, each with a status of another field manager.
func load(n int) error {
	ctx, start := context.Background(), time.Now()
	if err := loadNamespaces(ctx); err != nil {
		return err
	}
	clients, err := client()
	if err != nil {
		return err
	}
	var created atomic.Int64
	err = inParallel(n, func(i int) error {
		loggers := clients.ExampleV1().Loggers(namespaceOf(i))
		logger, err := loggers.Create(ctx, loggerOf(i), metav1.CreateOptions{FieldManager: "bench-user"})
		if errors.IsAlreadyExists(err) {
			return nil
		}
		if err != nil {
			return err
		}
		created.Add(1)
		logger.Status = statusOf(logger.Generation)
		_, err = loggers.UpdateStatus(ctx, logger, metav1.UpdateOptions{FieldManager: "bench-operator"})
		return err
	})
	report("load", map[string]any{"created": created.Load(), "elapsed_s": time.Since(start).Seconds()})
	return err
}

func loadNamespaces(ctx context.Context) error {
	config, err := config()
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return inParallel(namespaces, func(i int) error {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceOf(i)}}
		_, err := clients.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if errors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// churn updates n statuses; each writer updates sequentially.
func churn(n int) error {
	clients, err := client()
	if err != nil {
		return err
	}
	start, first := time.Now(), time.Now().Unix()%1_000_000*1_000
	err = inParallel(n, func(i int) error {
		patch := fmt.Appendf(nil, `{"status":{"observedGeneration":%d}}`, first+int64(i))
		loggers := clients.ExampleV1().Loggers(namespaceOf(i))
		options := metav1.PatchOptions{FieldManager: "bench-operator"}
		_, err := loggers.Patch(context.Background(), nameOf(i), types.MergePatchType, patch, options, "status")
		return err
	})
	report("churn", map[string]any{"changed": n, "elapsed_s": time.Since(start).Seconds()})
	return err
}

// loggerOf returns Logger number i.
func loggerOf(i int) *v1.Logger {
	name, replicas := nameOf(i), int32(1+i%3)
	recorded := map[string]string{}
	for k := range 10 {
		recorded[fmt.Sprintf("record-label-%d", k)] = fmt.Sprintf("value-%d-%d", k, i%100)
	}
	var sinks []v1.LoggerSink
	for k := range 3 {
		size, rotate := int64(k+1)<<20, metav1.Duration{Duration: time.Duration(k+1) * time.Hour}
		path := fmt.Sprintf("/var/log/%s/sink-%d.log", name, k)
		sinks = append(sinks, v1.LoggerSink{Path: path, MaxSize: &size, Rotate: &rotate})
	}
	return &v1.Logger{
		ObjectMeta: metav1.ObjectMeta{
			Name:      name,
			Namespace: namespaceOf(i),
			Labels: map[string]string{
				"app.kubernetes.io/name":       "logger",
				"app.kubernetes.io/instance":   name,
				"app.kubernetes.io/version":    "1.4.2",
				"app.kubernetes.io/component":  "activity",
				"app.kubernetes.io/managed-by": "bench-operator",
				"team":                         fmt.Sprintf("team-%02d", i%40),
			},
			Annotations: map[string]string{
				"example.com/owner":       fmt.Sprintf("owner-%03d@example.com", i%300),
				"example.com/config-hash": fmt.Sprintf("%064x", uint64(i)*0x9e3779b97f4a7c15),
			},
		},
		Spec: v1.LoggerSpec{Name: name, TimeInterval: int32(10 + i%50), Replicas: &replicas, Labels: recorded, Sinks: sinks},
	}
}

func statusOf(generation int64) v1.LoggerStatus {
	condition := func(of string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{
			Type: of, Status: status, Reason: reason, Message: message,
			ObservedGeneration: generation, LastTransitionTime: metav1.Now(),
		}
	}
	return v1.LoggerStatus{
		State:              "Available",
		ObservedGeneration: generation,
		Conditions: []metav1.Condition{
			condition("Ready", metav1.ConditionTrue, "AllSinksReady", "All sinks accept records."),
			condition("Progressing", metav1.ConditionFalse, "RolloutComplete", "The last rollout has completed."),
			condition("Degraded", metav1.ConditionFalse, "AsExpected", "No sink reported an error in the last interval."),
		},
	}
}

// inParallel calls do for each number below n, and starts no more calls after an error.
func inParallel(n int, do func(i int) error) error {
	var next, failed atomic.Int64
	errs := make(chan error, writers)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && failed.Load() == 0; i = next.Add(1) - 1 {
				if err := do(int(i)); err != nil {
					failed.Add(1)
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}
