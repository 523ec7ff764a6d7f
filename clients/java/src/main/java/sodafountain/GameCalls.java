package sodafountain;

import com.google.protobuf.Message;
import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BinaryOperator;
import java.util.regex.Pattern;
import sodafountain.v1.ApplyMoveRequest;
import sodafountain.v1.ApplyMoveResponse;
import sodafountain.v1.DeleteGameRequest;
import sodafountain.v1.GameServiceGrpc;
import sodafountain.v1.GameState;
import sodafountain.v1.GetGameRequest;
import sodafountain.v1.GetHistoryRequest;
import sodafountain.v1.GetHistoryResponse;
import sodafountain.v1.LegalMovesRequest;
import sodafountain.v1.LegalMovesResponse;
import sodafountain.v1.ScoreRequest;
import sodafountain.v1.ScoreResponse;

/**
 * Makes the calls of one viewer about one game, and remembers the open decisions that the viewer has seen.
 *
 * <p>The seat of a call is empty for a spectator, and for a seat, whose token determines it. A null timeout is the
 * client's timeout.
 */
final class GameCalls {
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> GAME_ID = Metadata.Key.of("x-game-id", Metadata.ASCII_STRING_MARSHALLER);
    // A value of the header x-game-id. The ids of games match it; the service rejects other ids.
    private static final Pattern ROUTABLE_ID = Pattern.compile("[\\x21-\\x7e]{1,64}");

    private final Connection connection;
    private final Channel channel;
    private final Commitment commitment;
    private final String gameId;
    // The latest known decision of each seat, by the seat of the calls.
    private final Map<OptionalInt, Decision> decisions = new ConcurrentHashMap<>();
    // The viewer's own seat, set by the first response that contains it: the client cannot read it from the token.
    private volatile OptionalInt ownSeat;

    /**
     * An open decision.
     *
     * @param version the version of the game in which it was seen
     * @param etag its etag, or empty if the seat is not awaited: its next move then answers any decision
     */
    private record Decision(long version, String etag) {
        static final Decision NONE = new Decision(0, "");

        static Decision of(long version, String etag, boolean isOpen) {
            return new Decision(version, isOpen ? etag : "");
        }
    }

    private GameCalls(Connection connection, Commitment commitment, Metadata headers, OptionalInt ownSeat) {
        this.connection = connection;
        this.commitment = commitment;
        this.gameId = commitment.gameId();
        // Gateways route by the game id, so that all calls about a game reach the service that has it in its cache.
        if (ROUTABLE_ID.matcher(gameId).matches()) {
            headers.put(GAME_ID, gameId);
        }
        this.channel = connection.with(headers);
        this.ownSeat = ownSeat;
    }

    /** Creates the calls of a viewer without a token. */
    static GameCalls withoutToken(Connection connection, Commitment commitment) {
        return new GameCalls(connection, commitment, new Metadata(), OptionalInt.empty());
    }

    /**
     * Creates the calls of a viewer with a token.
     *
     * @throws SodaFountainException if the token is malformed
     */
    static GameCalls withToken(Connection connection, Commitment commitment, String token, OptionalInt ownSeat) {
        Metadata headers = new Metadata();
        headers.put(AUTHORIZATION, "Bearer " + Validation.checkedToken(token));
        return new GameCalls(connection, commitment, headers, ownSeat);
    }

    Connection connection() {
        return connection;
    }

    Channel channel() {
        return channel;
    }

    String gameId() {
        return gameId;
    }

    Commitment commitment() {
        return commitment;
    }

    OptionalInt ownSeat() {
        return ownSeat;
    }

    GameState state(OptionalInt seat, StateSettings settings) {
        GetGameRequest.Builder request =
                GetGameRequest.newBuilder().setGameId(gameId).setIncludeLegalMoves(settings.legalMoves);
        seat.ifPresent(request::setSeat);
        GameState state = call(GameServiceGrpc.getGetGameMethod(), request.build(), settings.timeout)
                .getState();
        rememberState(seat, state, null);
        return state;
    }

    LegalMovesResponse legalMoves(OptionalInt seat, Duration timeout) {
        LegalMovesRequest.Builder request = LegalMovesRequest.newBuilder().setGameId(gameId);
        seat.ifPresent(request::setSeat);
        LegalMovesResponse response = call(GameServiceGrpc.getLegalMovesMethod(), request.build(), timeout);
        decisions.put(seat, Decision.of(response.getVersion(), response.getEtag(), response.getMovesCount() > 0));
        return response;
    }

    ApplyMoveResponse apply(OptionalInt seat, Message move, MoveSettings settings) {
        ApplyMoveRequest.Builder request = ApplyMoveRequest.newBuilder()
                .setGameId(gameId)
                .setMove(GameMessages.toMove(move))
                .setEtag(
                        settings.etag == null
                                ? decisions.getOrDefault(seat, Decision.NONE).etag()
                                : settings.etag)
                .setRequestId(requestId(settings.requestId))
                .setIncludeLegalMoves(settings.legalMoves);
        seat.ifPresent(request::setSeat);
        ApplyMoveResponse response = connection.call(
                channel,
                GameServiceGrpc.getApplyMoveMethod(),
                request.build(),
                settings.timeout,
                request.getRequestId());
        rememberState(seat, response.getState(), request.getRequestId());
        return response;
    }

    ScoreResponse score(Duration timeout) {
        ScoreRequest request = ScoreRequest.newBuilder().setGameId(gameId).build();
        return call(GameServiceGrpc.getScoreMethod(), request, timeout);
    }

    /** Returns the history, with the entries of all pages and the facts of the first one. */
    GetHistoryResponse history(OptionalInt seat, Duration timeout) {
        GetHistoryResponse.Builder history = null;
        do {
            String page = history == null ? "" : history.getNextPageToken();
            GetHistoryRequest.Builder request =
                    GetHistoryRequest.newBuilder().setGameId(gameId).setPageToken(page);
            seat.ifPresent(request::setSeat);
            GetHistoryResponse next = call(GameServiceGrpc.getGetHistoryMethod(), request.build(), timeout);
            history = history == null
                    ? next.toBuilder()
                    : history.addAllEntries(next.getEntriesList()).setNextPageToken(next.getNextPageToken());
        } while (!history.getNextPageToken().isEmpty());
        GetHistoryResponse joined = history.build();
        commitment.checkHistory(joined);
        return joined;
    }

    void delete(Duration timeout) {
        DeleteGameRequest request =
                DeleteGameRequest.newBuilder().setGameId(gameId).build();
        call(GameServiceGrpc.getDeleteGameMethod(), request, timeout);
    }

    private <Q, A> A call(MethodDescriptor<Q, A> rpc, Q request, Duration timeout) {
        return connection.call(channel, rpc, request, timeout, null);
    }

    /**
     * Remembers the decision in a response or a snapshot, which replaces every earlier one.
     *
     * @param requestId the id of the request, or null if it has none
     * @throws SodaFountainException if the commitment has changed
     */
    void rememberState(OptionalInt seat, GameState state, String requestId) {
        commitment.checkState(state, requestId);
        remember(seat, state, (known, received) -> received);
    }

    /**
     * Remembers the decision in an update of a watch, unless a response has already shown a newer one.
     *
     * @throws SodaFountainException if the commitment has changed
     */
    void rememberUpdate(OptionalInt seat, GameState state) {
        commitment.checkState(state, null);
        remember(seat, state, (known, received) -> received.version() < known.version() ? known : received);
    }

    private void remember(OptionalInt seat, GameState state, BinaryOperator<Decision> chosen) {
        if (state.hasViewerSeat()) {
            if (seat.isEmpty()) {
                ownSeat = OptionalInt.of(state.getViewerSeat());
            }
            boolean isOpen = state.getAwaitingSeatsList().contains(state.getViewerSeat());
            decisions.merge(seat, Decision.of(state.getVersion(), state.getEtag(), isOpen), chosen);
        }
    }

    /** Returns the given request id, or a new one if it is missing. */
    static String requestId(String given) {
        return given == null || given.isEmpty() ? UUID.randomUUID().toString() : given;
    }
}
