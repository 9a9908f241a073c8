// Command operator is the operator of the benchmark on controller-runtime. It prints "ready" when its caches have
// synced.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// freePort is an address of the loopback interface. No program requests the metrics or the health.
const freePort = "127.0.0.1:0"

func main() {
	readYourWrites := flag.Bool("read-your-writes", false, "wait until the caches contain the writes of the operator")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler(), *readYourWrites); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, readYourWrites bool) error {
	// Without client-side rate limits, by default.
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, manager.Options{
		Cache:                  cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Client:                 client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}},
		Metrics:                server.Options{BindAddress: freePort},
		HealthProbeBindAddress: freePort,
	})
	if err != nil {
		return err
	}
	err = errors.Join(
		addToScheme(mgr.GetScheme()),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("ping", healthz.Ping),
		setUp(mgr),
		mgr.Add(reportReady(mgr.GetCache())),
	)
	if err != nil {
		return err
	}
	collectOnSignal()
	return mgr.Start(ctx)
}

// reportReady prints "ready" when the caches have synced.
func reportReady(informers cache.Informers) manager.RunnableFunc {
	return func(ctx context.Context) error {
		for _, object := range []client.Object{&Logger{}, &corev1.ConfigMap{}} {
			// Returns when the informer has synced.
			if _, err := informers.GetInformer(ctx, object); err != nil {
				return err
			}
		}
		fmt.Println("ready")
		<-ctx.Done()
		return nil
	}
}

// collectOnSignal collects the heap and returns memory to the system at each SIGUSR1, so that the benchmark measures
// what the operator needs.
func collectOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		for range signals {
			debug.FreeOSMemory()
		}
	}()
}
