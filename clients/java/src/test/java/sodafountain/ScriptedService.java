package sodafountain;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Empty;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.HandlerRegistry;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import sodafountain.v1.ApplyMoveRequest;
import sodafountain.v1.ApplyMoveResponse;
import sodafountain.v1.GameServiceGrpc;
import sodafountain.v1.GameState;
import sodafountain.v1.GetGameRequest;
import sodafountain.v1.GetGameResponse;
import sodafountain.v1.GetHistoryRequest;
import sodafountain.v1.GetHistoryResponse;
import sodafountain.v1.LegalMove;
import sodafountain.v1.LegalMovesRequest;
import sodafountain.v1.LegalMovesResponse;
import sodafountain.v1.Move;
import sodafountain.v1.NewGameRequest;
import sodafountain.v1.NewGameResponse;
import sodafountain.v1.ScoreRequest;
import sodafountain.v1.ScoreResponse;
import sodafountain.v1.SodaJerkMove;
import sodafountain.v1.WatchGameRequest;
import sodafountain.v1.WatchGameResponse;

/** A local service that handles each call with the next step of a script; without one, it returns a default response. */
final class ScriptedService extends GameServiceGrpc.GameServiceImplBase implements AutoCloseable {
    static final String GAME = "aaaaaaaaaaaaaaaaaaaaaaaaaa";
    static final String SEAT_TOKEN = "token-of-a-seat";
    static final String SPECTATOR_TOKEN = "spectator-token";
    static final ByteString COMMITMENT = ByteString.copyFrom(new byte[32]);
    static final String HOST_TOKEN = "token-of-the-host";
    private static final Metadata.Key<String> GAME_ID = Metadata.Key.of("x-game-id", Metadata.ASCII_STRING_MARSHALLER);

    private final Queue<Consumer<StreamObserver<Message>>> script = new ConcurrentLinkedQueue<>();
    private final AtomicInteger hangingChecks = new AtomicInteger();
    private final CountDownLatch disconnected = new CountDownLatch(1);
    private final Server server;
    // The requests that arrived, and those that their client cancelled.
    final BlockingQueue<Message> requests = new LinkedBlockingQueue<>();
    final BlockingQueue<Message> cancelled = new LinkedBlockingQueue<>();
    // The header x-game-id of each request; empty without one.
    final BlockingQueue<String> gameIds = new LinkedBlockingQueue<>();

    ScriptedService() {
        this(0);
    }

    /** Listens on a port; 0 selects a free one. */
    ScriptedService(int port) {
        try {
            server = Grpc.newServerBuilderForPort(port, InsecureServerCredentials.create())
                    .addService(ServerInterceptors.intercept(this, new ServerInterceptor() {
                        @Override
                        public <Q, A> ServerCall.Listener<Q> interceptCall(
                                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                            gameIds.add(
                                    Optional.ofNullable(headers.get(GAME_ID)).orElse(""));
                            return next.startCall(call, headers);
                        }
                    }))
                    .fallbackHandlerRegistry(new HandlerRegistry() {
                        @Override
                        public ServerMethodDefinition<?, ?> lookupMethod(String method, String authority) {
                            // gRPC answers UNIMPLEMENTED for null.
                            return hangingChecks.getAndDecrement() > 0 ? hang(method) : null;
                        }
                    })
                    .addTransportFilter(new ServerTransportFilter() {
                        @Override
                        public void transportTerminated(Attributes attributes) {
                            disconnected.countDown();
                        }
                    })
                    .permitKeepAliveTime(1, TimeUnit.SECONDS)
                    .permitKeepAliveWithoutCalls(true)
                    .build()
                    .start();
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    int port() {
        return server.getPort();
    }

    String target() {
        return "127.0.0.1:" + port();
    }

    /** Returns a client with a long timeout: on a busy machine, the first call of a process takes seconds. */
    SodaFountain client() {
        return SodaFountain.builder(target()).timeout(Duration.ofSeconds(20)).connect();
    }

    /** Adds a step to the script. */
    void then(Consumer<StreamObserver<Message>> step) {
        script.add(step);
    }

    void thenAnswer(Message... messages) {
        then(observer -> {
            List.of(messages).forEach(observer::onNext);
            observer.onCompleted();
        });
    }

    /** Sends these messages and leaves the call open. */
    void thenHang(Message... messages) {
        then(observer -> List.of(messages).forEach(observer::onNext));
    }

    void thenFail(RuntimeException failure) {
        then(observer -> observer.onError(failure));
    }

    /** Leaves the next health checks without an answer. */
    void hangHealthChecks(int number) {
        hangingChecks.set(number);
    }

    private static ServerMethodDefinition<Empty, Empty> hang(String method) {
        return ServerMethodDefinition.create(
                MethodDescriptor.<Empty, Empty>newBuilder()
                        .setType(MethodDescriptor.MethodType.UNARY)
                        .setFullMethodName(method)
                        .setRequestMarshaller(ProtoUtils.marshaller(Empty.getDefaultInstance()))
                        .setResponseMarshaller(ProtoUtils.marshaller(Empty.getDefaultInstance()))
                        .build(),
                (call, headers) -> new ServerCall.Listener<>() {});
    }

    boolean wasDisconnected() {
        return disconnected.getCount() == 0;
    }

    /** Waits until a client disconnects. */
    boolean isDisconnected() throws InterruptedException {
        return disconnected.await(10, TimeUnit.SECONDS);
    }

    /** Waits for the next request. */
    Message request() throws InterruptedException {
        return requests.poll(10, TimeUnit.SECONDS);
    }

    static StatusRuntimeException error(Status.Code code, String reason, Message... more) {
        com.google.rpc.Status.Builder status =
                com.google.rpc.Status.newBuilder().setCode(code.value()).setMessage("The request was rejected.");
        status.addDetails(Any.pack(ErrorInfo.newBuilder()
                .setDomain("sodafountain")
                .setReason(reason)
                .putAllMetadata(Map.of("version", "3"))
                .build()));
        for (Message detail : more) {
            status.addDetails(Any.pack(detail));
        }
        return StatusProto.toStatusRuntimeException(status.build());
    }

    static StatusRuntimeException errorWithDetails(byte[] details) {
        Metadata trailers = new Metadata();
        trailers.put(Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER), details);
        return Status.ABORTED.withDescription("The request was rejected.").asRuntimeException(trailers);
    }

    /** Returns a state in which seat 0 is awaited. The etag contains the version. */
    static GameState state(int version) {
        return GameState.newBuilder()
                .setGameId(GAME)
                .setVersion(version)
                .setSeedCommitment(COMMITMENT)
                .setViewerSeat(0)
                .addAwaitingSeats(0)
                .setEtag("etag " + version)
                .build();
    }

    static GameState finished(int version) {
        return state(version).toBuilder()
                .clearAwaitingSeats()
                .setStatus(sodafountain.v1.GameStatus.GAME_STATUS_FINISHED)
                .build();
    }

    static WatchGameResponse snapshot(int version) {
        return WatchGameResponse.newBuilder()
                .setSnapshot(state(version))
                .setResumeToken("after " + version)
                .build();
    }

    private <Q extends Message, A extends Message> void respond(
            Q request, StreamObserver<A> observer, A defaultResponse) {
        ((ServerCallStreamObserver<A>) observer).setOnCancelHandler(() -> cancelled.add(request));
        requests.add(request);
        Consumer<StreamObserver<Message>> step = script.poll();
        if (step == null) {
            observer.onNext(defaultResponse);
            observer.onCompleted();
            return;
        }
        step.accept(new Untyped<>(observer));
    }

    /** Accepts messages of any type. */
    private record Untyped<A>(StreamObserver<A> typed) implements StreamObserver<Message> {
        @Override
        @SuppressWarnings("unchecked") // the script sends messages of the right type
        public void onNext(Message message) {
            typed.onNext((A) message);
        }

        @Override
        public void onError(Throwable failure) {
            typed.onError(failure);
        }

        @Override
        public void onCompleted() {
            typed.onCompleted();
        }
    }

    @Override
    public void newGame(NewGameRequest request, StreamObserver<NewGameResponse> observer) {
        respond(
                request,
                observer,
                NewGameResponse.newBuilder()
                        .setState(state(1))
                        .setHostToken(HOST_TOKEN)
                        .addSeatTokens(SEAT_TOKEN)
                        .setSpectatorToken(SPECTATOR_TOKEN)
                        .build());
    }

    @Override
    public void legalMoves(LegalMovesRequest request, StreamObserver<LegalMovesResponse> observer) {
        Move move =
                Move.newBuilder().setSodaJerk(SodaJerkMove.getDefaultInstance()).build();
        respond(
                request,
                observer,
                LegalMovesResponse.newBuilder()
                        .setEtag("etag 1")
                        .addMoves(LegalMove.newBuilder().setMove(move).setLabel("Flip a card"))
                        .build());
    }

    @Override
    public void applyMove(ApplyMoveRequest request, StreamObserver<ApplyMoveResponse> observer) {
        respond(
                request,
                observer,
                ApplyMoveResponse.newBuilder()
                        .setCommittedVersion(2)
                        .setState(finished(2))
                        .build());
    }

    @Override
    public void getGame(GetGameRequest request, StreamObserver<GetGameResponse> observer) {
        respond(
                request,
                observer,
                GetGameResponse.newBuilder().setState(state(1)).build());
    }

    @Override
    public void score(ScoreRequest request, StreamObserver<ScoreResponse> observer) {
        respond(
                request,
                observer,
                ScoreResponse.newBuilder().setNote("Seat 0 wins.").build());
    }

    @Override
    public void getHistory(GetHistoryRequest request, StreamObserver<GetHistoryResponse> observer) {
        respond(
                request,
                observer,
                GetHistoryResponse.newBuilder().setSeedCommitment(COMMITMENT).build());
    }

    @Override
    public void watchGame(WatchGameRequest request, StreamObserver<WatchGameResponse> observer) {
        respond(request, observer, snapshot(1));
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    /** Waits until the server is closed. */
    void awaitClosed() throws InterruptedException {
        server.awaitTermination();
    }
}
