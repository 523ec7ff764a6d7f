package sodafountain

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
)

// Error is the error of a failed call. Every error of this package is an *Error: switch on [ReasonOf], or use [errors.As].
//
// It wraps [context.Canceled] if the caller cancelled the call, and [context.DeadlineExceeded] if the deadline passed.
type Error struct {
	// Reason is the reason of the failure, to switch on.
	Reason Reason
	// Code is the gRPC status code.
	Code codes.Code
	// Message is a sentence for people.
	Message string
	// Metadata is the metadata of the reason, such as "version" or "call_id". ErrorReason of the contract documents it.
	Metadata map[string]string
	// FieldViolations are the invalid fields of the request.
	FieldViolations []FieldViolation
	// RetryDelay is the delay after which the service suggests a retry, or 0 if it suggests none.
	RetryDelay time.Duration

	requestID secret
}

// FieldViolation is an invalid field of a request.
type FieldViolation struct {
	// Field is the path of the field in the request message, such as "options.soda_jerk.first_seat".
	Field string
	// Description is the problem, and the valid values.
	Description string
}

// Error returns the message: a sentence for people, without secrets.
func (e *Error) Error() string {
	return e.Message
}

// Unwrap returns [context.Canceled] or [context.DeadlineExceeded] if the reason is one of these, otherwise nil.
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

// RequestID returns the request id of a new game or a move; empty for other calls. If the result is unknown, retry with the
// same id ([WithRequestID]): nothing happens twice, and the response is that of the first request. The request id of a new
// game is a secret: do not log it.
func (e *Error) RequestID() string {
	if e.requestID == nil {
		return ""
	}
	return e.requestID()
}

// isTransient returns whether a watch should retry after this error.
func (e *Error) isTransient() bool {
	switch e.Reason {
	case ReasonStoreUnavailable, ReasonUnconfirmed, ReasonDraining, ReasonUpgrading, ReasonLimit, ReasonUnreachable,
		ReasonDeadlineExceeded:
		return true
	case ReasonUnknown:
		switch e.Code {
		case codes.Unavailable, codes.Canceled, codes.Aborted, codes.DeadlineExceeded, codes.ResourceExhausted,
			// A proxy that breaks a stream causes these.
			codes.Internal, codes.Unknown:
			return true
		}
	}
	return false
}
