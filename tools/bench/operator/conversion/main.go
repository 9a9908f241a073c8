// Program conversion converts the objects of a ConversionReview for a time, as a webhook of controller-runtime does, and
// prints the times.
//
// Usage: conversion FILE SECONDS. With 0 seconds the response is printed.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"strconv"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

// The time before the measurement in which allocator and caches reach their state.
const warmUp = 200 * time.Millisecond

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: %s FILE SECONDS", os.Args[0])
	}
	body, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := addToScheme(scheme); err != nil {
		return err
	}
	handler := conversion.NewWebhookHandler(scheme, conversion.NewRegistry())
	response, err := respond(handler, body)
	if err != nil {
		return err
	}
	if seconds == 0 {
		fmt.Print(string(response))
		return nil
	}
	objects, err := check(response)
	if err != nil {
		return err
	}
	if _, err := measure(handler, body, warmUp); err != nil {
		return err
	}
	before := cpuTime()
	samples, err := measure(handler, body, time.Duration(seconds*float64(time.Second)))
	if err != nil {
		return err
	}
	cpu := cpuTime() - before
	sort.Slice(samples, func(i, j int) bool { return samples[i] < samples[j] })
	perObject := func(taken time.Duration) float64 { return taken.Seconds() * 1e6 / float64(objects) }
	percentile := func(percentage int) float64 {
		return perObject(samples[max(1, (len(samples)*percentage+99)/100)-1])
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"median_us": percentile(50),
		"p99_us":    percentile(99),
		"cpu_us":    perObject(cpu) / float64(len(samples)),
		"reviews":   len(samples),
	})
}

// respond calls the handler as its server does.
func respond(handler http.Handler, body []byte) ([]byte, error) {
	request := httptest.NewRequest(http.MethodPost, "/convert", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	if recorder.Code != http.StatusOK {
		return nil, fmt.Errorf("the webhook responded with %d", recorder.Code)
	}
	return recorder.Body.Bytes(), nil
}

// check returns the number of objects, all of which must be converted.
func check(response []byte) (int, error) {
	var review struct {
		Response struct {
			Result           struct{ Status, Message string }
			ConvertedObjects []json.RawMessage
		}
	}
	if err := json.Unmarshal(response, &review); err != nil {
		return 0, err
	}
	result, objects := review.Response.Result, len(review.Response.ConvertedObjects)
	if result.Status != "Success" || objects == 0 {
		return 0, fmt.Errorf("the conversion of %d objects failed: %s", objects, result.Message)
	}
	return objects, nil
}

// measure converts the review until the time is over, and returns the time of each call.
func measure(handler http.Handler, body []byte, duration time.Duration) ([]time.Duration, error) {
	var samples []time.Duration
	end := time.Now().Add(duration)
	for {
		start := time.Now()
		if !start.Before(end) {
			return samples, nil
		}
		if _, err := respond(handler, body); err != nil {
			return nil, err
		}
		samples = append(samples, time.Since(start))
	}
}

// cpuTime returns the user and system CPU time of this process.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
