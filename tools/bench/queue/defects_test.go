// Package queue shows defects of client-go's work queue that ours avoids. A test fails once client-go fixes its defect.
//
// Time is that of testing/synctest: it advances only when all goroutines wait.
package queue

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

type queue = workqueue.TypedRateLimitingInterface[string]

func run(t *testing.T, show func(t *testing.T, q queue)) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		show(t, q)
		q.ShutDown()
		synctest.Wait()
	})
}

// drain calls ShutDownWithDrain and closes the channel when it has returned.
func drain(q queue) <-chan struct{} {
	returned := make(chan struct{})
	go func() {
		q.ShutDownWithDrain()
		close(returned)
	}()
	synctest.Wait()
	return returned
}

func isClosed(returned <-chan struct{}) bool {
	select {
	case <-returned:
		return true
	case <-time.After(time.Hour):
		return false
	}
}

func expect(t *testing.T, rule, defect string, holds bool) {
	t.Helper()
	if !holds {
		t.Fatalf("%s: client-go has fixed this: %s", rule, defect)
	}
	t.Logf("%s: %s", rule, defect)
}

func TestQ20(t *testing.T) {
	run(t, func(t *testing.T, q queue) {
		q.Add("a")
		q.Add("b")
		holds := isClosed(drain(q)) && q.Len() == 2
		expect(t, "Q20", "ShutDownWithDrain returned with two queued keys and none being processed", holds)
		q.Get()
		q.Get()
	})
}

func TestQ21(t *testing.T) {
	run(t, func(t *testing.T, q queue) {
		q.Add("a")
		key, _ := q.Get()
		one, other := drain(q), drain(q)
		q.Done(key)
		first, second := isClosed(one), isClosed(other)
		expect(t, "Q21", "one of two drains still waits an hour after the last key was done", first != second)
	})
}

func TestQ22(t *testing.T) {
	run(t, func(t *testing.T, q queue) {
		q.Add("a")
		first, _ := q.Get()
		q.Done("a") // by a caller that is not processing it
		q.Add("a")
		second, _ := q.Get()
		expect(t, "Q22", "one key is processed by two workers after a Done by a third party", first == "a" && second == "a")
		q.Done("a")
	})
}

func TestQ23(t *testing.T) {
	run(t, func(t *testing.T, q queue) {
		q.AddAfter("a", time.Minute)
		q.Add("a")
		key, _ := q.Get()
		q.Done(key)
		time.Sleep(time.Hour)
		synctest.Wait()
		expect(t, "Q23", "a key added with a delay and then at once was delivered twice", q.Len() == 1)
	})
}

func TestQ24(t *testing.T) {
	run(t, func(t *testing.T, q queue) {
		start := time.Now()
		for range 18 {
			q.Add("a") // an event
			key, _ := q.Get()
			q.AddRateLimited(key) // the run fails
			q.Done(key)
		}
		took, failures := time.Since(start), q.NumRequeues("a")
		limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
		for range failures {
			limiter.When("a")
		}
		delay := limiter.When("a")
		expect(t, "Q24", "18 failures of event-driven runs within "+took.String()+" give the next failure a back-off of "+delay.String(),
			failures == 18 && delay == 1000*time.Second)
	})
}

func TestQ25(t *testing.T) {
	run(t, func(t *testing.T, q queue) {
		q.AddAfter("a", time.Minute)
		synctest.Wait()
		returned := isClosed(drain(q))
		_, over := q.Get()
		expect(t, "Q25", "the drain dropped a key that was due in a minute without reporting it", returned && over)
	})
}
