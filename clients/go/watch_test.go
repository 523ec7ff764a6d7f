package sodafountain

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

const finished = pb.GameStatus_GAME_STATUS_FINISHED

var over = end(pb.WatchEndReason_WATCH_END_REASON_FINISHED)

type stream = grpc.ServerStreamingServer[pb.WatchGameResponse]

// record is when streams were asked for, and with which resume tokens.
type record struct {
	mu      sync.Mutex
	at      []time.Time
	resumes []string
}

// note notes a stream and returns how many there were before.
func (r *record) note(request *pb.WatchGameRequest) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = append(r.at, time.Now())
	r.resumes = append(r.resumes, request.GetResumeToken())
	return len(r.at) - 1
}

// pause is the time between the begin of a stream and of the next.
func (r *record) pause(index int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at[index+1].Sub(r.at[index])
}

func (r *record) want(t *testing.T, resumes ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.resumes, resumes) {
		t.Errorf("streams were asked for with %q, not %q", r.resumes, resumes)
	}
}

// streams is a service whose streams, in order, do what a test says; the last of these is done again.
func streams(asked *record, each ...func(stream) error) *fake {
	return &fake{watchGame: func(request *pb.WatchGameRequest, stream stream) error {
		return each[min(asked.note(request), len(each)-1)](stream)
	}}
}

func snapshot(token string) *pb.WatchGameResponse {
	return &pb.WatchGameResponse{ResumeToken: token, Item: &pb.WatchGameResponse_Snapshot{Snapshot: &pb.GameState{}}}
}

func change(token string, status pb.GameStatus) *pb.WatchGameResponse {
	update := &pb.WatchUpdate{State: &pb.GameState{Status: status}, Events: []*pb.Event{{}}}
	return &pb.WatchGameResponse{ResumeToken: token, Item: &pb.WatchGameResponse_Update{Update: update}}
}

func heartbeat(token string) *pb.WatchGameResponse {
	return &pb.WatchGameResponse{ResumeToken: token, Item: &pb.WatchGameResponse_Heartbeat{Heartbeat: &pb.WatchHeartbeat{}}}
}

func end(reason pb.WatchEndReason) *pb.WatchGameResponse {
	return &pb.WatchGameResponse{Item: &pb.WatchGameResponse_End{End: &pb.WatchEnd{Reason: reason}}}
}

// sends sends messages and then hangs.
func sends(messages ...*pb.WatchGameResponse) func(stream) error {
	return func(stream stream) error {
		for _, message := range messages {
			if err := stream.Send(message); err != nil {
				return err
			}
		}
		return hang(stream.Context())
	}
}

// refuses ends a stream with an error.
func refuses(err error) func(stream) error {
	return func(stream) error { return err }
}

// watched follows a game to its end, or to an error; the tokens of its updates tell which came.
func watched(ctx context.Context, client *Client, options ...WatchOption) (tokens []string, err error) {
	for update, err := range client.Spectator("game").Watch(ctx, options...) {
		if err != nil {
			return tokens, err
		}
		tokens = append(tokens, update.ResumeToken)
	}
	return tokens, nil
}

func TestASilentStreamIsTakenForDead(t *testing.T) {
	var asked record
	withFake(t, streams(&asked, sends(snapshot("a"), heartbeat("b")), sends(change("c", finished), over)),
		func(t *testing.T, client *Client) {
			tokens, err := watched(t.Context(), client)
			if err != nil || !slices.Equal(tokens, []string{"a", "c"}) {
				t.Error(tokens, err)
			}
			asked.want(t, "", "b")
			about(t, asked.pause(0), 45*time.Second, 45*time.Second+100*time.Millisecond)
		})
}

func TestSignsOfLifeKeepAStreamAlive(t *testing.T) {
	var asked record
	withFake(t, streams(&asked, func(stream stream) error {
		for range 100 {
			if err := stream.Send(heartbeat("a")); err != nil {
				return err
			}
			time.Sleep(44 * time.Second)
		}
		return stream.Send(over)
	}), func(t *testing.T, client *Client) {
		if tokens, err := watched(t.Context(), client); err != nil || tokens != nil {
			t.Error(tokens, err)
		}
		asked.want(t, "")
	})
}

func TestPatienceEnds(t *testing.T) {
	var asked record
	withFake(t, streams(&asked, sends(snapshot("a")), sends()), func(t *testing.T, client *Client) {
		began := time.Now()
		tokens, err := watched(t.Context(), client)
		wantReason(t, err, ReasonUnreachable, "Nothing was heard of game game for 60 s: the service or the way to it hangs.")
		if !slices.Equal(tokens, []string{"a"}) {
			t.Error(tokens)
		}
		asked.want(t, "", "a")
		about(t, time.Since(began), time.Minute, time.Minute)
	})
}

func TestPatienceThatEndsInSilenceEndsWithWhatWasRefusedSinceTheLastSignOfLife(t *testing.T) {
	away := refusal(codes.Unavailable, "The store is away.", &errdetails.ErrorInfo{Reason: "STORE_UNAVAILABLE", Domain: "sodafountain.v1"})
	for reason, heard := range map[Reason][]*pb.WatchGameResponse{
		ReasonStoreUnavailable: nil,
		ReasonUnreachable:      {heartbeat("a")},
	} {
		var asked record
		withFake(t, streams(&asked, refuses(away), sends(heard...), sends()), func(t *testing.T, client *Client) {
			if _, err := watched(t.Context(), client); ReasonOf(err) != reason {
				t.Errorf("got %v\nwant %s", err, reason)
			}
		})
	}
}

func TestASilenceIsNotWaitedForAsLongAsARefusalBeforeItSuggested(t *testing.T) {
	var asked record
	away := refusal(codes.Unavailable, "The store is away.",
		&errdetails.ErrorInfo{Reason: "STORE_UNAVAILABLE", Domain: "sodafountain.v1"},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)})
	withFake(t, streams(&asked, refuses(away), sends(), sends(), sends()), func(t *testing.T, client *Client) {
		_, err := watched(t.Context(), client, WithPatience(2*time.Minute))
		wantReason(t, err, ReasonStoreUnavailable, "The store is away.")
		about(t, asked.pause(0), 7*time.Second, 7*time.Second)
		about(t, asked.pause(1), 45*time.Second+100*time.Millisecond, 45*time.Second+200*time.Millisecond)
		about(t, asked.pause(2), 45*time.Second+200*time.Millisecond, 45*time.Second+400*time.Millisecond)
	})
}

func TestACallersOwnTimeIsNoSilence(t *testing.T) {
	var asked record
	withFake(t, streams(&asked, func(stream stream) error {
		for _, message := range []*pb.WatchGameResponse{snapshot("a"), snapshot("b"), over} {
			if err := stream.Send(message); err != nil {
				return err
			}
			select {
			case <-time.After(time.Hour + time.Second/2):
			case <-stream.Context().Done():
			}
		}
		return nil
	}), func(t *testing.T, client *Client) {
		for _, err := range client.Spectator("game").Watch(t.Context(), WithPatience(time.Second)) {
			if err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
		}
		asked.want(t, "")
	})
}

func TestPausesOfAWatchGrowAndAreResetByAMessage(t *testing.T) {
	var asked record
	away := refuses(status.Error(codes.Unavailable, "not now"))
	each := slices.Repeat([]func(stream) error{away}, 9)
	each = append(each, func(stream stream) error {
		_ = stream.Send(heartbeat("a"))
		return status.Error(codes.Internal, "a proxy broke it")
	}, sends(over))
	withFake(t, streams(&asked, each...), func(t *testing.T, client *Client) {
		if _, err := watched(t.Context(), client, WithPatience(Forever)); err != nil {
			t.Fatal(err)
		}
		for i, longest := range []float64{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5, 0.1} {
			pause := time.Duration(longest * float64(time.Second))
			about(t, asked.pause(i), pause/2, pause)
		}
	})
}

func TestAWatchWaitsAsLongAsTheServiceAsks(t *testing.T) {
	var asked record
	draining := refusal(codes.Unavailable, "Going away.", &errdetails.ErrorInfo{Reason: "DRAINING", Domain: "sodafountain.v1"},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(20 * time.Second)})
	withFake(t, streams(&asked, refuses(draining)), func(t *testing.T, client *Client) {
		began := time.Now()
		_, err := watched(t.Context(), client)
		wantReason(t, err, ReasonDraining, "Going away.")
		asked.want(t, "", "", "")
		about(t, time.Since(began), 40*time.Second, 40*time.Second)
	})
}

func TestWhatIsLostAfterTheLastChangeIsNoError(t *testing.T) {
	var asked record
	withFake(t, streams(&asked, func(stream stream) error {
		_ = stream.Send(change("a", finished))
		return status.Error(codes.Unavailable, "not now")
	}), func(t *testing.T, client *Client) {
		if tokens, err := watched(t.Context(), client); err != nil || !slices.Equal(tokens, []string{"a"}) {
			t.Error(tokens, err)
		}
		asked.want(t, "")
	})
}

func TestAGameThatGoesAwayEndsItsWatch(t *testing.T) {
	for reason, want := range map[pb.WatchEndReason]*Error{
		pb.WatchEndReason_WATCH_END_REASON_DELETED: {Reason: ReasonGameDeleted, Message: "Game game was deleted."},
		pb.WatchEndReason_WATCH_END_REASON_EXPIRED: {Reason: ReasonGameExpired, Message: "Game game has expired."},
	} {
		var asked record
		withFake(t, streams(&asked, sends(end(reason))), func(t *testing.T, client *Client) {
			_, err := watched(t.Context(), client)
			if failure := wantReason(t, err, want.Reason, want.Message); failure.Code != codes.NotFound {
				t.Error(failure.Code)
			}
		})
	}
}

func TestLeavingTheLoopEndsTheStream(t *testing.T) {
	gone := make(chan error, 1)
	withFake(t, &fake{watchGame: func(_ *pb.WatchGameRequest, stream stream) error {
		err := sends(snapshot("a"))(stream)
		gone <- err
		return err
	}}, func(t *testing.T, client *Client) {
		for range client.Spectator("game").Watch(t.Context()) {
			break
		}
		if status.Code(<-gone) != codes.Canceled {
			t.Error("the service still sends")
		}
	})
}

func TestCancellingAndClosingEndAWatchAtOnce(t *testing.T) {
	for name, service := range map[string]func(stream) error{
		"while it reads": sends(snapshot("a")), "while it pauses": refuses(status.Error(codes.Unavailable, "not now")),
	} {
		for message, stop := range map[string]func(*Client, context.CancelFunc){
			"The watch of game game was cancelled.":          func(_ *Client, cancel context.CancelFunc) { cancel() },
			"This client was closed, and its watch with it.": func(client *Client, _ context.CancelFunc) { _ = client.Close() },
		} {
			t.Run(name+": "+message, func(t *testing.T) {
				var asked record
				withFake(t, streams(&asked, service), func(t *testing.T, client *Client) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					time.AfterFunc(10*time.Second, func() { stop(client, cancel) })
					began := time.Now()
					_, err := watched(ctx, client)
					if err == nil || err.Error() != message || errors.Is(err, context.Canceled) != (ctx.Err() != nil) {
						t.Error(ReasonOf(err), err)
					}
					about(t, time.Since(began), 10*time.Second, 10*time.Second)
					// What is stopped stays stopped.
					if _, err := watched(ctx, client); err == nil || err.Error() != message {
						t.Error(err)
					}
				})
			})
		}
	}
}

func TestAWatchLastsUntilTheDeadlineOfItsContext(t *testing.T) {
	var asked record
	withFake(t, streams(&asked, sends(snapshot("a"))), func(t *testing.T, client *Client) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := watched(ctx, client)
		wantReason(t, err, ReasonDeadlineExceeded, "The watch of game game lasted until the deadline of its context.")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the error hides the context's")
		}
	})
}

func TestEachLoopIsAWatchOfItsOwn(t *testing.T) {
	var asked record
	withFake(t, streams(&asked, sends(change("b", 0), over)), func(t *testing.T, client *Client) {
		watch := client.Spectator("game").Watch(t.Context(), ResumeAfter("a"))
		synctest.Wait()
		asked.want(t)
		for range 2 {
			for _, err := range watch {
				if err != nil {
					t.Error(err)
				}
			}
		}
		asked.want(t, "a", "a")
	})
}
