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

// Until a call's deadline, gRPC retries it after about 0.2, 0.4, 0.8 and 1.6 s, which covers a restart of two seconds. The
// message and its request id stay the same, so a retry is safe. UNAVAILABLE means that nothing happened or that a retry with
// the same request id is needed. gRPC servers answer CANCELLED to calls that arrive during their shutdown; a call that its
// own caller cancels is not retried. A retry does not change other codes. A watch resumes after the last update that its
// caller received.
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

// dialOptions returns the options of a connection; a nil config is a connection without TLS.
func dialOptions(config *tls.Config) []grpc.DialOption {
	transport := insecure.NewCredentials()
	if config != nil {
		transport = credentials.NewTLS(config)
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultServiceConfig(retries),
		// DNS must not override the retries.
		grpc.WithDisableServiceConfig(),
		grpc.WithUserAgent("sodafountain-go/" + Version),
		// A retry helps only if the channel has tried to reconnect before it. The default backoff grows from 1 s to 2 min.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond,
			},
			MinConnectTimeout: 20 * time.Second,
		}),
		// Keepalive closes a connection whose server does not answer, also between calls. gRPC has no shorter interval; see
		// connection. The service allows these pings; if another server rejects them, gRPC sends fewer.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 10 * time.Second, Timeout: 2 * time.Second, PermitWithoutStream: true,
		}),
	}
}
