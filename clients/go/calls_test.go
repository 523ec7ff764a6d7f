package sodafountain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

func TestPausesBetweenRetriesGrow(t *testing.T) {
	var mu sync.Mutex
	var arrivals []time.Time
	ids := map[string]bool{}
	withFake(t, &fake{newGame: func(_ context.Context, request *pb.NewGameRequest) (*pb.NewGameResponse, error) {
		mu.Lock()
		defer mu.Unlock()
		arrivals = append(arrivals, time.Now())
		ids[request.GetRequestId()] = true
		return nil, status.Error(codes.Unavailable, "not now")
	}}, func(t *testing.T, client *Client) {
		_, err := client.NewGame(t.Context(), &pb.SodaJerkOptions{}, 2)
		failure := wantReason(t, err, ReasonUnreachable, "Cannot reach a Soda Fountain service at passthrough:///fake (not now).")
		mu.Lock()
		defer mu.Unlock()
		if len(arrivals) != 5 || len(ids) != 1 || !ids[failure.RequestID()] {
			t.Fatalf("%d calls under %d request ids", len(arrivals), len(ids))
		}
		for i, pause := range []time.Duration{200, 400, 800, 1600} {
			pause *= time.Millisecond
			wantBetween(t, arrivals[i+1].Sub(arrivals[i]), pause*4/5, pause*6/5)
		}
	})
}

func TestCallsHaveADeadline(t *testing.T) {
	withFake(t, &fake{getGame: func(ctx context.Context, _ *pb.GetGameRequest) (*pb.GetGameResponse, error) {
		return nil, hang(ctx)
	}}, func(t *testing.T, client *Client) {
		started := time.Now()
		_, err := spectatorOf(t, client, "game").State(t.Context())
		wantReason(t, err, ReasonDeadlineExceeded, "passthrough:///fake did not answer GetGame within 5 s.")
		wantBetween(t, time.Since(started), 5*time.Second, 5*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), 7500*time.Millisecond)
		defer cancel()
		_, err = spectatorOf(t, client, "game").State(ctx)
		wantReason(t, err, ReasonDeadlineExceeded, "passthrough:///fake did not answer GetGame within 7.5 s.")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the error does not wrap that of the context")
		}
		_, err = spectatorOf(t, client, "game").State(ctx)
		wantReason(t, err, ReasonDeadlineExceeded, "passthrough:///fake did not answer GetGame within 0 s.")
	})
}

func TestCallsAboutAGameSendItsID(t *testing.T) {
	var mu sync.Mutex
	var ids [][]string
	record := func(ctx context.Context) {
		mu.Lock()
		defer mu.Unlock()
		fields, _ := metadata.FromIncomingContext(ctx)
		ids = append(ids, fields.Get("x-game-id"))
	}
	withFake(t, &fake{
		getGame: func(ctx context.Context, _ *pb.GetGameRequest) (*pb.GetGameResponse, error) {
			record(ctx)
			return &pb.GetGameResponse{}, nil
		},
		newGame: func(ctx context.Context, _ *pb.NewGameRequest) (*pb.NewGameResponse, error) {
			record(ctx)
			return &pb.NewGameResponse{}, nil
		},
	}, func(t *testing.T, client *Client) {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-game-id", "other")
		for _, id := range []string{"game", "no game", ""} {
			if _, err := spectatorOf(t, client, id).State(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := client.NewGame(ctx, &pb.SodaJerkOptions{}, 2); err != nil {
			t.Fatal(err)
		}
	})
	if want := "[[game] [] [] []]"; fmt.Sprint(ids) != want {
		t.Errorf("got %v, want %s", ids, want)
	}
}

func TestCancellingEndsACallAndItsRetries(t *testing.T) {
	for _, respond := range []func(context.Context) error{
		hang,
		func(context.Context) error { return status.Error(codes.Unavailable, "not now") },
	} {
		withFake(t, &fake{apply: func(ctx context.Context, _ *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error) {
			return nil, respond(ctx)
		}}, func(t *testing.T, client *Client) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			started := time.Now()
			_, err := seatOf(t, client).Apply(ctx, &pb.SodaJerkMove{})
			failure := wantReason(t, err, ReasonCancelled, "ApplyMove was cancelled before passthrough:///fake answered.")
			if !errors.Is(err, context.Canceled) || failure.RequestID() == "" {
				t.Errorf("%#v", failure)
			}
			wantBetween(t, time.Since(started), 100*time.Millisecond, 100*time.Millisecond)
		})
	}
}

func TestClosingEndsCallsAndTheirRetries(t *testing.T) {
	for _, respond := range []func(context.Context) error{
		hang,
		func(context.Context) error { return status.Error(codes.Unavailable, "not now") },
	} {
		withFake(t, &fake{getGame: func(ctx context.Context, _ *pb.GetGameRequest) (*pb.GetGameResponse, error) {
			return nil, respond(ctx)
		}}, func(t *testing.T, client *Client) {
			time.AfterFunc(100*time.Millisecond, func() { _ = client.Close() })
			started := time.Now()
			_, err := spectatorOf(t, client, "game").State(t.Context())
			wantReason(t, err, ReasonClientClosed, "This client was closed before passthrough:///fake answered GetGame.")
			wantBetween(t, time.Since(started), 100*time.Millisecond, 100*time.Millisecond)

			_, err = spectatorOf(t, client, "game").State(t.Context())
			wantReason(t, err, ReasonClientClosed, "This client is closed.")
			if err := client.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMetadataOfTheContextIsSentExceptSecrets(t *testing.T) {
	withFake(t, &fake{getGame: func(ctx context.Context, _ *pb.GetGameRequest) (*pb.GetGameResponse, error) {
		received, _ := metadata.FromIncomingContext(ctx)
		headers := fmt.Sprint(received["traceparent"], received["authorization"], received["x-api-key"])
		return &pb.GetGameResponse{State: &pb.GameState{Prompt: headers}}, nil
	}}, func(t *testing.T, client *Client) {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "7", "authorization", "Bearer x", "x-api-key", "y")
		spectatorState, err := spectatorOf(t, client, "game").State(ctx)
		if err != nil || spectatorState.GetPrompt() != "[7] [] []" {
			t.Error(spectatorState, err)
		}
		seatState, err := seatOf(t, client).State(ctx)
		if err != nil || seatState.GetPrompt() != "[7] [Bearer token] []" {
			t.Error(seatState, err)
		}
	})
}

func TestPagesOfAHistoryAreJoined(t *testing.T) {
	withFake(t, &fake{history: func(_ context.Context, request *pb.GetHistoryRequest) (*pb.GetHistoryResponse, error) {
		next := map[string]string{"": "two", "two": "three"}[request.GetPageToken()]
		entry := &pb.HistoryEntry{Version: int64(len(request.GetPageToken()))}
		// A game can end between two pages.
		status := pb.GameStatus_GAME_STATUS_ACTIVE
		if next == "" {
			status = pb.GameStatus_GAME_STATUS_FINISHED
		}
		return &pb.GetHistoryResponse{Status: status, Entries: []*pb.HistoryEntry{entry}, NextPageToken: next}, nil
	}}, func(t *testing.T, client *Client) {
		history, err := spectatorOf(t, client, "game").History(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var versions []int64
		for _, entry := range history.GetEntries() {
			versions = append(versions, entry.GetVersion())
		}
		if !slices.Equal(versions, []int64{0, 3, 5}) || history.GetNextPageToken() != "" {
			t.Error(history)
		}
		if history.GetStatus() != pb.GameStatus_GAME_STATUS_ACTIVE {
			t.Errorf("the facts are not those of the first page: %s", history.GetStatus())
		}
	})
}

func TestAHistoryIsThatOfTheSeat(t *testing.T) {
	withFake(t, &fake{history: func(ctx context.Context, request *pb.GetHistoryRequest) (*pb.GetHistoryResponse, error) {
		received, _ := metadata.FromIncomingContext(ctx)
		token := fmt.Sprint(received["authorization"])
		return &pb.GetHistoryResponse{GameId: fmt.Sprintf("%t %d %s", request.Seat != nil, request.GetSeat(), token)}, nil
	}}, func(t *testing.T, client *Client) {
		host, err := client.Host("game", "h")
		if err != nil {
			t.Fatal(err)
		}
		insider, err := client.Spectator("game", WithSpectatorToken("s"))
		if err != nil {
			t.Fatal(err)
		}
		for want, viewer := range map[string]interface {
			History(context.Context) (*pb.GetHistoryResponse, error)
		}{
			"true 1 [Bearer h]":      host.Seat(1),
			"false 0 [Bearer h]":     host,
			"false 0 [Bearer token]": seatOf(t, client),
			"false 0 [Bearer s]":     insider,
			"false 0 []":             spectatorOf(t, client, "game"),
		} {
			if history, err := viewer.History(t.Context()); err != nil || history.GetGameId() != want {
				t.Errorf("got %s %v, want %s", history.GetGameId(), err, want)
			}
		}
	})
}

func TestANewGameIsSentWithItsOptions(t *testing.T) {
	var received *pb.NewGameRequest
	withFake(t, &fake{newGame: func(_ context.Context, request *pb.NewGameRequest) (*pb.NewGameResponse, error) {
		received = request
		return &pb.NewGameResponse{SpectatorToken: "s"}, nil
	}}, func(t *testing.T, client *Client) {
		game, err := client.NewGame(t.Context(), &pb.SodaJerkOptions{}, 2)
		if err != nil || received.GetVisibility() != 0 || received.GetSealed() || game.SpectatorToken() != "s" {
			t.Error(received, err)
		}
		private := pb.Visibility_VISIBILITY_PRIVATE
		_, err = client.NewGame(t.Context(), &pb.SodaJerkOptions{}, 2, WithVisibility(private), Sealed())
		if err != nil || received.GetVisibility() != private || !received.GetSealed() {
			t.Error(received, err)
		}
	})
}

func TestASeatReadsItsNumberFromAState(t *testing.T) {
	withFake(t, &fake{getGame: func(context.Context, *pb.GetGameRequest) (*pb.GetGameResponse, error) {
		number := int32(2)
		return &pb.GetGameResponse{State: &pb.GameState{ViewerSeat: &number}}, nil
	}}, func(t *testing.T, client *Client) {
		seat := seatOf(t, client)
		if _, known := seat.Number(); known {
			t.Error("the number is known before the first response")
		}
		if _, err := seat.State(t.Context()); err != nil {
			t.Error(err)
		}
		if number, known := seat.Number(); !known || number != 2 {
			t.Error(number, known)
		}
	})
}

func TestGoroutinesShareClientsAndSeats(t *testing.T) {
	var highest, open atomic.Int32
	withFake(t, &fake{
		getGame: func(context.Context, *pb.GetGameRequest) (*pb.GetGameResponse, error) {
			highest.Store(max(highest.Load(), open.Add(1)))
			time.Sleep(time.Second)
			open.Add(-1)
			number := int32(0)
			return &pb.GetGameResponse{State: &pb.GameState{ViewerSeat: &number, AwaitingSeats: []int32{0}, Etag: "e"}}, nil
		},
		apply: func(context.Context, *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error) {
			return &pb.ApplyMoveResponse{}, nil
		},
	}, func(t *testing.T, client *Client) {
		host, err := client.Host("game", "token")
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				seat := host.Seat(0)
				if _, err := seat.State(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := seat.Apply(t.Context(), &pb.SodaJerkMove{}); err != nil {
					t.Error(err)
				}
				_, _ = seat.Number()
			})
		}
		group.Wait()
		if highest.Load() < 2 {
			t.Error("the calls were not concurrent")
		}
	})
}
