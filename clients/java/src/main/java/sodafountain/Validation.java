package sodafountain;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks of addresses, timeouts and secrets before any request is sent. */
final class Validation {
    // A host, or an IPv6 address in brackets, and a port.
    private static final Pattern HOST_AND_PORT =
            Pattern.compile("(?:\\[[0-9A-Fa-f:.%]+]|[^\\s:/@\\[\\]]+):(?<port>[0-9]{1,5})");
    // A DNS target of gRPC: dns:///host:port or dns:host:port.
    private static final Pattern DNS = Pattern.compile("dns:(?://(?<server>[^/]*)/)?(?<address>.*)");
    private static final String UNIX = "unix:";
    // A URI path: gRPC accepts no host, query or fragment here.
    private static final Pattern UNIX_PATH =
            Pattern.compile("(?:///|(?!//))(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})+");
    private static final Pattern BLANK = Pattern.compile("[\\s\\x00-\\x1f\\x7f]");
    private static final Pattern LOOPBACK = Pattern.compile("127(?:\\.(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})){3}");
    private static final int LARGEST_PORT = 65535;
    static final Duration LONGEST_TIMEOUT = Duration.ofSeconds(1_000_000_000);
    private static final String EXPECTED =
            "use host:port, such as 'localhost:50051', or a gRPC target such as 'dns:///host:port' or 'unix:path'";

    private Validation() {}

    /**
     * Returns the target if gRPC can create a channel for it.
     *
     * @throws IllegalArgumentException if it is neither {@code host:port} nor a gRPC target
     */
    static String checkedTarget(String target) {
        if (target.isEmpty()) {
            throw invalidTarget("target is empty");
        }
        if (target.indexOf('@') >= 0 && !target.startsWith(UNIX)) {
            // The text before the @ may contain a password, so the message omits it.
            throw invalidTarget(
                    "target must not contain credentials before '…" + target.substring(target.lastIndexOf('@')) + "'");
        }
        String named = "target '" + target + "'";
        if (BLANK.matcher(target).find()) {
            throw invalidTarget("target must not contain whitespace or control characters");
        }
        if (target.startsWith(UNIX)) {
            if (target.substring(UNIX.length()).chars().allMatch(letter -> letter == '/')) {
                throw invalidTarget(named + " has no address after '" + UNIX + "'");
            }
            if (!UNIX_PATH.matcher(target.substring(UNIX.length())).matches()) {
                throw invalidTarget(named + " has a host in its path, or a character that must be encoded as %XX");
            }
            return target;
        }
        Matcher dns = DNS.matcher(target);
        boolean isDns = dns.matches();
        if (!isDns && target.contains("://")) {
            throw invalidTarget(named + " is a URL or has an unknown scheme");
        }
        if (isDns && dns.group("server") != null && !dns.group("server").isEmpty()) {
            throw invalidTarget(named + " names a DNS server, which gRPC for Java does not support");
        }
        String address = isDns ? dns.group("address") : target;
        Matcher hostAndPort = HOST_AND_PORT.matcher(address);
        if (!hostAndPort.matches()) {
            throw invalidTarget(named + " is not host:port (put an IPv6 address in brackets)");
        }
        int port = Integer.parseInt(hostAndPort.group("port"));
        if (port < 1 || port > LARGEST_PORT) {
            throw invalidTarget(named + " must have a port from 1 to " + LARGEST_PORT);
        }
        if (!isHost(address, port)) {
            throw invalidTarget(
                    named + " has a host that is neither an IP address nor a name of letters, digits and '-'");
        }
        return target;
    }

    /** Returns whether gRPC, which parses an address as the authority of a URI, finds a host in it. */
    private static boolean isHost(String address, int port) {
        try {
            URI found = new URI("//" + address);
            return found.getHost() != null && found.getPort() == port;
        } catch (URISyntaxException invalid) {
            return false;
        }
    }

    /**
     * Checks that a connection without TLS to a valid target stays on this host.
     *
     * @throws IllegalArgumentException if tokens and API keys would cross a network in the clear
     */
    static void checkNotInTheClear(String target) {
        if (!isLoopback(target)) {
            throw new IllegalArgumentException("target '" + target + "' is not on this host, and the connection has no "
                    + "TLS: everyone on the network could read tokens and API keys. Use tls(). If you trust the network, "
                    + "use allowInsecure()");
        }
    }

    /** Returns whether a valid target is on this host, as far as its text says. */
    private static boolean isLoopback(String target) {
        if (target.startsWith(UNIX)) {
            return true;
        }
        Matcher dns = DNS.matcher(target);
        String address = dns.matches() ? dns.group("address") : target;
        String host = address.substring(0, address.lastIndexOf(':'));
        if (host.startsWith("[")) {
            try {
                return InetAddress.getByName(host).isLoopbackAddress(); // no lookup, since it is an IP address
            } catch (UnknownHostException invalid) {
                return false;
            }
        }
        return host.equalsIgnoreCase("localhost") || LOOPBACK.matcher(host).matches();
    }

    private static IllegalArgumentException invalidTarget(String problem) {
        return new IllegalArgumentException(problem + ": " + EXPECTED);
    }

    /**
     * Returns the timeout if it is positive and not too long.
     *
     * @param name the parameter's name, for the message
     * @throws IllegalArgumentException if it is not
     */
    static Duration checkedTimeout(Duration timeout, String name) {
        Objects.requireNonNull(timeout, name);
        if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
            throw new IllegalArgumentException(name + " must be greater than 0 and at most "
                    + LONGEST_TIMEOUT.toSeconds() + " seconds, not " + timeout);
        }
        return timeout;
    }

    /**
     * Returns the commitment if it has the right length.
     *
     * @throws IllegalArgumentException if it does not
     */
    static ByteString checkedCommitment(ByteString commitment) {
        Objects.requireNonNull(commitment, "commitment");
        if (commitment.size() != Commitment.BYTES) {
            throw new IllegalArgumentException(
                    "commitment must have " + Commitment.BYTES + " bytes, not " + commitment.size());
        }
        return commitment;
    }

    /**
     * Returns the token if it can be sent as metadata.
     *
     * @throws SodaFountainException if it cannot ({@link Reason#TOKEN_INVALID})
     */
    static String checkedToken(String token) {
        return checkedSecret(token, "token", Reason.TOKEN_INVALID);
    }

    /**
     * Returns the API key if it can be sent as metadata.
     *
     * @throws SodaFountainException if it cannot ({@link Reason#API_KEY_INVALID})
     */
    static String checkedApiKey(String apiKey) {
        return checkedSecret(apiKey, "API key", Reason.API_KEY_INVALID);
    }

    /** Checks that a secret is visible ASCII, as every token and key is. The message shows only the invalid character. */
    private static String checkedSecret(String secret, String name, Reason reason) {
        Objects.requireNonNull(secret, name);
        if (secret.isEmpty()) {
            throw invalidSecret("The " + name + " is empty.", reason);
        }
        int[] characters = secret.codePoints().toArray();
        for (int index = 0; index < characters.length; index++) {
            if (characters[index] < 0x21 || characters[index] > 0x7e) {
                throw invalidSecret(
                        String.format(
                                "The %s must consist of visible ASCII characters; character %d of %d is U+%04X. "
                                        + "Whitespace is not stripped.",
                                name, index + 1, characters.length, characters[index]),
                        reason);
            }
        }
        return secret;
    }

    private static SodaFountainException invalidSecret(String problem, Reason reason) {
        return new SodaFountainException(problem, reason, Status.Code.UNAUTHENTICATED);
    }
}
