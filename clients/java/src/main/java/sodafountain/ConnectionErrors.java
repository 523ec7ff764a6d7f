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

/** What gRPC says about a failure, said to people: the cause, not the chain of everything that it came through. */
final class ConnectionErrors {
    /** What to say where something like this is said; {@code $1} is theirs. */
    private record Words(Pattern theirs, String ours) {}

    private static final String FOREIGN = "the server speaks another protocol";
    private static final String HANDSHAKE = "the TLS handshake failed: ";
    private static final String CERTIFICATE = HANDSHAKE + "the server's certificate ";
    private static final String CLOSED = "the connection was closed";
    private static final String RESET = "Connection reset by peer";

    // The first that fits.
    private static final List<Words> WORDS = List.of(
            words("not an SSL/TLS record.*", HANDSHAKE + "the server does not speak TLS"),
            words("No (?:subject alternative|name matching) .*", CERTIFICATE + "is for another host"),
            words(".*unable to find valid certification path.*", CERTIFICATE + "is not trusted"),
            words("NotAfter: .*", CERTIFICATE + "has expired"),
            words("NotBefore: .*", CERTIFICATE + "is not valid yet"),
            words("PKIX .*", CERTIFICATE + "is not trusted"),
            words("Connection closed while performing TLS negotiation", HANDSHAKE + CLOSED),
            words("(?:First received frame was not SETTINGS|Unexpected HTTP/1.x request).*", FOREIGN),
            words("Network closed for unknown reason", CLOSED),
            words(".*" + RESET + ".*", RESET),
            words(".*(Connection refused|No route to host|Network is unreachable|Broken pipe).*", "$1"),
            words("\\S+: (Name or service not known|Temporary failure in name resolution)", "$1"));
    // What gRPC says where only the cause says something.
    private static final Collection<String> HOLLOW = List.of("", "io exception", "ssl exception", "http2 exception");
    // What these exceptions leave to their names.
    private static final Map<Class<?>, String> NAMES = Map.of(
            FileNotFoundException.class, "No such file or directory",
            NoRouteToHostException.class, "No route to host");

    private ConnectionErrors() {}

    private static Words words(String theirs, String ours) {
        return new Words(Pattern.compile(theirs, Pattern.DOTALL), ours);
    }

    /**
     * Tells the cause of a failure, in a clause without a full stop.
     *
     * @param mayWantTls whether a server that hangs up may do so because it wants TLS
     */
    static String describe(Status status, boolean mayWantTls) {
        Deque<Throwable> chain = chainOf(status);
        String description = firstLine(status.getDescription());
        String cause = chain.stream()
                .map(ConnectionErrors::messageOf)
                .flatMap(message -> known(message).stream())
                .findFirst()
                .or(() -> known(description))
                .orElseGet(() -> HOLLOW.contains(description) ? unknown(chain) : description);
        return mayWantTls && (cause.equals(CLOSED) || cause.equals(RESET))
                ? cause + "; the server may want TLS"
                : cause;
    }

    /** Whether the server speaks something else than gRPC does. */
    static boolean isOtherProtocol(Status status) {
        return describe(status, false).equals(FOREIGN);
    }

    /** The exceptions behind a failure, the first cause first. */
    private static Deque<Throwable> chainOf(Status status) {
        Deque<Throwable> chain = new ArrayDeque<>();
        for (Throwable link = status.getCause(); link != null; link = link.getCause()) {
            chain.addFirst(link);
        }
        return chain;
    }

    private static Optional<String> known(String message) {
        for (Words words : WORDS) {
            Matcher found = words.theirs().matcher(message);
            if (found.matches()) {
                return Optional.of(found.replaceFirst(words.ours()));
            }
        }
        return Optional.empty();
    }

    private static String unknown(Collection<Throwable> chain) {
        String said = chain.stream()
                .map(ConnectionErrors::messageOf)
                .filter(message -> !message.isEmpty())
                .findFirst()
                .orElse("no details");
        return chain.stream().anyMatch(SSLException.class::isInstance) ? HANDSHAKE + said : said;
    }

    private static String messageOf(Throwable link) {
        String message = firstLine(link.getMessage());
        return message.isEmpty() ? NAMES.getOrDefault(link.getClass(), "") : message;
    }

    /** Of what may be pages. */
    private static String firstLine(String text) {
        return text == null ? "" : text.strip().lines().findFirst().orElse("").replaceFirst("\\.+$", "");
    }
}
