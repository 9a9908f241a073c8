package main

import (
	"context"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const (
	// The name of the controller and of its field manager.
	name = "loggers"
	// The number of concurrent reconciliations in all compared programs.
	workers = 4
)

// reconciler applies the ConfigMap of each Logger and reports the observed state.
type reconciler struct {
	client.Client
}

// setUp adds the controller to a manager.
func setUp(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(name).
		For(&Logger{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&reconciler{mgr.GetClient()})
}

// Reconcile drives the ConfigMap and the status of a Logger towards its spec.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	logger := &Logger{}
	if err := r.Get(ctx, request.NamespacedName, logger); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.applyConfigMap(ctx, logger); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.patchStatus(ctx, logger)
}

// applyConfigMap applies the ConfigMap unless the cached one is as desired.
func (r *reconciler) applyConfigMap(ctx context.Context, logger *Logger) error {
	data, current := dataOf(logger), &corev1.ConfigMap{}
	err := r.Get(ctx, client.ObjectKeyFromObject(logger), current)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err == nil && maps.Equal(current.Data, data) && metav1.IsControlledBy(current, logger) {
		return nil
	}
	owner := metav1.NewControllerRef(logger, groupVersion.WithKind("Logger"))
	configMap := corev1ac.ConfigMap(logger.Name, logger.Namespace).
		WithLabels(map[string]string{"app.kubernetes.io/managed-by": name}).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(owner.APIVersion).
			WithKind(owner.Kind).
			WithName(owner.Name).
			WithUID(owner.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithData(data)
	return r.Apply(ctx, configMap, client.FieldOwner(name), client.ForceOwnership)
}

// patchStatus writes the status unless the cached one is as observed. A merge patch has no conflicts.
func (r *reconciler) patchStatus(ctx context.Context, logger *Logger) error {
	status := statusOf(logger)
	if logger.Status == status {
		return nil
	}
	before := logger.DeepCopy()
	logger.Status = status
	return client.IgnoreNotFound(r.Status().Patch(ctx, logger, client.MergeFrom(before), client.FieldOwner(name)))
}

func dataOf(logger *Logger) map[string]string {
	return map[string]string{
		"name":     logger.Spec.Name,
		"interval": logger.Spec.Interval,
		"replicas": strconv.Itoa(int(replicasOf(logger))),
	}
}

func statusOf(logger *Logger) LoggerStatus {
	state := "Available"
	if replicasOf(logger) == 0 {
		state = "Unavailable"
	}
	return LoggerStatus{
		State:              state,
		ObservedGeneration: logger.Generation,
		Replicas:           replicasOf(logger),
		Selector:           "logger=" + logger.Spec.Name,
	}
}

func replicasOf(logger *Logger) int32 {
	return ptr.Deref(logger.Spec.Replicas, 1)
}
