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
import sodafountain.v1.GameServiceGrpc;

/** A client's connection to a service: makes its calls, and knows whether it is closed. */
final class Connection {
    private static final long SECONDS_TO_CLOSE = 1;

    private final String target;
    private final boolean tls;
    private final Duration timeout;
    private final ManagedChannel channel;
    private final Reconnection reconnection;
    // Rings when a watch or the client is closed. Guards `closed`.
    private final Object bell = new Object();
    private boolean closed;

    Connection(String target, boolean tls, Duration timeout, ManagedChannel channel) {
        this.target = target;
        this.tls = tls;
        this.timeout = timeout;
        this.channel = channel;
        this.reconnection = new Reconnection(channel);
    }

    String target() {
        return target;
    }

    /** The channel with these headers on every call. */
    Channel with(Metadata headers) {
        return ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    /**
     * Makes a call and waits for its answer.
     *
     * @param through the channel, with the caller's headers
     * @param ownTimeout the call's deadline; the client's if null
     * @param requestId the id of the request; null where it has none
     */
    <Q, A> A answer(Channel through, MethodDescriptor<Q, A> rpc, Q request, Duration ownTimeout, String requestId) {
        if (isClosed()) {
            throw closedError("This client is closed.", requestId);
        }
        Duration deadline = ownTimeout == null ? timeout : ownTimeout;
        CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS);
        beginWaiting();
        try {
            return ClientCalls.blockingUnaryCall(through, rpc, options, request);
        } catch (StatusRuntimeException failure) {
            throw toException(failure, rpc.getBareMethodName(), deadline, requestId);
        } finally {
            endWaiting();
        }
    }

    /** The error that tells why a stream of a watch failed. */
    SodaFountainException watchException(StatusRuntimeException failure) {
        String rpc = GameServiceGrpc.getWatchGameMethod().getBareMethodName();
        return Errors.toException(failure, callInfo(rpc, WatchPlan.STREAM_TIMEOUT, null));
    }

    private SodaFountainException toException(
            StatusRuntimeException failure, String rpc, Duration deadline, String requestId) {
        if (failure.getStatus().getCode() == Status.Code.CANCELLED
                && Thread.currentThread().isInterrupted()) {
            return new SodaFountainException(
                    "This thread was interrupted before " + target + " had answered " + rpc + ".",
                    Reason.INTERRUPTED,
                    Status.Code.CANCELLED,
                    SodaFountainException.Details.NONE,
                    requestId,
                    failure);
        }
        SodaFountainException told = Errors.toException(failure, callInfo(rpc, deadline, requestId));
        if (told.reason() == Reason.UNREACHABLE && isClosed()) {
            return closedError("This client was closed before " + target + " had answered " + rpc + ".", requestId);
        }
        return told;
    }

    private Errors.CallInfo callInfo(String rpc, Duration deadline, String requestId) {
        return new Errors.CallInfo(target, tls, reconnection.wasConnected(), rpc, deadline, requestId);
    }

    /**
     * Lets a watch go on.
     *
     * @throws SodaFountainException if the client is closed
     */
    void checkOpenForWatch() {
        if (isClosed()) {
            throw closedError("This client was closed, and its watch with it.", null);
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

    /** Says that a thread begins to wait for an answer or an update. */
    void beginWaiting() {
        reconnection.beginWaiting();
    }

    /** Says that a thread waits no more. */
    void endWaiting() {
        reconnection.endWaiting();
    }

    /** Waits for so many nanoseconds, or until the client is closed or what waits is over. */
    void pause(long nanos, BooleanSupplier over) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        synchronized (bell) {
            long left = nanos;
            while (!closed && !over.getAsBoolean() && left > 0) {
                // Not less than a millisecond: a monitor counts no less, and a wait for 0 has no end.
                bell.wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
                left = end - System.nanoTime();
            }
        }
    }

    /** Has those who pause look whether they still are to. */
    void wake() {
        synchronized (bell) {
            bell.notifyAll();
        }
    }

    boolean isClosed() {
        synchronized (bell) {
            return closed;
        }
    }

    /** Ends whatever is under way. */
    void close() {
        synchronized (bell) {
            closed = true;
            bell.notifyAll();
        }
        channel.shutdownNow();
        try {
            channel.awaitTermination(SECONDS_TO_CLOSE, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
