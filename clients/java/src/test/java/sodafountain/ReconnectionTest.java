package sodafountain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReconnectionTest {
    private final FakeChannel channel = new FakeChannel();
    private final List<Long> pauses = new ArrayList<>();
    private Runnable timer = () -> {};
    private final Reconnection reconnection = new Reconnection(channel, (millis, task) -> {
        pauses.add(millis);
        timer = task;
    });

    /** A channel whose state a test sets. */
    private static final class FakeChannel extends ManagedChannel {
        private ConnectivityState state = ConnectivityState.IDLE;
        private Runnable changed;
        private int attempts;

        void become(ConnectivityState next) {
            state = next;
            changed.run();
        }

        @Override
        public ConnectivityState getState(boolean requestConnection) {
            return state;
        }

        @Override
        public void notifyWhenStateChanged(ConnectivityState source, Runnable callback) {
            changed = callback;
        }

        @Override
        public void resetConnectBackoff() {
            attempts++;
        }

        @Override
        public ManagedChannel shutdown() {
            return this;
        }

        @Override
        public ManagedChannel shutdownNow() {
            return this;
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }

        @Override
        public <Q, A> ClientCall<Q, A> newCall(MethodDescriptor<Q, A> method, CallOptions options) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String authority() {
            return "";
        }
    }

    @Test
    void theChannelReconnectsWhileACallerWaits() {
        reconnection.beginWaiting();
        channel.become(ConnectivityState.TRANSIENT_FAILURE);
        for (int pause = 0; pause < 5; pause++) {
            timer.run();
        }
        assertEquals(5, channel.attempts);
        assertEquals(List.of(100L, 200L, 400L, 500L, 500L, 500L), pauses);
        assertFalse(reconnection.wasConnected());
    }

    @Test
    void theBackoffIsNotResetWithoutAWaitingCaller() {
        channel.become(ConnectivityState.TRANSIENT_FAILURE);
        assertEquals(List.of(), pauses);
        reconnection.beginWaiting();
        reconnection.endWaiting();
        timer.run();
        assertEquals(0, channel.attempts);
        assertEquals(List.of(100L), pauses);
    }

    @Test
    void aNewCallerStartsWithAShortPause() {
        reconnection.beginWaiting();
        channel.become(ConnectivityState.TRANSIENT_FAILURE);
        timer.run();
        reconnection.endWaiting();
        timer.run();
        reconnection.beginWaiting();
        assertEquals(List.of(100L, 200L, 100L), pauses);
    }

    @Test
    void theBackoffOfAConnectedChannelIsNotReset() {
        reconnection.beginWaiting();
        channel.become(ConnectivityState.TRANSIENT_FAILURE);
        channel.become(ConnectivityState.READY);
        timer.run();
        assertEquals(0, channel.attempts);
        assertEquals(List.of(100L), pauses);
        assertTrue(reconnection.wasConnected());
    }
}
