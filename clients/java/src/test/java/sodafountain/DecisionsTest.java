package sodafountain;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.Message;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sodafountain.v1.ApplyMoveRequest;
import sodafountain.v1.ApplyMoveResponse;
import sodafountain.v1.GetGameResponse;
import sodafountain.v1.LegalMove;
import sodafountain.v1.LegalMovesResponse;
import sodafountain.v1.SodaJerkMove;
import sodafountain.v1.WatchGameResponse;
import sodafountain.v1.WatchUpdate;

/** Tests which decision a move answers. */
@Timeout(30)
class DecisionsTest {
    private static final SodaJerkMove MOVE = SodaJerkMove.getDefaultInstance();

    private final ScriptedService service = new ScriptedService();
    private final SodaFountain client = service.client();
    private final Seat seat = client.seat(ScriptedService.GAME, ScriptedService.SEAT_TOKEN);

    @AfterEach
    void close() {
        client.close();
        service.close();
    }

    private static WatchGameResponse update(int version) {
        return WatchGameResponse.newBuilder()
                .setUpdate(WatchUpdate.newBuilder().setState(ScriptedService.state(version)))
                .setResumeToken("after " + version)
                .build();
    }

    private static GetGameResponse state(int version) {
        return GetGameResponse.newBuilder()
                .setState(ScriptedService.state(version))
                .build();
    }

    /** Returns the etag in the request of a move. */
    private String etagOf(Runnable move) throws InterruptedException {
        service.requests.clear();
        move.run();
        return ((ApplyMoveRequest) service.requests.poll(10, TimeUnit.SECONDS)).getEtag();
    }

    /** Returns the etag of a move after a snapshot of a watch, a response to a call, and a message of the watch. */
    private String etagAfter(WatchGameResponse message, Message response, Runnable call) throws InterruptedException {
        service.thenHang(ScriptedService.snapshot(1), message);
        try (Watch watch = seat.watch()) {
            Iterator<Update> updates = watch.iterator();
            updates.next();
            service.thenAnswer(response);
            call.run();
            updates.next();
            return etagOf(() -> seat.apply(MOVE));
        }
    }

    @Test
    void aLateUpdateDoesNotReplaceTheDecisionOfANewerResponse() throws InterruptedException {
        assertEquals("etag 7", etagAfter(update(3), state(7), seat::state));
        LegalMovesResponse legal = LegalMovesResponse.newBuilder()
                .setVersion(7)
                .setEtag("etag of the moves")
                .addMoves(LegalMove.getDefaultInstance())
                .build();
        assertEquals("etag of the moves", etagAfter(update(3), legal, seat::legalMoves));
        ApplyMoveResponse response = ApplyMoveResponse.newBuilder()
                .setState(ScriptedService.state(8))
                .build();
        assertEquals("etag 8", etagAfter(update(3), response, () -> seat.apply(MOVE)));
    }

    @Test
    void aLateUpdateDoesNotReopenAnAnsweredDecision() throws InterruptedException {
        ApplyMoveResponse response = ApplyMoveResponse.newBuilder()
                .setState(ScriptedService.state(7).toBuilder().clearAwaitingSeats())
                .build();
        assertEquals("", etagAfter(update(3), response, () -> seat.apply(MOVE)));
    }

    @Test
    void anUpdateOfTheSameVersionIsRemembered() throws InterruptedException {
        assertEquals("etag 7", etagAfter(update(7), state(6), seat::state));
        WatchGameResponse again = update(7).toBuilder()
                .setUpdate(WatchUpdate.newBuilder()
                        .setState(ScriptedService.state(7).toBuilder().setEtag("the same version")))
                .build();
        assertEquals("the same version", etagAfter(again, state(7), seat::state));
    }

    @Test
    void aSnapshotAndAResponseAreAlwaysRemembered() throws InterruptedException {
        assertEquals("etag 3", etagAfter(ScriptedService.snapshot(3), state(7), seat::state));
        service.thenAnswer(state(2));
        seat.state();
        assertEquals("etag 2", etagOf(() -> seat.apply(MOVE)));
    }

    @Test
    void aHostRemembersTheDecisionOfEachSeat() throws InterruptedException {
        Host host = client.host(ScriptedService.GAME, ScriptedService.HOST_TOKEN);
        service.thenAnswer(state(7));
        host.state(0);
        service.thenHang(ScriptedService.snapshot(1), update(3));
        try (Watch watch = host.watch(1)) {
            Iterator<Update> updates = watch.iterator();
            updates.next();
            updates.next();
        }
        assertEquals("etag 3", etagOf(() -> host.apply(1, MOVE)));
        assertEquals("etag 7", etagOf(() -> host.apply(0, MOVE)));
    }
}
