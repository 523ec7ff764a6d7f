package sodafountain

import (
	"errors"
	"fmt"
	"math"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// The domain of the ErrorInfo that the service itself gives.
const domain = "sodafountain.v1"

// attempt is an RPC that was made, as far as its errors tell of it.
type attempt struct {
	rpc       string
	target    string
	tls       bool
	within    time.Duration
	requestID secret
}

// explained finds the error that tells best why an RPC failed.
func (a attempt) explained(failure error) *Error {
	found := statusOf(failure)
	details := found.Proto().GetDetails()
	info := errorInfo(details)
	if info == nil {
		return a.unexplained(found)
	}
	message := found.Message()
	if message == "" {
		message = fmt.Sprintf("%s failed with %s.", a.rpc, info.GetReason())
	}
	return &Error{
		Reason:          reasonNamed(info.GetReason()),
		Code:            found.Code(),
		Message:         message,
		Metadata:        info.GetMetadata(),
		FieldViolations: fieldViolations(details),
		RetryDelay:      retryDelay(details),
		requestID:       a.requestID,
	}
}

// unexplained is the error of what gRPC itself or something on the way reports, without a reason of the service.
func (a attempt) unexplained(found *status.Status) *Error {
	over := ""
	if a.tls {
		over = " over TLS"
	}
	cause := causeOf(found.Message(), a.target, a.tls)
	failed := func(reason Reason, format string, values ...any) *Error {
		return &Error{Reason: reason, Code: found.Code(), Message: fmt.Sprintf(format, values...), requestID: a.requestID}
	}
	switch found.Code() {
	case codes.Unavailable:
		return failed(ReasonUnreachable, "Cannot reach a Soda Fountain service at %s%s (%s).", a.target, over, cause)
	case codes.Canceled:
		return failed(ReasonUnreachable, "The server at %s went away during %s (%s).", a.target, a.rpc, cause)
	case codes.DeadlineExceeded:
		return failed(ReasonDeadlineExceeded, "%s did not answer %s%s within %s.", a.target, a.rpc, over, seconds(a.within))
	case codes.Unimplemented:
		return failed(ReasonUnimplemented, "The server at %s does not offer %s (%s).", a.target, a.rpc, cause)
	case codes.ResourceExhausted:
		return failed(ReasonLimit, "%s hit a limit at %s (%s).", a.rpc, a.target, cause)
	default:
		return failed(ReasonUnknown, "%s failed at %s with %s (%s).", a.rpc, a.target, code.Code(found.Code()), cause)
	}
}

// statusOf finds the status of a failed RPC, without what gRPC wraps around it after the last retry.
func statusOf(failure error) *status.Status {
	if carrier, ok := errors.AsType[interface {
		error
		GRPCStatus() *status.Status
	}](failure); ok {
		return carrier.GRPCStatus()
	}
	return status.Convert(failure)
}

func errorInfo(details []*anypb.Any) *errdetails.ErrorInfo {
	for _, detail := range details {
		var info errdetails.ErrorInfo
		if unpacks(detail, &info) && info.GetDomain() == domain {
			return &info
		}
	}
	return nil
}

func fieldViolations(details []*anypb.Any) []FieldViolation {
	var violations []FieldViolation
	for _, detail := range details {
		var request errdetails.BadRequest
		if unpacks(detail, &request) {
			for _, violation := range request.GetFieldViolations() {
				violations = append(violations, FieldViolation{violation.GetField(), violation.GetDescription()})
			}
		}
	}
	return violations
}

func retryDelay(details []*anypb.Any) time.Duration {
	for _, detail := range details {
		var retry errdetails.RetryInfo
		if unpacks(detail, &retry) && retry.GetRetryDelay() != nil {
			return retry.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

// unpacks unpacks a detail into a message, if it is of that type and can be read.
func unpacks(detail *anypb.Any, message proto.Message) bool {
	return detail.MessageIs(message) && detail.UnmarshalTo(message) == nil
}

// seconds tells a time to people: 5 s, 0.25 s. What a context has left is a little less than what its maker said, so
// that it is rounded up, to a hundredth.
func seconds(left time.Duration) string {
	return fmt.Sprintf("%g s", math.Ceil(max(left, 0).Seconds()*100)/100)
}
