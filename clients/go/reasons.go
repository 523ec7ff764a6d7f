package sodafountain

import (
	"errors"
	"strings"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Reason tells why a call failed: a value to switch on. See [ReasonOf].
type Reason string

// The reasons that the service gives: those of the contract's ErrorReason, which also tells what [Error.Metadata] holds.
const (
	// ReasonMalformed says that the request is not well formed; [Error.FieldViolations] names the fields.
	ReasonMalformed Reason = "MALFORMED"
	// ReasonIllegalMove says that the rules forbid this move now.
	ReasonIllegalMove Reason = "ILLEGAL_MOVE"
	// ReasonNotYourTurn says that nothing is awaited from this seat now.
	ReasonNotYourTurn Reason = "NOT_YOUR_TURN"
	// ReasonGameFinished says that the game is over.
	ReasonGameFinished Reason = "GAME_FINISHED"
	// ReasonStaleEtag says that the move answers another decision than the one open now: look again and choose again.
	ReasonStaleEtag Reason = "STALE_ETAG"
	// ReasonContention says that other moves of the same game won every race until the deadline: try again.
	ReasonContention Reason = "CONTENTION"
	// ReasonRequestIDReused says that the request id was used before for something else: draw a new one.
	ReasonRequestIDReused Reason = "REQUEST_ID_REUSED"
	// ReasonTokenInvalid says that the token is missing, malformed, forged, or signed with a key that is no longer
	// accepted. It is also given before any call where no token looks like that.
	ReasonTokenInvalid Reason = "TOKEN_INVALID"
	// ReasonWrongSeat says that the token is good, but not for this game or seat, or that the call is the host's alone.
	ReasonWrongSeat Reason = "WRONG_SEAT"
	// ReasonGameNotFound says that there is no such game: it never was, has expired or was deleted.
	ReasonGameNotFound Reason = "GAME_NOT_FOUND"
	// ReasonNotFinished says that this is shown only after the end of the game.
	ReasonNotFinished Reason = "NOT_FINISHED"
	// ReasonLimit says that a limit was hit: a request too large, too many at once, the store full.
	ReasonLimit Reason = "LIMIT"
	// ReasonStoreUnavailable says that the service cannot reach its store; nothing was changed. Try again after
	// [Error.RetryDelay].
	ReasonStoreUnavailable Reason = "STORE_UNAVAILABLE"
	// ReasonUnconfirmed says that whether the change was stored is not known: send the same again with
	// [Error.RequestID].
	ReasonUnconfirmed Reason = "UNCONFIRMED"
	// ReasonAPIKeyInvalid says that creating games needs an API key, and none or an unknown one was sent. It is also
	// given before any call where no key looks like that.
	ReasonAPIKeyInvalid Reason = "API_KEY_INVALID"
	// ReasonUnimplemented says that the server does not offer the call or the kind of game.
	ReasonUnimplemented Reason = "UNIMPLEMENTED"
	// ReasonInternal says that the service has a defect; its operator finds the details under Metadata["call_id"].
	ReasonInternal Reason = "INTERNAL"
	// ReasonDraining says that the server is going away, after every retry; nothing was changed. The same may be asked
	// again.
	ReasonDraining Reason = "DRAINING"
)

// The reasons that no service gives, but this library.
const (
	// ReasonUnreachable says that no service answers at the address, after every retry, or that a watch heard nothing
	// for too long. Whether a change was made is not known.
	ReasonUnreachable Reason = "UNREACHABLE"
	// ReasonDeadlineExceeded says that no answer came in time. Whether a change was made is not known. The error is a
	// [context.DeadlineExceeded] too.
	ReasonDeadlineExceeded Reason = "DEADLINE_EXCEEDED"
	// ReasonCancelled says that the caller's context was cancelled. Whether a change was made is not known. The error is
	// a [context.Canceled] too.
	ReasonCancelled Reason = "CANCELLED"
	// ReasonClientClosed says that the client was closed before the call, or under it: then whether a change was made is
	// not known.
	ReasonClientClosed Reason = "CLIENT_CLOSED"
	// ReasonGameDeleted says that the game was deleted while it was watched.
	ReasonGameDeleted Reason = "GAME_DELETED"
	// ReasonGameExpired says that the game expired while it was watched: nothing had happened in it for as long as the
	// operator keeps games.
	ReasonGameExpired Reason = "GAME_EXPIRED"
	// ReasonArgument says that the program is wrong, and that nothing was sent: a target that is no address, for
	// instance, something else than a move, or a game id, etag, request id or resume token that is no valid UTF-8.
	ReasonArgument Reason = "ARGUMENT"
	// ReasonUnknown says that no reason was given, or one that this release does not know: go by [Error.Code].
	ReasonUnknown Reason = "UNKNOWN"
)

// ReasonOf tells why a call of this library failed: empty where err is nil, [ReasonUnknown] where it is no [*Error].
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure.Reason
	}
	return ReasonUnknown
}

// reasonNamed finds a reason of the contract by the name that travels; [ReasonUnknown] where this release has none.
func reasonNamed(name string) Reason {
	const prefix = "ERROR_REASON_"
	value, known := pb.ErrorReason_value[prefix+name]
	if !known || value == int32(pb.ErrorReason_ERROR_REASON_UNSPECIFIED) {
		return ReasonUnknown
	}
	return Reason(strings.TrimPrefix(pb.ErrorReason(value).String(), prefix))
}
