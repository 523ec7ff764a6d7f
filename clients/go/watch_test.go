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

// streamLog records when streams were requested, and with which resume tokens.
type streamLog struct {
	mu      sync.Mutex
	at      []time.Time
	resumes []string
}

// add records a stream and returns its index.
func (l *streamLog) add(request *pb.WatchGameRequest) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = append(l.at, time.Now())
	l.resumes = append(l.resumes, request.GetResumeToken())
	return len(l.at) - 1
}

// pause returns the time between the starts of a stream and the next one.
func (l *streamLog) pause(index int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at[index+1].Sub(l.at[index])
}

func (l *streamLog) want(t *testing.T, resumes ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.resumes, resumes) {
		t.Errorf("resume tokens of the streams: got %q, want %q", l.resumes, resumes)
	}
}

// streams returns a service that handles each stream with the next function, and the last one repeatedly.
func streams(log *streamLog, each ...func(stream) error) *fake {
	return &fake{watchGame: func(request *pb.WatchGameRequest, stream stream) error {
		return each[min(log.add(request), len(each)-1)](stream)
	}}
}

func snapshot(token string) *pb.WatchGameResponse {
	return &pb.WatchGameResponse{ResumeToken: token, Item: &pb.WatchGameResponse_Snapshot{Snapshot: &pb.GameState{}}}
}

func update(token string, status pb.GameStatus) *pb.WatchGameResponse {
	change := &pb.WatchUpdate{State: &pb.GameState{Status: status}, Events: []*pb.Event{{}}}
	return &pb.WatchGameResponse{ResumeToken: token, Item: &pb.WatchGameResponse_Update{Update: change}}
}

func heartbeat(token string) *pb.WatchGameResponse {
	return &pb.WatchGameResponse{ResumeToken: token, Item: &pb.WatchGameResponse_Heartbeat{Heartbeat: &pb.WatchHeartbeat{}}}
}

func end(reason pb.WatchEndReason) *pb.WatchGameResponse {
	return &pb.WatchGameResponse{Item: &pb.WatchGameResponse_End{End: &pb.WatchEnd{Reason: reason}}}
}

// sends returns a function that sends messages and waits until the stream is cancelled.
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

// fails returns a function that ends a stream with an error.
func fails(err error) func(stream) error {
	return func(stream) error { return err }
}

// watchAll watches a game to its end or to an error, and returns the resume tokens of its updates.
func watchAll(ctx context.Context, client *Client, options ...WatchOption) (tokens []string, err error) {
	spectator, err := client.Spectator("game")
	if err != nil {
		return nil, err
	}
	for update, err := range spectator.Watch(ctx, options...) {
		if err != nil {
			return tokens, err
		}
		tokens = append(tokens, update.ResumeToken)
	}
	return tokens, nil
}

func TestAStreamWithoutMessagesIsReplaced(t *testing.T) {
	var log streamLog
	withFake(t, streams(&log, sends(snapshot("a"), heartbeat("b")), sends(update("c", finished), over)),
		func(t *testing.T, client *Client) {
			tokens, err := watchAll(t.Context(), client)
			if err != nil || !slices.Equal(tokens, []string{"a", "c"}) {
				t.Error(tokens, err)
			}
			log.want(t, "", "b")
			wantBetween(t, log.pause(0), 45*time.Second, 45*time.Second+100*time.Millisecond)
		})
}

func TestHeartbeatsKeepAStream(t *testing.T) {
	var log streamLog
	withFake(t, streams(&log, func(stream stream) error {
		for range 100 {
			if err := stream.Send(heartbeat("a")); err != nil {
				return err
			}
			time.Sleep(44 * time.Second)
		}
		return stream.Send(over)
	}), func(t *testing.T, client *Client) {
		if tokens, err := watchAll(t.Context(), client); err != nil || tokens != nil {
			t.Error(tokens, err)
		}
		log.want(t, "")
	})
}

func TestTheIdleTimeoutEndsAWatch(t *testing.T) {
	var log streamLog
	withFake(t, streams(&log, sends(snapshot("a")), sends()), func(t *testing.T, client *Client) {
		started := time.Now()
		tokens, err := watchAll(t.Context(), client)
		wantReason(t, err, ReasonUnreachable, "No message about game game arrived for 60 s: the service or the connection to it is not responding.")
		if !slices.Equal(tokens, []string{"a"}) {
			t.Error(tokens)
		}
		log.want(t, "", "a")
		wantBetween(t, time.Since(started), time.Minute, time.Minute)
	})
}

func TestTheIdleTimeoutReturnsTheErrorSinceTheLastMessage(t *testing.T) {
	away := serviceError(codes.Unavailable, "The store is unavailable.", &errdetails.ErrorInfo{Reason: "STORE_UNAVAILABLE", Domain: "sodafountain"})
	for reason, messages := range map[Reason][]*pb.WatchGameResponse{
		ReasonStoreUnavailable: nil,
		ReasonUnreachable:      {heartbeat("a")},
	} {
		var log streamLog
		withFake(t, streams(&log, fails(away), sends(messages...), sends()), func(t *testing.T, client *Client) {
			if _, err := watchAll(t.Context(), client); ReasonOf(err) != reason {
				t.Errorf("got %v\nwant %s", err, reason)
			}
		})
	}
}

func TestAStreamTimeoutDoesNotRepeatAnEarlierRetryDelay(t *testing.T) {
	var log streamLog
	away := serviceError(codes.Unavailable, "The store is unavailable.",
		&errdetails.ErrorInfo{Reason: "STORE_UNAVAILABLE", Domain: "sodafountain"},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)})
	withFake(t, streams(&log, fails(away), sends(), sends(), sends()), func(t *testing.T, client *Client) {
		_, err := watchAll(t.Context(), client, WithIdleTimeout(2*time.Minute))
		wantReason(t, err, ReasonStoreUnavailable, "The store is unavailable.")
		wantBetween(t, log.pause(0), 7*time.Second, 7*time.Second)
		wantBetween(t, log.pause(1), 45*time.Second+100*time.Millisecond, 45*time.Second+200*time.Millisecond)
		wantBetween(t, log.pause(2), 45*time.Second+200*time.Millisecond, 45*time.Second+400*time.Millisecond)
	})
}

func TestTheIdleTimeoutExcludesTheTimeOfTheCaller(t *testing.T) {
	var log streamLog
	withFake(t, streams(&log, func(stream stream) error {
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
		for _, err := range spectatorOf(t, client, "game").Watch(t.Context(), WithIdleTimeout(time.Second)) {
			if err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
		}
		log.want(t, "")
	})
}

func TestPausesOfAWatchGrowAndAMessageResetsThem(t *testing.T) {
	var log streamLog
	away := fails(status.Error(codes.Unavailable, "not now"))
	each := slices.Repeat([]func(stream) error{away}, 9)
	each = append(each, func(stream stream) error {
		_ = stream.Send(heartbeat("a"))
		return status.Error(codes.Internal, "broken by a proxy")
	}, sends(over))
	withFake(t, streams(&log, each...), func(t *testing.T, client *Client) {
		if _, err := watchAll(t.Context(), client, WithIdleTimeout(NoIdleTimeout)); err != nil {
			t.Fatal(err)
		}
		for i, longest := range []float64{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5, 0.1} {
			pause := time.Duration(longest * float64(time.Second))
			wantBetween(t, log.pause(i), pause/2, pause)
		}
	})
}

func TestAWatchWaitsForTheRetryDelayOfTheService(t *testing.T) {
	var log streamLog
	draining := serviceError(codes.Unavailable, "Shutting down.", &errdetails.ErrorInfo{Reason: "DRAINING", Domain: "sodafountain"},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(20 * time.Second)})
	withFake(t, streams(&log, fails(draining)), func(t *testing.T, client *Client) {
		started := time.Now()
		_, err := watchAll(t.Context(), client)
		wantReason(t, err, ReasonDraining, "Shutting down.")
		log.want(t, "", "", "")
		wantBetween(t, time.Since(started), 40*time.Second, 40*time.Second)
	})
}

func TestAFailureAfterTheLastChangeEndsTheWatchWithoutError(t *testing.T) {
	var log streamLog
	withFake(t, streams(&log, func(stream stream) error {
		_ = stream.Send(update("a", finished))
		return status.Error(codes.Unavailable, "not now")
	}), func(t *testing.T, client *Client) {
		if tokens, err := watchAll(t.Context(), client); err != nil || !slices.Equal(tokens, []string{"a"}) {
			t.Error(tokens, err)
		}
		log.want(t, "")
	})
}

func TestADeletedOrExpiredGameEndsItsWatch(t *testing.T) {
	for reason, want := range map[pb.WatchEndReason]*Error{
		pb.WatchEndReason_WATCH_END_REASON_DELETED: {Reason: ReasonGameDeleted, Message: "Game game was deleted."},
		pb.WatchEndReason_WATCH_END_REASON_EXPIRED: {Reason: ReasonGameExpired, Message: "Game game has expired."},
	} {
		var log streamLog
		withFake(t, streams(&log, sends(end(reason))), func(t *testing.T, client *Client) {
			_, err := watchAll(t.Context(), client)
			if failure := wantReason(t, err, want.Reason, want.Message); failure.Code != codes.NotFound {
				t.Error(failure.Code)
			}
		})
	}
}

func TestLeavingTheLoopCancelsTheStream(t *testing.T) {
	gone := make(chan error, 1)
	withFake(t, &fake{watchGame: func(_ *pb.WatchGameRequest, stream stream) error {
		err := sends(snapshot("a"))(stream)
		gone <- err
		return err
	}}, func(t *testing.T, client *Client) {
		for range spectatorOf(t, client, "game").Watch(t.Context()) {
			break
		}
		if status.Code(<-gone) != codes.Canceled {
			t.Error("the stream is still open")
		}
	})
}

func TestCancellingAndClosingEndAWatchImmediately(t *testing.T) {
	for name, service := range map[string]func(stream) error{
		"while it reads": sends(snapshot("a")), "while it pauses": fails(status.Error(codes.Unavailable, "not now")),
	} {
		for message, stop := range map[string]func(*Client, context.CancelFunc){
			"The watch of game game was cancelled.":           func(_ *Client, cancel context.CancelFunc) { cancel() },
			"The watch ended because this client was closed.": func(client *Client, _ context.CancelFunc) { _ = client.Close() },
		} {
			t.Run(name+": "+message, func(t *testing.T) {
				var log streamLog
				withFake(t, streams(&log, service), func(t *testing.T, client *Client) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					time.AfterFunc(10*time.Second, func() { stop(client, cancel) })
					started := time.Now()
					_, err := watchAll(ctx, client)
					if err == nil || err.Error() != message || errors.Is(err, context.Canceled) != (ctx.Err() != nil) {
						t.Error(ReasonOf(err), err)
					}
					wantBetween(t, time.Since(started), 10*time.Second, 10*time.Second)
					// The client and the context stay stopped.
					if _, err := watchAll(ctx, client); err == nil || err.Error() != message {
						t.Error(err)
					}
				})
			})
		}
	}
}

func TestTheDeadlineOfTheContextEndsAWatch(t *testing.T) {
	var log streamLog
	withFake(t, streams(&log, sends(snapshot("a"))), func(t *testing.T, client *Client) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := watchAll(ctx, client)
		wantReason(t, err, ReasonDeadlineExceeded, "The watch of game game reached the deadline of its context.")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the error does not wrap that of the context")
		}
	})
}

func TestEachLoopIsASeparateWatch(t *testing.T) {
	var log streamLog
	withFake(t, streams(&log, sends(update("b", 0), over)), func(t *testing.T, client *Client) {
		watch := spectatorOf(t, client, "game").Watch(t.Context(), WithResumeToken("a"))
		synctest.Wait()
		log.want(t)
		for range 2 {
			for _, err := range watch {
				if err != nil {
					t.Error(err)
				}
			}
		}
		log.want(t, "a", "a")
	})
}
