package sodafountain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.rpc.RetryInfo;
import io.grpc.Status;
import java.time.Duration;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sodafountain.v1.ScoreRequest;
import sodafountain.v1.WatchGameRequest;

@Timeout(30)
class WatchTest {
    private final ScriptedService service = new ScriptedService();
    private final SodaFountain client = service.client();
    private final Spectator spectator = client.spectator(ScriptedService.GAME);
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void close() {
        threads.shutdownNow();
        client.close();
        service.close();
    }

    /** Waits for an update in another thread, and returns when the request has arrived. */
    private Future<Boolean> startWaiting(Watch watch) throws InterruptedException {
        Future<Boolean> waiting = threads.submit(() -> watch.iterator().hasNext());
        assertInstanceOf(WatchGameRequest.class, service.request());
        return waiting;
    }

    private static SodaFountainException failureOf(Future<Boolean> waiting) {
        ExecutionException failed = assertThrows(ExecutionException.class, () -> waiting.get(10, TimeUnit.SECONDS));
        return assertInstanceOf(SodaFountainException.class, failed.getCause());
    }

    private void thenFailWithADelayOfAnHour() {
        service.thenFail(ScriptedService.error(
                Status.Code.UNAVAILABLE,
                "STORE_UNAVAILABLE",
                RetryInfo.newBuilder()
                        .setRetryDelay(com.google.protobuf.Duration.newBuilder().setSeconds(3600))
                        .build()));
    }

    @Test
    void noCallIsMadeBeforeTheFirstUpdateIsRequested() throws InterruptedException {
        try (Watch watch = spectator.watch()) {
            spectator.score();
            assertTrue(watch.iterator().hasNext());
        }
        assertInstanceOf(ScoreRequest.class, service.request());
        assertInstanceOf(WatchGameRequest.class, service.request());
        assertNull(service.requests.poll());
    }

    @Test
    void leavingTheLoopCancelsTheStream() throws InterruptedException {
        service.thenHang(ScriptedService.snapshot(1));
        try (Watch watch = spectator.watch()) {
            for (Update update : watch) {
                assertEquals(1, update.state().getVersion());
                break;
            }
        }
        assertNotNull(service.cancelled.poll(10, TimeUnit.SECONDS));
    }

    @Test
    void aReceivedUpdateIsReturnedAfterTheWatchIsClosed() {
        Iterator<Update> updates;
        try (Watch watch = spectator.watch()) {
            updates = watch.iterator();
            assertTrue(updates.hasNext());
        }
        assertEquals(
                "Update[version 1 of game " + ScriptedService.GAME + ", a snapshot]",
                updates.next().toString());
        assertFalse(updates.hasNext());
        assertThrows(NoSuchElementException.class, updates::next);
    }

    @Test
    void anotherThreadMayCloseAWatchThatWaitsForAnUpdate() throws Exception {
        service.thenHang();
        Watch watch = spectator.watch();
        Future<Boolean> waiting = startWaiting(watch);
        watch.close();
        assertFalse(waiting.get(10, TimeUnit.SECONDS));
        assertNotNull(service.cancelled.poll(10, TimeUnit.SECONDS));
    }

    @Test
    void anotherThreadMayCloseAWatchThatWaitsForARetry() throws Exception {
        thenFailWithADelayOfAnHour();
        Watch watch = spectator.watch(WatchSettings::noIdleTimeout);
        Future<Boolean> waiting = startWaiting(watch);
        watch.close();
        assertFalse(waiting.get(10, TimeUnit.SECONDS));
    }

    @Test
    void closingTheClientFailsWaitingWatches() throws Exception {
        service.thenHang();
        Future<Boolean> reading = startWaiting(spectator.watch());
        thenFailWithADelayOfAnHour();
        Future<Boolean> pausing = startWaiting(spectator.watch(WatchSettings::noIdleTimeout));
        client.close();
        assertEquals(Reason.CLIENT_CLOSED, failureOf(reading).reason());
        assertEquals(Reason.CLIENT_CLOSED, failureOf(pausing).reason());
    }

    @Test
    void anInterruptFailsTheWaitAndTheNextUpdateIsNotLost() throws Exception {
        service.thenHang(ScriptedService.snapshot(1), ScriptedService.snapshot(2));
        try (Watch watch = spectator.watch()) {
            Iterator<Update> updates = watch.iterator();
            updates.next();
            Thread.currentThread().interrupt();
            SodaFountainException failure = assertThrows(SodaFountainException.class, updates::hasNext);
            assertEquals(Reason.INTERRUPTED, failure.reason());
            assertTrue(Thread.interrupted(), "the thread stays interrupted");
            assertNotNull(service.cancelled.poll(10, TimeUnit.SECONDS));

            service.thenHang(ScriptedService.snapshot(2));
            assertEquals(2, updates.next().state().getVersion());
        }
        service.request();
        assertEquals("after 1", ((WatchGameRequest) service.request()).getResumeToken());
    }

    @Test
    void aFailedWatchHasEnded() {
        service.thenFail(ScriptedService.error(Status.Code.NOT_FOUND, "GAME_NOT_FOUND"));
        try (Watch watch = spectator.watch()) {
            Iterator<Update> updates = watch.iterator();
            SodaFountainException failure = assertThrows(SodaFountainException.class, updates::hasNext);
            assertEquals(Reason.GAME_NOT_FOUND, failure.reason());
            assertFalse(updates.hasNext());
        }
        assertEquals(1, service.requests.size());
    }

    @Test
    void theIdleTimeoutEndsAWatchWithoutMessages() throws InterruptedException {
        spectator.score(); // connects, which may take longer than the idle timeout
        service.thenHang();
        try (Watch watch = spectator.watch(with -> with.idleTimeout(Duration.ofMillis(200)))) {
            SodaFountainException failure = assertThrows(
                    SodaFountainException.class, () -> watch.iterator().hasNext());
            assertEquals(Reason.UNREACHABLE, failure.reason());
            assertEquals(
                    "No message about game " + ScriptedService.GAME
                            + " arrived for 0.2 s: the service or the connection to it is not responding.",
                    failure.getMessage());
        }
        assertNotNull(service.cancelled.poll(10, TimeUnit.SECONDS));
    }
}
