// Package bench names what generated clients import, so that go.mod and go.sum hold all of it.
package bench

import (
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/client-go/testing"
	_ "k8s.io/client-go/tools/cache"
)
