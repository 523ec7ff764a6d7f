package sodafountain

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Client is a client of a Soda Fountain service. Create it with [Connect]. Goroutines may share it. Close it when it is no
// longer needed.
type Client struct {
	connection *connection
	service    pb.GameServiceClient
	target     string
	tls        bool
	apiKey     secret
	timeout    time.Duration
	// Done when the client is closed.
	lifetime    context.Context
	endLifetime context.CancelFunc
}

// Connect creates a client of the service at a target: host:port, or another gRPC target such as dns:///host:port or
// unix:path. The client connects on its first call.
//
// It fails with [ReasonArgument] if the target is invalid, if it is another host and neither [WithTLS] nor
// [WithInsecureTokens] is used, or if the timeout is not positive, and with [ReasonAPIKeyInvalid] if
// the API key is empty or contains characters other than visible ASCII.
func Connect(target string, options ...Option) (*Client, error) {
	settings := connectSettings{timeout: defaultTimeout}
	for _, option := range options {
		option.connect(&settings)
	}
	return connect(target, settings)
}

func connect(target string, settings connectSettings, more ...grpc.DialOption) (*Client, error) {
	if problem := validateTarget(target); problem != nil {
		return nil, problem
	}
	if settings.tls == nil && !settings.insecureTokens {
		if problem := validateNotInTheClear(target); problem != nil {
			return nil, problem
		}
	}
	if problem := validateTimeout("timeout", settings.timeout); problem != nil {
		return nil, problem
	}
	if settings.apiKey != nil {
		if problem := validateSecret("API key", settings.apiKey(), ReasonAPIKeyInvalid); problem != nil {
			return nil, problem
		}
	}
	connection, err := newConnection(func() (*grpc.ClientConn, error) {
		return grpc.NewClient(target, append(dialOptions(settings.tls), more...)...)
	})
	if err != nil {
		return nil, argumentError("The target %q is invalid: %s.", target, err)
	}
	lifetime, endLifetime := context.WithCancel(context.Background())
	return &Client{
		connection:  connection,
		service:     pb.NewGameServiceClient(connection),
		target:      target,
		tls:         settings.tls != nil,
		apiKey:      settings.apiKey,
		timeout:     settings.timeout,
		lifetime:    lifetime,
		endLifetime: endLifetime,
	}, nil
}

// Close closes the connection. Open calls and watches, and later ones, fail with [ReasonClientClosed]. Close always returns
// nil. A second call does nothing.
func (c *Client) Close() error {
	c.endLifetime()
	c.connection.Close()
	return nil
}

// NewGame creates a game. The options are an Options, or the options message of a kind, such as SodaJerkOptions.
//
// It fails with [ReasonMalformed] if the options or the number of seats are invalid, with [ReasonAPIKeyInvalid] if the
// service requires another API key, and with [ReasonArgument] if the message is not an options message.
func (c *Client) NewGame(ctx context.Context, options proto.Message, seats int32, more ...NewGameOption) (*Game, error) {
	var settings newGameSettings
	for _, option := range more {
		option.newGame(&settings)
	}
	wrapped, problem := toOptions(options)
	if problem != nil {
		return nil, problem
	}
	id := requestIDOrNew(settings.requestID)
	request := &pb.NewGameRequest{
		Options:    wrapped,
		SeatCount:  seats,
		RequestId:  id(),
		Seed:       settings.seed,
		Sealed:     settings.sealed,
		Visibility: settings.visibility,
	}
	response, err := invoke(ctx, c, call{rpc: "NewGame", apiKey: c.apiKey, requestID: id}, c.service.NewGame, request)
	if err != nil {
		return nil, err
	}
	return newGame(c, response), nil
}

// GameKinds returns the kinds of game that the service offers, with their numbers of seats, options and presets. Pass a
// preset to NewGame unchanged; the entry of preset_infos with the same index has its title and its numbers of seats.
//
// It fetches all pages. If ctx has no deadline, the timeout applies to each page.
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

// Seat returns a seat of a game, with the token of the seat. It makes no call.
//
// It fails with [ReasonTokenInvalid] if the token is empty or contains characters other than visible ASCII, and with
// [ReasonArgument] if the commitment of [WithCommitment] does not have 32 bytes.
func (c *Client) Seat(gameID, token string, options ...ViewerOption) (*Seat, error) {
	holder, problem := c.newHolder(gameID, token, options)
	if problem != nil {
		return nil, problem
	}
	holder.info = &seatInfo{}
	return &Seat{holder}, nil
}

// Spectator returns a spectator of a game. It makes no call. A private game requires its token; see
// [WithSpectatorToken].
//
// It fails as [Client.Seat] does.
func (c *Client) Spectator(gameID string, options ...SpectatorOption) (*Spectator, error) {
	var settings viewerSettings
	for _, option := range options {
		option.spectator(&settings)
	}
	viewer, problem := c.newViewer(gameID, settings)
	if problem != nil {
		return nil, problem
	}
	return &Spectator{viewer}, nil
}

// Host returns the host of a game, with the host token. It makes no call.
//
// It fails as [Client.Seat] does.
func (c *Client) Host(gameID, token string, options ...ViewerOption) (*Host, error) {
	holder, problem := c.newHolder(gameID, token, options)
	if problem != nil {
		return nil, problem
	}
	return newHost(holder), nil
}

// newHolder returns the viewer with a token.
func (c *Client) newHolder(gameID, token string, options []ViewerOption) (viewer, *Error) {
	settings := viewerSettings{token: newSecret(token)}
	for _, option := range options {
		option.viewer(&settings)
	}
	return c.newViewer(gameID, settings)
}

func (c *Client) newViewer(gameID string, settings viewerSettings) (viewer, *Error) {
	if settings.token != nil {
		if problem := validateSecret("token", settings.token(), ReasonTokenInvalid); problem != nil {
			return viewer{}, problem
		}
	}
	if size := len(settings.commitment); settings.hasCommitment && size != commitmentBytes {
		return viewer{}, argumentError("The commitment must have %d bytes, not %d.", commitmentBytes, size)
	}
	kept := &commitment{gameID: gameID, kept: settings.commitment}
	return viewer{client: c, gameID: gameID, token: settings.token, commitment: kept}, nil
}

// String returns the target, without the API key.
func (c *Client) String() string {
	return fmt.Sprintf("client of %s", c.target)
}
