package sodafountain

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

const (
	// If a caller waits for this time and nothing arrives, the connection is checked.
	silenceTimeout = 2 * time.Second
	// A server that does not answer a check within this time is frozen, or its host has disappeared.
	checkTimeout = 2 * time.Second
	// Servers without the health service answer as well, with an error.
	checkMethod = "/grpc.health.v1.Health/Check"
)

// connection makes calls over a gRPC connection. If the server does not answer any more, it replaces the gRPC connection,
// and repeats the calls in progress over the new one. gRPC connects to the first address of the target that answers.
//
// Keepalive of gRPC also closes such a connection, but only after 12 s: its shortest interval is 10 s.
type connection struct {
	open func() (*grpc.ClientConn, error)

	mu      sync.Mutex
	current *link
	closed  bool
	// The number of callers that wait for a response or a message.
	waiting int
	// Since when callers have waited without a response or message. Zero if all of them got one.
	silentSince time.Time
	// Starts the next check. Nil if none is planned or in progress.
	timer *time.Timer
}

// link is a gRPC connection. Its context is done when it is replaced or closed.
type link struct {
	*grpc.ClientConn
	replaced context.Context
	replace  context.CancelFunc
}

func newConnection(open func() (*grpc.ClientConn, error)) (*connection, error) {
	c := &connection{open: open}
	var err error
	c.current, err = c.newLink()
	return c, err
}

func (c *connection) newLink() (*link, error) {
	opened, err := c.open()
	if err != nil {
		return nil, err
	}
	replaced, replace := context.WithCancel(context.Background())
	return &link{opened, replaced, replace}, nil
}

// Invoke makes a unary call, and repeats it while connections are replaced.
func (c *connection) Invoke(ctx context.Context, method string, request, response any, options ...grpc.CallOption) error {
	for {
		link := c.beginWaiting()
		attempt, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(link.replaced, cancel)
		err := link.Invoke(attempt, method, request, response, options...)
		stop()
		cancel()
		c.endWaiting(err)
		code := status.Code(err)
		wasReplaced := link.replaced.Err() != nil && (code == codes.Canceled || code == codes.Unavailable)
		if !wasReplaced || ctx.Err() != nil || c.isClosed() {
			return err
		}
	}
}

// NewStream opens a stream, which fails with UNAVAILABLE if its connection is replaced. The caller cancels ctx at the end.
func (c *connection) NewStream(
	ctx context.Context, description *grpc.StreamDesc, method string, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	link := c.beginWaiting()
	attempt, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(link.replaced, cancel)
	context.AfterFunc(ctx, func() {
		stop()
		cancel()
	})
	opened, err := link.NewStream(attempt, description, method, options...)
	c.endWaiting(err)
	if err != nil {
		return nil, link.streamError(ctx, err)
	}
	return &watchedStream{opened, ctx, link, c}, nil
}

// watchedStream is a stream whose reader waits for messages.
type watchedStream struct {
	grpc.ClientStream
	caller     context.Context
	link       *link
	connection *connection
}

func (s *watchedStream) RecvMsg(message any) error {
	s.connection.beginWaiting()
	err := s.ClientStream.RecvMsg(message)
	s.connection.endWaiting(err)
	return s.link.streamError(s.caller, err)
}

// streamError returns the error of a stream: UNAVAILABLE if it was cancelled because its connection was replaced.
func (l *link) streamError(caller context.Context, err error) error {
	if status.Code(err) == codes.Canceled && l.replaced.Err() != nil && caller.Err() == nil {
		return status.Error(codes.Unavailable, "the server does not answer")
	}
	return err
}

// Close closes the connection.
func (c *connection) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.current.replace()
	_ = c.current.Close() // fails only if it is already closed
}

func (c *connection) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// beginWaiting registers a caller that waits, and returns the connection for its call.
func (c *connection) beginWaiting() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting++
	if c.silentSince.IsZero() {
		c.silentSince = time.Now()
	}
	if c.timer == nil && !c.closed {
		c.timer = time.AfterFunc(silenceTimeout, c.check)
	}
	return c.current
}

// endWaiting unregisters a caller, whose call or read ended with an error or nil.
func (c *connection) endWaiting(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
	// Calls may have shorter deadlines than the check: those that time out are silence too.
	if code := status.Code(err); code != codes.DeadlineExceeded && code != codes.Canceled {
		c.endSilence()
	}
}

// endSilence notes that something arrived. A new silence begins if callers still wait.
func (c *connection) endSilence() {
	c.silentSince = time.Time{}
	if c.waiting > 0 {
		c.silentSince = time.Now()
	}
}

// check replaces the connection if nothing has arrived for a while and its server does not answer.
func (c *connection) check() {
	c.mu.Lock()
	link, since := c.current, c.silentSince
	c.mu.Unlock()
	silence := time.Since(since)
	isSilent := !since.IsZero() && silence >= silenceTimeout
	answers := !isSilent || link.answers()

	c.mu.Lock()
	defer c.mu.Unlock()
	if isSilent && since.Equal(c.silentSince) {
		if !answers {
			c.replace()
		}
		c.endSilence()
	}
	switch {
	case c.closed || c.silentSince.IsZero():
		c.timer = nil
	default:
		c.timer.Reset(silenceTimeout - time.Since(c.silentSince))
	}
}

// answers returns whether the server answers a call.
func (l *link) answers() bool {
	// A connection that is not ready has its own timeouts, and tries all addresses.
	if l.GetState() != connectivity.Ready {
		return true
	}
	ctx, cancel := context.WithTimeout(l.replaced, checkTimeout)
	defer cancel()
	err := l.Invoke(ctx, checkMethod, &emptypb.Empty{}, &emptypb.Empty{})
	return status.Code(err) != codes.DeadlineExceeded
}

// replace replaces the connection. The calls in progress are cancelled, and use the new one.
func (c *connection) replace() {
	link, err := c.newLink()
	if err != nil || c.closed {
		return // there is no error for a target that was valid before
	}
	old := c.current
	c.current = link
	old.replace()
	_ = old.Close() // fails only if it is already closed
}
