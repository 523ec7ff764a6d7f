package sodafountain;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import sodafountain.v1.GameServiceGrpc;

/** The connection of a client: makes its calls, and fails them once it is closed. */
final class Connection {
    private static final long SECONDS_TO_CLOSE = 1;

    private final String target;
    private final boolean tls;
    private final Duration timeout;
    private final ReplaceableChannel channel;
    private final Reconnection reconnection;
    // Notified when a watch or the client is closed. Guards `closed`.
    private final Object monitor = new Object();
    private boolean closed;

    /**
     * Opens a channel.
     *
     * @param open opens a channel; called again if the server does not answer any more
     */
    Connection(String target, boolean tls, Duration timeout, Supplier<ManagedChannel> open) {
        this.target = target;
        this.tls = tls;
        this.timeout = timeout;
        this.channel = new ReplaceableChannel(open, this::followReplacement);
        this.reconnection = new Reconnection(channel.current());
    }

    private void followReplacement(ManagedChannel replacement) {
        reconnection.replace(replacement);
    }

    String target() {
        return target;
    }

    /** Returns the channel with these headers on every call. */
    Channel with(Metadata headers) {
        return ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    /**
     * Makes a call and waits for its response.
     *
     * @param channelWithHeaders the channel with the headers of the call
     * @param ownTimeout the timeout of the call, or null for the client's
     * @param requestId the id of the request, or null if it has none
     */
    <Q, A> A call(
            Channel channelWithHeaders, MethodDescriptor<Q, A> rpc, Q request, Duration ownTimeout, String requestId) {
        if (isClosed()) {
            throw closedError("This client is closed.", requestId);
        }
        Duration deadline = ownTimeout == null ? timeout : ownTimeout;
        CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS);
        while (true) {
            ManagedChannel used = channel.current();
            boolean answered = false;
            beginWaiting();
            try {
                A response = ClientCalls.blockingUnaryCall(channelWithHeaders, rpc, options, request);
                answered = true;
                return response;
            } catch (StatusRuntimeException failure) {
                Status.Code code = failure.getStatus().getCode();
                answered = code != Status.Code.DEADLINE_EXCEEDED && code != Status.Code.CANCELLED;
                // The server of the call did not answer any more. The request id makes it safe to repeat the call.
                boolean wasReplaced = code == Status.Code.UNAVAILABLE && channel.current() != used;
                if (!wasReplaced || isClosed()) {
                    throw toException(failure, rpc.getBareMethodName(), deadline, requestId);
                }
            } finally {
                endWaiting(answered);
            }
        }
    }

    /** Converts the failure of a watch stream. */
    SodaFountainException watchException(StatusRuntimeException failure) {
        String rpc = GameServiceGrpc.getWatchGameMethod().getBareMethodName();
        return Errors.toException(failure, callInfo(rpc, WatchPlan.STREAM_TIMEOUT, null));
    }

    private SodaFountainException toException(
            StatusRuntimeException failure, String rpc, Duration deadline, String requestId) {
        if (failure.getStatus().getCode() == Status.Code.CANCELLED
                && Thread.currentThread().isInterrupted()) {
            return new SodaFountainException(
                    "The thread was interrupted before " + target + " answered " + rpc + ".",
                    Reason.INTERRUPTED,
                    Status.Code.CANCELLED,
                    SodaFountainException.Details.NONE,
                    requestId,
                    failure);
        }
        SodaFountainException converted = Errors.toException(failure, callInfo(rpc, deadline, requestId));
        if (converted.reason() == Reason.UNREACHABLE && isClosed()) {
            return closedError("This client was closed before " + target + " answered " + rpc + ".", requestId);
        }
        return converted;
    }

    private Errors.CallInfo callInfo(String rpc, Duration deadline, String requestId) {
        return new Errors.CallInfo(target, tls, reconnection.wasConnected(), rpc, deadline, requestId);
    }

    /**
     * Checks that a watch can continue.
     *
     * @throws SodaFountainException if the client is closed
     */
    void checkOpenForWatch() {
        if (isClosed()) {
            throw closedError("The watch ended because this client was closed.", null);
        }
    }

    private static SodaFountainException closedError(String message, String requestId) {
        return new SodaFountainException(
                message,
                Reason.CLIENT_CLOSED,
                Status.Code.CANCELLED,
                SodaFountainException.Details.NONE,
                requestId,
                null);
    }

    /** Registers a thread that waits for a response or an update. */
    void beginWaiting() {
        reconnection.beginWaiting();
        channel.beginWaiting();
    }

    /**
     * Unregisters a thread that waited.
     *
     * @param answered whether something arrived
     */
    void endWaiting(boolean answered) {
        channel.endWaiting(answered);
        reconnection.endWaiting();
    }

    /** Waits until the time has passed, the client is closed or {@code over} is true. */
    void pause(long nanos, BooleanSupplier over) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        synchronized (monitor) {
            long left = nanos;
            while (!closed && !over.getAsBoolean() && left > 0) {
                // `wait` takes milliseconds, and wait(0) waits without a timeout.
                monitor.wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
                left = end - System.nanoTime();
            }
        }
    }

    /** Makes threads in {@link #pause} check their conditions. */
    void wake() {
        synchronized (monitor) {
            monitor.notifyAll();
        }
    }

    boolean isClosed() {
        synchronized (monitor) {
            return closed;
        }
    }

    /** Ends all open calls and watches. */
    void close() {
        synchronized (monitor) {
            closed = true;
            monitor.notifyAll();
        }
        try {
            channel.close().awaitTermination(SECONDS_TO_CLOSE, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
