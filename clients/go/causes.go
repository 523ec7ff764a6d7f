package sodafountain

import (
	"regexp"
	"strconv"
	"strings"
)

// What gRPC says about a failure, said to people: the cause, not the chain of everything that it came through.
var (
	// How gRPC quotes the failure of a connection.
	connectionFailure = regexp.MustCompile(`connection error: desc = ("(?:[^"\\]|\\.)*")`)
	// An address that could not be dialed, and why.
	dialing = regexp.MustCompile(`^transport: [Ee]rror while dialing: dial \S+ (\S+): (.*)$`)
	// How a server hangs up that speaks nothing but TLS to a client that does not.
	hungUp = regexp.MustCompile(`EOF|connection reset by peer|broken pipe`)
)

// What to say instead of gRPC's words; $1 is theirs. The first that fits.
var words = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{
		regexp.MustCompile(`^.*first record does not look like a TLS handshake$`),
		"the TLS handshake failed: the server does not speak TLS",
	},
	{
		regexp.MustCompile(`^.*(?:no application protocol|missing selected ALPN property)$`),
		"the TLS handshake failed: the server does not speak HTTP/2",
	},
	{
		regexp.MustCompile(`^.*x509: (?:certificate is )?((?:not )?valid for .*|cannot validate certificate for .*)$`),
		"the TLS handshake failed: the server's certificate is for another host: $1",
	},
	{
		regexp.MustCompile(`^.*x509: (.*)$`),
		"the TLS handshake failed: the server's certificate is not trusted: $1",
	},
	{
		regexp.MustCompile(`^transport: authentication handshake failed: (?:remote error: )?(?:tls: )?(.*)$`),
		"the TLS handshake failed: $1",
	},
	{
		regexp.MustCompile(`^error reading (?:server preface|from server): .*looked like an (HTTP/[0-9.]+) header$`),
		"the server speaks another protocol: $1",
	},
	{
		// What begins otherwise than HTTP/2 is read as a frame of an absurd length: HTTP/1.0 for instance.
		regexp.MustCompile(`^error reading server preface: http2: frame too large$|^initial http2 frame from server is not .*$`),
		"the server speaks another protocol than HTTP/2",
	},
	{regexp.MustCompile(`^error reading server preface: (?:read tcp \S+: read: )?(.*)$`), "the server hung up: $1"},
	{regexp.MustCompile(`^error reading from server: (?:read tcp \S+: read: )?(.*)$`), "the connection broke: $1"},
	{regexp.MustCompile(`^(?:read|write) tcp \S+: (?:read|write): (.*)$`), "the connection broke: $1"},
	{regexp.MustCompile(`^name resolver error: produced zero addresses$`), "no such host"},
	{regexp.MustCompile(`^name resolver error: .*lookup \S+(?: on \S+)?: (.*)$`), "$1"},
	{regexp.MustCompile(`^(?:connect|socket|i/o): (.*)$`), "$1"},
}

// causeOf tells the cause of a failure from what gRPC or something on the way said of it, in a clause without a full
// stop. Where it is about another address than the target, it names that.
func causeOf(details, target string, tls bool) string {
	cause := strings.TrimRight(strings.Join(strings.Fields(details), " "), ".")
	if found := connectionFailure.FindStringSubmatch(cause); found != nil {
		if said, err := strconv.Unquote(found[1]); err == nil {
			cause = said
		}
	}
	address := ""
	if found := dialing.FindStringSubmatch(cause); found != nil {
		address, cause = found[1], found[2]
	}
	greeting := strings.HasPrefix(cause, "error reading server preface")
	for _, word := range words {
		if word.pattern.MatchString(cause) {
			cause = word.pattern.ReplaceAllString(cause, word.instead)
			break
		}
	}
	switch {
	case cause == "":
		return "no details"
	case !strings.Contains(target, address):
		return "last tried " + address + ": " + cause
	case greeting && !tls && hungUp.MatchString(cause):
		return cause + "; the server may want TLS"
	default:
		return cause
	}
}
