package sodafountain

import (
	"context"
	"errors"
	"regexp"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// routableID matches a value of the header x-game-id. The ids of games match it; the service rejects other ids.
var routableID = regexp.MustCompile(`^[\x21-\x7e]{1,64}$`)

// call is an RPC: its name, its metadata, and the request id in its message.
type call struct {
	rpc string
	// Gateways route by the game id, so that all calls about a game reach the service that has it in its cache. Empty for
	// a call that is not about a game.
	gameID    string
	token     secret
	apiKey    secret
	requestID secret
}

// invoke makes a call and waits for its response.
func invoke[Request proto.Message, Response any](
	ctx context.Context,
	client *Client,
	call call,
	method func(context.Context, Request, ...grpc.CallOption) (*Response, error),
	request Request,
) (*Response, error) {
	if problem := validateText(request); problem != nil {
		return nil, problem
	}
	if client.closed() {
		return nil, &Error{
			Reason: ReasonClientClosed, Code: codes.Canceled, Message: "This client is closed.", requestID: call.requestID,
		}
	}
	timeout := client.timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = time.Until(deadline)
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer context.AfterFunc(client.lifetime, cancel)()
	response, err := method(call.withMetadata(limited), request)
	if err != nil {
		return nil, client.toError(ctx, err, call, timeout)
	}
	return response, nil
}

// withMetadata returns a context with the metadata of the call, and that of ctx except for these fields.
func (c call) withMetadata(ctx context.Context) context.Context {
	fields, _ := metadata.FromOutgoingContext(ctx)
	fields = fields.Copy()
	fields.Delete("authorization")
	fields.Delete("x-api-key")
	fields.Delete("x-game-id")
	if c.token != nil {
		fields.Set("authorization", "Bearer "+c.token())
	}
	if c.apiKey != nil {
		fields.Set("x-api-key", c.apiKey())
	}
	if routableID.MatchString(c.gameID) {
		fields.Set("x-game-id", c.gameID)
	}
	return metadata.NewOutgoingContext(ctx, fields)
}

func (c *Client) closed() bool {
	return c.lifetime.Err() != nil
}

// toError converts the failure of a call; ctx is the context of its caller.
func (c *Client) toError(ctx context.Context, failure error, call call, timeout time.Duration) *Error {
	info := callInfo{rpc: call.rpc, target: c.target, tls: c.tls, timeout: timeout, requestID: call.requestID}
	code := statusOf(failure).Code()
	switch {
	case code == codes.Canceled && errors.Is(ctx.Err(), context.Canceled):
		return &Error{
			Reason:    ReasonCancelled,
			Code:      code,
			Message:   call.rpc + " was cancelled before " + c.target + " answered.",
			requestID: call.requestID,
		}
	case c.closed() && (code == codes.Canceled || code == codes.Unavailable):
		return &Error{
			Reason:    ReasonClientClosed,
			Code:      codes.Canceled,
			Message:   "This client was closed before " + c.target + " answered " + call.rpc + ".",
			requestID: call.requestID,
		}
	default:
		return info.toError(failure)
	}
}

// requestIDOrNew returns the given request id, or a new one if it is empty.
func requestIDOrNew(given secret) secret {
	if given != nil && given() != "" {
		return given
	}
	return newSecret(newRequestID())
}
