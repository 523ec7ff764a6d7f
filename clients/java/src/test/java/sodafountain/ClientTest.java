package sodafountain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sodafountain.v1.ApplyMoveRequest;
import sodafountain.v1.ApplyMoveResponse;
import sodafountain.v1.SodaJerkMove;
import sodafountain.v1.SodaJerkOptions;

@Timeout(30)
class ClientTest {
    private static final SodaJerkMove MOVE = SodaJerkMove.getDefaultInstance();

    private final ScriptedService service = new ScriptedService();
    private final SodaFountain client = service.client();
    private final Seat seat = client.seat(ScriptedService.GAME, ScriptedService.SEAT_TOKEN);
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void close() {
        threads.shutdownNow();
        client.close();
        service.close();
    }

    /** Applies a move in another thread, and returns when the request has arrived. */
    private Future<ApplyMoveResponse> startMove() throws InterruptedException {
        Future<ApplyMoveResponse> move = threads.submit(() -> seat.apply(MOVE));
        assertInstanceOf(ApplyMoveRequest.class, service.request());
        return move;
    }

    private static SodaFountainException failureOf(Future<?> call) {
        ExecutionException failed = assertThrows(ExecutionException.class, () -> call.get(10, TimeUnit.SECONDS));
        return assertInstanceOf(SodaFountainException.class, failed.getCause());
    }

    @Test
    void theVersionIsThatOfThePom() throws Exception {
        assertTrue(Files.readString(Path.of("pom.xml")).contains("<version>" + Channels.VERSION + "</version>"));
    }

    @Test
    void closingTheClientFailsAnOpenCall() throws Exception {
        service.thenHang();
        Future<ApplyMoveResponse> move = startMove();
        client.close();
        SodaFountainException failure = failureOf(move);
        assertEquals(Reason.CLIENT_CLOSED, failure.reason());
        assertEquals(
                "This client was closed before " + service.target() + " answered ApplyMove.", failure.getMessage());
        assertTrue(failure.requestId().isPresent());
    }

    @Test
    void closingTheClientFailsACallThatWaitsForARetry() throws Exception {
        for (int attempt = 0; attempt < 5; attempt++) {
            service.thenFail(Status.UNAVAILABLE.asRuntimeException());
        }
        Future<ApplyMoveResponse> move = startMove();
        client.close();
        assertEquals(Reason.CLIENT_CLOSED, failureOf(move).reason());
    }

    @Test
    void aCallThatTheServerCancelsIsRetriedUnchanged() throws Exception {
        service.thenFail(Status.CANCELLED.asRuntimeException());
        seat.apply(MOVE);
        assertEquals(service.request(), service.request());
    }

    @Test
    void callsAboutAGameSendItsId() throws Exception {
        seat.state();
        client.spectator("no game").score();
        client.newGame(SodaJerkOptions.getDefaultInstance(), 2);
        assertEquals(List.of(ScriptedService.GAME, "", ""), List.copyOf(service.gameIds));
    }

    @Test
    void closingTheClientClosesItsConnection() throws InterruptedException {
        seat.state();
        client.close();
        assertTrue(service.isDisconnected());
        client.close();
    }

    @Test
    void anInterruptFailsTheCallAndLeavesTheThreadInterrupted() throws Exception {
        service.thenHang();
        List<Boolean> interrupted = new ArrayList<>();
        Future<?> move = threads.submit(() -> {
            try {
                seat.apply(MOVE);
            } finally {
                interrupted.add(Thread.currentThread().isInterrupted());
            }
        });
        String requestId = ((ApplyMoveRequest) service.request()).getRequestId();
        threads.shutdownNow();
        SodaFountainException failure = failureOf(move);
        assertEquals(Reason.INTERRUPTED, failure.reason());
        assertEquals(requestId, failure.requestId().orElseThrow());
        assertEquals(List.of(true), interrupted);
        // The call was not retried.
        assertInstanceOf(ApplyMoveRequest.class, service.cancelled.poll(10, TimeUnit.SECONDS));
        assertEquals(0, service.requests.size());
    }

    @Test
    void threadsShareAClient() throws Exception {
        List<Future<ApplyMoveResponse>> calls = new ArrayList<>();
        for (int call = 0; call < 100; call++) {
            calls.add(threads.submit(() -> seat.apply(MOVE, with -> with.etag(""))));
        }
        for (Future<ApplyMoveResponse> call : calls) {
            assertEquals(2, call.get(10, TimeUnit.SECONDS).getCommittedVersion());
        }
        Set<String> requestIds = new HashSet<>();
        service.requests.forEach(request -> requestIds.add(((ApplyMoveRequest) request).getRequestId()));
        assertEquals(100, requestIds.size());
    }

    @Test
    void aSeatReadsItsNumberFromTheFirstState() {
        assertEquals(OptionalInt.empty(), seat.number());
        seat.state();
        assertEquals(OptionalInt.of(0), seat.number());
    }

    @Test
    void aCallSucceedsIfTheServerStartsBeforeTheDeadline() throws Exception {
        int port = service.port();
        service.close();
        service.awaitClosed();
        try (SodaFountain lateClient = SodaFountain.builder("127.0.0.1:" + port)
                .timeout(Duration.ofSeconds(20))
                .connect()) {
            Future<?> call = threads.submit(
                    () -> lateClient.spectator(ScriptedService.GAME).score());
            try (ScriptedService restarted = new ScriptedService(port)) {
                call.get(10, TimeUnit.SECONDS);
                assertEquals(1, restarted.requests.size());
            }
        }
    }
}
