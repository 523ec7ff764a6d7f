// Conformance runs a plan of the conformance suite with the Go client; see clients/conformance/README.md.
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
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// run runs every step of a plan. An error of the library is the outcome of its step; other errors end the run.
func run(path string) error {
	plan, err := readPlan(path)
	if err != nil {
		return err
	}
	if plan.Transport != "grpc" {
		return fmt.Errorf("transport %q is not supported: use \"grpc\"", plan.Transport)
	}
	for _, scenario := range plan.Scenarios {
		if err := runScenario(context.Background(), scenario); err != nil {
			return fmt.Errorf("%s: %w", scenario.Name, err)
		}
	}
	return nil
}

// runScenario runs the steps of one scenario with a new client.
func runScenario(ctx context.Context, scenario scenario) error {
	client, connectErr := connect(scenario.Connect)
	runner := newRunner(client)
	if connectErr == nil {
		defer client.Close()
		defer runner.stopWatches()
	}
	for number, step := range scenario.Steps {
		reported, err := outcome(nil), connectErr
		if err == nil {
			reported, err = runner.run(ctx, step)
		}
		if err != nil {
			failure, ok := errors.AsType[*sodafountain.Error](err)
			if !ok {
				return fmt.Errorf("step %d: %w", number, err)
			}
			runner.rememberRequestID(failure)
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

func connect(settings connection) (*sodafountain.Client, error) {
	var options []sodafountain.Option
	if settings.Timeout != nil {
		options = append(options, sodafountain.WithTimeout(seconds(*settings.Timeout)))
	}
	if settings.APIKey != nil {
		options = append(options, sodafountain.WithAPIKey(*settings.APIKey))
	}
	if settings.TLS != "" {
		authority, err := os.ReadFile(settings.TLS)
		if err != nil {
			return nil, err
		}
		trusted := x509.NewCertPool()
		if !trusted.AppendCertsFromPEM(authority) {
			return nil, fmt.Errorf("%s contains no certificate", settings.TLS)
		}
		config := &tls.Config{RootCAs: trusted}
		if settings.Certificate != "" {
			certificate, err := tls.LoadX509KeyPair(settings.Certificate, settings.Key)
			if err != nil {
				return nil, err
			}
			config.Certificates = []tls.Certificate{certificate}
		}
		options = append(options, sodafountain.WithTLS(config))
	}
	if settings.AllowInsecure {
		options = append(options, sodafountain.WithInsecureTokens())
	}
	return sodafountain.Connect(settings.Target, options...)
}
