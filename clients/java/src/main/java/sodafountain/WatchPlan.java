package sodafountain;

import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import sodafountain.v1.Event;
import sodafountain.v1.GameState;
import sodafountain.v1.GameStatus;
import sodafountain.v1.WatchEndReason;
import sodafountain.v1.WatchGameRequest;
import sodafountain.v1.WatchGameResponse;

/**
 * The state machine of a watch, without I/O.
 *
 * <p>A watch opens a stream with {@link #request()}, passes everything that it receives to the plan, and performs the
 * {@link Step} that the plan returns. Each stream resumes after the last message. The watch reads a message only when the
 * caller requests an update, so the caller has received every update before the resume token.
 */
final class WatchPlan {
    /** The next step of the watch. */
    sealed interface Step {}

    /** Read the next message. */
    record Read() implements Step {}

    /** Return this update to the caller. */
    record Deliver(Update update) implements Step {}

    /** Wait this time, then open another stream. */
    record Pause(long nanos) implements Step {}

    /** End the watch: the game is over, and the caller has received all updates. */
    record Finish() implements Step {}

    // The watch replaces a stream without a message for this time: three heartbeats at the default interval. With a
    // longer interval it replaces idle streams needlessly, which costs one call each.
    static final Duration STREAM_TIMEOUT = Duration.ofSeconds(45);
    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(5);

    // Failures after which a retry may succeed: by reason, or by code if the reason is unknown.
    private static final Set<Reason> TRANSIENT_REASONS = Set.of(
            Reason.STORE_UNAVAILABLE,
            Reason.UNCONFIRMED,
            Reason.DRAINING,
            Reason.UPGRADING,
            Reason.LIMIT,
            Reason.UNREACHABLE,
            Reason.DEADLINE_EXCEEDED);
    private static final Set<Status.Code> TRANSIENT_CODES = Set.of(
            Status.Code.UNAVAILABLE,
            Status.Code.CANCELLED,
            Status.Code.ABORTED,
            Status.Code.DEADLINE_EXCEEDED,
            Status.Code.RESOURCE_EXHAUSTED,
            // A proxy that breaks a stream causes these.
            Status.Code.INTERNAL,
            Status.Code.UNKNOWN);

    private final GameCalls calls;
    private final OptionalInt seat;
    private final boolean legalMoves;
    private final Duration idleTimeout;
    private final LongSupplier clock;
    private final DoubleSupplier random;
    private String resumeToken;
    private boolean finished;
    // The latest failure that the service or the connection reported since the last message.
    private SodaFountainException lastFailure;
    private long nextPause = SHORTEST_PAUSE;
    // When the idle timeout started.
    private long idleSince;

    /**
     * Creates a plan.
     *
     * @param clock the time in nanoseconds
     * @param random a random number from 0 to 1
     */
    WatchPlan(GameCalls calls, OptionalInt seat, WatchSettings settings, LongSupplier clock, DoubleSupplier random) {
        this.calls = calls;
        this.seat = seat;
        this.legalMoves = settings.legalMoves;
        this.resumeToken = settings.resumeToken;
        this.idleTimeout = settings.idleTimeout;
        this.clock = clock;
        this.random = random;
        startIdleTimeout();
    }

    /** Starts the idle timeout: the caller waits for a message now. */
    void startIdleTimeout() {
        idleSince = clock.getAsLong();
    }

    /** Returns the request of the next stream. */
    WatchGameRequest request() {
        WatchGameRequest.Builder request = WatchGameRequest.newBuilder()
                .setGameId(calls.gameId())
                .setResumeToken(resumeToken)
                .setIncludeLegalMoves(legalMoves);
        seat.ifPresent(request::setSeat);
        return request.build();
    }

    /** Returns how many nanoseconds to wait for a message. */
    long readTimeout() {
        return Math.min(STREAM_TIMEOUT.toNanos(), timeLeft());
    }

    /**
     * Handles a message.
     *
     * @throws SodaFountainException if the message ends the watch with an error
     */
    Step onMessage(WatchGameResponse message) {
        return switch (message.getItemCase()) {
            case SNAPSHOT -> deliver(message, message.getSnapshot(), true);
            case UPDATE -> deliver(message, message.getUpdate().getState(), false);
            case END -> onEnd(message.getEnd().getReason());
            default -> onHeartbeat(message);
        };
    }

    /**
     * Handles the failure of a stream.
     *
     * @throws SodaFountainException the failure, if it is not transient or the idle timeout has passed
     */
    Step onFailure(SodaFountainException failure) {
        if (!finished && !isTransient(failure)) {
            throw failure;
        }
        lastFailure = failure;
        return retry(failure.retryDelay().map(Duration::toNanos).orElse(0L), failure);
    }

    /**
     * Handles the end of a stream.
     *
     * @param reason the reason, or unspecified if the stream ended without one
     * @throws SodaFountainException if the watch cannot continue
     */
    Step onEnd(WatchEndReason reason) {
        return switch (reason) {
            case WATCH_END_REASON_FINISHED -> new Finish();
            case WATCH_END_REASON_DELETED -> onFailure(gone("was deleted", Reason.GAME_DELETED));
            case WATCH_END_REASON_EXPIRED -> onFailure(gone("has expired", Reason.GAME_EXPIRED));
            default ->
                onFailure(unreachable(
                        "The service ended the watch of game " + calls.gameId() + " before the game was over."));
        };
    }

    /**
     * Handles a stream without a message for {@link #readTimeout()}.
     *
     * @throws SodaFountainException if the idle timeout has passed: the latest failure, if there was one
     */
    Step onTimeout() {
        String seconds = idleTimeout == null ? "a long time" : Errors.seconds(idleTimeout) + " s";
        SodaFountainException timeout = unreachable("No message about game " + calls.gameId() + " arrived for "
                + seconds + ": the service or the connection to it is not responding.");
        return retry(0, lastFailure == null ? timeout : lastFailure);
    }

    private Step retry(long suggestedNanos, SodaFountainException failure) {
        if (finished) {
            return new Finish(); // only the end of the stream was missing
        }
        long pause = Math.max((long) (nextPause * (0.5 + random.getAsDouble() / 2)), suggestedNanos);
        nextPause = Math.min(2 * nextPause, LONGEST_PAUSE);
        if (pause >= timeLeft()) {
            throw failure;
        }
        return new Pause(pause);
    }

    private Step deliver(WatchGameResponse message, GameState state, boolean isSnapshot) {
        resumeAfter(message);
        if (isSnapshot) {
            calls.rememberState(seat, state, null);
        } else {
            calls.rememberUpdate(seat, state);
        }
        finished = state.getStatus() == GameStatus.GAME_STATUS_FINISHED;
        // A snapshot has no update and no events.
        List<Event> events = message.getUpdate().getEventsList();
        return new Deliver(new Update(state, events, isSnapshot, message.getResumeToken()));
    }

    /** Handles a heartbeat, or a message that this release does not know. */
    private Step onHeartbeat(WatchGameResponse message) {
        resumeAfter(message);
        return new Read();
    }

    private void resumeAfter(WatchGameResponse message) {
        resumeToken = message.getResumeToken();
        lastFailure = null;
        nextPause = SHORTEST_PAUSE;
        startIdleTimeout();
    }

    private long timeLeft() {
        return idleTimeout == null ? Long.MAX_VALUE : idleTimeout.toNanos() - (clock.getAsLong() - idleSince);
    }

    private SodaFountainException gone(String how, Reason reason) {
        return new SodaFountainException("Game " + calls.gameId() + " " + how + ".", reason, Status.Code.NOT_FOUND);
    }

    private static SodaFountainException unreachable(String message) {
        return new SodaFountainException(message, Reason.UNREACHABLE, Status.Code.UNAVAILABLE);
    }

    /** Returns whether a retry may succeed. */
    private static boolean isTransient(SodaFountainException failure) {
        return failure.reason() == Reason.UNKNOWN
                ? TRANSIENT_CODES.contains(failure.code())
                : TRANSIENT_REASONS.contains(failure.reason());
    }
}
