package sodafountain

import (
	"errors"
	"strings"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Reason is the reason why a call failed, to switch on. See [ReasonOf].
type Reason string

// The reasons of the service. ErrorReason of the contract documents them, and the [Error.Metadata] of each.
const (
	// ReasonMalformed means that the request is malformed. [Error.FieldViolations] names the invalid fields.
	ReasonMalformed Reason = "MALFORMED"
	// ReasonIllegalMove means that the rules do not allow this move now.
	ReasonIllegalMove Reason = "ILLEGAL_MOVE"
	// ReasonNotYourTurn means that the seat has no open decision.
	ReasonNotYourTurn Reason = "NOT_YOUR_TURN"
	// ReasonGameFinished means that the game is over.
	ReasonGameFinished Reason = "GAME_FINISHED"
	// ReasonStaleEtag means that the move answers a decision that is no longer open. Get the legal moves and choose again.
	ReasonStaleEtag Reason = "STALE_ETAG"
	// ReasonContention means that other moves of the same game won every race until the deadline. Retry.
	ReasonContention Reason = "CONTENTION"
	// ReasonRequestIDReused means that the request id was used before for another request. Use a new one.
	ReasonRequestIDReused Reason = "REQUEST_ID_REUSED"
	// ReasonTokenInvalid means that the token is missing, malformed, forged, or signed with a key that is no longer
	// accepted. The client returns it before any call if the token is malformed.
	ReasonTokenInvalid Reason = "TOKEN_INVALID"
	// ReasonWrongSeat means that the token is valid, but not for this game, seat or call, or that it is a spectator's.
	ReasonWrongSeat Reason = "WRONG_SEAT"
	// ReasonGameNotFound means that the game does not exist, has expired or was deleted. A private game does not exist
	// for callers without a token.
	ReasonGameNotFound Reason = "GAME_NOT_FOUND"
	// ReasonUpgrading means that every retry reached a server that cannot read the game, because another release of the
	// service stored it. Nothing changed. Retry later.
	ReasonUpgrading Reason = "UPGRADING"
	// ReasonLimit means that a limit is reached: of the size of a request, of calls, of games or of storage.
	ReasonLimit Reason = "LIMIT"
	// ReasonStoreUnavailable means that the service cannot reach its store. Nothing changed. Retry after [Error.RetryDelay].
	ReasonStoreUnavailable Reason = "STORE_UNAVAILABLE"
	// ReasonUnconfirmed means that it is unknown whether the change was stored. Retry with [Error.RequestID].
	ReasonUnconfirmed Reason = "UNCONFIRMED"
	// ReasonAPIKeyInvalid means that creating games requires an API key, and the key is missing or unknown. The client
	// returns it before any call if the key is malformed.
	ReasonAPIKeyInvalid Reason = "API_KEY_INVALID"
	// ReasonUnimplemented means that the server does not offer the call or the kind of game.
	ReasonUnimplemented Reason = "UNIMPLEMENTED"
	// ReasonInternal means that the service has a bug. Report Metadata["call_id"] to the operator.
	ReasonInternal Reason = "INTERNAL"
	// ReasonDraining means that every retry reached a server that was shutting down. Nothing changed. Retry later.
	ReasonDraining Reason = "DRAINING"
)

// The reasons of this library.
const (
	// ReasonUnreachable means that no service answered at the target, after all retries, or that a watch received no
	// message within its idle timeout. It is unknown whether a change happened.
	ReasonUnreachable Reason = "UNREACHABLE"
	// ReasonDeadlineExceeded means that the deadline passed without a response. It is unknown whether a change happened.
	// The error wraps [context.DeadlineExceeded].
	ReasonDeadlineExceeded Reason = "DEADLINE_EXCEEDED"
	// ReasonCancelled means that the context of the call was cancelled. It is unknown whether a change happened. The error
	// wraps [context.Canceled].
	ReasonCancelled Reason = "CANCELLED"
	// ReasonClientClosed means that the client was closed before or during the call. If during, it is unknown whether a
	// change happened.
	ReasonClientClosed Reason = "CLIENT_CLOSED"
	// ReasonCommitmentChanged means that a state or history does not match the commitment to the seed: the deal of the
	// game may have been replaced. Do not trust it. After Apply, the move may have been stored.
	ReasonCommitmentChanged Reason = "COMMITMENT_CHANGED"
	// ReasonGameDeleted means that the game was deleted during the watch.
	ReasonGameDeleted Reason = "GAME_DELETED"
	// ReasonGameExpired means that the game expired during the watch: no seat moved for as long as the operator keeps
	// idle games.
	ReasonGameExpired Reason = "GAME_EXPIRED"
	// ReasonArgument means that an argument is invalid. Nothing was sent. Examples are an invalid target, a message that
	// is not a move, and a game id, etag, request id or resume token that is not valid UTF-8.
	ReasonArgument Reason = "ARGUMENT"
	// ReasonUnknown means that the reason is missing, or that this release does not have it. Use [Error.Code].
	ReasonUnknown Reason = "UNKNOWN"
)

// ReasonOf returns the reason of an error: empty if err is nil, [ReasonUnknown] if it is not an [*Error].
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure.Reason
	}
	return ReasonUnknown
}

// reasonNamed returns the reason with a name of the contract, or [ReasonUnknown] if this release does not have it.
func reasonNamed(name string) Reason {
	const prefix = "ERROR_REASON_"
	value, known := pb.ErrorReason_value[prefix+name]
	if !known || value == int32(pb.ErrorReason_ERROR_REASON_UNSPECIFIED) {
		return ReasonUnknown
	}
	return Reason(strings.TrimPrefix(pb.ErrorReason(value).String(), prefix))
}
