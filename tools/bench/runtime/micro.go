package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"

	v1 "example.com/logger/tools/bench/apis/example/v1"
	"example.com/logger/tools/bench/client/clientset/versioned/scheme"
)

// cpuTime returns the user and system CPU time of this process.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func cpuTimeSince(before time.Duration) time.Duration { return cpuTime() - before }

func micros(taken time.Duration, times int) float64 {
	return float64(taken.Nanoseconds()) / 1e3 / float64(times)
}

// memory returns a value from the status of this process in megabytes of 10^6 bytes.
func memory(line string) float64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), line+":")
	kilobytes := 0.0
	fmt.Sscan(rest, &kilobytes)
	return kilobytes * 1024 / 1e6
}

// rateQueues measures the throughput of the typed rate limiting queue: add, get, forget and done.
func rateQueues() error {
	for _, load := range []struct {
		what                    string
		keys, adds, parallelism int
	}{
		{"queue_distinct_1", 100_000, 100_000, 1},
		{"queue_distinct_2", 100_000, 100_000, 2},
		{"queue_hot_1", 1_000, 1_000_000, 1},
		{"queue_hot_2", 1_000, 1_000_000, 2},
	} {
		keys := make([]string, load.keys)
		for i := range keys {
			keys[i] = namespaceOf(i) + "/" + nameOf(i)
		}
		for range 5 {
			processed, taken := rateQueue(keys, load.adds, load.parallelism)
			report(load.what, map[string]any{
				"adds_per_s":      float64(load.adds) / taken.Seconds(),
				"processed_per_s": float64(processed) / taken.Seconds(),
			})
		}
	}
	return nil
}

// rateQueue runs this number of producers and of workers until the queue is drained.
func rateQueue(keys []string, adds, parallelism int) (int64, time.Duration) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	var processed atomic.Int64
	var adders, workers sync.WaitGroup
	start := time.Now()
	for range parallelism {
		workers.Go(func() {
			own := int64(0)
			for {
				key, ended := queue.Get()
				if ended {
					processed.Add(own)
					return
				}
				own++
				queue.Forget(key)
				queue.Done(key)
			}
		})
	}
	for first := range parallelism {
		adders.Go(func() {
			for i := first; i < adds; i += parallelism {
				queue.Add(keys[i%len(keys)])
			}
		})
	}
	adders.Wait()
	queue.ShutDownWithDrain()
	workers.Wait()
	return processed.Load(), time.Since(start)
}

// decode measures the codec of the client on one object and on a page.
func decode(object, page string) error {
	if err := decodeFile("decode_object", object, func() runtime.Object { return &v1.Logger{} }); err != nil {
		return err
	}
	return decodeFile("decode_page", page, func() runtime.Object { return &v1.LoggerList{} })
}

func decodeFile(what, path string, into func() runtime.Object) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	decoder := scheme.Codecs.WithoutConversion().DecoderToVersion(info.Serializer, v1.SchemeGroupVersion)
	rounds := max(20, 20_000_000/len(data))
	for range 5 {
		before := cpuTime()
		for range rounds {
			if _, _, err := decoder.Decode(data, nil, into()); err != nil {
				return err
			}
		}
		report(what, map[string]any{"us": micros(cpuTimeSince(before), rounds)})
	}
	return nil
}
