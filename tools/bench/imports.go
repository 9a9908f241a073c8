// Package bench imports the dependencies of generated clients, so that go.mod and go.sum contain them.
package bench

import (
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/client-go/testing"
	_ "k8s.io/client-go/tools/cache"
)
