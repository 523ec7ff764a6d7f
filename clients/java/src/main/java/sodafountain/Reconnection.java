package sodafountain;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Has a channel that reached no server try again soon, as long as somebody waits for an answer.
 *
 * <p>A retry is of use only if the channel has tried to connect again by then, and gRPC's own pauses grow from 1 s to 2
 * min. They cannot be set, but one that goes on can be ended.
 */
final class Reconnection {
    /** Runs something later. */
    interface Timer {
        void after(long millis, Runnable task);
    }

    private static final long SHORTEST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 500;

    private final ManagedChannel channel;
    private final Timer timer;
    // Guarded by this.
    private int waiting;
    private boolean pausing;
    private boolean connected;
    private long pauseMillis = SHORTEST_PAUSE_MILLIS;

    Reconnection(ManagedChannel channel) {
        this(
                channel,
                (millis, task) -> CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS)
                        .execute(task));
    }

    Reconnection(ManagedChannel channel, Timer timer) {
        this.channel = channel;
        this.timer = timer;
        follow();
    }

    /** Says that one more waits for an answer. */
    synchronized void beginWaiting() {
        if (waiting == 0) {
            pauseMillis = SHORTEST_PAUSE_MILLIS;
        }
        waiting++;
        pauseIfLost(channel.getState(false));
    }

    /** Says that one of those who waited does so no more. */
    synchronized void endWaiting() {
        waiting--;
    }

    /** Whether a server has ever been reached. */
    synchronized boolean wasConnected() {
        return connected;
    }

    private void follow() {
        ConnectivityState state = channel.getState(false);
        note(state);
        if (state != ConnectivityState.SHUTDOWN) {
            channel.notifyWhenStateChanged(state, this::follow);
        }
    }

    private synchronized void note(ConnectivityState state) {
        if (state == ConnectivityState.READY) {
            connected = true;
            pauseMillis = SHORTEST_PAUSE_MILLIS;
        }
        pauseIfLost(state);
    }

    private void pauseIfLost(ConnectivityState state) {
        if (waiting > 0 && !pausing && state == ConnectivityState.TRANSIENT_FAILURE) {
            pausing = true;
            timer.after(pauseMillis, this::endPause);
            pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
        }
    }

    private void endPause() {
        ConnectivityState state = channel.getState(false);
        synchronized (this) {
            pausing = false;
            if (waiting == 0 || state != ConnectivityState.TRANSIENT_FAILURE) {
                return;
            }
            pauseIfLost(state);
        }
        channel.resetConnectBackoff();
    }
}
