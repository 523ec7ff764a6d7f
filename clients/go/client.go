package sodafountain

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Client is a connection to a Soda Fountain service, made by [Connect]. Goroutines may share it; close it in the end.
type Client struct {
	connection *grpc.ClientConn
	service    pb.GameServiceClient
	target     string
	tls        bool
	apiKey     secret
	timeout    time.Duration
	// Done when the client is closed.
	open context.Context
	shut context.CancelFunc
}

// Connect makes a client of the service at an address: host:port, or another gRPC target such as dns:///host:port or
// unix:path. The connection itself is made with the first call.
//
// It fails for [ReasonArgument] where the target is no address or the timeout not more than 0, and for
// [ReasonAPIKeyInvalid] where no key looks like that: it is empty, or has white space in it, at its ends for instance.
func Connect(target string, options ...Option) (*Client, error) {
	settings := connectSettings{timeout: defaultTimeout}
	for _, option := range options {
		option.connect(&settings)
	}
	return connect(target, settings)
}

func connect(target string, settings connectSettings, more ...grpc.DialOption) (*Client, error) {
	if problem := checkTarget(target); problem != nil {
		return nil, problem
	}
	if problem := checkDuration("timeout", settings.timeout); problem != nil {
		return nil, problem
	}
	if settings.apiKey != nil {
		if problem := checkSecret("API key", settings.apiKey(), ReasonAPIKeyInvalid); problem != nil {
			return nil, problem
		}
	}
	connection, err := grpc.NewClient(target, append(dialOptions(settings.tls), more...)...)
	if err != nil {
		return nil, wrongArgument("The target %q cannot be used: %s.", target, err)
	}
	open, shut := context.WithCancel(context.Background())
	return &Client{
		connection: connection,
		service:    pb.NewGameServiceClient(connection),
		target:     target,
		tls:        settings.tls != nil,
		apiKey:     settings.apiKey,
		timeout:    settings.timeout,
		open:       open,
		shut:       shut,
	}, nil
}

// Close closes the connection. Calls and watches that are under way, and later ones, fail for [ReasonClientClosed]. It
// never fails, and may be called again.
func (c *Client) Close() error {
	c.shut()
	_ = c.connection.Close() // fails only where it is closed already
	return nil
}

// NewGame makes a game of options (an Options, or a kind's own message such as SodaJerkOptions) for a number of seats, and
// deals it.
//
// It fails for [ReasonMalformed] where they make no game, for [ReasonAPIKeyInvalid] where making games needs another API
// key, and for [ReasonArgument] where options is no options message.
func (c *Client) NewGame(ctx context.Context, options proto.Message, seats int32, more ...NewGameOption) (*Game, error) {
	var settings newGameSettings
	for _, option := range more {
		option.newGame(&settings)
	}
	whole, problem := asOptions(options)
	if problem != nil {
		return nil, problem
	}
	id := requestIDOr(settings.requestID)
	request := &pb.NewGameRequest{
		Options:   whole,
		SeatCount: seats,
		RequestId: id(),
		Seed:      settings.seed,
		Sealed:    settings.sealed,
	}
	answer, err := invoke(ctx, c, call{rpc: "NewGame", apiKey: c.apiKey, requestID: id}, c.service.NewGame, request)
	if err != nil {
		return nil, err
	}
	return newGame(c, answer), nil
}

// GameKinds lists the kinds of game on offer, with their numbers of seats, options and presets. A preset goes to NewGame as
// it is; the entry of preset_infos with the same index has its title and the seats that it is for.
//
// All pages are fetched; where ctx has no deadline, each has one of its own.
func (c *Client) GameKinds(ctx context.Context) ([]*pb.GameKindInfo, error) {
	var kinds []*pb.GameKindInfo
	request := &pb.ListGameKindsRequest{}
	for {
		page, err := invoke(ctx, c, call{rpc: "ListGameKinds"}, c.service.ListGameKinds, request)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, page.GetGameKinds()...)
		request = &pb.ListGameKindsRequest{PageToken: page.GetNextPageToken()}
		if request.GetPageToken() == "" {
			return kinds, nil
		}
	}
}

// Seat takes a seat of a game with its token; nothing is asked of the service yet.
//
// It fails for [ReasonTokenInvalid] where no token looks like that: it is empty, or has white space in it, at its ends for
// instance.
func (c *Client) Seat(gameID, token string) (*Seat, error) {
	if problem := checkSecret("token", token, ReasonTokenInvalid); problem != nil {
		return nil, problem
	}
	return &Seat{viewer{client: c, gameID: gameID, token: newSecret(token), memory: &memory{}}}, nil
}

// Spectator looks at a game from outside; nothing is asked of the service yet.
func (c *Client) Spectator(gameID string) *Spectator {
	return &Spectator{viewer{client: c, gameID: gameID}}
}

// Host holds a game with its host token; nothing is asked of the service yet.
//
// It fails for [ReasonTokenInvalid] where no token looks like that.
func (c *Client) Host(gameID, token string) (*Host, error) {
	if problem := checkSecret("token", token, ReasonTokenInvalid); problem != nil {
		return nil, problem
	}
	return newHost(c, gameID, newSecret(token)), nil
}

// String names the client by its target.
func (c *Client) String() string {
	return fmt.Sprintf("client of %s", c.target)
}
