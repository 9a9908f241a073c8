package v1

import (
	"encoding/json"
	"os"
	"syscall"
	"testing"
)

// logger returns the copied object.
func logger(b *testing.B) *Logger {
	text, err := os.ReadFile("testdata/logger.json")
	if err != nil {
		b.Fatal(err)
	}
	logger := &Logger{}
	if err := json.Unmarshal(text, logger); err != nil {
		b.Fatal(err)
	}
	return logger
}

// cpu returns the CPU time of this process in nanoseconds, including the garbage collector.
func cpu(b *testing.B) int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

var copied *Logger

func measure(b *testing.B, logger *Logger) {
	b.ReportAllocs()
	start := cpu(b)
	for b.Loop() {
		copied = logger.DeepCopy()
	}
	b.ReportMetric(float64(cpu(b)-start)/float64(b.N), "cpu-ns/op")
}

func BenchmarkFull(b *testing.B) {
	measure(b, logger(b))
}

func BenchmarkStripped(b *testing.B) {
	stripped := logger(b)
	stripped.ManagedFields = nil
	measure(b, stripped)
}
