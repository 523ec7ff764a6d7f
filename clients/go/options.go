package sodafountain

import (
	"crypto/tls"
	"math"
	"time"
)

// Forever is a patience without end; see [WithPatience].
const Forever time.Duration = math.MaxInt64

// Option changes how [Connect] connects.
type Option interface{ connect(*connectSettings) }

// NewGameOption changes how [Client.NewGame] makes a game.
type NewGameOption interface{ newGame(*newGameSettings) }

// StateOption changes what State tells.
type StateOption interface{ state(*stateSettings) }

// ApplyOption changes how [Seat.Apply] makes a move.
type ApplyOption interface{ apply(*applySettings) }

// WatchOption changes how Watch follows a game.
type WatchOption interface{ watch(*watchSettings) }

// LegalMovesOption is an option of every call that answers with states.
type LegalMovesOption interface {
	StateOption
	ApplyOption
	WatchOption
}

// RequestIDOption is an option of the calls that change something.
type RequestIDOption interface {
	NewGameOption
	ApplyOption
}

// WithTLS connects over TLS. A nil config trusts the public certificate authorities; otherwise it is as for any TLS client,
// with RootCAs of your own for instance. Without this option the connection is plain text.
func WithTLS(config *tls.Config) Option {
	return connectOption(func(settings *connectSettings) {
		if config == nil {
			config = &tls.Config{}
		}
		settings.tls = config
	})
}

// WithAPIKey sends the key that making games needs where the operator closed it.
func WithAPIKey(key string) Option {
	return connectOption(func(settings *connectSettings) { settings.apiKey = newSecret(key) })
}

// WithTimeout is the deadline of every call whose context has none, its retries included: 5 seconds if not said otherwise.
// It must be more than 0.
func WithTimeout(timeout time.Duration) Option {
	return connectOption(func(settings *connectSettings) { settings.timeout = timeout })
}

// WithSeed fixes the seed of every random draw: 32 bytes. For tests; only where the operator allows it.
func WithSeed(seed []byte) NewGameOption {
	return newGameOption(func(settings *newGameSettings) { settings.seed = seed })
}

// Sealed lets the history of a new game keep its secrets after the end too.
func Sealed() NewGameOption {
	return newGameOption(func(settings *newGameSettings) { settings.sealed = true })
}

// WithRequestID names the UUID (version 4) under which the same was asked for before, as [Error.RequestID] tells it.
// Without it, or where it is empty, a new one is drawn.
func WithRequestID(id string) RequestIDOption {
	return requestIDOption{newSecret(id)}
}

// WithLegalMoves lists the seat's legal moves in the state, or in each state of a watch.
func WithLegalMoves() LegalMovesOption {
	return legalMovesOption{}
}

// WithEtag names the tag of the decision that a move answers. Empty means the one that is open when the move arrives.
// Without this option it is the one that the seat saw open last.
func WithEtag(etag string) ApplyOption {
	return applyOption(func(settings *applySettings) { settings.etag = &etag })
}

// WithPatience is for how long a watch waits without a sign of life from the service, and tries again, before it fails: a
// minute if not said otherwise, or [Forever]. It must be more than 0, and should be longer than the time between two signs of
// life (15 seconds, unless the service's operator chose otherwise): with less, a game in which nothing happens for a while ends
// the watch.
func WithPatience(patience time.Duration) WatchOption {
	return watchOption(func(settings *watchSettings) { settings.patience = patience })
}

// ResumeAfter goes on after an update, whose ResumeToken this is, of a watch that may have been in another process. Without
// it, or where it is empty, a snapshot comes first.
func ResumeAfter(token string) WatchOption {
	return watchOption(func(settings *watchSettings) { settings.resumeToken = token })
}

type connectSettings struct {
	tls     *tls.Config
	apiKey  secret
	timeout time.Duration
}

type newGameSettings struct {
	seed      []byte
	sealed    bool
	requestID secret
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
	patience    time.Duration
}

type (
	connectOption    func(*connectSettings)
	newGameOption    func(*newGameSettings)
	applyOption      func(*applySettings)
	watchOption      func(*watchSettings)
	legalMovesOption struct{}
	requestIDOption  struct{ id secret }
)

func (o connectOption) connect(settings *connectSettings) { o(settings) }
func (o newGameOption) newGame(settings *newGameSettings) { o(settings) }
func (o applyOption) apply(settings *applySettings)       { o(settings) }
func (o watchOption) watch(settings *watchSettings)       { o(settings) }

func (legalMovesOption) state(settings *stateSettings) { settings.legalMoves = true }
func (legalMovesOption) apply(settings *applySettings) { settings.legalMoves = true }
func (legalMovesOption) watch(settings *watchSettings) { settings.legalMoves = true }

func (o requestIDOption) newGame(settings *newGameSettings) { settings.requestID = o.id }
func (o requestIDOption) apply(settings *applySettings)     { settings.requestID = o.id }
