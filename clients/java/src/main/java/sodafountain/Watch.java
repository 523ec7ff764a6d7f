package sodafountain;

import io.grpc.Status;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.OptionalInt;
import java.util.concurrent.ThreadLocalRandom;
import sodafountain.v1.WatchEndReason;

/**
 * A watch of a game. Iterate over it to receive updates. Close it if you leave the loop before the game is over.
 *
 * <pre>{@code
 * try (Watch watch = seat.watch()) {
 *     for (Update update : watch) {
 *         System.out.println(update.state().getPrompt());
 *     }
 * }
 * }</pre>
 *
 * <p>The first update is a snapshot. Then every change arrives once and in order, with its events and the newest state.
 * The iteration ends after the last change of the game. If the connection breaks or the server stops, the watch
 * reconnects and resumes after the last update. It makes no call before the first update is requested.
 *
 * <p>Only one thread at a time may iterate; any thread may close the watch. An interrupt of a thread that waits for an
 * update throws {@link Reason#INTERRUPTED} and leaves the thread interrupted. No update is lost: the next iteration
 * resumes the watch.
 *
 * <p>The iterator throws a {@link SodaFountainException} if the watch cannot continue:
 *
 * <ul>
 *   <li>{@link Reason#GAME_NOT_FOUND}, {@link Reason#GAME_DELETED}, {@link Reason#GAME_EXPIRED}: the game does not exist
 *       or no longer exists;
 *   <li>{@link Reason#TOKEN_INVALID}, {@link Reason#WRONG_SEAT}: the token is invalid, or not for this game;
 *   <li>{@link Reason#MALFORMED}: the resume token is invalid;
 *   <li>{@link Reason#UNREACHABLE}, {@link Reason#STORE_UNAVAILABLE}, {@link Reason#DRAINING}, {@link
 *       Reason#UPGRADING}, {@link Reason#LIMIT} and other transient reasons: no message arrived within the idle timeout;
 *   <li>{@link Reason#COMMITMENT_CHANGED}: a state has another commitment to the seed than the first one;
 *   <li>{@link Reason#CLIENT_CLOSED}: the client was closed.
 * </ul>
 */
public final class Watch implements Iterable<Update>, AutoCloseable {
    private final GameCalls calls;
    private final WatchPlan plan;
    private final Updates updates = new Updates();
    // Guards `closed` and `stream`.
    private final Object lock = new Object();
    private boolean closed;
    private WatchStream stream;

    Watch(GameCalls calls, OptionalInt seat, WatchSettings settings) {
        this.calls = calls;
        this.plan = new WatchPlan(
                calls,
                seat,
                settings,
                System::nanoTime,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Returns the iterator over the updates. {@code hasNext} waits for the next update.
     *
     * @return the only iterator of the watch; a second loop continues where the first one ended
     */
    @Override
    public Iterator<Update> iterator() {
        return updates;
    }

    /** Ends the watch immediately, even while another thread waits for an update. That thread's loop ends. */
    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
            endStream();
        }
        calls.connection().wake();
    }

    /** Returns the id of the game. */
    @Override
    public String toString() {
        return "Watch of game " + calls.gameId();
    }

    private boolean isClosed() {
        synchronized (lock) {
            return closed;
        }
    }

    /** Waits for an update. Returns null at the end. */
    private Update await() throws InterruptedException {
        Connection connection = calls.connection();
        boolean answered = false;
        connection.beginWaiting();
        try {
            plan.startIdleTimeout();
            while (openStream()) {
                WatchPlan.Step step = step();
                if (step instanceof WatchPlan.Deliver deliver) {
                    answered = true;
                    return deliver.update();
                }
                if (step instanceof WatchPlan.Finish) {
                    return null;
                }
                if (step instanceof WatchPlan.Pause pause) {
                    endStream();
                    connection.pause(pause.nanos(), this::isClosed);
                }
            }
            return null;
        } finally {
            connection.endWaiting(answered);
        }
    }

    /** Opens a stream if none is open. Returns false if the watch is closed. */
    private boolean openStream() {
        synchronized (lock) {
            if (!closed && stream == null) {
                calls.connection().checkOpenForWatch();
                stream = new WatchStream(calls.channel(), plan.request());
            }
            return !closed;
        }
    }

    private WatchPlan.Step step() throws InterruptedException {
        WatchStream.Received received = read();
        if (isClosed()) {
            return new WatchPlan.Finish();
        }
        calls.connection().checkOpenForWatch();
        if (received instanceof WatchStream.Message message) {
            return plan.onMessage(message.message());
        }
        if (received instanceof WatchStream.Failure failure) {
            return plan.onFailure(calls.connection().watchException(failure.failure()));
        }
        return received instanceof WatchStream.Timeout
                ? plan.onTimeout()
                : plan.onEnd(WatchEndReason.WATCH_END_REASON_UNSPECIFIED);
    }

    private WatchStream.Received read() throws InterruptedException {
        WatchStream current;
        synchronized (lock) {
            current = stream;
        }
        return current == null ? new WatchStream.End() : current.read(plan.readTimeout());
    }

    private void endStream() {
        synchronized (lock) {
            if (stream != null) {
                stream.cancel();
                stream = null;
            }
        }
    }

    /** Fetches the updates one by one. */
    private final class Updates implements Iterator<Update> {
        private Update next;
        private boolean ended;

        @Override
        public boolean hasNext() {
            if (next == null && !ended) {
                fetch();
            }
            return next != null;
        }

        @Override
        public Update next() {
            if (!hasNext()) {
                throw new NoSuchElementException(Watch.this + " has ended");
            }
            Update update = next;
            next = null;
            return update;
        }

        private void fetch() {
            boolean continues = false;
            try {
                next = await();
                continues = next != null;
            } catch (InterruptedException interrupt) {
                continues = true;
                endStream();
                Thread.currentThread().interrupt();
                throw new SodaFountainException(
                        "The thread was interrupted while it waited for an update of game " + calls.gameId() + ".",
                        Reason.INTERRUPTED,
                        Status.Code.CANCELLED,
                        SodaFountainException.Details.NONE,
                        null,
                        interrupt);
            } finally {
                if (!continues) {
                    ended = true;
                    endStream();
                }
            }
        }
    }
}
