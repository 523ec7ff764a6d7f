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
	// A stream on which nothing was heard for so long is given up: three times the period in which the service gives a
	// sign of life, if its operator leaves that as it is. Where it is longer, quiet streams are begun anew in vain; that
	// costs no more than a call.
	longestSilence = 45 * time.Second
	shortestPause  = 100 * time.Millisecond
	longestPause   = 5 * time.Second
)

// following is a watch under way: one stream after the other, each resuming after the last message that was heard.
// Messages are heard one by one, as the caller asks for updates, so that this is also the last one that the caller was told.
type following struct {
	viewer      *viewer
	settings    watchSettings
	yield       func(*Update, error) bool
	resumeToken string
	// When the patience is over.
	until time.Time
	// Whether the last change of the game has been told, so that the rest can only be that it is over.
	finished bool
	// Why the last stream that said so was over, if nothing was heard since.
	last *Error
	// At most how long the next pause is.
	pause time.Duration
}

// follow tells everything. It returns nil when the game is over or nobody listens any more, else why it cannot go on.
func (f *following) follow(ctx context.Context) *Error {
	if problem := checkText(f.request()); problem != nil {
		return problem
	}
	f.pause = shortestPause
	f.bePatient()
	for {
		if problem := f.interrupted(ctx); problem != nil {
			return problem
		}
		problem, silent := f.stream(ctx)
		if problem == nil || f.finished {
			return nil
		}
		if interrupted := f.interrupted(ctx); interrupted != nil {
			return interrupted
		}
		if !problem.passes() {
			return problem
		}
		if !silent || f.last == nil {
			f.last = problem
		}
		pause := max(f.nextPause(), problem.RetryDelay)
		if pause >= time.Until(f.until) {
			return f.last
		}
		f.wait(ctx, pause)
	}
}

// stream tells the messages of one stream. It returns nil when the game is over or nobody listens any more, else why the
// stream ended, and whether that is for its silence.
func (f *following) stream(caller context.Context) (problem *Error, isSilent bool) {
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	var silent atomic.Bool
	silence := time.AfterFunc(f.silence(), func() {
		silent.Store(true)
		cancel()
	})
	defer silence.Stop()

	about := call{rpc: "WatchGame", token: f.viewer.token}
	messages, err := f.viewer.client.service.WatchGame(about.outgoing(ctx), f.request())
	for err == nil {
		var message *pb.WatchGameResponse
		if message, err = messages.Recv(); err != nil {
			break
		}
		silence.Stop()
		if end := message.GetEnd(); end != nil {
			return f.ended(end.GetReason()), false
		}
		if !f.tell(message) {
			return nil, false
		}
		silence.Reset(f.silence())
	}
	switch {
	case silent.Load():
		return f.unheard(), true
	case errors.Is(err, io.EOF):
		return f.ended(pb.WatchEndReason_WATCH_END_REASON_UNSPECIFIED), false
	default:
		return f.viewer.client.explained(caller, err, about, longestSilence), false
	}
}

// request asks for a stream that goes on after the last message that was heard.
func (f *following) request() *pb.WatchGameRequest {
	return &pb.WatchGameRequest{
		GameId:            f.viewer.gameID,
		Seat:              f.viewer.seat,
		ResumeToken:       f.resumeToken,
		IncludeLegalMoves: f.settings.legalMoves,
	}
}

// tell tells the caller what a message holds: nothing if it is a sign of life, or of a kind that is not known yet. It
// returns whether somebody still listens.
func (f *following) tell(message *pb.WatchGameResponse) bool {
	f.resumeToken = message.GetResumeToken()
	f.last = nil
	f.pause = shortestPause
	f.bePatient()
	update := &Update{ResumeToken: message.GetResumeToken()}
	switch item := message.GetItem().(type) {
	case *pb.WatchGameResponse_Snapshot:
		update.State, update.IsSnapshot = item.Snapshot, true
	case *pb.WatchGameResponse_Update:
		update.State, update.Events = item.Update.GetState(), item.Update.GetEvents()
	default:
		return true
	}
	f.viewer.note(update.State, !update.IsSnapshot)
	f.finished = update.State.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED
	listens := f.yield(update, nil)
	f.bePatient()
	return listens
}

// ended is what becomes of the watch when the service ends its stream: nil where the game is over.
func (f *following) ended(reason pb.WatchEndReason) *Error {
	id := f.viewer.gameID
	switch reason {
	case pb.WatchEndReason_WATCH_END_REASON_FINISHED:
		return nil
	case pb.WatchEndReason_WATCH_END_REASON_DELETED:
		return &Error{Reason: ReasonGameDeleted, Code: codes.NotFound, Message: fmt.Sprintf("Game %s was deleted.", id)}
	case pb.WatchEndReason_WATCH_END_REASON_EXPIRED:
		return &Error{Reason: ReasonGameExpired, Code: codes.NotFound, Message: fmt.Sprintf("Game %s has expired.", id)}
	default:
		message := fmt.Sprintf("The service ended the watch of game %s too early.", id)
		return &Error{Reason: ReasonUnreachable, Code: codes.Unavailable, Message: message}
	}
}

// unheard is the problem of a stream on which nothing was heard.
func (f *following) unheard() *Error {
	message := fmt.Sprintf("Nothing was heard of game %s for %s: the service or the way to it hangs.",
		f.viewer.gameID, seconds(f.settings.patience))
	return &Error{Reason: ReasonUnreachable, Code: codes.Unavailable, Message: message}
}

// interrupted is the error of a watch whose context is done or whose client is closed, else nil.
func (f *following) interrupted(ctx context.Context) *Error {
	id := f.viewer.gameID
	switch {
	case f.viewer.client.closed():
		message := "This client was closed, and its watch with it."
		return &Error{Reason: ReasonClientClosed, Code: codes.Canceled, Message: message}
	case ctx.Err() == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		message := fmt.Sprintf("The watch of game %s lasted until the deadline of its context.", id)
		return &Error{Reason: ReasonDeadlineExceeded, Code: codes.DeadlineExceeded, Message: message}
	default:
		message := fmt.Sprintf("The watch of game %s was cancelled.", id)
		return &Error{Reason: ReasonCancelled, Code: codes.Canceled, Message: message}
	}
}

// bePatient begins to count how long the caller has waited without a message.
func (f *following) bePatient() {
	f.until = time.Now().Add(f.settings.patience)
}

// silence is for how long nothing may be heard.
func (f *following) silence() time.Duration {
	return min(longestSilence, time.Until(f.until))
}

// nextPause is the time until the next attempt, longer and longer. Not the same for all, lest a crowd come back at once.
func (f *following) nextPause() time.Duration {
	pause := time.Duration(float64(f.pause) * (0.5 + 0.5*rand.Float64()))
	f.pause = min(2*f.pause, longestPause)
	return pause
}

// wait waits, unless the watch is interrupted.
func (f *following) wait(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-f.viewer.client.open.Done():
	}
}
