package sodafountain

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/test/bufconn"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// withReplicas runs a test with a client whose first connection reaches the first service, its second the second one, and
// so on, with a fake clock. The first service does not answer health checks; the others do, with UNIMPLEMENTED.
func withReplicas(t *testing.T, test func(t *testing.T, client *Client), services ...*fake) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		silent := grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error { return hang(stream.Context()) })
		var listeners []*bufconn.Listener
		for i, service := range services {
			var options []grpc.ServerOption
			if i == 0 {
				options = append(options, silent)
			}
			server := grpc.NewServer(options...)
			pb.RegisterGameServiceServer(server, service)
			listener := bufconn.Listen(1 << 16)
			listeners = append(listeners, listener)
			go func() { _ = server.Serve(listener) }()
			defer server.Stop()
		}
		var connections atomic.Int32
		client, err := connect(fakeTarget, connectSettings{timeout: defaultTimeout, insecureTokens: true},
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				return listeners[connections.Add(1)-1].DialContext(ctx)
			}))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		test(t, client)
	})
}

func TestACallContinuesOverAnotherConnectionIfTheServerDoesNotAnswer(t *testing.T) {
	ids := make(chan string, 2)
	withReplicas(t, func(t *testing.T, client *Client) {
		started := time.Now()
		if _, err := seatOf(t, client).Apply(t.Context(), &pb.SodaJerkMove{}); err != nil {
			t.Fatal(err)
		}
		wantBetween(t, time.Since(started), 4*time.Second, 4100*time.Millisecond)
	}, &fake{apply: func(ctx context.Context, request *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error) {
		ids <- request.GetRequestId()
		return nil, hang(ctx)
	}}, &fake{apply: func(_ context.Context, request *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error) {
		ids <- request.GetRequestId()
		return &pb.ApplyMoveResponse{}, nil
	}})
	if first, second := <-ids, <-ids; first == "" || first != second {
		t.Errorf("request ids: %q, %q", first, second)
	}
}

func TestCallsWithShortDeadlinesReachAnotherServerInTime(t *testing.T) {
	withReplicas(t, func(t *testing.T, client *Client) {
		failed := 0
		for ; failed < 10; failed++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := spectatorOf(t, client, "game").State(ctx)
			cancel()
			if err == nil {
				break
			}
		}
		if failed != 4 {
			t.Errorf("%d calls failed", failed)
		}
	}, &fake{getGame: func(ctx context.Context, _ *pb.GetGameRequest) (*pb.GetGameResponse, error) {
		return nil, hang(ctx)
	}}, &fake{getGame: func(context.Context, *pb.GetGameRequest) (*pb.GetGameResponse, error) {
		return &pb.GetGameResponse{}, nil
	}})
}

func TestAWatchResumesOverAnotherConnectionIfTheServerDoesNotAnswer(t *testing.T) {
	var log streamLog
	withReplicas(t, func(t *testing.T, client *Client) {
		started := time.Now()
		for _, err := range spectatorOf(t, client, "game").Watch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		wantBetween(t, time.Since(started), 4*time.Second, 4200*time.Millisecond)
	}, streams(&log, func(stream stream) error {
		_ = stream.Send(snapshot("after 1"))
		return hang(stream.Context())
	}), streams(&log, func(stream stream) error { return stream.Send(over) }))
	log.want(t, "", "after 1")
}

func TestASlowServerThatAnswersKeepsItsConnection(t *testing.T) {
	slow := &fake{getGame: func(context.Context, *pb.GetGameRequest) (*pb.GetGameResponse, error) {
		time.Sleep(4900 * time.Millisecond)
		return &pb.GetGameResponse{}, nil
	}}
	withFake(t, slow, func(t *testing.T, client *Client) {
		if _, err := spectatorOf(t, client, "game").State(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestClosingAClientDuringACheckEndsItsCalls(t *testing.T) {
	withReplicas(t, func(t *testing.T, client *Client) {
		time.AfterFunc(3*time.Second, func() { _ = client.Close() })
		_, err := spectatorOf(t, client, "game").State(t.Context())
		wantReason(t, err, ReasonClientClosed, "This client was closed before passthrough:///fake answered GetGame.")
	}, &fake{getGame: func(ctx context.Context, _ *pb.GetGameRequest) (*pb.GetGameResponse, error) {
		return nil, hang(ctx)
	}})
}

// replica is a process that a test may suspend.
type replica struct {
	address string
	pid     int
}

func (r replica) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(r.pid, signal); err != nil {
		t.Fatal(err)
	}
}

// TestCallsAndAWatchContinueWhileAReplicaIsFrozen suspends each of two real services in turn. Their addresses and processes
// are in the environment; tests/clients/test_frozen_replicas.py starts them.
func TestCallsAndAWatchContinueWhileAReplicaIsFrozen(t *testing.T) {
	var replicas []replica
	var addresses []resolver.Address
	for _, text := range strings.Split(os.Getenv("SODAFOUNTAIN_TEST_REPLICAS"), ",") {
		address, process, _ := strings.Cut(text, "=")
		pid, err := strconv.Atoi(process)
		if err != nil {
			t.Skip("SODAFOUNTAIN_TEST_REPLICAS is not set")
		}
		replicas = append(replicas, replica{address, pid})
		addresses = append(addresses, resolver.Address{Addr: address})
	}
	builder := manual.NewBuilderWithScheme("replicas")
	builder.InitialState(resolver.State{Addresses: addresses})
	resolver.Register(builder)
	client, err := Connect("replicas:///all", WithInsecureTokens())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	game, err := client.NewGame(t.Context(), &pb.SodaJerkOptions{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	spectator := spectatorOf(t, client, game.ID)
	updates := make(chan time.Time)
	go func() {
		defer close(updates)
		for _, err := range spectator.Watch(t.Context()) {
			if err != nil {
				return
			}
			updates <- time.Now()
		}
	}()
	<-updates
	var slowestCall, slowestUpdate time.Duration
	for i, frozen := range replicas {
		frozen.signal(t, syscall.SIGSTOP)
		t.Cleanup(func() { frozen.signal(t, syscall.SIGCONT) })
		since := time.Now()
		move(t, replicas[1-i].address, game)
		for updated := false; time.Since(since) < 20*time.Second; {
			called := time.Now()
			if _, err := spectator.Score(t.Context()); err != nil {
				t.Fatal(err)
			}
			slowestCall = max(slowestCall, time.Since(called))
			select {
			case at := <-updates:
				slowestUpdate, updated = max(slowestUpdate, at.Sub(since)), true
			case <-time.After(50 * time.Millisecond):
				if !updated && time.Since(since) > 10*time.Second {
					t.Fatal("the watch received no update")
				}
			}
		}
		frozen.signal(t, syscall.SIGCONT)
	}
	fmt.Printf("slowest call: %.2f s, slowest update: %.2f s\n", slowestCall.Seconds(), slowestUpdate.Seconds())
	if slowestCall > 5*time.Second || slowestUpdate > 6*time.Second {
		t.Error("a call or an update took too long")
	}
}

// move makes a move of a game at one of the services.
func move(t *testing.T, address string, game *Game) {
	t.Helper()
	client, err := Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	host, err := client.Host(game.ID, game.HostToken())
	if err != nil {
		t.Fatal(err)
	}
	state, err := host.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seat := host.Seat(state.GetAwaitingSeats()[0])
	legal, err := seat.LegalMoves(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seat.Apply(t.Context(), legal.GetMoves()[0]); err != nil {
		t.Fatal(err)
	}
}
