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
 * Following a game, without I/O: what a watch asks the service for, and what it makes of what it hears.
 *
 * <p>A watch opens a stream with {@link #request()}, tells what it hears from it, and does what it is told in return.
 * Each stream resumes after the last message that was heard. Messages are heard one by one, as the caller asks for
 * updates, so that this is also the last one that the caller was told.
 */
final class WatchPlan {
    /** What to do next. */
    sealed interface Step {}

    /** Read on. */
    record Read() implements Step {}

    /** Give this to the caller. */
    record Deliver(Update update) implements Step {}

    /** Wait for so many nanoseconds, then open another stream. */
    record Pause(long nanos) implements Step {}

    /** Stop: the game is over, and everything has been told. */
    record Finish() implements Step {}

    // A stream on which nothing was heard for so long is given up: three times the period in which the service gives a
    // sign of life, if its operator leaves that as it is. Where it is longer, quiet streams are begun anew in vain;
    // that costs no more than a call.
    static final Duration STREAM_TIMEOUT = Duration.ofSeconds(45);
    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(5);

    // Problems that pass whatever the code. Where the reason is not known more may, by their code.
    private static final Set<Reason> PASSING_REASONS = Set.of(
            Reason.STORE_UNAVAILABLE,
            Reason.UNCONFIRMED,
            Reason.DRAINING,
            Reason.LIMIT,
            Reason.UNREACHABLE,
            Reason.DEADLINE_EXCEEDED);
    private static final Set<Status.Code> PASSING_CODES = Set.of(
            Status.Code.UNAVAILABLE,
            Status.Code.CANCELLED,
            Status.Code.ABORTED,
            Status.Code.DEADLINE_EXCEEDED,
            Status.Code.RESOURCE_EXHAUSTED,
            // What broken streams look like when a proxy broke them.
            Status.Code.INTERNAL,
            Status.Code.UNKNOWN);

    private final GameCalls calls;
    private final OptionalInt seat;
    private final boolean legalMoves;
    private final Duration idleTimeout;
    private final LongSupplier clock;
    private final DoubleSupplier chance;
    private String resumeToken;
    private boolean finished;
    // Why the last stream that said so was over, if nothing was heard since.
    private SodaFountainException last;
    private long longestPause = SHORTEST_PAUSE;
    // When somebody began to wait, or the last message was heard.
    private long since;

    /**
     * Makes a plan.
     *
     * @param clock counts nanoseconds
     * @param chance draws from 0 to 1
     */
    WatchPlan(GameCalls calls, OptionalInt seat, WatchSettings settings, LongSupplier clock, DoubleSupplier chance) {
        this.calls = calls;
        this.seat = seat;
        this.legalMoves = settings.legalMoves;
        this.resumeToken = settings.resumeToken;
        this.idleTimeout = settings.idleTimeout;
        this.clock = clock;
        this.chance = chance;
        startWaiting();
    }

    /** Begins to count how long the caller has waited without a message. */
    void startWaiting() {
        since = clock.getAsLong();
    }

    /** What to open a stream with. */
    WatchGameRequest request() {
        WatchGameRequest.Builder request = WatchGameRequest.newBuilder()
                .setGameId(calls.gameId())
                .setResumeToken(resumeToken)
                .setIncludeLegalMoves(legalMoves);
        seat.ifPresent(request::setSeat);
        return request.build();
    }

    /** For how many nanoseconds to listen to a stream that says nothing. */
    long readTimeout() {
        return Math.min(STREAM_TIMEOUT.toNanos(), timeLeft());
    }

    /**
     * Takes in a message.
     *
     * @throws SodaFountainException if it says that the watch cannot go on
     */
    Step onMessage(WatchGameResponse message) {
        return switch (message.getItemCase()) {
            case SNAPSHOT -> told(message, message.getSnapshot(), true);
            case UPDATE -> told(message, message.getUpdate().getState(), false);
            case END -> onEnd(message.getEnd().getReason());
            default -> alive(message);
        };
    }

    /**
     * Takes in that the stream failed.
     *
     * @throws SodaFountainException the same, if trying again is of no use or the idleTimeout is at its end
     */
    Step onFailure(SodaFountainException problem) {
        if (!finished && !isTransient(problem)) {
            throw problem;
        }
        last = problem;
        return tryAgain(problem.retryDelay().map(Duration::toNanos).orElse(0L), problem);
    }

    /**
     * Takes in that the stream ended.
     *
     * @param reason why, as far as it said so
     * @throws SodaFountainException if the watch cannot go on
     */
    Step onEnd(WatchEndReason reason) {
        return switch (reason) {
            case WATCH_END_REASON_FINISHED -> new Finish();
            case WATCH_END_REASON_DELETED -> onFailure(gone("was deleted", Reason.GAME_DELETED));
            case WATCH_END_REASON_EXPIRED -> onFailure(gone("has expired", Reason.GAME_EXPIRED));
            default -> onFailure(unreachable("The service ended the watch of game " + calls.gameId() + " too early."));
        };
    }

    /**
     * Takes in that nothing was heard for as long as {@link #readTimeout()} said.
     *
     * @throws SodaFountainException if the idleTimeout is at its end: what a stream before failed of, if one did, says more
     */
    Step onTimeout() {
        String seconds = idleTimeout == null ? "a long time" : Errors.seconds(idleTimeout) + " s";
        SodaFountainException silence = unreachable("Nothing was heard of game " + calls.gameId() + " for " + seconds
                + ": the service or the way to it hangs.");
        return tryAgain(0, last == null ? silence : last);
    }

    private Step tryAgain(long suggestedNanos, SodaFountainException otherwise) {
        if (finished) {
            return new Finish(); // the rest would have been that it is over
        }
        long pause = Math.max((long) (longestPause * (0.5 + chance.getAsDouble() / 2)), suggestedNanos);
        longestPause = Math.min(2 * longestPause, LONGEST_PAUSE);
        if (pause >= timeLeft()) {
            throw otherwise;
        }
        return new Pause(pause);
    }

    private Step told(WatchGameResponse message, GameState state, boolean isSnapshot) {
        stayAfter(message);
        if (isSnapshot) {
            calls.rememberState(seat, state);
        } else {
            calls.rememberUpdate(seat, state);
        }
        finished = state.getStatus() == GameStatus.GAME_STATUS_FINISHED;
        // A snapshot has no update, and so no events.
        List<Event> events = message.getUpdate().getEventsList();
        return new Deliver(new Update(state, events, isSnapshot, message.getResumeToken()));
    }

    /** A sign of life, perhaps of a kind that is not known yet, tells the caller nothing. */
    private Step alive(WatchGameResponse message) {
        stayAfter(message);
        return new Read();
    }

    private void stayAfter(WatchGameResponse message) {
        resumeToken = message.getResumeToken();
        last = null;
        longestPause = SHORTEST_PAUSE;
        startWaiting();
    }

    private long timeLeft() {
        return idleTimeout == null ? Long.MAX_VALUE : idleTimeout.toNanos() - (clock.getAsLong() - since);
    }

    private SodaFountainException gone(String how, Reason reason) {
        return new SodaFountainException("Game " + calls.gameId() + " " + how + ".", reason, Status.Code.NOT_FOUND);
    }

    private static SodaFountainException unreachable(String message) {
        return new SodaFountainException(message, Reason.UNREACHABLE, Status.Code.UNAVAILABLE);
    }

    /** Whether trying again later may help. */
    private static boolean isTransient(SodaFountainException problem) {
        return problem.reason() == Reason.UNKNOWN
                ? PASSING_CODES.contains(problem.code())
                : PASSING_REASONS.contains(problem.reason());
    }
}
