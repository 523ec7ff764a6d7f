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

// The domain of an ErrorInfo of the service.
const domain = "sodafountain"

// callInfo describes a call in the error of its RPC.
type callInfo struct {
	rpc       string
	target    string
	tls       bool
	timeout   time.Duration
	requestID secret
}

// toError converts a failed RPC to an error: by the reason in its details, otherwise by its status code.
func (c callInfo) toError(failure error) *Error {
	found := statusOf(failure)
	details := found.Proto().GetDetails()
	info := errorInfo(details)
	if info == nil {
		return c.fromCode(found)
	}
	message := found.Message()
	if message == "" {
		message = fmt.Sprintf("%s failed with %s.", c.rpc, info.GetReason())
	}
	return &Error{
		Reason:          reasonNamed(info.GetReason()),
		Code:            found.Code(),
		Message:         message,
		Metadata:        info.GetMetadata(),
		FieldViolations: fieldViolations(details),
		RetryDelay:      retryDelay(details),
		requestID:       c.requestID,
	}
}

// fromCode converts an error of gRPC or of a proxy, which has no reason.
func (c callInfo) fromCode(found *status.Status) *Error {
	over := ""
	if c.tls {
		over = " over TLS"
	}
	cause := describeCause(found.Message(), c.target, c.tls)
	failed := func(reason Reason, format string, values ...any) *Error {
		return &Error{Reason: reason, Code: found.Code(), Message: fmt.Sprintf(format, values...), requestID: c.requestID}
	}
	switch found.Code() {
	case codes.Unavailable:
		return failed(ReasonUnreachable, "Cannot reach a Soda Fountain service at %s%s (%s).", c.target, over, cause)
	case codes.Canceled:
		return failed(ReasonUnreachable, "The server at %s cancelled %s (%s).", c.target, c.rpc, cause)
	case codes.DeadlineExceeded:
		return failed(ReasonDeadlineExceeded, "%s did not answer %s%s within %s.", c.target, c.rpc, over, seconds(c.timeout))
	case codes.Unimplemented:
		return failed(ReasonUnimplemented, "The server at %s does not offer %s (%s).", c.target, c.rpc, cause)
	case codes.ResourceExhausted:
		return failed(ReasonLimit, "%s hit a limit at %s (%s).", c.rpc, c.target, cause)
	default:
		return failed(ReasonUnknown, "%s failed at %s with %s (%s).", c.rpc, c.target, code.Code(found.Code()), cause)
	}
}

// statusOf returns the status of a failed RPC, without the error that gRPC wraps around it after the last retry.
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

// unpacks decodes a detail into a message. It returns false if the detail has another type or cannot be decoded.
func unpacks(detail *anypb.Any, message proto.Message) bool {
	return detail.MessageIs(message) && detail.UnmarshalTo(message) == nil
}

// seconds formats a time, such as 5 s or 0.25 s. It rounds up to 0.01 s, because the remaining time of a context is slightly
// less than its timeout.
func seconds(duration time.Duration) string {
	return fmt.Sprintf("%g s", math.Ceil(max(duration, 0).Seconds()*100)/100)
}
