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

// start returns when the handler has heard of all objects.
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
		return nil, fmt.Errorf("it was stopped")
	}
	return informer, nil
}

// syncOnce measures the first sync. Settled is what is left when the heap was collected and given back.
func syncOnce() error {
	began, computed := time.Now(), computed()
	informer, err := start()
	if err != nil {
		return err
	}
	elapsed, computed := time.Since(began), computedSince(computed)
	peak := memory("VmHWM")
	runtime.GC()
	debug.FreeOSMemory()
	time.Sleep(300 * time.Millisecond)
	say("sync", map[string]any{
		"objects": informer.added.Load(), "elapsed_s": elapsed.Seconds(), "cpu_s": computed.Seconds(),
		"peak_mb": peak, "settled_mb": memory("VmRSS"),
	})
	close(informer.stop)
	return nil
}

// events says that it is ready, and measures what n changes cost.
func events(n int) error {
	informer, err := start()
	if err != nil {
		return err
	}
	runtime.GC()
	before, computed := informer.updated.Load(), computed()
	fmt.Fprintln(os.Stderr, "ready")
	for informer.updated.Load()-before < int64(n) {
		time.Sleep(20 * time.Millisecond)
	}
	say("events", map[string]any{"delivered": informer.updated.Load() - before, "cpu_us": micros(computedSince(computed), n)})
	close(informer.stop)
	return nil
}

// readLister measures finding an object by its key, and listing a namespace.
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
		before := computed()
		for _, key := range picked {
			if _, err := informer.lister.Loggers(key[0]).Get(key[1]); err != nil {
				return err
			}
		}
		say("get", map[string]any{"ns": micros(computedSince(before), gets) * 1e3})
		taken := make([]float64, lists)
		for i := range taken {
			began := time.Now()
			if _, err := informer.lister.Loggers(namespaceOf(i)).List(labels.Everything()); err != nil {
				return err
			}
			taken[i] = micros(time.Since(began), 1)
		}
		slices.Sort(taken)
		say("list_namespace", map[string]any{"us": taken[lists/2]})
	}
	close(informer.stop)
	return nil
}
