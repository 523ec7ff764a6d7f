package sodafountain;

import com.google.protobuf.Empty;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A channel that is replaced if its server does not answer any more. Its open calls then fail with UNAVAILABLE; their
 * callers repeat them.
 *
 * <p>Keepalive of gRPC also closes such a connection, but only after 12 s: its shortest interval is 10 s.
 */
final class ReplaceableChannel extends Channel {
    // If a caller waits for this time and nothing arrives, the connection is checked.
    private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(2);
    // A server that does not answer a check within this time is frozen, or its host has disappeared.
    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(2);
    // Servers without the health service answer as well, with an error.
    private static final MethodDescriptor<Empty, Empty> CHECK = MethodDescriptor.<Empty, Empty>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("grpc.health.v1.Health/Check")
            .setRequestMarshaller(ProtoUtils.marshaller(Empty.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(Empty.getDefaultInstance()))
            .build();

    private final Supplier<ManagedChannel> open;
    private final Consumer<ManagedChannel> onReplaced;
    // All fields below are guarded by this.
    private ManagedChannel current;
    private boolean closed;
    private int waiting;
    // Whether a caller has waited since `silentSince` without a response or message.
    private boolean isSilent;
    private long silentSince;
    // Whether a check is planned or in progress.
    private boolean checking;

    /**
     * Opens the first channel.
     *
     * @param open opens a channel
     * @param onReplaced receives each later channel
     */
    ReplaceableChannel(Supplier<ManagedChannel> open, Consumer<ManagedChannel> onReplaced) {
        this.open = open;
        this.onReplaced = onReplaced;
        this.current = open.get();
    }

    synchronized ManagedChannel current() {
        return current;
    }

    @Override
    public <Q, A> ClientCall<Q, A> newCall(MethodDescriptor<Q, A> method, CallOptions options) {
        return current().newCall(method, options);
    }

    @Override
    public String authority() {
        return current().authority();
    }

    /** Registers a caller that waits for a response or a message. */
    synchronized void beginWaiting() {
        waiting++;
        if (!isSilent) {
            beginSilence();
        }
        if (!checking && !closed) {
            checking = true;
            checkAfter(SILENCE_NANOS);
        }
    }

    /**
     * Unregisters a caller.
     *
     * @param answered whether something arrived; false for a call that timed out, whose deadline may be shorter than a
     *     check
     */
    synchronized void endWaiting(boolean answered) {
        waiting--;
        if (answered) {
            endSilence();
        }
    }

    private void beginSilence() {
        isSilent = true;
        silentSince = System.nanoTime();
    }

    private void endSilence() {
        isSilent = false;
        if (waiting > 0) {
            beginSilence();
        }
    }

    private void checkAfter(long nanos) {
        CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS).execute(this::check);
    }

    private void check() {
        ManagedChannel checked;
        long since;
        synchronized (this) {
            if (!planCheck()) {
                return;
            }
            checked = current;
            since = silentSince;
        }
        // A channel without a connection has its own timeouts, and tries all addresses.
        if (checked.getState(false) != ConnectivityState.READY) {
            onChecked(checked, since, true);
            return;
        }
        CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(CHECK_NANOS, TimeUnit.NANOSECONDS);
        ClientCalls.asyncUnaryCall(
                checked.newCall(CHECK, options), Empty.getDefaultInstance(), new StreamObserver<Empty>() {
                    @Override
                    public void onNext(Empty answer) {}

                    @Override
                    public void onError(Throwable failure) {
                        Status.Code code = Status.fromThrowable(failure).getCode();
                        onChecked(checked, since, code != Status.Code.DEADLINE_EXCEEDED);
                    }

                    @Override
                    public void onCompleted() {
                        onChecked(checked, since, true);
                    }
                });
    }

    /** Returns whether to check the channel now. Otherwise plans a check if callers wait. */
    private boolean planCheck() {
        long silence = System.nanoTime() - silentSince;
        if (closed || !isSilent) {
            checking = false;
            return false;
        }
        if (silence < SILENCE_NANOS) {
            checkAfter(SILENCE_NANOS - silence);
            return false;
        }
        return true;
    }

    private void onChecked(ManagedChannel checked, long since, boolean answers) {
        ManagedChannel replacement = null;
        synchronized (this) {
            if (!closed && isSilent && silentSince == since) {
                if (!answers) {
                    replacement = open.get();
                    current = replacement;
                }
                endSilence();
            }
        }
        if (replacement != null) {
            onReplaced.accept(replacement);
            checked.shutdownNow();
        }
        boolean isDue;
        synchronized (this) {
            isDue = planCheck();
        }
        if (isDue) {
            check();
        }
    }

    /** Closes the channel. Returns it, to wait for its end. */
    synchronized ManagedChannel close() {
        closed = true;
        return current.shutdownNow();
    }
}
