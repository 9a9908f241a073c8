// Command runtime measures client-go under generated code. It prints one measurement per line as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/logger/tools/bench/client/clientset/versioned"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: load N | churn N | sync | events N | lister | queue | decode OBJECT PAGE")
	}
	switch what, rest := args[0], args[1:]; what {
	case "load":
		return load(number(rest))
	case "churn":
		return churn(number(rest))
	case "sync":
		return syncOnce()
	case "events":
		return events(number(rest))
	case "lister":
		return readLister()
	case "queue":
		return rateQueues()
	case "decode":
		return decode(rest[0], rest[1])
	default:
		return fmt.Errorf("unknown command %q", what)
	}
}

func number(args []string) int {
	n := 0
	if len(args) > 0 {
		fmt.Sscan(args[0], &n)
	}
	return n
}

// report prints one measurement with its name and its figures.
func report(what string, figures map[string]any) {
	figures["what"] = what
	line, _ := json.Marshal(figures)
	fmt.Println(string(line))
}

// config returns the configuration of the cluster in KUBECONFIG, without client-side rate limits.
func config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err == nil {
		config.QPS = -1
	}
	return config, err
}

func client() (*versioned.Clientset, error) {
	config, err := config()
	if err != nil {
		return nil, err
	}
	return versioned.NewForConfig(config)
}
