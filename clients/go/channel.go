package sodafountain

import (
	"crypto/tls"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

const defaultTimeout = 5 * time.Second

// While a call's deadline lasts, gRPC sends the very same message again, request id included, after pauses of about 0.2,
// 0.4, 0.8 and 1.6 s, so that a restart of two seconds passes unnoticed. UNAVAILABLE says "nothing happened, or ask again
// with the same request id". CANCELLED is what gRPC's servers answer to calls that arrive while they shut down; a call that
// its own caller cancels is not retried. Every other code would be answered alike again. A watch goes on by itself, from
// what it has told its caller.
const retries = `{
  "methodConfig": [
    {"name": [{"service": "sodafountain.v1.GameService", "method": "WatchGame"}]},
    {
      "name": [{"service": "sodafountain.v1.GameService"}],
      "retryPolicy": {
        "maxAttempts": 5,
        "initialBackoff": "0.2s",
        "backoffMultiplier": 2,
        "maxBackoff": "2s",
        "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"]
      }
    }
  ]
}`

// dialOptions tells how every connection behaves.
func dialOptions(config *tls.Config) []grpc.DialOption {
	transport := insecure.NewCredentials()
	if config != nil {
		transport = credentials.NewTLS(config)
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultServiceConfig(retries),
		// What a DNS server says of retries is for others.
		grpc.WithDisableServiceConfig(),
		grpc.WithUserAgent("sodafountain-go/" + Version),
		// A retry is of use only if a connection was tried again by then, and so is a call after a long time without a
		// server; gRPC's own pauses grow from 1 s to 2 min.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond,
			},
			MinConnectTimeout: 20 * time.Second,
		}),
		// With this set, the system gives a connection up whose peer has vanished without a word for 20 s. The interval is
		// the shortest that every gRPC server puts up with.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 5 * time.Minute, Timeout: 20 * time.Second}),
	}
}
