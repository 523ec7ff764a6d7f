package sodafountain;

import io.grpc.Status;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What callers give that no service should see: addresses, timeouts and secrets that cannot be right. */
final class Validation {
    // A host, or an IPv6 address in brackets, and a port.
    private static final Pattern HOST_AND_PORT =
            Pattern.compile("(?:\\[[0-9A-Fa-f:.%]+]|[^\\s:/@\\[\\]]+):(?<port>[0-9]{1,5})");
    // gRPC's own way of naming a host: dns:///host:port or dns:host:port.
    private static final Pattern DNS = Pattern.compile("dns:(?://(?<server>[^/]*)/)?(?<address>.*)");
    private static final String UNIX = "unix:";
    // What gRPC takes for a URI, without a host, a query and a fragment.
    private static final Pattern UNIX_PATH =
            Pattern.compile("(?:///|(?!//))(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})+");
    private static final Pattern BLANK = Pattern.compile("[\\s\\x00-\\x1f\\x7f]");
    private static final int LARGEST_PORT = 65535;
    static final Duration LONGEST_TIMEOUT = Duration.ofSeconds(1_000_000_000);
    private static final String RIGHT =
            "give host:port, 'localhost:50051' for instance, or a gRPC target such as 'dns:///host:port' or 'unix:path'";

    private Validation() {}

    /**
     * Returns an address that a channel can be made of.
     *
     * @throws IllegalArgumentException if it is neither {@code host:port} nor a gRPC target
     */
    static String checkedTarget(String target) {
        if (target.isEmpty()) {
            throw wrongTarget("target is empty");
        }
        if (target.indexOf('@') >= 0 && !target.startsWith(UNIX)) {
            // What stands before it may be a password.
            throw wrongTarget("target names a user before '…" + target.substring(target.lastIndexOf('@'))
                    + "', which no service asks for");
        }
        String named = "target '" + target + "'";
        if (BLANK.matcher(target).find()) {
            throw wrongTarget("target has white space or control characters in it");
        }
        if (target.startsWith(UNIX)) {
            if (target.substring(UNIX.length()).chars().allMatch(letter -> letter == '/')) {
                throw wrongTarget(named + " says nothing after '" + UNIX + "'");
            }
            if (!UNIX_PATH.matcher(target.substring(UNIX.length())).matches()) {
                throw wrongTarget(named + " has a host, or what must be written as %XX, in its path");
            }
            return target;
        }
        Matcher dns = DNS.matcher(target);
        boolean isDns = dns.matches();
        if (!isDns && target.contains("://")) {
            throw wrongTarget(named + " is a URL, or has a scheme that this client does not know");
        }
        if (isDns && dns.group("server") != null && !dns.group("server").isEmpty()) {
            throw wrongTarget(named + " names a name server, which gRPC for Java cannot choose");
        }
        String address = isDns ? dns.group("address") : target;
        Matcher hostAndPort = HOST_AND_PORT.matcher(address);
        if (!hostAndPort.matches()) {
            throw wrongTarget(named + " is not host:port (an IPv6 address stands in brackets)");
        }
        int port = Integer.parseInt(hostAndPort.group("port"));
        if (port < 1 || port > LARGEST_PORT) {
            throw wrongTarget(named + " has no port from 1 to " + LARGEST_PORT);
        }
        if (!isHost(address, port)) {
            throw wrongTarget(
                    named + " has a host that is neither an IP address nor a name of letters, digits and '-'");
        }
        return target;
    }

    /** Whether gRPC, to which an address is the authority of a URI, finds a host in it. */
    private static boolean isHost(String address, int port) {
        try {
            URI found = new URI("//" + address);
            return found.getHost() != null && found.getPort() == port;
        } catch (URISyntaxException none) {
            return false;
        }
    }

    private static IllegalArgumentException wrongTarget(String problem) {
        return new IllegalArgumentException(problem + ": " + RIGHT);
    }

    /**
     * Returns a time that can be waited for.
     *
     * @param name what the caller calls it
     * @throws IllegalArgumentException if it is not more than nothing, or longer than clocks can count
     */
    static Duration checkedTimeout(Duration timeout, String name) {
        Objects.requireNonNull(timeout, name);
        if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
            throw new IllegalArgumentException(name + " must be more than 0 and at most " + LONGEST_TIMEOUT.toSeconds()
                    + " seconds, not " + timeout);
        }
        return timeout;
    }

    /**
     * Returns a token that can travel.
     *
     * @throws SodaFountainException if it cannot: {@link Reason#TOKEN_INVALID}
     */
    static String checkedToken(String token) {
        return checkedSecret(token, "token", Reason.TOKEN_INVALID);
    }

    /**
     * Returns an API key that can travel.
     *
     * @throws SodaFountainException if it cannot: {@link Reason#API_KEY_INVALID}
     */
    static String checkedApiKey(String apiKey) {
        return checkedSecret(apiKey, "API key", Reason.API_KEY_INVALID);
    }

    /** Says of a secret that cannot travel why, and nothing else of it. Every token and key is visible ASCII. */
    private static String checkedSecret(String secret, String name, Reason reason) {
        Objects.requireNonNull(secret, name);
        if (secret.isEmpty()) {
            throw unfit("The " + name + " is empty.", reason);
        }
        int[] characters = secret.codePoints().toArray();
        for (int index = 0; index < characters.length; index++) {
            if (characters[index] < 0x21 || characters[index] > 0x7e) {
                throw unfit(
                        String.format(
                                "The %s must consist of visible ASCII characters, and number %d of its %d is U+%04X: "
                                        + "nothing is stripped, not even white space at its ends.",
                                name, index + 1, characters.length, characters[index]),
                        reason);
            }
        }
        return secret;
    }

    private static SodaFountainException unfit(String problem, Reason reason) {
        return new SodaFountainException(problem, reason, Status.Code.UNAUTHENTICATED);
    }
}
