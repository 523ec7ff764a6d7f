package sodafountain;

import io.grpc.Status;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.OptionalInt;
import java.util.concurrent.ThreadLocalRandom;
import sodafountain.v1.WatchEndReason;

/**
 * A game that is being followed: iterate over it for its updates, and close it when you leave before the end.
 *
 * <pre>{@code
 * try (Watch watch = seat.watch()) {
 *     for (Update update : watch) {
 *         System.out.println(update.state().getPrompt());
 *     }
 * }
 * }</pre>
 *
 * <p>First comes a snapshot, then every change once and in order, with its events and the newest state; after the last
 * change the iteration ends. While the service is away, or another takes its place, the watch tries again and goes on
 * where it was. Nothing is asked of the service before the first update is asked for.
 *
 * <p>One thread at a time iterates; any may close. An interrupt of a thread that waits for an update ends the waiting
 * with {@link Reason#INTERRUPTED} and the stream with it; the thread stays interrupted. Whoever iterates on gets the
 * next update: nothing is lost.
 *
 * <p>Asking for an update throws a {@link SodaFountainException} when the watch cannot go on:
 *
 * <ul>
 *   <li>{@link Reason#GAME_NOT_FOUND}, {@link Reason#GAME_DELETED}, {@link Reason#GAME_EXPIRED}: there is no such game
 *       (any more);
 *   <li>{@link Reason#TOKEN_INVALID}, {@link Reason#WRONG_SEAT}: the token is not good, or not for this game;
 *   <li>{@link Reason#MALFORMED}: the resume token is none;
 *   <li>{@link Reason#UNREACHABLE}, {@link Reason#STORE_UNAVAILABLE}, {@link Reason#DRAINING}, {@link Reason#LIMIT} and
 *       others that pass: nothing was heard for as long as the watch's idleTimeout;
 *   <li>{@link Reason#CLIENT_CLOSED}: the client was closed, and its watch with it.
 * </ul>
 */
public final class Watch implements Iterable<Update>, AutoCloseable {
    private final GameCalls calls;
    private final WatchPlan plan;
    private final Updates updates = new Updates();
    // Guards the two below.
    private final Object closing = new Object();
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
     * Gives the updates. There is one iterator, which goes on where it was left: {@code hasNext} waits for the next
     * update.
     *
     * @return always the same iterator
     */
    @Override
    public Iterator<Update> iterator() {
        return updates;
    }

    /** Ends the watch at once, also one that another thread waits for: it has no more updates. */
    @Override
    public void close() {
        synchronized (closing) {
            closed = true;
            endStream();
        }
        calls.connection().wake();
    }

    /** Says which game it follows. */
    @Override
    public String toString() {
        return "Watch of game " + calls.gameId();
    }

    private boolean isClosed() {
        synchronized (closing) {
            return closed;
        }
    }

    /** Waits for an update; null at the end. */
    private Update await() throws InterruptedException {
        Connection connection = calls.connection();
        connection.beginWaiting();
        try {
            plan.startWaiting();
            while (openStream()) {
                WatchPlan.Step step = step();
                if (step instanceof WatchPlan.Deliver tell) {
                    return tell.update();
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
            connection.endWaiting();
        }
    }

    /** Opens a stream if there is none; tells whether there is one then, for a watch that is closed needs none. */
    private boolean openStream() {
        synchronized (closing) {
            if (!closed && stream == null) {
                calls.connection().checkOpenForWatch();
                stream = new WatchStream(calls.channel(), plan.request());
            }
            return !closed;
        }
    }

    private WatchPlan.Step step() throws InterruptedException {
        WatchStream.Received heard = read();
        if (isClosed()) {
            return new WatchPlan.Finish();
        }
        calls.connection().checkOpenForWatch();
        if (heard instanceof WatchStream.Message told) {
            return plan.onMessage(told.message());
        }
        if (heard instanceof WatchStream.Failure failed) {
            return plan.onFailure(calls.connection().watchException(failed.failure()));
        }
        return heard instanceof WatchStream.Timeout
                ? plan.onTimeout()
                : plan.onEnd(WatchEndReason.WATCH_END_REASON_UNSPECIFIED);
    }

    private WatchStream.Received read() throws InterruptedException {
        WatchStream current;
        synchronized (closing) {
            current = stream;
        }
        return current == null ? new WatchStream.End() : current.read(plan.readTimeout());
    }

    private void endStream() {
        synchronized (closing) {
            if (stream != null) {
                stream.cancel();
                stream = null;
            }
        }
    }

    /** The updates, fetched one by one. */
    private final class Updates implements Iterator<Update> {
        private Update next;
        private boolean over;

        @Override
        public boolean hasNext() {
            if (next == null && !over) {
                fetch();
            }
            return next != null;
        }

        @Override
        public Update next() {
            if (!hasNext()) {
                throw new NoSuchElementException(Watch.this + " is at its end");
            }
            Update update = next;
            next = null;
            return update;
        }

        private void fetch() {
            boolean goesOn = false;
            try {
                next = await();
                goesOn = next != null;
            } catch (InterruptedException interrupt) {
                goesOn = true;
                endStream();
                Thread.currentThread().interrupt();
                throw new SodaFountainException(
                        "This thread was interrupted while it waited for game " + calls.gameId() + ".",
                        Reason.INTERRUPTED,
                        Status.Code.CANCELLED,
                        SodaFountainException.Details.NONE,
                        null,
                        interrupt);
            } finally {
                if (!goesOn) {
                    over = true;
                    endStream();
                }
            }
        }
    }
}
