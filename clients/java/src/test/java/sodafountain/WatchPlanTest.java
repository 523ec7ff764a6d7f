package sodafountain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.rpc.RetryInfo;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import sodafountain.v1.WatchEndReason;
import sodafountain.v1.WatchGameResponse;
import sodafountain.v1.WatchHeartbeat;

class WatchPlanTest {
    private static final SodaFountainException GONE = new SodaFountainException("Gone.", Reason.UNREACHABLE, null);

    private final Connection connection = new Connection(
            "localhost:1",
            false,
            Duration.ofSeconds(5),
            () -> Channels.open("localhost:1", io.grpc.InsecureChannelCredentials.create()));
    private final GameCalls calls = GameCalls.withoutToken(connection, new Commitment(ScriptedService.GAME, null));
    private long now = Long.MAX_VALUE - 5; // overflows during the tests
    private double random = 1;

    @AfterEach
    void close() {
        connection.close();
    }

    private WatchPlan plan(Consumer<WatchSettings> with) {
        WatchSettings settings = Viewer.configured(new WatchSettings(), with);
        return new WatchPlan(calls, OptionalInt.empty(), settings, () -> now, () -> random);
    }

    private static WatchGameResponse heartbeat() {
        return WatchGameResponse.newBuilder()
                .setHeartbeat(WatchHeartbeat.getDefaultInstance())
                .setResumeToken("alive")
                .build();
    }

    private static List<Long> pausesInMillis(WatchPlan plan, int count) {
        List<Long> pauses = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            WatchPlan.Pause pause = assertInstanceOf(WatchPlan.Pause.class, plan.onFailure(GONE));
            pauses.add(TimeUnit.NANOSECONDS.toMillis(pause.nanos()));
        }
        return pauses;
    }

    @Test
    void pausesGrowFromATenthOfASecondToFiveSeconds() {
        assertEquals(
                List.of(100L, 200L, 400L, 800L, 1600L, 3200L, 5000L, 5000L),
                pausesInMillis(plan(WatchSettings::noIdleTimeout), 8));
        random = 0;
        assertEquals(List.of(50L, 100L, 200L), pausesInMillis(plan(WatchSettings::noIdleTimeout), 3));
    }

    @Test
    void everyMessageResetsThePauses() {
        for (WatchGameResponse message : List.of(
                heartbeat(),
                ScriptedService.snapshot(1),
                WatchGameResponse.newBuilder()
                        .setResumeToken("unknown kind of message")
                        .build())) {
            WatchPlan plan = plan(WatchSettings::noIdleTimeout);
            pausesInMillis(plan, 3);
            plan.onMessage(message);
            assertEquals(List.of(100L), pausesInMillis(plan, 1));
            assertEquals(message.getResumeToken(), plan.request().getResumeToken());
        }
    }

    private static SodaFountainException failureWithDelay(long seconds) {
        return Errors.toException(
                ScriptedService.error(
                        Status.Code.UNAVAILABLE,
                        "STORE_UNAVAILABLE",
                        RetryInfo.newBuilder()
                                .setRetryDelay(com.google.protobuf.Duration.newBuilder()
                                        .setSeconds(seconds))
                                .build()),
                new Errors.CallInfo("", false, true, "WatchGame", WatchPlan.STREAM_TIMEOUT, null));
    }

    @Test
    void aPauseIsAtLeastTheRetryDelayOfTheService() {
        assertEquals(
                new WatchPlan.Pause(TimeUnit.SECONDS.toNanos(7)),
                plan(with -> {}).onFailure(failureWithDelay(7)));
    }

    @Test
    void aPauseIsLimitedToTheLongestTimeout() {
        for (long seconds : List.of(Long.MAX_VALUE, 315_576_000_000L)) {
            SodaFountainException failure = failureWithDelay(seconds);
            assertEquals(
                    new WatchPlan.Pause(TimeUnit.SECONDS.toNanos(1_000_000_000)),
                    plan(WatchSettings::noIdleTimeout).onFailure(failure));
            assertSame(
                    failure,
                    assertThrows(
                            SodaFountainException.class, () -> plan(with -> {}).onFailure(failure)));
        }
    }

    @Test
    void aStreamWithoutMessagesIsReplacedAfter45Seconds() {
        WatchPlan plan = plan(with -> {});
        assertEquals(TimeUnit.SECONDS.toNanos(45), plan.readTimeout());
        now += plan.readTimeout();
        assertInstanceOf(WatchPlan.Pause.class, plan.onTimeout());
        assertEquals(TimeUnit.SECONDS.toNanos(15), plan.readTimeout());
        now += plan.readTimeout();
        assertEquals(
                "No message about game " + ScriptedService.GAME
                        + " arrived for 60 s: the service or the connection to it is not responding.",
                assertThrows(SodaFountainException.class, plan::onTimeout).getMessage());
    }

    @Test
    void theIdleTimeoutThrowsTheLatestFailureAndRestartsWithEveryMessage() {
        WatchPlan plan = plan(with -> with.idleTimeout(Duration.ofSeconds(10)));
        now += TimeUnit.SECONDS.toNanos(9);
        plan.onMessage(heartbeat());
        now += TimeUnit.SECONDS.toNanos(9);
        assertInstanceOf(WatchPlan.Pause.class, plan.onFailure(GONE));
        now += TimeUnit.SECONDS.toNanos(1);
        assertSame(GONE, assertThrows(SodaFountainException.class, () -> plan.onFailure(GONE)));
        plan.startIdleTimeout();
        assertInstanceOf(WatchPlan.Pause.class, plan.onFailure(GONE));
    }

    @Test
    void theIdleTimeoutThrowsTheFailureSinceTheLatestMessage() {
        WatchPlan plan = plan(with -> {});
        assertInstanceOf(WatchPlan.Pause.class, plan.onFailure(GONE));
        now += plan.readTimeout();
        assertInstanceOf(WatchPlan.Pause.class, plan.onTimeout());
        now += plan.readTimeout();
        assertSame(GONE, assertThrows(SodaFountainException.class, plan::onTimeout));
        plan.onMessage(heartbeat());
        now += TimeUnit.SECONDS.toNanos(60);
        assertNotSame(GONE, assertThrows(SodaFountainException.class, plan::onTimeout));
    }

    @Test
    void aStreamTimeoutDoesNotRepeatAnEarlierRetryDelay() {
        SodaFountainException failure = failureWithDelay(7);
        WatchPlan plan = plan(with -> {});
        assertEquals(new WatchPlan.Pause(TimeUnit.SECONDS.toNanos(7)), plan.onFailure(failure));
        assertEquals(new WatchPlan.Pause(TimeUnit.MILLISECONDS.toNanos(200)), plan.onTimeout());
        assertEquals(new WatchPlan.Pause(TimeUnit.MILLISECONDS.toNanos(400)), plan.onTimeout());
        now += TimeUnit.SECONDS.toNanos(60);
        assertSame(failure, assertThrows(SodaFountainException.class, plan::onTimeout));
    }

    @Test
    void aWatchWithoutIdleTimeoutRetriesWithoutLimit() {
        WatchPlan plan = plan(WatchSettings::noIdleTimeout);
        now += TimeUnit.DAYS.toNanos(10_000);
        assertInstanceOf(WatchPlan.Pause.class, plan.onTimeout());
        assertInstanceOf(WatchPlan.Pause.class, plan.onFailure(GONE));
    }

    @Test
    void onlyTransientReasonsAreRetried() {
        for (Reason reason : Reason.values()) {
            boolean isTransient = List.of(
                            Reason.STORE_UNAVAILABLE,
                            Reason.UNCONFIRMED,
                            Reason.DRAINING,
                            Reason.UPGRADING,
                            Reason.LIMIT,
                            Reason.UNREACHABLE,
                            Reason.DEADLINE_EXCEEDED)
                    .contains(reason);
            SodaFountainException failure = new SodaFountainException("", reason, Status.Code.NOT_FOUND);
            if (isTransient) {
                assertInstanceOf(WatchPlan.Pause.class, plan(with -> {}).onFailure(failure));
            } else {
                assertThrows(SodaFountainException.class, () -> plan(with -> {}).onFailure(failure));
            }
        }
    }

    @Test
    void onlyTransientCodesAreRetriedIfTheReasonIsUnknown() {
        List<Status.Code> transientCodes = List.of(
                Status.Code.UNAVAILABLE,
                Status.Code.CANCELLED,
                Status.Code.ABORTED,
                Status.Code.DEADLINE_EXCEEDED,
                Status.Code.RESOURCE_EXHAUSTED,
                Status.Code.INTERNAL,
                Status.Code.UNKNOWN);
        for (Status.Code code : Status.Code.values()) {
            SodaFountainException failure = new SodaFountainException("", Reason.UNKNOWN, code);
            if (transientCodes.contains(code)) {
                assertInstanceOf(WatchPlan.Pause.class, plan(with -> {}).onFailure(failure));
            } else {
                assertThrows(SodaFountainException.class, () -> plan(with -> {}).onFailure(failure));
            }
        }
    }

    @Test
    void aFailureAfterTheLastChangeEndsTheWatch() {
        WatchPlan plan = plan(with -> {});
        plan.onMessage(WatchGameResponse.newBuilder()
                .setSnapshot(ScriptedService.finished(9))
                .build());
        assertEquals(new WatchPlan.Finish(), plan.onFailure(GONE));
    }

    @Test
    void theReasonOfAnEndBecomesAReasonOfTheException() {
        SodaFountainException expired = assertThrows(
                SodaFountainException.class, () -> plan(with -> {}).onEnd(WatchEndReason.WATCH_END_REASON_EXPIRED));
        assertEquals(Reason.GAME_EXPIRED, expired.reason());
        assertEquals("Game " + ScriptedService.GAME + " has expired.", expired.getMessage());
        assertEquals(new WatchPlan.Finish(), plan(with -> {}).onEnd(WatchEndReason.WATCH_END_REASON_FINISHED));
        assertInstanceOf(WatchPlan.Pause.class, plan(with -> {}).onEnd(WatchEndReason.WATCH_END_REASON_STALLED));
        assertInstanceOf(WatchPlan.Pause.class, plan(with -> {}).onEnd(WatchEndReason.UNRECOGNIZED));
    }
}
