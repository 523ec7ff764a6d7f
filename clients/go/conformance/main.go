// Conformance drives the Go library through the plan of the conformance suite; see clients/conformance/README.md.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"sodafountain.internal/sodafountain"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: conformance PLAN")
		os.Exit(2)
	}
	if err := drive(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// drive does every step of a plan. What a step fails with is its outcome, unless it is no error of the library.
func drive(path string) error {
	plan, err := readPlan(path)
	if err != nil {
		return err
	}
	if plan.Transport != "grpc" {
		return fmt.Errorf("the Go library has no transport %s", plan.Transport)
	}
	for _, scenario := range plan.Scenarios {
		if err := play(context.Background(), scenario); err != nil {
			return fmt.Errorf("%s: %w", scenario.Name, err)
		}
	}
	return nil
}

// play does the steps of one scenario with a client of its own.
func play(ctx context.Context, scenario scenario) error {
	client, refusal := connect(scenario.Connect)
	table := newTable(client)
	if refusal == nil {
		defer client.Close()
		defer table.leave()
	}
	for number, step := range scenario.Steps {
		reported, err := outcome(nil), refusal
		if err == nil {
			reported, err = table.do(ctx, step)
		}
		if err != nil {
			failure, ok := errors.AsType[*sodafountain.Error](err)
			if !ok {
				return fmt.Errorf("step %d: %w", number, err)
			}
			table.noteFailure(failure)
			reported = failed(failure)
		}
		line, err := json.Marshal(outcome{"scenario": scenario.Name, "step": number, "outcome": reported})
		if err != nil {
			return err
		}
		if _, err := fmt.Printf("%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

func connect(to connection) (*sodafountain.Client, error) {
	var options []sodafountain.Option
	if to.Timeout != nil {
		options = append(options, sodafountain.WithTimeout(seconds(*to.Timeout)))
	}
	if to.APIKey != nil {
		options = append(options, sodafountain.WithAPIKey(*to.APIKey))
	}
	if to.TLS != "" {
		authority, err := os.ReadFile(to.TLS)
		if err != nil {
			return nil, err
		}
		trusted := x509.NewCertPool()
		if !trusted.AppendCertsFromPEM(authority) {
			return nil, fmt.Errorf("%s holds no certificate", to.TLS)
		}
		options = append(options, sodafountain.WithTLS(&tls.Config{RootCAs: trusted}))
	}
	return sodafountain.Connect(to.Target, options...)
}
