package sodafountain

import (
	"bytes"
	"crypto/tls"
	"math"
	"time"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// NoIdleTimeout makes a watch retry without a limit; see [WithIdleTimeout].
const NoIdleTimeout time.Duration = math.MaxInt64

// Option is an option of [Connect].
type Option interface{ connect(*connectSettings) }

// NewGameOption is an option of [Client.NewGame].
type NewGameOption interface{ newGame(*newGameSettings) }

// SpectatorOption is an option of [Client.Spectator].
type SpectatorOption interface{ spectator(*viewerSettings) }

// ViewerOption is an option of [Client.Seat], [Client.Spectator] and [Client.Host].
type ViewerOption interface {
	SpectatorOption
	viewer(*viewerSettings)
}

// StateOption is an option of State.
type StateOption interface{ state(*stateSettings) }

// ApplyOption is an option of [Seat.Apply].
type ApplyOption interface{ apply(*applySettings) }

// WatchOption is an option of Watch.
type WatchOption interface{ watch(*watchSettings) }

// LegalMovesOption is an option of State, [Seat.Apply] and Watch.
type LegalMovesOption interface {
	StateOption
	ApplyOption
	WatchOption
}

// RequestIDOption is an option of [Client.NewGame] and [Seat.Apply].
type RequestIDOption interface {
	NewGameOption
	ApplyOption
}

// WithTLS uses TLS. A nil config trusts the certificate authorities of the system. Without this option the connection is
// plain text; see [WithInsecureTokens].
func WithTLS(config *tls.Config) Option {
	return connectOption(func(settings *connectSettings) {
		if config == nil {
			config = &tls.Config{}
		}
		settings.tls = config
	})
}

// WithInsecureTokens allows a connection without TLS to another host. Everyone on the network can then read the tokens and
// the API key, so use it only on a network that you trust. Without TLS and this option, [Connect] accepts only localhost, the
// addresses 127.0.0.0/8 and ::1, and Unix sockets.
func WithInsecureTokens() Option {
	return connectOption(func(settings *connectSettings) { settings.insecureTokens = true })
}

// WithAPIKey sets the API key, which some services require for the creation of games. Only [Client.NewGame] sends it.
func WithAPIKey(key string) Option {
	return connectOption(func(settings *connectSettings) { settings.apiKey = newSecret(key) })
}

// WithTimeout sets the timeout of calls whose context has no deadline, retries included. The default is 5 seconds. It must be
// positive.
func WithTimeout(timeout time.Duration) Option {
	return connectOption(func(settings *connectSettings) { settings.timeout = timeout })
}

// WithSeed sets the seed of every random draw, 32 bytes, for tests. Only services that allow it accept a seed.
func WithSeed(seed []byte) NewGameOption {
	return newGameOption(func(settings *newGameSettings) { settings.seed = seed })
}

// Sealed seals a new game: after its end, the history still hides the seed, the moves of other seats, and what its
// viewer may not know of the events.
func Sealed() NewGameOption {
	return newGameOption(func(settings *newGameSettings) { settings.sealed = true })
}

// WithVisibility sets who may look at a new game: with sodafountainv1.Visibility_VISIBILITY_PRIVATE only the holders of
// its tokens, otherwise everyone who knows its id.
func WithVisibility(visibility pb.Visibility) NewGameOption {
	return newGameOption(func(settings *newGameSettings) { settings.visibility = visibility })
}

// WithSpectatorToken sets the token of a spectator, which only a private game requires: that of [Game.SpectatorToken].
func WithSpectatorToken(token string) SpectatorOption {
	return spectatorOption(func(settings *viewerSettings) { settings.token = newSecret(token) })
}

// WithCommitment sets the commitment to the seed, 32 bytes: the Commitment of an earlier seat, spectator or host of the
// game. The default is the commitment of the first state.
func WithCommitment(commitment []byte) ViewerOption {
	kept := bytes.Clone(commitment)
	return viewerOption(func(settings *viewerSettings) { settings.commitment, settings.hasCommitment = kept, true })
}

// WithRequestID sets the request id, to retry an earlier request: the UUID (version 4) of [Error.RequestID]. The default, also
// for an empty id, is a new random id.
func WithRequestID(id string) RequestIDOption {
	return requestIDOption{newSecret(id)}
}

// WithLegalMoves includes the seat's legal moves in the state, or in each state of a watch.
func WithLegalMoves() LegalMovesOption {
	return legalMovesOption{}
}

// WithEtag sets the decision that a move answers, by its etag. An empty etag answers the decision that is open when the move
// arrives. The default is the latest open decision that the seat received.
func WithEtag(etag string) ApplyOption {
	return applyOption(func(settings *applySettings) { settings.etag = &etag })
}

// WithIdleTimeout sets how long a watch retries without a message from the service before it fails with the latest error. The
// default is one minute; [NoIdleTimeout] is no limit. The timeout must be positive, and longer than the heartbeat interval of
// the service (15 seconds by default); otherwise a watch fails when no seat moves for that long.
func WithIdleTimeout(timeout time.Duration) WatchOption {
	return watchOption(func(settings *watchSettings) { settings.idleTimeout = timeout })
}

// WithResumeToken resumes a watch after the update with this ResumeToken, which may be from another process. The default, also
// for an empty token, is to start with a snapshot.
func WithResumeToken(token string) WatchOption {
	return watchOption(func(settings *watchSettings) { settings.resumeToken = token })
}

type connectSettings struct {
	tls            *tls.Config
	apiKey         secret
	timeout        time.Duration
	insecureTokens bool
}

type newGameSettings struct {
	seed       []byte
	sealed     bool
	visibility pb.Visibility
	requestID  secret
}

type viewerSettings struct {
	// Nil for a spectator without a token.
	token         secret
	commitment    []byte
	hasCommitment bool
}

type stateSettings struct {
	legalMoves bool
}

type applySettings struct {
	etag       *string
	legalMoves bool
	requestID  secret
}

type watchSettings struct {
	legalMoves  bool
	resumeToken string
	idleTimeout time.Duration
}

type (
	connectOption    func(*connectSettings)
	newGameOption    func(*newGameSettings)
	spectatorOption  func(*viewerSettings)
	viewerOption     func(*viewerSettings)
	applyOption      func(*applySettings)
	watchOption      func(*watchSettings)
	legalMovesOption struct{}
	requestIDOption  struct{ id secret }
)

func (o connectOption) connect(settings *connectSettings)    { o(settings) }
func (o newGameOption) newGame(settings *newGameSettings)    { o(settings) }
func (o spectatorOption) spectator(settings *viewerSettings) { o(settings) }
func (o viewerOption) spectator(settings *viewerSettings)    { o(settings) }
func (o viewerOption) viewer(settings *viewerSettings)       { o(settings) }
func (o applyOption) apply(settings *applySettings)          { o(settings) }
func (o watchOption) watch(settings *watchSettings)          { o(settings) }

func (legalMovesOption) state(settings *stateSettings) { settings.legalMoves = true }
func (legalMovesOption) apply(settings *applySettings) { settings.legalMoves = true }
func (legalMovesOption) watch(settings *watchSettings) { settings.legalMoves = true }

func (o requestIDOption) newGame(settings *newGameSettings) { settings.requestID = o.id }
func (o requestIDOption) apply(settings *applySettings)     { settings.requestID = o.id }
