package sodafountain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sodafountain.v1.GameState;
import sodafountain.v1.JuicesOptions;
import sodafountain.v1.LegalMove;
import sodafountain.v1.Move;
import sodafountain.v1.Options;
import sodafountain.v1.SodaJerkMove;
import sodafountain.v1.SodaJerkOptions;

class ValidationTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost:50051",
                "127.0.0.1:1",
                "[::1]:65535",
                "games.example:443",
                "dns:localhost:50051",
                "dns:///localhost:50051",
                "[fe80::1%1]:1",
                "my-host.:1",
                "unix:path",
                "unix:a:b",
                "unix:/a%20path",
                "unix:///path"
            })
    void everyKindOfTargetIsAccepted(String target) {
        SodaFountain.builder(target).allowInsecure().connect().close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost:50051",
                "LocalHost:50051",
                "127.0.0.1:50051",
                "127.255.0.9:50051",
                "[::1]:50051",
                "dns:localhost:50051",
                "dns:///127.0.0.1:50051",
                "unix:path"
            })
    void aTargetOnThisHostNeedsNoTls(String target) {
        SodaFountain.connect(target).close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "games.example:50051",
                "10.0.0.1:50051",
                "0.0.0.0:50051",
                "[2001:db8::1]:50051",
                "127.0.0.1.games.example:50051",
                "localhost.games.example:50051",
                "dns:games.example:50051",
                "dns:///games.example:50051"
            })
    void aTargetOnAnotherHostNeedsTlsOrPermission(String target) {
        SodaFountain.Builder builder = SodaFountain.builder(target).apiKey("key");
        assertEquals(
                "target '" + target + "' is not on this host, and the connection has no TLS: everyone on the network "
                        + "could read tokens and API keys. Use tls(). If you trust the network, use allowInsecure()",
                assertThrows(IllegalArgumentException.class, builder::connect).getMessage());
        SodaFountain.builder(target).tls().connect().close();
        builder.allowInsecure().connect().close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|target is empty",
                "' localhost:1'|whitespace",
                "localhost|is not host:port",
                "::1:50051|is not host:port",
                "localhost:|is not host:port",
                "localhost:0|must have a port from 1 to 65535",
                "localhost:65536|must have a port from 1 to 65535",
                "http://localhost:1|is a URL",
                "ipv4:127.0.0.1:1|is not host:port",
                "dns://1.1.1.1/localhost:1|names a DNS server",
                "dns:///localhost|is not host:port",
                "unix://|has no address after",
                "my_host:1|neither an IP address nor a name",
                "dns:///my_host:1|neither an IP address nor a name",
                "[:::::]:1|neither an IP address nor a name",
                "[::1%lo]:1|is not host:port",
                "%zz:1|neither an IP address nor a name",
                "host?x:1|neither an IP address nor a name",
                "host#x:1|neither an IP address nor a name",
                "bücher:1|neither an IP address nor a name",
                "1.2.3:1|neither an IP address nor a name",
                "unix:%zz|must be encoded as %XX",
                "unix:a?b|must be encoded as %XX",
                "unix:/ü|must be encoded as %XX",
                "unix://host/path|has a host"
            })
    void anInvalidTargetIsRejectedWithTheValidForms(String target, String problem) {
        String message = assertThrows(IllegalArgumentException.class, () -> SodaFountain.builder(target))
                .getMessage();
        assertTrue(message.contains(problem) && message.contains("use host:port"), message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"http://user:hunter2@h:1", "user:hunter2@h:1", "dns:///user:hunter2@h:1", "dns://hunter2@h/x:1"})
    void userInformationInATargetIsRejectedAndNotRepeated(String target) {
        String message = assertThrows(IllegalArgumentException.class, () -> SodaFountain.builder(target))
                .getMessage();
        assertTrue(
                message.contains("must not contain credentials before '…@h") && message.contains("use host:port"),
                message);
        assertFalse(message.contains("hunter2") || message.contains("user:"), message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT1000000000.1S"})
    void aTimeoutMustBePositive(String timeout) {
        Duration wrong = Duration.parse(timeout);
        SodaFountain.Builder builder = SodaFountain.builder("localhost:1");
        assertThrows(IllegalArgumentException.class, () -> builder.timeout(wrong));
        try (SodaFountain client = builder.connect()) {
            Spectator spectator = client.spectator(ScriptedService.GAME);
            assertThrows(IllegalArgumentException.class, () -> spectator.score(wrong));
            assertThrows(IllegalArgumentException.class, () -> spectator.state(with -> with.timeout(wrong)));
            assertThrows(IllegalArgumentException.class, () -> spectator.watch(with -> with.idleTimeout(wrong)));
        }
    }

    @Test
    void theLongestTimeoutIsAccepted() {
        try (ScriptedService service = new ScriptedService();
                SodaFountain client = service.client()) {
            assertEquals(
                    1,
                    client.spectator(ScriptedService.GAME)
                            .state(with -> with.timeout(Duration.ofSeconds(1_000_000_000)))
                            .getVersion());
        }
    }

    @ParameterizedTest
    @CsvSource({"'a b',2,3,U+0020", "'ab\n',3,3,U+000A", "'€',1,1,U+20AC", "'\uD83E\uDD64b',1,2,U+1F964"})
    void aSecretThatIsNotVisibleAsciiIsRejectedAndNotRepeated(String secret, int place, int length, String character) {
        String problem = " must consist of visible ASCII characters; character " + place + " of " + length + " is "
                + character + ". Whitespace is not stripped.";
        try (SodaFountain client = SodaFountain.connect("localhost:1")) {
            SodaFountainException failure =
                    assertThrows(SodaFountainException.class, () -> client.seat(ScriptedService.GAME, secret));
            assertEquals(Reason.TOKEN_INVALID, failure.reason());
            assertEquals("The token" + problem, failure.getMessage());
        }
        SodaFountain.Builder builder = SodaFountain.builder("localhost:1");
        SodaFountainException failure = assertThrows(SodaFountainException.class, () -> builder.apiKey(secret));
        assertEquals(Reason.API_KEY_INVALID, failure.reason());
        assertEquals("The API key" + problem, failure.getMessage());
    }

    @Test
    void aFileWithoutCertificatesIsRejected() {
        SodaFountain.Builder builder = SodaFountain.builder("localhost:1");
        assertThrows(java.io.UncheckedIOException.class, () -> builder.tls(Path.of("no-such-file")));
        assertThrows(IllegalArgumentException.class, () -> builder.tls(Path.of("pom.xml")));
    }

    @Test
    void theMessageOfAKindIsWrapped() {
        SodaJerkMove move = SodaJerkMove.getDefaultInstance();
        Move whole = Move.newBuilder().setSodaJerk(move).build();
        assertEquals(whole, GameMessages.toMove(move));
        assertEquals(whole, GameMessages.toMove(whole));
        assertEquals(
                whole, GameMessages.toMove(LegalMove.newBuilder().setMove(whole).build()));
        assertTrue(GameMessages.toOptions(JuicesOptions.getDefaultInstance()).hasJuices());
        Options options = Options.newBuilder()
                .setJuices(JuicesOptions.getDefaultInstance())
                .build();
        assertEquals(options, GameMessages.toOptions(options));
    }

    @Test
    void anotherMessageIsRejectedWithTheValidTypes() {
        Message move = SodaJerkOptions.getDefaultInstance();
        assertEquals(
                "move must be Move or one of SodaJerkMove, SodaSmugglersMove, JuicesMove, not SodaJerkOptions",
                assertThrows(IllegalArgumentException.class, () -> GameMessages.toMove(move))
                        .getMessage());
        Message options = GameState.getDefaultInstance();
        assertThrows(IllegalArgumentException.class, () -> GameMessages.toOptions(options));
    }

    @Test
    void aNullArgumentIsRejectedByItsName() {
        try (SodaFountain client = SodaFountain.connect("localhost:1")) {
            Seat seat = client.seat(ScriptedService.GAME, ScriptedService.SEAT_TOKEN);
            assertEquals(
                    "move",
                    assertThrows(NullPointerException.class, () -> seat.apply(null))
                            .getMessage());
            assertEquals(
                    "options",
                    assertThrows(NullPointerException.class, () -> client.newGame(null, 2))
                            .getMessage());
        }
    }

    @Test
    void anEmptyMessageIsRejectedBeforeACall() {
        try (ScriptedService service = new ScriptedService();
                SodaFountain client = service.client()) {
            Seat seat = client.seat(ScriptedService.GAME, ScriptedService.SEAT_TOKEN);
            Message labelled = LegalMove.newBuilder().setLabel("Flip a card").build();
            assertEquals(
                    "move is a LegalMove without a move",
                    assertThrows(IllegalArgumentException.class, () -> seat.apply(labelled))
                            .getMessage());
            Message move = Move.getDefaultInstance();
            assertEquals(
                    "move is empty: set the move of one game kind",
                    assertThrows(IllegalArgumentException.class, () -> seat.apply(move))
                            .getMessage());
            Message options = Options.getDefaultInstance();
            assertEquals(
                    "options is empty: set the options of one game kind",
                    assertThrows(IllegalArgumentException.class, () -> client.newGame(options, 2))
                            .getMessage());
            assertEquals(0, service.requests.size());
        }
    }

    @Test
    void aMoveOfAnUnknownGameIsSentUnchanged() throws InvalidProtocolBufferException {
        // Field 99, an empty message.
        Move move = Move.parseFrom(new byte[] {(byte) 0x9a, 0x06, 0});
        assertEquals(
                move, GameMessages.toMove(LegalMove.newBuilder().setMove(move).build()));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1})
    void aMissingSeatIsRejectedWithTheValidSeats(int number) {
        try (ScriptedService service = new ScriptedService();
                SodaFountain client = service.client()) {
            Game game = client.newGame(SodaJerkOptions.getDefaultInstance(), 1);
            assertEquals(
                    "seat must be from 0 to 0 in game " + ScriptedService.GAME + ", not " + number,
                    assertThrows(IndexOutOfBoundsException.class, () -> game.seat(number))
                            .getMessage());
        }
    }
}
