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

/** A stream of messages. Each is asked for when somebody wants to read it and no sooner. One thread reads. */
final class WatchStream implements ClientResponseObserver<WatchGameRequest, WatchGameResponse> {
    /** What a reader hears. */
    sealed interface Received {}

    /** A message. */
    record Message(WatchGameResponse message) implements Received {}

    /** The stream failed. */
    record Failure(StatusRuntimeException failure) implements Received {}

    /** The stream ended, and did not say why. */
    record End() implements Received {}

    /** Nothing, for as long as the reader waited. */
    record Timeout() implements Received {}

    private final BlockingQueue<Received> heard = new LinkedBlockingQueue<>();
    private ClientCallStreamObserver<WatchGameRequest> call;
    // Whether a message has been asked for that has not been read.
    private boolean asked = true;

    WatchStream(Channel channel, WatchGameRequest request) {
        // No deadline: it lasts as long as the game.
        ClientCalls.asyncServerStreamingCall(
                channel.newCall(GameServiceGrpc.getWatchGameMethod(), CallOptions.DEFAULT), request, this);
    }

    /** Waits for the next message, for so many nanoseconds. */
    Received read(long nanos) throws InterruptedException {
        if (!asked) {
            call.request(1);
            asked = true;
        }
        Received next = heard.poll(nanos, TimeUnit.NANOSECONDS);
        if (next instanceof Message) {
            asked = false;
        }
        return next == null ? new Timeout() : next;
    }

    /** Ends the stream, in any thread. */
    void cancel() {
        // Whoever reads need not wait until gRPC has told that the stream is over.
        heard.add(new End());
        call.cancel("This watch needs the stream no more.", null);
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<WatchGameRequest> beginning) {
        call = beginning;
        call.disableAutoRequestWithInitial(1);
    }

    @Override
    public void onNext(WatchGameResponse message) {
        heard.add(new Message(message));
    }

    @Override
    public void onError(Throwable failure) {
        heard.add(new Failure(
                failure instanceof StatusRuntimeException told
                        ? told
                        : Status.fromThrowable(failure).asRuntimeException()));
    }

    @Override
    public void onCompleted() {
        heard.add(new End());
    }
}
