package sodafountain;

import com.google.protobuf.Message;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.function.Consumer;
import sodafountain.v1.GameKindInfo;
import sodafountain.v1.GameServiceGrpc;
import sodafountain.v1.ListGameKindsRequest;
import sodafountain.v1.ListGameKindsResponse;
import sodafountain.v1.NewGameRequest;
import sodafountain.v1.NewGameResponse;

/**
 * A client of a Soda Fountain service. It is thread-safe. Close it when it is no longer needed.
 *
 * <p>Every call has a deadline. Until then the client retries it if the service is briefly unavailable. Every call can
 * throw a {@link SodaFountainException} with {@link Reason#UNREACHABLE}, {@link Reason#DEADLINE_EXCEEDED} and other
 * reasons; the documentation of a call names the likely ones. An interrupt of a thread that waits for a response ends the
 * call with {@link Reason#INTERRUPTED} and leaves the thread interrupted. A timeout that is not positive throws an {@link
 * IllegalArgumentException}.
 */
public final class SodaFountain implements AutoCloseable {
    private static final Metadata.Key<String> API_KEY = Metadata.Key.of("x-api-key", Metadata.ASCII_STRING_MARSHALLER);

    private final Connection connection;
    private final Channel plain;
    private final Channel withKey;

    SodaFountain(Connection connection, Metadata key) {
        this.connection = connection;
        this.plain = connection.with(new Metadata());
        this.withKey = connection.with(key);
    }

    /**
     * Creates a client without TLS. It connects on the first call.
     *
     * @param target the address of the service: {@code host:port}, or another gRPC target such as {@code
     *     dns:///host:port} or {@code unix:path}
     * @return the client, which the caller closes
     * @throws IllegalArgumentException if the target is invalid, or another host than this one
     */
    public static SodaFountain connect(String target) {
        return builder(target).connect();
    }

    /**
     * Returns a builder of a client with TLS, an API key or another timeout.
     *
     * @param target the address of the service, as for {@link #connect(String)}
     * @return the builder
     * @throws IllegalArgumentException if the target is invalid
     */
    public static Builder builder(String target) {
        return new Builder(Validation.checkedTarget(Objects.requireNonNull(target, "target")));
    }

    /** A builder of a client. Every setting is optional. */
    public static final class Builder {
        private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

        private final String target;
        private final Metadata key = new Metadata();
        private ChannelCredentials credentials = InsecureChannelCredentials.create();
        private boolean tls;
        private boolean allowInsecure;
        private Duration timeout = DEFAULT_TIMEOUT;

        private Builder(String target) {
            this.target = target;
        }

        /**
         * Uses TLS, and trusts the certificate authorities that the Java platform trusts.
         *
         * @return this builder
         */
        public Builder tls() {
            return tls(TlsChannelCredentials.create());
        }

        /**
         * Uses TLS, and trusts only the certificate authorities in a file.
         *
         * @param authorities a PEM file with their certificates
         * @return this builder
         * @throws UncheckedIOException if the file cannot be read
         * @throws IllegalArgumentException if the file contains no valid certificate
         */
        public Builder tls(Path authorities) {
            return tls(Channels.trustOnly(authorities));
        }

        /**
         * Uses TLS with gRPC credentials, which may have a client certificate.
         *
         * @param credentials the credentials
         * @return this builder
         */
        public Builder tls(ChannelCredentials credentials) {
            this.credentials = Objects.requireNonNull(credentials, "credentials");
            this.tls = true;
            return this;
        }

        /**
         * Allows a connection without TLS to another host. Everyone on the network can then read the tokens and the API
         * key, so use this only on a network that you trust. Without TLS and this setting, the target must be {@code
         * localhost}, an address of the loopback interface or a Unix socket.
         *
         * @return this builder
         */
        public Builder allowInsecure() {
            this.allowInsecure = true;
            return this;
        }

        /**
         * Sets the API key, which some services require for the creation of games.
         *
         * @param apiKey the key, a secret; only {@link SodaFountain#newGame(Message, int)} sends it
         * @return this builder
         * @throws SodaFountainException if the key is empty or contains characters other than visible ASCII ({@link
         *     Reason#API_KEY_INVALID})
         */
        public Builder apiKey(String apiKey) {
            key.discardAll(API_KEY);
            key.put(API_KEY, Validation.checkedApiKey(apiKey));
            return this;
        }

        /**
         * Sets the timeout of calls that set none themselves, retries included. The default is 5 seconds.
         *
         * @param timeout the timeout
         * @return this builder
         * @throws IllegalArgumentException if the timeout is not positive
         */
        public Builder timeout(Duration timeout) {
            this.timeout = Validation.checkedTimeout(timeout, "timeout");
            return this;
        }

        /**
         * Creates the client. It connects on the first call.
         *
         * @return the client, which the caller closes
         * @throws IllegalArgumentException if the target is another host, and neither TLS nor {@link #allowInsecure()} is
         *     set
         */
        public SodaFountain connect() {
            if (!tls && !allowInsecure) {
                Validation.checkNotInTheClear(target);
            }
            Metadata ownKey = new Metadata();
            ownKey.merge(key);
            return new SodaFountain(
                    new Connection(target, tls, timeout, () -> Channels.open(target, credentials)), ownKey);
        }

        /** Returns the target, without the API key. */
        @Override
        public String toString() {
            return "SodaFountain builder for " + target;
        }
    }

    /**
     * Creates a game.
     *
     * @param options the kind of the game and its options: {@code Options}, or the options message of a kind
     * @param seats the number of seats
     * @return the game
     * @throws SodaFountainException if the call fails: {@link Reason#MALFORMED} if the options or the number of seats are
     *     invalid, {@link Reason#API_KEY_INVALID} if the service requires another API key, and others
     * @throws IllegalArgumentException if the message is not an options message, or empty {@code Options}
     */
    public Game newGame(Message options, int seats) {
        return newGame(options, seats, with -> {});
    }

    /**
     * Creates a game.
     *
     * @param options the kind of the game and its options: {@code Options}, or the options message of a kind
     * @param seats the number of seats
     * @param with changes the settings, such as {@code NewGameSettings::sealed}
     * @return the game
     * @throws SodaFountainException as {@link #newGame(Message, int)}
     * @throws IllegalArgumentException if the message is not an options message, or empty {@code Options}
     */
    public Game newGame(Message options, int seats, Consumer<NewGameSettings> with) {
        NewGameSettings settings = Viewer.configured(new NewGameSettings(), with);
        NewGameRequest.Builder request = NewGameRequest.newBuilder()
                .setOptions(GameMessages.toOptions(options))
                .setSeatCount(seats)
                .setRequestId(GameCalls.requestId(settings.requestId))
                .setSealed(settings.sealed)
                .setVisibility(settings.visibility);
        if (settings.seed != null) {
            request.setSeed(settings.seed);
        }
        NewGameResponse response = connection.call(
                withKey, GameServiceGrpc.getNewGameMethod(), request.build(), settings.timeout, request.getRequestId());
        return new Game(connection, response);
    }

    /**
     * Returns the kinds of game that the service offers, with their numbers of seats, options and presets. It fetches all
     * pages.
     *
     * <p>Pass a preset to {@link #newGame(Message, int)} unchanged. The preset info with the same index has its title and
     * its numbers of seats.
     *
     * @return the kinds
     * @throws SodaFountainException if the call fails
     */
    public List<GameKindInfo> gameKinds() {
        return allGameKinds(null);
    }

    /**
     * Returns the kinds of game that the service offers, with their numbers of seats, options and presets. It fetches all
     * pages.
     *
     * @param timeout the timeout of the call for each page, retries included
     * @return the kinds
     * @throws SodaFountainException if the call fails
     */
    public List<GameKindInfo> gameKinds(Duration timeout) {
        return allGameKinds(Validation.checkedTimeout(timeout, "timeout"));
    }

    private List<GameKindInfo> allGameKinds(Duration timeout) {
        List<GameKindInfo> kinds = new ArrayList<>();
        String page = "";
        do {
            ListGameKindsRequest request =
                    ListGameKindsRequest.newBuilder().setPageToken(page).build();
            ListGameKindsResponse response =
                    connection.call(plain, GameServiceGrpc.getListGameKindsMethod(), request, timeout, null);
            kinds.addAll(response.getGameKindsList());
            page = response.getNextPageToken();
        } while (!page.isEmpty());
        return List.copyOf(kinds);
    }

    /**
     * Returns a seat of a game. Makes no call.
     *
     * @param gameId the id of the game
     * @param token the token of the seat
     * @return the seat
     * @throws SodaFountainException if the token is empty or contains characters other than visible ASCII ({@link
     *     Reason#TOKEN_INVALID})
     */
    public Seat seat(String gameId, String token) {
        return seat(gameId, token, with -> {});
    }

    /**
     * Returns a seat of a game. Makes no call.
     *
     * @param gameId the id of the game
     * @param token the token of the seat
     * @param with changes the settings, such as {@code with -> with.commitment(…)}
     * @return the seat
     * @throws SodaFountainException as {@link #seat(String, String)}
     */
    public Seat seat(String gameId, String token, Consumer<ViewerSettings> with) {
        return new Seat(withToken(gameId, token, with));
    }

    /**
     * Returns a spectator of a game. Makes no call.
     *
     * @param gameId the id of the game
     * @return the spectator
     */
    public Spectator spectator(String gameId) {
        return spectator(gameId, with -> {});
    }

    /**
     * Returns a spectator of a game. Makes no call.
     *
     * @param gameId the id of the game
     * @param with changes the settings, such as {@code with -> with.token(…)} for a private game
     * @return the spectator
     * @throws SodaFountainException if the token is empty or contains characters other than visible ASCII ({@link
     *     Reason#TOKEN_INVALID})
     */
    public Spectator spectator(String gameId, Consumer<SpectatorSettings> with) {
        SpectatorSettings settings = Viewer.configured(new SpectatorSettings(), with);
        Commitment commitment = new Commitment(gameId, settings.commitment);
        return new Spectator(
                settings.token == null
                        ? GameCalls.withoutToken(connection, commitment)
                        : GameCalls.withToken(connection, commitment, settings.token, OptionalInt.empty()));
    }

    /**
     * Returns the host of a game. Makes no call.
     *
     * @param gameId the id of the game
     * @param token the token of the host
     * @return the host
     * @throws SodaFountainException if the token is empty or contains characters other than visible ASCII ({@link
     *     Reason#TOKEN_INVALID})
     */
    public Host host(String gameId, String token) {
        return host(gameId, token, with -> {});
    }

    /**
     * Returns the host of a game. Makes no call.
     *
     * @param gameId the id of the game
     * @param token the token of the host
     * @param with changes the settings, such as {@code with -> with.commitment(…)}
     * @return the host
     * @throws SodaFountainException as {@link #host(String, String)}
     */
    public Host host(String gameId, String token, Consumer<ViewerSettings> with) {
        return new Host(withToken(gameId, token, with));
    }

    private GameCalls withToken(String gameId, String token, Consumer<ViewerSettings> with) {
        ViewerSettings settings = Viewer.configured(new ViewerSettings(), with);
        return GameCalls.withToken(connection, new Commitment(gameId, settings.commitment), token, OptionalInt.empty());
    }

    /**
     * Closes the connection. Open calls and watches, and later ones, fail with {@link Reason#CLIENT_CLOSED}. A second call
     * does nothing.
     */
    @Override
    public void close() {
        connection.close();
    }

    /** Returns the target, without the API key. */
    @Override
    public String toString() {
        return "SodaFountain client for " + connection.target();
    }
}
