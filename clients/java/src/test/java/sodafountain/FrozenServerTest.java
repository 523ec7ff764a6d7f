package sodafountain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import sodafountain.v1.ApplyMoveRequest;
import sodafountain.v1.ScoreRequest;
import sodafountain.v1.SodaJerkMove;
import sodafountain.v1.SodaJerkOptions;

/** A server that keeps its connections, but does not answer. */
@Timeout(120)
class FrozenServerTest {
    private static final String REPLICAS = "SODAFOUNTAIN_TEST_REPLICAS";
    private static final Duration FROZEN = Duration.ofSeconds(20);

    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void close() {
        threads.shutdownNow();
    }

    @Test
    void aCallContinuesOverAnotherConnection() throws Exception {
        try (ScriptedService service = new ScriptedService();
                SodaFountain client = service.client()) {
            service.hangHealthChecks(1);
            service.thenHang();
            long started = System.nanoTime();
            client.seat(ScriptedService.GAME, ScriptedService.SEAT_TOKEN).apply(SodaJerkMove.getDefaultInstance());
            assertTrue(secondsSince(started) < 10, "the call waited for its deadline");
            assertEquals(assertInstanceOf(ApplyMoveRequest.class, service.request()), service.request());
            assertTrue(service.isDisconnected());
        }
    }

    @Test
    void aWatchContinuesOverAnotherConnection() throws Exception {
        try (ScriptedService service = new ScriptedService();
                SodaFountain client = service.client()) {
            service.hangHealthChecks(1);
            service.thenHang(ScriptedService.snapshot(1));
            service.thenHang(ScriptedService.snapshot(2));
            try (Watch watch = client.spectator(ScriptedService.GAME).watch()) {
                Iterator<Update> updates = watch.iterator();
                assertEquals("after 1", updates.next().resumeToken());
                long waiting = System.nanoTime();
                assertEquals("after 2", updates.next().resumeToken());
                assertTrue(secondsSince(waiting) < 10, "the watch waited for its timeout");
            }
        }
    }

    @Test
    void aSlowServerThatAnswersHealthChecksKeepsItsConnection() throws Exception {
        try (ScriptedService service = new ScriptedService();
                SodaFountain client = service.client()) {
            service.thenHang();
            Future<?> call =
                    threads.submit(() -> client.spectator(ScriptedService.GAME).score());
            service.request();
            TimeUnit.SECONDS.sleep(5); // longer than the check takes
            assertFalse(service.wasDisconnected());
            call.cancel(true);
        }
    }

    @Test
    void aNewClientSkipsAServerThatAcceptsConnectionsOnly() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket silent = new ServerSocket(0, 50, loopback);
                ScriptedService service = new ScriptedService();
                SodaFountain client =
                        FixedAddresses.client(List.of("127.0.0.1:" + silent.getLocalPort(), service.target()))) {
            client.spectator(ScriptedService.GAME).score();
            assertInstanceOf(ScoreRequest.class, service.request());
        }
    }

    @Test
    void aClientConnectsAgainAfterItsServerWasReplaced() throws Exception {
        ScriptedService first = new ScriptedService();
        try (ScriptedService second = new ScriptedService();
                SodaFountain client = FixedAddresses.client(List.of(first.target(), second.target()))) {
            client.spectator(ScriptedService.GAME).score();
            first.close();
            client.spectator(ScriptedService.GAME).score();
            assertInstanceOf(ScoreRequest.class, second.request());
        }
    }

    /** Suspends each of two real services in turn, which tests/clients/test_frozen_replicas.py starts. */
    @Test
    @EnabledIfEnvironmentVariable(named = REPLICAS, matches = ".+")
    void callsAndAWatchContinueWhileAReplicaIsFrozen() throws Exception {
        List<String> addresses = new ArrayList<>();
        List<String> processes = new ArrayList<>();
        for (String replica : System.getenv(REPLICAS).split(",")) {
            addresses.add(replica.split("=")[0]);
            processes.add(replica.split("=")[1]);
        }
        double slowestCall = 0;
        double slowestUpdate = 0;
        try (SodaFountain client = FixedAddresses.client(addresses)) {
            Game game = client.newGame(SodaJerkOptions.getDefaultInstance(), 2);
            Spectator spectator = client.spectator(game.id());
            try (Watch watch = spectator.watch()) {
                Iterator<Update> updates = watch.iterator();
                updates.next();
                for (int frozen = 0; frozen < 2; frozen++) {
                    signal("STOP", processes.get(frozen));
                    try {
                        long since = System.nanoTime();
                        move(addresses.get(1 - frozen), game);
                        Future<Double> update = threads.submit(() -> {
                            updates.next();
                            return secondsSince(since);
                        });
                        while (secondsSince(since) < FROZEN.toSeconds()) {
                            long called = System.nanoTime();
                            spectator.score();
                            slowestCall = Math.max(slowestCall, secondsSince(called));
                            TimeUnit.MILLISECONDS.sleep(50);
                        }
                        slowestUpdate = Math.max(slowestUpdate, update.get(1, TimeUnit.SECONDS));
                    } finally {
                        signal("CONT", processes.get(frozen));
                    }
                }
            }
        }
        System.out.printf("slowest call: %.2f s, slowest update: %.2f s%n", slowestCall, slowestUpdate);
        assertTrue(slowestCall < 5, "a call took " + slowestCall + " s");
        assertTrue(slowestUpdate < 6, "an update took " + slowestUpdate + " s");
    }

    private static void move(String address, Game game) {
        try (SodaFountain client = SodaFountain.connect(address)) {
            Host host = client.host(game.id(), game.hostToken());
            int seat = host.state().getAwaitingSeats(0);
            host.apply(seat, host.legalMoves(seat).getMoves(0));
        }
    }

    private static void signal(String name, String process) throws IOException, InterruptedException {
        assertEquals(0, new ProcessBuilder("kill", "-" + name, process).start().waitFor());
    }

    private static double secondsSince(long nanoTime) {
        return (System.nanoTime() - nanoTime) / 1e9;
    }
}
