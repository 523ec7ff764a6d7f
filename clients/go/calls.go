package sodafountain

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// call is an RPC to make: its name, what it shows of its caller, and the request id that its message has.
type call struct {
	rpc       string
	token     secret
	apiKey    secret
	requestID secret
}

// invoke makes a call and waits for its answer.
func invoke[Request proto.Message, Response any](
	ctx context.Context,
	client *Client,
	call call,
	method func(context.Context, Request, ...grpc.CallOption) (*Response, error),
	request Request,
) (*Response, error) {
	if problem := checkText(request); problem != nil {
		return nil, problem
	}
	if client.closed() {
		return nil, &Error{
			Reason: ReasonClientClosed, Code: codes.Canceled, Message: "This client is closed.", requestID: call.requestID,
		}
	}
	within := client.timeout
	if deadline, limited := ctx.Deadline(); limited {
		within = time.Until(deadline)
	}
	// No later than the deadline of ctx, if that has one.
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	defer context.AfterFunc(client.open, cancel)()
	answer, err := method(call.outgoing(limited), request)
	if err != nil {
		return nil, client.explained(ctx, err, call, within)
	}
	return answer, nil
}

// outgoing is a context with the metadata of the call; what its caller's context has is sent too, but for secrets.
func (c call) outgoing(ctx context.Context) context.Context {
	sent, _ := metadata.FromOutgoingContext(ctx)
	sent = sent.Copy()
	sent.Delete("authorization")
	sent.Delete("x-api-key")
	if c.token != nil {
		sent.Set("authorization", "Bearer "+c.token())
	}
	if c.apiKey != nil {
		sent.Set("x-api-key", c.apiKey())
	}
	return metadata.NewOutgoingContext(ctx, sent)
}

func (c *Client) closed() bool {
	return c.open.Err() != nil
}

// explained is the error that tells why a call failed, whose caller gave ctx.
func (c *Client) explained(ctx context.Context, failure error, call call, within time.Duration) *Error {
	made := attempt{rpc: call.rpc, target: c.target, tls: c.tls, within: within, requestID: call.requestID}
	code := statusOf(failure).Code()
	switch {
	case code == codes.Canceled && errors.Is(ctx.Err(), context.Canceled):
		return &Error{
			Reason:    ReasonCancelled,
			Code:      code,
			Message:   call.rpc + " was cancelled before " + c.target + " had answered.",
			requestID: call.requestID,
		}
	case c.closed() && (code == codes.Canceled || code == codes.Unavailable):
		return &Error{
			Reason:    ReasonClientClosed,
			Code:      codes.Canceled,
			Message:   "This client was closed before " + c.target + " had answered " + call.rpc + ".",
			requestID: call.requestID,
		}
	default:
		return made.explained(failure)
	}
}

// requestIDOr is the id that the caller named, or one that is drawn.
func requestIDOr(named secret) secret {
	if named != nil && named() != "" {
		return named
	}
	return newSecret(newRequestID())
}
