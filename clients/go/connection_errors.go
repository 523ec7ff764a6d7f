package sodafountain

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	// A connection failure, as gRPC quotes it.
	connectionFailure = regexp.MustCompile(`connection error: desc = ("(?:[^"\\]|\\.)*")`)
	// An address that could not be dialed, and the reason.
	dialFailure = regexp.MustCompile(`^transport: [Ee]rror while dialing: dial \S+ (\S+): (.*)$`)
	// How a server that requires TLS closes a connection without TLS.
	closedByServer = regexp.MustCompile(`EOF|connection reset by peer|broken pipe`)
)

// Messages of gRPC and their replacements, in which $1 is the group of the pattern. The first match applies.
var replacements = []struct {
	pattern *regexp.Regexp
	text    string
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
		// gRPC reads another protocol, such as HTTP/1.0, as an HTTP/2 frame with a huge length.
		regexp.MustCompile(`^error reading server preface: http2: frame too large$|^initial http2 frame from server is not .*$`),
		"the server speaks another protocol than HTTP/2",
	},
	{regexp.MustCompile(`^error reading server preface: (?:read tcp \S+: read: )?(.*)$`), "the server closed the connection: $1"},
	{regexp.MustCompile(`^error reading from server: (?:read tcp \S+: read: )?(.*)$`), "the connection broke: $1"},
	{regexp.MustCompile(`^(?:read|write) tcp \S+: (?:read|write): (.*)$`), "the connection broke: $1"},
	{regexp.MustCompile(`^name resolver error: produced zero addresses$`), "no such host"},
	{regexp.MustCompile(`^name resolver error: .*lookup \S+(?: on \S+)?: (.*)$`), "$1"},
	{regexp.MustCompile(`^(?:connect|socket|i/o): (.*)$`), "$1"},
}

// describeCause returns the cause of a failure as a clause without a full stop, from a message of gRPC or a proxy. It names
// the address if that is not the target.
func describeCause(details, target string, tls bool) string {
	cause := strings.TrimRight(strings.Join(strings.Fields(details), " "), ".")
	if found := connectionFailure.FindStringSubmatch(cause); found != nil {
		if quoted, err := strconv.Unquote(found[1]); err == nil {
			cause = quoted
		}
	}
	address := ""
	if found := dialFailure.FindStringSubmatch(cause); found != nil {
		address, cause = found[1], found[2]
	}
	isFirstRead := strings.HasPrefix(cause, "error reading server preface")
	for _, replacement := range replacements {
		if replacement.pattern.MatchString(cause) {
			cause = replacement.pattern.ReplaceAllString(cause, replacement.text)
			break
		}
	}
	switch {
	case cause == "":
		return "no details"
	case !strings.Contains(target, address):
		return "last tried " + address + ": " + cause
	case isFirstRead && !tls && closedByServer.MatchString(cause):
		return cause + "; the server may require TLS"
	default:
		return cause
	}
}
