package sodafountain;

import com.google.protobuf.Message;
import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BinaryOperator;
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
 * The calls of one caller about one game, and the open decisions that the caller has seen.
 *
 * <p>The seat of each call is empty where the token says it, or where a spectator asks. A timeout is null where the
 * client's is meant.
 */
final class GameCalls {
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final Connection connection;
    private final Channel channel;
    private final String gameId;
    // By seat, as in the calls: what was open when its seat was last looked at.
    private final Map<OptionalInt, Decision> decisions = new ConcurrentHashMap<>();
    // The caller's own seat as far as it is known: the token alone does not say it.
    private volatile OptionalInt ownSeat;

    /**
     * An open decision.
     *
     * @param version the game's version when it was seen
     * @param etag its tag; empty while nothing is awaited from the seat, whose next move means the one open by then
     */
    private record Decision(long version, String etag) {
        static final Decision NONE = new Decision(0, "");

        static Decision of(long version, String etag, boolean isOpen) {
            return new Decision(version, isOpen ? etag : "");
        }
    }

    private GameCalls(Connection connection, String gameId, Metadata headers, OptionalInt ownSeat) {
        this.connection = connection;
        this.channel = connection.with(headers);
        this.gameId = Objects.requireNonNull(gameId, "gameId");
        this.ownSeat = ownSeat;
    }

    /** The calls of whoever holds no token. */
    static GameCalls withoutToken(Connection connection, String gameId) {
        return new GameCalls(connection, gameId, new Metadata(), OptionalInt.empty());
    }

    /**
     * The calls of whoever holds a token.
     *
     * @throws SodaFountainException if no token looks like that
     */
    static GameCalls withToken(Connection connection, String gameId, String token, OptionalInt ownSeat) {
        Metadata headers = new Metadata();
        headers.put(AUTHORIZATION, "Bearer " + Validation.checkedToken(token));
        return new GameCalls(connection, gameId, headers, ownSeat);
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

    OptionalInt ownSeat() {
        return ownSeat;
    }

    GameState state(OptionalInt seat, StateSettings settings) {
        GetGameRequest.Builder request =
                GetGameRequest.newBuilder().setGameId(gameId).setIncludeLegalMoves(settings.legalMoves);
        seat.ifPresent(request::setSeat);
        GameState state = answer(GameServiceGrpc.getGetGameMethod(), request.build(), settings.timeout)
                .getState();
        rememberState(seat, state);
        return state;
    }

    LegalMovesResponse legalMoves(OptionalInt seat, Duration timeout) {
        LegalMovesRequest.Builder request = LegalMovesRequest.newBuilder().setGameId(gameId);
        seat.ifPresent(request::setSeat);
        LegalMovesResponse answer = answer(GameServiceGrpc.getLegalMovesMethod(), request.build(), timeout);
        decisions.put(seat, Decision.of(answer.getVersion(), answer.getEtag(), answer.getMovesCount() > 0));
        return answer;
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
        ApplyMoveResponse answer = connection.answer(
                channel,
                GameServiceGrpc.getApplyMoveMethod(),
                request.build(),
                settings.timeout,
                request.getRequestId());
        rememberState(seat, answer.getState());
        return answer;
    }

    ScoreResponse score(Duration timeout) {
        ScoreRequest request = ScoreRequest.newBuilder().setGameId(gameId).build();
        return answer(GameServiceGrpc.getScoreMethod(), request, timeout);
    }

    /** Reveals a finished game, all pages put together. */
    GetHistoryResponse history(Duration timeout) {
        GetHistoryResponse.Builder history = null;
        do {
            String page = history == null ? "" : history.getNextPageToken();
            GetHistoryRequest request = GetHistoryRequest.newBuilder()
                    .setGameId(gameId)
                    .setPageToken(page)
                    .build();
            GetHistoryResponse answer = answer(GameServiceGrpc.getGetHistoryMethod(), request, timeout);
            history = history == null
                    ? answer.toBuilder()
                    : history.addAllEntries(answer.getEntriesList()).setNextPageToken(answer.getNextPageToken());
        } while (!history.getNextPageToken().isEmpty());
        return history.build();
    }

    void delete(Duration timeout) {
        DeleteGameRequest request =
                DeleteGameRequest.newBuilder().setGameId(gameId).build();
        answer(GameServiceGrpc.getDeleteGameMethod(), request, timeout);
    }

    private <Q, A> A answer(MethodDescriptor<Q, A> rpc, Q request, Duration timeout) {
        return connection.answer(channel, rpc, request, timeout, null);
    }

    /** Remembers which decision is open in an answer or a snapshot, which are the truth whatever was seen before. */
    void rememberState(OptionalInt seat, GameState state) {
        note(seat, state, (seen, shown) -> shown);
    }

    /** The same of a change that was told, which may have been on its way while a call was answered with a newer one. */
    void rememberUpdate(OptionalInt seat, GameState state) {
        note(seat, state, (seen, shown) -> shown.version() < seen.version() ? seen : shown);
    }

    private void note(OptionalInt seat, GameState state, BinaryOperator<Decision> chosen) {
        if (state.hasViewerSeat()) {
            if (seat.isEmpty()) {
                ownSeat = OptionalInt.of(state.getViewerSeat());
            }
            boolean isOpen = state.getAwaitingSeatsList().contains(state.getViewerSeat());
            decisions.merge(seat, Decision.of(state.getVersion(), state.getEtag(), isOpen), chosen);
        }
    }

    /** The id under which a request was made before, or a new one. */
    static String requestId(String given) {
        return given == null || given.isEmpty() ? UUID.randomUUID().toString() : given;
    }
}
