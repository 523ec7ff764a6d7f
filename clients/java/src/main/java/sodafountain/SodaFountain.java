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
 * A client of a Soda Fountain service. Threads may share it; close it.
 *
 * <p>Every call has a deadline, and is retried while the service is away for a moment. Every call may throw a {@link
 * SodaFountainException} with {@link Reason#UNREACHABLE}, {@link Reason#DEADLINE_EXCEEDED} and every other reason; the
 * likely ones are named with each. An interrupt of a thread that waits for an answer ends the call with {@link
 * Reason#INTERRUPTED}, and the thread stays interrupted. A timeout that is not more than nothing is an {@link
 * IllegalArgumentException}.
 */
public final class SodaFountain implements AutoCloseable {
    private static final Metadata.Key<String> API_KEY = Metadata.Key.of("x-api-key", Metadata.ASCII_STRING_MARSHALLER);

    private final Connection connection;
    private final Channel plain;
    private final Channel withKey;

    private SodaFountain(Connection connection, Metadata key) {
        this.connection = connection;
        this.plain = connection.with(new Metadata());
        this.withKey = connection.with(key);
    }

    /**
     * Makes a client of the service at an address, in plain text. The connection is made with the first call.
     *
     * @param target the address: {@code host:port}, or another gRPC target such as {@code dns:///host:port} or {@code
     *     unix:path}
     * @return the client, to be closed
     * @throws IllegalArgumentException if the target is no address
     */
    public static SodaFountain connect(String target) {
        return builder(target).connect();
    }

    /**
     * Prepares a client of the service at an address, for more than {@link #connect(String)} says.
     *
     * @param target the address, as for {@link #connect(String)}
     * @return what makes the client
     * @throws IllegalArgumentException if the target is no address
     */
    public static Builder builder(String target) {
        return new Builder(Validation.checkedTarget(Objects.requireNonNull(target, "target")));
    }

    /** Says how to connect. Everything may be left out. */
    public static final class Builder {
        private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

        private final String target;
        private final Metadata key = new Metadata();
        private ChannelCredentials credentials = InsecureChannelCredentials.create();
        private boolean tls;
        private Duration timeout = DEFAULT_TIMEOUT;

        private Builder(String target) {
            this.target = target;
        }

        /**
         * Uses TLS, and trusts the authorities that the Java platform trusts.
         *
         * @return this
         */
        public Builder tls() {
            return tls(TlsChannelCredentials.create());
        }

        /**
         * Uses TLS, and trusts these authorities alone.
         *
         * @param authorities a file with their certificates, in PEM
         * @return this
         * @throws UncheckedIOException if the file cannot be read
         * @throws IllegalArgumentException if there is no certificate in it
         */
        public Builder tls(Path authorities) {
            return tls(Channels.trusting(authorities));
        }

        /**
         * Uses TLS with your own credentials, with a certificate of the client's for instance.
         *
         * @param own the credentials
         * @return this
         */
        public Builder tls(ChannelCredentials own) {
            this.credentials = Objects.requireNonNull(own, "own");
            this.tls = true;
            return this;
        }

        /**
         * Sets the key that creating games needs where the operator closed it.
         *
         * @param apiKey the key, a secret; it goes out with {@link SodaFountain#newGame(Message, int)} alone
         * @return this
         * @throws SodaFountainException if no key looks like that: it is empty, or has white space in it, at its ends for
         *     instance ({@link Reason#API_KEY_INVALID})
         */
        public Builder apiKey(String apiKey) {
            key.discardAll(API_KEY);
            key.put(API_KEY, Validation.checkedApiKey(apiKey));
            return this;
        }

        /**
         * Sets the deadline of each call that names none, over all its tries.
         *
         * @param longest how long to wait for an answer; 5 seconds if it is not given
         * @return this
         * @throws IllegalArgumentException if it is not more than nothing
         */
        public Builder timeout(Duration longest) {
            this.timeout = Validation.checkedTimeout(longest, "timeout");
            return this;
        }

        /**
         * Makes the client. The connection is made with the first call.
         *
         * @return the client, to be closed
         */
        public SodaFountain connect() {
            Metadata ownKey = new Metadata();
            ownKey.merge(key);
            return new SodaFountain(new Connection(target, tls, timeout, Channels.open(target, credentials)), ownKey);
        }

        /** Says where it leads, and shows no key. */
        @Override
        public String toString() {
            return "Builder to " + target;
        }
    }

    /**
     * Makes a game and deals it.
     *
     * @param options which game and how: {@code Options}, or a kind's own options message
     * @param seats how many seats
     * @return the game
     * @throws SodaFountainException if the call fails: {@link Reason#MALFORMED} if options and seats make no game, {@link
     *     Reason#API_KEY_INVALID} if creating games needs an API key here, and others
     * @throws IllegalArgumentException if it is no options message, or empty {@code Options}
     */
    public Game newGame(Message options, int seats) {
        return newGame(options, seats, with -> {});
    }

    /**
     * Makes a game and deals it.
     *
     * @param options which game and how: {@code Options}, or a kind's own options message
     * @param seats how many seats
     * @param with fills in the settings, {@code NewGameSettings::sealed} for instance
     * @return the game
     * @throws SodaFountainException as {@link #newGame(Message, int)}
     * @throws IllegalArgumentException if it is no options message, or empty {@code Options}
     */
    public Game newGame(Message options, int seats, Consumer<NewGameSettings> with) {
        NewGameSettings settings = Viewer.configured(new NewGameSettings(), with);
        NewGameRequest.Builder request = NewGameRequest.newBuilder()
                .setOptions(GameMessages.toOptions(options))
                .setSeatCount(seats)
                .setRequestId(GameCalls.requestId(settings.requestId))
                .setSealed(settings.sealed);
        if (settings.seed != null) {
            request.setSeed(settings.seed);
        }
        NewGameResponse answer = connection.answer(
                withKey, GameServiceGrpc.getNewGameMethod(), request.build(), settings.timeout, request.getRequestId());
        return new Game(connection, answer);
    }

    /**
     * Lists the kinds of game on offer, with their numbers of seats, options and presets. All pages are fetched and put
     * together.
     *
     * <p>A preset goes to {@link #newGame(Message, int)} as it is; the preset info at the same place has its title and
     * the seats it is for.
     *
     * @return the kinds
     * @throws SodaFountainException if the call fails
     */
    public List<GameKindInfo> gameKinds() {
        return allGameKinds(null);
    }

    /**
     * Lists the kinds of game on offer, with their numbers of seats, options and presets. All pages are fetched and put
     * together.
     *
     * @param timeout the deadline of each page
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
            ListGameKindsResponse answer =
                    connection.answer(plain, GameServiceGrpc.getListGameKindsMethod(), request, timeout, null);
            kinds.addAll(answer.getGameKindsList());
            page = answer.getNextPageToken();
        } while (!page.isEmpty());
        return List.copyOf(kinds);
    }

    /**
     * Takes a seat of a game with its token; nothing is asked of the service yet.
     *
     * @param gameId the game's id
     * @param token the seat's token
     * @return the seat
     * @throws SodaFountainException if no token looks like that: it is empty, or has white space in it, at its ends for
     *     instance ({@link Reason#TOKEN_INVALID})
     */
    public Seat seat(String gameId, String token) {
        return new Seat(GameCalls.withToken(connection, gameId, token, OptionalInt.empty()));
    }

    /**
     * Looks at a game from outside; nothing is asked of the service yet.
     *
     * @param gameId the game's id
     * @return the spectator
     */
    public Spectator spectator(String gameId) {
        return new Spectator(GameCalls.withoutToken(connection, gameId));
    }

    /**
     * Holds a game with its host token; nothing is asked of the service yet.
     *
     * @param gameId the game's id
     * @param token the host's token
     * @return the host
     * @throws SodaFountainException if no token looks like that ({@link Reason#TOKEN_INVALID})
     */
    public Host host(String gameId, String token) {
        return new Host(GameCalls.withToken(connection, gameId, token, OptionalInt.empty()));
    }

    /**
     * Closes the connection: calls and watches that are under way, and later ones, end with {@link
     * Reason#CLIENT_CLOSED}. Closing twice is closing once.
     */
    @Override
    public void close() {
        connection.close();
    }

    /** Says where it leads, and shows no key. */
    @Override
    public String toString() {
        return "SodaFountain client of " + connection.target();
    }
}
