package sodafountain;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import sodafountain.v1.GameServiceGrpc;
import sodafountain.v1.WatchGameRequest;
import sodafountain.v1.WatchGameResponse;

/** A stream of messages. It requests a message only when the reader reads one. Only one thread may read. */
final class WatchStream implements ClientResponseObserver<WatchGameRequest, WatchGameResponse> {
    /** The result of a read. */
    sealed interface Received {}

    /** A message. */
    record Message(WatchGameResponse message) implements Received {}

    /** The stream failed. */
    record Failure(StatusRuntimeException failure) implements Received {}

    /** The stream ended without a message about the reason. */
    record End() implements Received {}

    /** Nothing arrived in time. */
    record Timeout() implements Received {}

    private final BlockingQueue<Received> received = new LinkedBlockingQueue<>();
    private ClientCallStreamObserver<WatchGameRequest> call;
    // Whether a message is requested and not yet read.
    private boolean requested = true;

    WatchStream(Channel channel, WatchGameRequest request) {
        // No deadline: the stream lasts as long as the game.
        ClientCalls.asyncServerStreamingCall(
                channel.newCall(GameServiceGrpc.getWatchGameMethod(), CallOptions.DEFAULT), request, this);
    }

    /** Waits for the next message. */
    Received read(long nanos) throws InterruptedException {
        if (!requested) {
            call.request(1);
            requested = true;
        }
        Received next = received.poll(nanos, TimeUnit.NANOSECONDS);
        if (next instanceof Message) {
            requested = false;
        }
        return next == null ? new Timeout() : next;
    }

    /** Ends the stream. Any thread may call this. */
    void cancel() {
        // A reader must not wait until gRPC reports the end of the stream.
        received.add(new End());
        call.cancel("The watch no longer needs this stream.", null);
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<WatchGameRequest> stream) {
        call = stream;
        call.disableAutoRequestWithInitial(1);
    }

    @Override
    public void onNext(WatchGameResponse message) {
        received.add(new Message(message));
    }

    @Override
    public void onError(Throwable failure) {
        received.add(new Failure(
                failure instanceof StatusRuntimeException status
                        ? status
                        : Status.fromThrowable(failure).asRuntimeException()));
    }

    @Override
    public void onCompleted() {
        received.add(new End());
    }
}
