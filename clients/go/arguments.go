package sodafountain

import (
	"fmt"
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

// What callers give that no service should see: addresses, timeouts, secrets and texts that cannot be right.

const largestPort = 65535

var (
	// A host, or an IPv6 address in brackets, and a port.
	hostAndPort = regexp.MustCompile(`^(?:\[[0-9A-Fa-f:.]+(?:%[^\s\]]+)?\]|[^\s:/@\[\]]+):([0-9]{1,5})$`)
	// gRPC's own way of naming a host: dns:///host:port, dns://resolver/host:port or dns:host:port.
	dns       = regexp.MustCompile(`^dns:(?://[^/]*/)?(.*)$`)
	authority = regexp.MustCompile(`^//[^/]*`)
	invisible = regexp.MustCompile(`[\s\x00-\x1f\x7f]`)
	// All but visible ASCII, of which every token and key consists. Of the rest gRPC lets only spaces pass, and HTTP may
	// drop those at the ends on the way.
	unfit = regexp.MustCompile(`[^\x21-\x7e]`)
)

// checkTarget tells why a connection cannot be made to an address; nil where it can.
func checkTarget(target string) *Error {
	const right = "give host:port, localhost:50051 for instance, or a gRPC target such as dns:///host:port or unix:path"
	if target == "" {
		return wrongArgument("The target is empty: %s.", right)
	}
	if at := userinfo(target); at >= 0 {
		return wrongArgument("The target %q has userinfo before its @, which is sent to nobody: %s.", "…"+target[at:], right)
	}
	if invisible.MatchString(target) {
		return wrongArgument("The target %q has white space or control characters in it: %s.", target, right)
	}
	named := target
	if found := dns.FindStringSubmatch(target); found != nil {
		named = found[1]
	} else if scheme, rest, _ := strings.Cut(target, ":"); resolver.Get(scheme) != nil {
		// unix for instance: what it names only gRPC understands.
		if strings.Trim(rest, "/") == "" {
			return wrongArgument("The target %q says nothing after %q: %s.", target, scheme+":", right)
		}
		return nil
	} else if strings.Contains(target, "://") {
		return wrongArgument("The target %q is a URL, or has a scheme that gRPC does not know: %s.", target, right)
	}
	found := hostAndPort.FindStringSubmatch(named)
	if found == nil {
		return wrongArgument("The target %q is not host:port (an IPv6 address stands in brackets): %s.", target, right)
	}
	if port, err := strconv.Atoi(found[1]); err != nil || port < 1 || port > largestPort {
		return wrongArgument("The target %q has no port from 1 to %d: %s.", target, largestPort, right)
	}
	return nil
}

// userinfo finds the @ after the userinfo of a target, which may be a password; -1 where there is none.
func userinfo(target string) int {
	scheme, rest, _ := strings.Cut(target, ":")
	if scheme == "dns" || scheme == "passthrough" || resolver.Get(scheme) == nil {
		return strings.LastIndex(target, "@")
	}
	// What unix for instance names may have an @ in it, but not the authority before it.
	found := authority.FindString(rest)
	if at := strings.LastIndex(found, "@"); at >= 0 {
		return len(scheme) + len(":") + at
	}
	return -1
}

// checkDuration tells why a timeout cannot be kept; nil where it can.
func checkDuration(name string, given time.Duration) *Error {
	if given <= 0 {
		return wrongArgument("The %s must be more than 0, not %s.", name, given)
	}
	return nil
}

// checkSecret tells why a token or key cannot travel, and nothing else of it; nil where it can.
func checkSecret(name, text string, reason Reason) *Error {
	message := ""
	if text == "" {
		message = fmt.Sprintf("The %s is empty.", name)
	} else if found := unfit.FindString(text); found != "" {
		before, _, _ := strings.Cut(text, found)
		message = fmt.Sprintf(
			"The %s must consist of visible ASCII characters, and number %d of its %d is %U: nothing is stripped, not even "+
				"white space at its ends.", name, len(before)+1, len([]rune(text)), []rune(found)[0])
	}
	if message == "" {
		return nil
	}
	return &Error{Reason: reason, Code: codes.Unauthenticated, Message: message}
}

// checkText tells which text of a request cannot travel, but not what it is, as request ids are secrets; nil where all can.
func checkText(request proto.Message) *Error {
	var problem *Error
	request.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if text, ok := value.Interface().(string); ok && !utf8.ValidString(text) {
			problem = wrongArgument("The %s is no valid UTF-8.", strings.ReplaceAll(string(field.Name()), "_", " "))
		}
		return problem == nil
	})
	return problem
}

// wrongArgument is the error of a call that is wrong in itself, so that nothing is sent.
func wrongArgument(format string, values ...any) *Error {
	return &Error{Reason: ReasonArgument, Code: codes.InvalidArgument, Message: fmt.Sprintf(format, values...)}
}
