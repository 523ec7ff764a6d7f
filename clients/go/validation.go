package sodafountain

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/resolver"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const largestPort = 65535

var (
	// A host, or an IPv6 address in brackets, and a port.
	hostAndPort = regexp.MustCompile(`^(?:\[[0-9A-Fa-f:.]+(?:%[^\s\]]+)?\]|[^\s:/@\[\]]+):([0-9]{1,5})$`)
	// A DNS target of gRPC: dns:///host:port, dns://server/host:port or dns:host:port.
	dns       = regexp.MustCompile(`^dns:(?://[^/]*/)?(.*)$`)
	authority = regexp.MustCompile(`^//[^/]*`)
	blank     = regexp.MustCompile(`[\s\x00-\x1f\x7f]`)
	// Every token and key is visible ASCII. gRPC sends spaces as well, but HTTP may strip them at the ends.
	notVisible = regexp.MustCompile(`[^\x21-\x7e]`)
)

// validateTarget returns an error if gRPC cannot connect to the target.
func validateTarget(target string) *Error {
	const expected = "use host:port, such as localhost:50051, or a gRPC target such as dns:///host:port or unix:path"
	if target == "" {
		return argumentError("The target is empty: %s.", expected)
	}
	if at := userinfo(target); at >= 0 {
		return argumentError("The target must not contain credentials before %q: %s.", "…"+target[at:], expected)
	}
	if blank.MatchString(target) {
		return argumentError("The target %q must not contain whitespace or control characters: %s.", target, expected)
	}
	named := target
	if found := dns.FindStringSubmatch(target); found != nil {
		named = found[1]
	} else if scheme, rest, _ := strings.Cut(target, ":"); resolver.Get(scheme) != nil {
		// Another scheme of gRPC, such as unix. Only gRPC can validate the rest.
		if strings.Trim(rest, "/") == "" {
			return argumentError("The target %q has no address after %q: %s.", target, scheme+":", expected)
		}
		return nil
	} else if strings.Contains(target, "://") {
		return argumentError("The target %q is a URL or has an unknown scheme: %s.", target, expected)
	}
	found := hostAndPort.FindStringSubmatch(named)
	if found == nil {
		return argumentError("The target %q is not host:port (put an IPv6 address in brackets): %s.", target, expected)
	}
	if port, err := strconv.Atoi(found[1]); err != nil || port < 1 || port > largestPort {
		return argumentError("The target %q must have a port from 1 to %d: %s.", target, largestPort, expected)
	}
	return nil
}

// validateNotInTheClear returns an error if tokens and API keys would cross a network in the clear: the target is valid, and
// not on this host.
func validateNotInTheClear(target string) *Error {
	if isLoopback(target) {
		return nil
	}
	return argumentError("The target %q is not on this host, and the connection has no TLS: everyone on the network could read "+
		"tokens and API keys. Use WithTLS. If you trust the network, use WithInsecureTokens.", target)
}

// isLoopback returns whether a valid target is on this host, as far as its text says.
func isLoopback(target string) bool {
	address := target
	switch scheme, rest, _ := strings.Cut(target, ":"); {
	case scheme == "unix" || scheme == "unix-abstract":
		return true
	case dns.MatchString(target):
		address = dns.FindStringSubmatch(target)[1]
	case scheme == "passthrough":
		address = strings.TrimLeft(rest, "/")
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// userinfo returns the index of the @ after the user information of a target, which may contain a password, or -1.
func userinfo(target string) int {
	scheme, rest, _ := strings.Cut(target, ":")
	if scheme == "dns" || scheme == "passthrough" || resolver.Get(scheme) == nil {
		return strings.LastIndex(target, "@")
	}
	// The path of a scheme such as unix may contain an @, but not its authority.
	found := authority.FindString(rest)
	if at := strings.LastIndex(found, "@"); at >= 0 {
		return len(scheme) + len(":") + at
	}
	return -1
}

// validateTimeout returns an error if the timeout is not positive.
func validateTimeout(name string, timeout time.Duration) *Error {
	if timeout <= 0 {
		return argumentError("The %s must be greater than 0, not %s.", name, timeout)
	}
	return nil
}

// validateSecret returns an error if a token or key cannot be sent as metadata. Its message shows only the invalid character.
func validateSecret(name, text string, reason Reason) *Error {
	message := ""
	if text == "" {
		message = fmt.Sprintf("The %s is empty.", name)
	} else if found := notVisible.FindString(text); found != "" {
		before, _, _ := strings.Cut(text, found)
		message = fmt.Sprintf(
			"The %s must consist of visible ASCII characters; character %d of %d is %U. Whitespace is not stripped.", name, len(before)+1, len([]rune(text)), []rune(found)[0])
	}
	if message == "" {
		return nil
	}
	return &Error{Reason: reason, Code: codes.Unauthenticated, Message: message}
}

// validateText returns an error if a string of the request is not valid UTF-8. Its message omits the string, which may be a
// secret.
func validateText(request proto.Message) *Error {
	var problem *Error
	request.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if text, ok := value.Interface().(string); ok && !utf8.ValidString(text) {
			problem = argumentError("The %s is not valid UTF-8.", strings.ReplaceAll(string(field.Name()), "_", " "))
		}
		return problem == nil
	})
	return problem
}

// argumentError returns the error for an invalid argument. Nothing was sent.
func argumentError(format string, values ...any) *Error {
	return &Error{Reason: ReasonArgument, Code: codes.InvalidArgument, Message: fmt.Sprintf(format, values...)}
}
