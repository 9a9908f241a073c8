// Package queue shows what client-go's work queue does where our rules promise better; a test fails once Go does.
//
// Time is that of testing/synctest: it passes only when all wait.
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

// drain tells when ShutDownWithDrain returned.
func drain(q queue) <-chan struct{} {
	returned := make(chan struct{})
	go func() {
		q.ShutDownWithDrain()
		close(returned)
	}()
	synctest.Wait()
	return returned
}

func has(returned <-chan struct{}) bool {
	select {
	case <-returned:
		return true
	case <-time.After(time.Hour):
		return false
	}
}

func expect(t *testing.T, rule, shown string, holds bool) {
	t.Helper()
	if !holds {
		t.Fatalf("%s: client-go does this no more: %s", rule, shown)
	}
	t.Logf("%s: %s", rule, shown)
}

func TestQ20(t *testing.T) {
	run(t, func(t *testing.T, q queue) {
		q.Add("a")
		q.Add("b")
		holds := has(drain(q)) && q.Len() == 2
		expect(t, "Q20", "ShutDownWithDrain returned while two keys waited and none was worked on", holds)
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
		first, second := has(one), has(other)
		expect(t, "Q21", "of two that drain, one is still waiting an hour after the last key was done", first != second)
	})
}

func TestQ22(t *testing.T) {
	run(t, func(t *testing.T, q queue) {
		q.Add("a")
		first, _ := q.Get()
		q.Done("a") // by somebody who has no work on it
		q.Add("a")
		second, _ := q.Get()
		expect(t, "Q22", "one key is with two workers, after a Done by a third", first == "a" && second == "a")
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
		expect(t, "Q23", "a key added later and then now came now and later", q.Len() == 1)
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
		expect(t, "Q24", "18 runs that events caused failed within "+took.String()+": the next failure waits "+delay.String(),
			failures == 18 && delay == 1000*time.Second)
	})
}

func TestQ25(t *testing.T) {
	run(t, func(t *testing.T, q queue) {
		q.AddAfter("a", time.Minute)
		synctest.Wait()
		returned := has(drain(q))
		_, over := q.Get()
		expect(t, "Q25", "a key that was due in a minute was dropped by the drain, and nobody is told", returned && over)
	})
}
