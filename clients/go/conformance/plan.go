package main

import (
	"encoding/json"
	"math"
	"os"
	"time"

	"sodafountain.internal/sodafountain"
)

// plan is a plan of the conformance suite; see clients/conformance/README.md.
type plan struct {
	Transport string     `json:"transport"`
	Scenarios []scenario `json:"scenarios"`
}

type scenario struct {
	Name    string     `json:"name"`
	Connect connection `json:"connect"`
	Steps   []step     `json:"steps"`
}

type connection struct {
	Target  string   `json:"target"`
	Timeout *float64 `json:"timeout"`
	APIKey  *string  `json:"api_key"`
	TLS     string   `json:"tls"`
	// The files of the client's certificate and key.
	Certificate   string `json:"certificate"`
	Key           string `json:"key"`
	AllowInsecure bool   `json:"allow_insecure"`
}

// step is a step of a scenario. Its fields depend on Do.
type step struct {
	Do           string          `json:"do"`
	As           string          `json:"as"`
	Token        *string         `json:"token"`
	Game         *string         `json:"game"`
	WithoutToken bool            `json:"without_token"`
	Restored     bool            `json:"restored"`
	Options      json.RawMessage `json:"options"`
	Seats        int32           `json:"seats"`
	Seed         []byte          `json:"seed"`
	Sealed       bool            `json:"sealed"`
	Visibility   string          `json:"visibility"`
	Seat         *int32          `json:"seat"`
	Move         json.RawMessage `json:"move"`
	Etag         *string         `json:"etag"`
	RequestID    *string         `json:"request_id"`
	LegalMoves   bool            `json:"legal_moves"`
	Timeout      *float64        `json:"timeout"`
	Name         string          `json:"name"`
	Watch        string          `json:"watch"`
	Count        int             `json:"count"`
	IdleTimeout  json.RawMessage `json:"idle_timeout"`
	Resume       string          `json:"resume"`
}

// outcome is the outcome of a step.
type outcome map[string]any

func readPlan(path string) (plan, error) {
	var parsed plan
	content, err := os.ReadFile(path)
	if err != nil {
		return parsed, err
	}
	return parsed, json.Unmarshal(content, &parsed)
}

// failed returns the outcome of a step that failed.
func failed(err *sodafountain.Error) outcome {
	metadata := err.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	fields := make([]string, len(err.FieldViolations))
	for i, violation := range err.FieldViolations {
		fields[i] = violation.Field
	}
	return outcome{"error": outcome{
		"reason":     err.Reason,
		"message":    err.Error(),
		"metadata":   metadata,
		"fields":     fields,
		"request_id": err.RequestID() != "",
	}}
}

func seconds(count float64) time.Duration {
	return time.Duration(math.Round(count * float64(time.Second)))
}
