package sodafountain

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
)

// Error tells why a call failed. Every error of this package is one: switch on [ReasonOf], or take it out of an error
// with [errors.As].
//
// It is a [context.Canceled] or a [context.DeadlineExceeded] too, by [errors.Is], where the caller cancelled the call or
// no answer came in time.
type Error struct {
	// Reason is why, to switch on.
	Reason Reason
	// Code is the gRPC status code.
	Code codes.Code
	// Message is one sentence for people.
	Message string
	// Metadata holds facts that come with the reason, "version" or "call_id" for instance; see the contract's
	// ErrorReason.
	Metadata map[string]string
	// FieldViolations are the fields of the request that are wrong.
	FieldViolations []FieldViolation
	// RetryDelay is after how long the service suggests to try again; 0 where it suggests nothing.
	RetryDelay time.Duration

	requestID secret
}

// FieldViolation is a field of a request that is wrong.
type FieldViolation struct {
	// Field is the path of the field in the request message, "options.soda_jerk.first_seat" for instance.
	Field string
	// Description is what would be right.
	Description string
}

// Error returns the message: one sentence for people, without any secret.
func (e *Error) Error() string {
	return e.Message
}

// Unwrap returns [context.Canceled] or [context.DeadlineExceeded] where that is what happened, else nil.
func (e *Error) Unwrap() error {
	switch e.Reason {
	case ReasonCancelled:
		return context.Canceled
	case ReasonDeadlineExceeded:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// RequestID is the id under which a new game or a move was asked for; empty for other calls. Asking for the same again
// [WithRequestID] shows what became of it where that is not known. A secret where it made a game: keep it out of logs.
func (e *Error) RequestID() string {
	if e.requestID == nil {
		return ""
	}
	return e.requestID()
}

// passes tells whether a watch that ended so may go on later.
func (e *Error) passes() bool {
	switch e.Reason {
	case ReasonStoreUnavailable, ReasonUnconfirmed, ReasonDraining, ReasonLimit, ReasonUnreachable, ReasonDeadlineExceeded:
		return true
	case ReasonUnknown:
		switch e.Code {
		case codes.Unavailable, codes.Canceled, codes.Aborted, codes.DeadlineExceeded, codes.ResourceExhausted,
			// What broken streams look like when a proxy broke them.
			codes.Internal, codes.Unknown:
			return true
		}
	}
	return false
}
