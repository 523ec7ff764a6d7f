package sodafountain

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/protoadapt"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

const fakeTarget = "passthrough:///fake"

// fake is a service with the functions of a test. A call without a function panics.
type fake struct {
	pb.UnimplementedGameServiceServer
	newGame    func(context.Context, *pb.NewGameRequest) (*pb.NewGameResponse, error)
	legalMoves func(context.Context, *pb.LegalMovesRequest) (*pb.LegalMovesResponse, error)
	apply      func(context.Context, *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error)
	getGame    func(context.Context, *pb.GetGameRequest) (*pb.GetGameResponse, error)
	history    func(context.Context, *pb.GetHistoryRequest) (*pb.GetHistoryResponse, error)
	watchGame  func(*pb.WatchGameRequest, grpc.ServerStreamingServer[pb.WatchGameResponse]) error
}

func (f *fake) NewGame(ctx context.Context, request *pb.NewGameRequest) (*pb.NewGameResponse, error) {
	return f.newGame(ctx, request)
}

func (f *fake) LegalMoves(ctx context.Context, request *pb.LegalMovesRequest) (*pb.LegalMovesResponse, error) {
	return f.legalMoves(ctx, request)
}

func (f *fake) ApplyMove(ctx context.Context, request *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error) {
	return f.apply(ctx, request)
}

func (f *fake) GetGame(ctx context.Context, request *pb.GetGameRequest) (*pb.GetGameResponse, error) {
	return f.getGame(ctx, request)
}

func (f *fake) GetHistory(ctx context.Context, request *pb.GetHistoryRequest) (*pb.GetHistoryResponse, error) {
	return f.history(ctx, request)
}

func (f *fake) WatchGame(
	request *pb.WatchGameRequest, stream grpc.ServerStreamingServer[pb.WatchGameResponse],
) error {
	return f.watchGame(request, stream)
}

// withFake runs a test with a client of a fake service, with a fake clock that advances while all goroutines wait. The test
// fails if a goroutine remains.
func withFake(t *testing.T, service *fake, test func(t *testing.T, client *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := bufconn.Listen(1 << 16)
		server := grpc.NewServer(grpc.KeepaliveEnforcementPolicy(
			keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}))
		pb.RegisterGameServiceServer(server, service)
		served := make(chan error)
		go func() { served <- server.Serve(listener) }()
		client, err := connect(fakeTarget, connectSettings{timeout: defaultTimeout, insecureTokens: true},
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
		if err != nil {
			t.Fatal(err)
		}
		test(t, client)
		_ = client.Close()
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

func seatOf(t *testing.T, client *Client) *Seat {
	t.Helper()
	seat, err := client.Seat("game", "token")
	if err != nil {
		t.Fatal(err)
	}
	return seat
}

func spectatorOf(t *testing.T, client *Client, gameID string) *Spectator {
	t.Helper()
	spectator, err := client.Spectator(gameID)
	if err != nil {
		t.Fatal(err)
	}
	return spectator
}

// serviceError returns an error of the service, with details.
func serviceError(code codes.Code, message string, details ...protoadapt.MessageV1) error {
	failed, err := status.New(code, message).WithDetails(details...)
	if err != nil {
		return err
	}
	return failed.Err()
}

// hang waits until the caller cancels the call.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return status.FromContextError(ctx.Err()).Err()
}

func wantReason(t *testing.T, err error, reason Reason, message string) *Error {
	t.Helper()
	failure, ok := err.(*Error)
	if !ok || failure.Reason != reason || failure.Error() != message {
		t.Fatalf("got %s %v\nwant %s %s", ReasonOf(err), err, reason, message)
	}
	return failure
}

func wantBetween(t *testing.T, found, least, most time.Duration) {
	t.Helper()
	if found < least || found > most {
		t.Errorf("got %s, want %s to %s", found, least, most)
	}
}
