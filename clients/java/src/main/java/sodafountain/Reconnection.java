package sodafountain;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Makes a channel without a connection reconnect soon while a caller waits for a response.
 *
 * <p>A retry helps only if the channel has tried to reconnect before it. The backoff of gRPC grows from 1 s to 2 min and
 * cannot be configured, but it can be reset.
 */
final class Reconnection {
    /** Runs something later. */
    interface Timer {
        void after(long millis, Runnable task);
    }

    private static final long SHORTEST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 500;

    private final Timer timer;
    // Guarded by this.
    private ManagedChannel channel;
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
        follow(channel);
    }

    /** Follows another channel instead. */
    void replace(ManagedChannel replacement) {
        synchronized (this) {
            channel = replacement;
        }
        follow(replacement);
    }

    /** Registers a caller that waits for a response. */
    synchronized void beginWaiting() {
        if (waiting == 0) {
            pauseMillis = SHORTEST_PAUSE_MILLIS;
        }
        waiting++;
        pauseIfDisconnected(channel.getState(false));
    }

    /** Unregisters a caller. */
    synchronized void endWaiting() {
        waiting--;
    }

    /** Returns whether the channel ever reached a server. */
    synchronized boolean wasConnected() {
        return connected;
    }

    private void follow(ManagedChannel followed) {
        ConnectivityState state = followed.getState(false);
        onState(followed, state);
        if (state != ConnectivityState.SHUTDOWN) {
            followed.notifyWhenStateChanged(state, () -> follow(followed));
        }
    }

    private synchronized void onState(ManagedChannel followed, ConnectivityState state) {
        if (followed != channel) {
            return;
        }
        if (state == ConnectivityState.READY) {
            connected = true;
            pauseMillis = SHORTEST_PAUSE_MILLIS;
        }
        pauseIfDisconnected(state);
    }

    private void pauseIfDisconnected(ConnectivityState state) {
        if (waiting > 0 && !pausing && state == ConnectivityState.TRANSIENT_FAILURE) {
            pausing = true;
            timer.after(pauseMillis, this::endPause);
            pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
        }
    }

    private void endPause() {
        ManagedChannel paused;
        synchronized (this) {
            paused = channel;
        }
        ConnectivityState state = paused.getState(false);
        synchronized (this) {
            pausing = false;
            if (waiting == 0 || state != ConnectivityState.TRANSIENT_FAILURE) {
                return;
            }
            pauseIfDisconnected(state);
        }
        paused.resetConnectBackoff();
    }
}
