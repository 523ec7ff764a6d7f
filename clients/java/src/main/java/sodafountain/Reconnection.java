package sodafountain;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Has a channel that reached no server try again soon, as long as somebody waits for an answer.
 *
 * <p>A retry is of use only if the channel has tried to connect again by then, and gRPC's own pauses grow from 1 s to 2
 * min. What can be said from outside is that a pause is over.
 */
final class Reconnection {
    private static final long SHORTEST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 500;

    private final ManagedChannel channel;
    // Guarded by this.
    private int waiting;
    private boolean pausing;
    private boolean connected;
    private long pauseMillis = SHORTEST_PAUSE_MILLIS;

    Reconnection(ManagedChannel channel) {
        this.channel = channel;
        follow();
    }

    /** Says that one more waits for an answer. */
    synchronized void beginWaiting() {
        waiting++;
        pauseIfLost();
    }

    /** Says that one of those who waited does so no more. */
    synchronized void endWaiting() {
        waiting--;
    }

    /** Whether a server has ever been reached. */
    synchronized boolean wasConnected() {
        return connected;
    }

    private synchronized void follow() {
        ConnectivityState state = channel.getState(false);
        if (state == ConnectivityState.SHUTDOWN) {
            return;
        }
        if (state == ConnectivityState.READY) {
            connected = true;
            pauseMillis = SHORTEST_PAUSE_MILLIS;
        }
        pauseIfLost();
        channel.notifyWhenStateChanged(state, this::follow);
    }

    private void pauseIfLost() {
        if (waiting > 0 && !pausing && channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
            pausing = true;
            CompletableFuture.delayedExecutor(pauseMillis, TimeUnit.MILLISECONDS)
                    .execute(this::endPause);
            pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
        }
    }

    private void endPause() {
        synchronized (this) {
            pausing = false;
            if (waiting == 0 || channel.getState(false) != ConnectivityState.TRANSIENT_FAILURE) {
                return;
            }
            pauseIfLost();
        }
        channel.resetConnectBackoff();
    }
}
