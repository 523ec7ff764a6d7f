package sodafountain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

const (
	// The watch replaces a stream without a message for this time: three heartbeats at the default interval. With a longer
	// interval it replaces idle streams needlessly, which costs one call each.
	streamTimeout = 45 * time.Second
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// watchLoop is one loop over a watch: a sequence of streams, each of which resumes after the last message. It reads a
// message only when the caller requests an update, so the caller has received every update before the resume token.
type watchLoop struct {
	viewer      *viewer
	settings    watchSettings
	yield       func(*Update, error) bool
	resumeToken string
	// When the idle timeout ends.
	idleUntil time.Time
	// Whether the caller has received the last change of the game. Only the end of the stream is missing then.
	finished bool
	// The latest failure that the service or the connection reported since the last message.
	lastFailure *Error
	// The upper limit of the next pause.
	pause time.Duration
}

// run delivers all updates. It returns nil if the game is over or the caller left the loop, otherwise the error that ends
// the watch.
func (w *watchLoop) run(ctx context.Context) *Error {
	if problem := validateText(w.request()); problem != nil {
		return problem
	}
	w.pause = shortestPause
	w.startIdleTimeout()
	for {
		if problem := w.stopError(ctx); problem != nil {
			return problem
		}
		problem, timedOut := w.readStream(ctx)
		if problem == nil || w.finished {
			return nil
		}
		if stopped := w.stopError(ctx); stopped != nil {
			return stopped
		}
		if !problem.isTransient() {
			return problem
		}
		if !timedOut || w.lastFailure == nil {
			w.lastFailure = problem
		}
		pause := max(w.nextPause(), problem.RetryDelay)
		if pause >= time.Until(w.idleUntil) {
			return w.lastFailure
		}
		w.wait(ctx, pause)
	}
}

// readStream delivers the updates of one stream. It returns nil if the game is over or the caller left the loop, otherwise
// why the stream ended, and whether that was the stream timeout.
func (w *watchLoop) readStream(caller context.Context) (problem *Error, timedOut bool) {
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	var expired atomic.Bool
	timer := time.AfterFunc(w.readTimeout(), func() {
		expired.Store(true)
		cancel()
	})
	defer timer.Stop()

	watchGame := call{rpc: "WatchGame", gameID: w.viewer.gameID, token: w.viewer.token}
	messages, err := w.viewer.client.service.WatchGame(watchGame.withMetadata(ctx), w.request())
	for err == nil {
		var message *pb.WatchGameResponse
		if message, err = messages.Recv(); err != nil {
			break
		}
		timer.Stop()
		if end := message.GetEnd(); end != nil {
			return w.endError(end.GetReason()), false
		}
		if continues, problem := w.deliver(message); !continues {
			return problem, false
		}
		timer.Reset(w.readTimeout())
	}
	switch {
	case expired.Load():
		return w.timeoutError(), true
	case errors.Is(err, io.EOF):
		return w.endError(pb.WatchEndReason_WATCH_END_REASON_UNSPECIFIED), false
	default:
		return w.viewer.client.toError(caller, err, watchGame, streamTimeout), false
	}
}

// request returns the request of the next stream.
func (w *watchLoop) request() *pb.WatchGameRequest {
	return &pb.WatchGameRequest{
		GameId:            w.viewer.gameID,
		Seat:              w.viewer.seat,
		ResumeToken:       w.resumeToken,
		IncludeLegalMoves: w.settings.legalMoves,
	}
}

// deliver passes the update in a message to the caller. Heartbeats, and messages that this release does not know, have
// none. It returns whether the loop continues, and the error that ends the watch.
func (w *watchLoop) deliver(message *pb.WatchGameResponse) (continues bool, problem *Error) {
	w.resumeToken = message.GetResumeToken()
	w.lastFailure = nil
	w.pause = shortestPause
	w.startIdleTimeout()
	update := &Update{ResumeToken: message.GetResumeToken()}
	switch item := message.GetItem().(type) {
	case *pb.WatchGameResponse_Snapshot:
		update.State, update.IsSnapshot = item.Snapshot, true
	case *pb.WatchGameResponse_Update:
		update.State, update.Events = item.Update.GetState(), item.Update.GetEvents()
	default:
		return true, nil
	}
	problem = w.viewer.remember(update.State, !update.IsSnapshot)
	w.finished = problem == nil && update.State.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED
	if problem != nil {
		return false, problem
	}
	continues = w.yield(update, nil)
	w.startIdleTimeout()
	return continues, nil
}

// endError returns the error for the end of a stream, or nil if the game is over.
func (w *watchLoop) endError(reason pb.WatchEndReason) *Error {
	id := w.viewer.gameID
	switch reason {
	case pb.WatchEndReason_WATCH_END_REASON_FINISHED:
		return nil
	case pb.WatchEndReason_WATCH_END_REASON_DELETED:
		return &Error{Reason: ReasonGameDeleted, Code: codes.NotFound, Message: fmt.Sprintf("Game %s was deleted.", id)}
	case pb.WatchEndReason_WATCH_END_REASON_EXPIRED:
		return &Error{Reason: ReasonGameExpired, Code: codes.NotFound, Message: fmt.Sprintf("Game %s has expired.", id)}
	default:
		message := fmt.Sprintf("The service ended the watch of game %s before the game was over.", id)
		return &Error{Reason: ReasonUnreachable, Code: codes.Unavailable, Message: message}
	}
}

// timeoutError returns the error for a stream without messages.
func (w *watchLoop) timeoutError() *Error {
	message := fmt.Sprintf("No message about game %s arrived for %s: the service or the connection to it is not responding.",
		w.viewer.gameID, seconds(w.settings.idleTimeout))
	return &Error{Reason: ReasonUnreachable, Code: codes.Unavailable, Message: message}
}

// stopError returns the error of a watch whose context is done or whose client is closed, otherwise nil.
func (w *watchLoop) stopError(ctx context.Context) *Error {
	id := w.viewer.gameID
	switch {
	case w.viewer.client.closed():
		message := "The watch ended because this client was closed."
		return &Error{Reason: ReasonClientClosed, Code: codes.Canceled, Message: message}
	case ctx.Err() == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		message := fmt.Sprintf("The watch of game %s reached the deadline of its context.", id)
		return &Error{Reason: ReasonDeadlineExceeded, Code: codes.DeadlineExceeded, Message: message}
	default:
		message := fmt.Sprintf("The watch of game %s was cancelled.", id)
		return &Error{Reason: ReasonCancelled, Code: codes.Canceled, Message: message}
	}
}

// startIdleTimeout starts the idle timeout: the caller waits for a message now.
func (w *watchLoop) startIdleTimeout() {
	w.idleUntil = time.Now().Add(w.settings.idleTimeout)
}

// readTimeout returns how long to wait for a message.
func (w *watchLoop) readTimeout() time.Duration {
	return min(streamTimeout, time.Until(w.idleUntil))
}

// nextPause returns the pause before the next attempt. Pauses grow, and are random so that many clients do not reconnect
// simultaneously.
func (w *watchLoop) nextPause() time.Duration {
	pause := time.Duration(float64(w.pause) * (0.5 + 0.5*rand.Float64()))
	w.pause = min(2*w.pause, longestPause)
	return pause
}

// wait waits for a pause, or until the watch is stopped.
func (w *watchLoop) wait(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-w.viewer.client.lifetime.Done():
	}
}
