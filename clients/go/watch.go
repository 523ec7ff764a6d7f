package sodafountain

import (
	"context"
	"iter"
	"time"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

const defaultPatience = time.Minute

// Update is what a watch tells: every event since the update before, and the newest state.
type Update struct {
	// State is the game now, as the viewer may see it.
	State *pb.GameState
	// Events are what happened since the update before, in order, as the viewer may know it; several moves' events when
	// they came fast or the watch was interrupted. None where IsSnapshot.
	Events []*pb.Event
	// IsSnapshot tells whether this starts afresh: so does the first update of a watch that does not resume. Later on it
	// means that what was told before is no part of the game any more (the service's store lost it): draw the state anew.
	IsSnapshot bool
	// ResumeToken begins another watch after this update; see [ResumeAfter]. Opaque, and no secret.
	ResumeToken string
}

// Watch follows the game to its end:
//
//	for update, err := range seat.Watch(ctx) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// First comes a snapshot, then every change once and in order, with its events and the newest state; after the last change
// the loop ends. While the service is away, or another takes its place, the watch tries again and goes on where it was.
// Leaving the loop ends the watch at once, and so does cancelling ctx, with an error. An error is the last that a watch
// tells, and comes without an update. Nothing is asked of the service before the loop begins, and each loop over the same
// value is a watch of its own.
//
// It fails for [ReasonGameNotFound] where there is no such game, for [ReasonGameDeleted] or [ReasonGameExpired] where it has
// gone meanwhile, for [ReasonTokenInvalid] and [ReasonWrongSeat] where the token is not good for it, for [ReasonMalformed]
// where the resume token is none, for [ReasonUnreachable] where the service could not be reached, or was silent, for as
// long as [WithPatience] says (so too [ReasonStoreUnavailable], [ReasonDraining] and [ReasonLimit], where it said why), for
// [ReasonCancelled] and [ReasonDeadlineExceeded] where ctx is done, and for [ReasonClientClosed].
func (v *viewer) Watch(ctx context.Context, options ...WatchOption) iter.Seq2[*Update, error] {
	settings := watchSettings{patience: defaultPatience}
	for _, option := range options {
		option.watch(&settings)
	}
	return func(yield func(*Update, error) bool) {
		problem := checkDuration("patience", settings.patience)
		if problem == nil {
			following := following{viewer: v, settings: settings, resumeToken: settings.resumeToken, yield: yield}
			problem = following.follow(ctx)
		}
		if problem != nil {
			yield(nil, problem)
		}
	}
}
