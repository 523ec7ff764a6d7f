package sodafountain

import (
	"context"
	"iter"
	"time"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

const defaultIdleTimeout = time.Minute

// Update is an update of a watch: all events since the previous update, and the newest state.
type Update struct {
	// State is the newest state, as the viewer sees it.
	State *pb.GameState
	// Events are the events since the previous update, in order, as the viewer sees them. They cover several moves if
	// these came fast or the watch was interrupted. Empty if IsSnapshot.
	Events []*pb.Event
	// IsSnapshot is whether this update replaces all earlier ones. The first update of a watch without a resume token is a
	// snapshot. A later snapshot means that the store of the service lost changes: redraw the game from State.
	IsSnapshot bool
	// ResumeToken resumes another watch after this update; see [WithResumeToken]. Opaque, and not a secret.
	ResumeToken string
}

// Watch watches the game to its end:
//
//	for update, err := range seat.Watch(ctx) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// The first update is a snapshot. Then every change arrives once and in order, with its events and the newest state. The
// loop ends after the last change of the game. If the connection breaks or the server stops, the watch reconnects and
// resumes after the last update. Leaving the loop ends the watch immediately. Cancelling ctx ends it immediately with an
// error. An error ends the loop and comes without an update. The watch makes no call before the loop starts, and each
// loop over the same value is a separate watch.
//
// It fails with [ReasonGameNotFound], [ReasonGameDeleted] or [ReasonGameExpired] if the game does not exist or no
// longer exists, with [ReasonTokenInvalid] or [ReasonWrongSeat] if the token is invalid or not for this game, with
// [ReasonMalformed] if the resume token is invalid, with [ReasonUnreachable], [ReasonStoreUnavailable],
// [ReasonDraining], [ReasonUpgrading] or [ReasonLimit] if no message arrived within the idle timeout (see
// [WithIdleTimeout]), with [ReasonCommitmentChanged] if a state has another commitment to the seed than the first one,
// with [ReasonCancelled] or [ReasonDeadlineExceeded] if ctx is done, and with [ReasonClientClosed] if the client is
// closed.
func (v *viewer) Watch(ctx context.Context, options ...WatchOption) iter.Seq2[*Update, error] {
	settings := watchSettings{idleTimeout: defaultIdleTimeout}
	for _, option := range options {
		option.watch(&settings)
	}
	return func(yield func(*Update, error) bool) {
		problem := validateTimeout("idle timeout", settings.idleTimeout)
		if problem == nil {
			loop := watchLoop{viewer: v, settings: settings, resumeToken: settings.resumeToken, yield: yield}
			problem = loop.run(ctx)
		}
		if problem != nil {
			yield(nil, problem)
		}
	}
}
