package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"example.com/logger/tools/bench/client/informers/externalversions"
	listers "example.com/logger/tools/bench/client/listers/example/v1"
)

// informer is a shared informer with one handler.
type informer struct {
	lister         listers.LoggerLister
	added, updated atomic.Int64
	stop           chan struct{}
}

// start starts an informer and returns when its handler has received all objects.
func start() (*informer, error) {
	clients, err := client()
	if err != nil {
		return nil, err
	}
	factory := externalversions.NewSharedInformerFactory(clients, 0)
	loggers := factory.Example().V1().Loggers()
	informer := &informer{lister: loggers.Lister(), stop: make(chan struct{})}
	handler, err := loggers.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { informer.added.Add(1) },
		UpdateFunc: func(any, any) { informer.updated.Add(1) },
	})
	if err != nil {
		return nil, err
	}
	factory.Start(informer.stop)
	if !cache.WaitForCacheSync(informer.stop, handler.HasSynced) {
		return nil, fmt.Errorf("the informer was stopped")
	}
	return informer, nil
}

// syncOnce measures the initial sync. Settled memory is measured after the heap was collected and returned to the
// system.
func syncOnce() error {
	started, cpuTime := time.Now(), cpuTime()
	informer, err := start()
	if err != nil {
		return err
	}
	elapsed, cpuTime := time.Since(started), cpuTimeSince(cpuTime)
	peak := memory("VmHWM")
	runtime.GC()
	debug.FreeOSMemory()
	time.Sleep(300 * time.Millisecond)
	report("sync", map[string]any{
		"objects": informer.added.Load(), "elapsed_s": elapsed.Seconds(), "cpu_s": cpuTime.Seconds(),
		"peak_mb": peak, "settled_mb": memory("VmRSS"),
	})
	close(informer.stop)
	return nil
}

// events prints "ready" and measures the cost of n changes.
func events(n int) error {
	informer, err := start()
	if err != nil {
		return err
	}
	runtime.GC()
	before, cpuTime := informer.updated.Load(), cpuTime()
	fmt.Fprintln(os.Stderr, "ready")
	for informer.updated.Load()-before < int64(n) {
		time.Sleep(20 * time.Millisecond)
	}
	report("events", map[string]any{"delivered": informer.updated.Load() - before, "cpu_us": micros(cpuTimeSince(cpuTime), n)})
	close(informer.stop)
	return nil
}

// readLister measures lookups by key and lists of a namespace.
func readLister() error {
	informer, err := start()
	if err != nil {
		return err
	}
	runtime.GC()
	all, err := informer.lister.List(labels.Everything())
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(3, 4))
	const gets, lists = 500_000, 2_000
	for range 5 {
		picked := make([][2]string, gets)
		for i := range picked {
			object := all[random.IntN(len(all))]
			picked[i] = [2]string{object.Namespace, object.Name}
		}
		before := cpuTime()
		for _, key := range picked {
			if _, err := informer.lister.Loggers(key[0]).Get(key[1]); err != nil {
				return err
			}
		}
		report("get", map[string]any{"ns": micros(cpuTimeSince(before), gets) * 1e3})
		taken := make([]float64, lists)
		for i := range taken {
			started := time.Now()
			if _, err := informer.lister.Loggers(namespaceOf(i)).List(labels.Everything()); err != nil {
				return err
			}
			taken[i] = micros(time.Since(started), 1)
		}
		slices.Sort(taken)
		report("list_namespace", map[string]any{"us": taken[lists/2]})
	}
	close(informer.stop)
	return nil
}
