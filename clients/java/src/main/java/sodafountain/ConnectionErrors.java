package sodafountain;

import io.grpc.Status;
import java.io.FileNotFoundException;
import java.net.NoRouteToHostException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;

/** Describes the cause of a connection failure in a short clause, instead of gRPC's chain of exceptions. */
final class ConnectionErrors {
    /** A message of gRPC or the JDK, and its replacement, in which {@code $1} is the pattern's group. */
    private record Replacement(Pattern pattern, String text) {}

    private static final String OTHER_PROTOCOL = "the server speaks another protocol";
    private static final String HANDSHAKE = "the TLS handshake failed: ";
    private static final String CERTIFICATE = HANDSHAKE + "the server's certificate ";
    private static final String CLOSED = "the connection was closed";
    private static final String RESET = "Connection reset by peer";

    // The first match applies.
    private static final List<Replacement> REPLACEMENTS = List.of(
            replacement("not an SSL/TLS record.*", HANDSHAKE + "the server does not speak TLS"),
            replacement("No (?:subject alternative|name matching) .*", CERTIFICATE + "is for another host"),
            replacement(".*unable to find valid certification path.*", CERTIFICATE + "is not trusted"),
            replacement("NotAfter: .*", CERTIFICATE + "has expired"),
            replacement("NotBefore: .*", CERTIFICATE + "is not valid yet"),
            replacement("PKIX .*", CERTIFICATE + "is not trusted"),
            replacement("Connection closed while performing TLS negotiation", HANDSHAKE + CLOSED),
            replacement("(?:First received frame was not SETTINGS|Unexpected HTTP/1.x request).*", OTHER_PROTOCOL),
            replacement("Network closed for unknown reason", CLOSED),
            replacement(".*" + RESET + ".*", RESET),
            replacement(".*(Connection refused|No route to host|Network is unreachable|Broken pipe).*", "$1"),
            replacement("\\S+: (Name or service not known|Temporary failure in name resolution)", "$1"));
    // Messages of gRPC without information, which is in the cause instead.
    private static final Collection<String> GENERIC = List.of("", "io exception", "ssl exception", "http2 exception");
    // Messages for exceptions without a message.
    private static final Map<Class<?>, String> DEFAULT_MESSAGES = Map.of(
            FileNotFoundException.class, "No such file or directory",
            NoRouteToHostException.class, "No route to host");

    private ConnectionErrors() {}

    private static Replacement replacement(String pattern, String text) {
        return new Replacement(Pattern.compile(pattern, Pattern.DOTALL), text);
    }

    /**
     * Returns the cause of a failure as a clause without a full stop.
     *
     * @param mayRequireTls whether a server that closes the connection may require TLS
     */
    static String describe(Status status, boolean mayRequireTls) {
        Deque<Throwable> chain = chainOf(status);
        String description = firstLine(status.getDescription());
        String cause = chain.stream()
                .map(ConnectionErrors::messageOf)
                .flatMap(message -> replaced(message).stream())
                .findFirst()
                .or(() -> replaced(description))
                .orElseGet(() -> GENERIC.contains(description) ? original(chain) : description);
        return mayRequireTls && (cause.equals(CLOSED) || cause.equals(RESET))
                ? cause + "; the server may require TLS"
                : cause;
    }

    /** Returns whether the server speaks another protocol than gRPC. */
    static boolean isOtherProtocol(Status status) {
        return describe(status, false).equals(OTHER_PROTOCOL);
    }

    /** Returns the causes of a failure, the root cause first. */
    private static Deque<Throwable> chainOf(Status status) {
        Deque<Throwable> chain = new ArrayDeque<>();
        for (Throwable link = status.getCause(); link != null; link = link.getCause()) {
            chain.addFirst(link);
        }
        return chain;
    }

    private static Optional<String> replaced(String message) {
        for (Replacement replacement : REPLACEMENTS) {
            Matcher matcher = replacement.pattern().matcher(message);
            if (matcher.matches()) {
                return Optional.of(matcher.replaceFirst(replacement.text()));
            }
        }
        return Optional.empty();
    }

    private static String original(Collection<Throwable> chain) {
        String message = chain.stream()
                .map(ConnectionErrors::messageOf)
                .filter(text -> !text.isEmpty())
                .findFirst()
                .orElse("no details");
        return chain.stream().anyMatch(SSLException.class::isInstance) ? HANDSHAKE + message : message;
    }

    private static String messageOf(Throwable failure) {
        String message = firstLine(failure.getMessage());
        return message.isEmpty() ? DEFAULT_MESSAGES.getOrDefault(failure.getClass(), "") : message;
    }

    /** Returns the first line of a text that may be long, without its full stop. */
    private static String firstLine(String text) {
        return text == null ? "" : text.strip().lines().findFirst().orElse("").replaceFirst("\\.+$", "");
    }
}
