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

/** Which decision a move answers. */
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

    private static WatchGameResponse change(int version) {
        return WatchGameResponse.newBuilder()
                .setUpdate(WatchUpdate.newBuilder().setState(ScriptedService.state(version)))
                .setResumeToken("after " + version)
                .build();
    }

    private static GetGameResponse shown(int version) {
        return GetGameResponse.newBuilder()
                .setState(ScriptedService.state(version))
                .build();
    }

    /** The etag that a move goes out with. */
    private String etagOf(Runnable move) throws InterruptedException {
        service.requests.clear();
        move.run();
        return ((ApplyMoveRequest) service.requests.poll(10, TimeUnit.SECONDS)).getEtag();
    }

    /** The same after a watch told a snapshot, a call was answered, and the watch told something more. */
    private String etagAfter(WatchGameResponse told, Message answer, Runnable call) throws InterruptedException {
        service.thenHang(ScriptedService.snapshot(1), told);
        try (Watch watch = seat.watch()) {
            Iterator<Update> updates = watch.iterator();
            updates.next();
            service.thenAnswer(answer);
            call.run();
            updates.next();
            return etagOf(() -> seat.apply(MOVE));
        }
    }

    @Test
    void aChangeThatArrivesLateDoesNotHideTheDecisionThatAnAnswerShowed() throws InterruptedException {
        assertEquals("etag 7", etagAfter(change(3), shown(7), seat::state));
        LegalMovesResponse legal = LegalMovesResponse.newBuilder()
                .setVersion(7)
                .setEtag("etag of the moves")
                .addMoves(LegalMove.getDefaultInstance())
                .build();
        assertEquals("etag of the moves", etagAfter(change(3), legal, seat::legalMoves));
        ApplyMoveResponse made = ApplyMoveResponse.newBuilder()
                .setState(ScriptedService.state(8))
                .build();
        assertEquals("etag 8", etagAfter(change(3), made, () -> seat.apply(MOVE)));
    }

    @Test
    void aChangeThatArrivesLateDoesNotReopenADecisionThatWasMade() throws InterruptedException {
        ApplyMoveResponse made = ApplyMoveResponse.newBuilder()
                .setState(ScriptedService.state(7).toBuilder().clearAwaitingSeats())
                .build();
        assertEquals("", etagAfter(change(3), made, () -> seat.apply(MOVE)));
    }

    @Test
    void aChangeThatIsAsNewIsRemembered() throws InterruptedException {
        assertEquals("etag 7", etagAfter(change(7), shown(6), seat::state));
        WatchGameResponse again = change(7).toBuilder()
                .setUpdate(WatchUpdate.newBuilder()
                        .setState(ScriptedService.state(7).toBuilder().setEtag("the same version")))
                .build();
        assertEquals("the same version", etagAfter(again, shown(7), seat::state));
    }

    @Test
    void aSnapshotAndAnAnswerAreRememberedHoweverOld() throws InterruptedException {
        assertEquals("etag 3", etagAfter(ScriptedService.snapshot(3), shown(7), seat::state));
        service.thenAnswer(shown(2));
        seat.state();
        assertEquals("etag 2", etagOf(() -> seat.apply(MOVE)));
    }

    @Test
    void eachSeatOfAHostIsRememberedByItself() throws InterruptedException {
        Host host = client.host(ScriptedService.GAME, ScriptedService.HOST_TOKEN);
        service.thenAnswer(shown(7));
        host.state(0);
        service.thenHang(ScriptedService.snapshot(1), change(3));
        try (Watch watch = host.watch(1)) {
            Iterator<Update> updates = watch.iterator();
            updates.next();
            updates.next();
        }
        assertEquals("etag 3", etagOf(() -> host.apply(1, MOVE)));
        assertEquals("etag 7", etagOf(() -> host.apply(0, MOVE)));
    }
}
