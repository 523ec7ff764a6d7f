package sodafountain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.rpc.BadRequest;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sodafountain.v1.ApplyMoveRequest;
import sodafountain.v1.ErrorReason;
import sodafountain.v1.SodaJerkMove;
import sodafountain.v1.SodaJerkOptions;

class ErrorsTest {
    private final ScriptedService service = new ScriptedService();
    private final SodaFountain client = service.client();
    private final Seat seat = client.seat(ScriptedService.GAME, ScriptedService.SEAT_TOKEN);

    @AfterEach
    void close() {
        client.close();
        service.close();
    }

    private SodaFountainException failedMove() {
        return assertThrows(SodaFountainException.class, () -> seat.apply(SodaJerkMove.getDefaultInstance()));
    }

    @Test
    void theReasonsAreThoseOfTheContractAndOfTheClient() {
        Set<String> expected = Arrays.stream(ErrorReason.values())
                .map(ErrorReason::name)
                .map(name -> name.replace("ERROR_REASON_", ""))
                .filter(name -> !name.equals("UNSPECIFIED") && !name.equals("UNRECOGNIZED"))
                .collect(Collectors.toSet());
        expected.addAll(Set.of("UNREACHABLE", "DEADLINE_EXCEEDED", "CLIENT_CLOSED", "INTERRUPTED"));
        expected.addAll(Set.of("COMMITMENT_CHANGED", "GAME_DELETED", "GAME_EXPIRED", "UNKNOWN"));
        assertEquals(expected, Arrays.stream(Reason.values()).map(Reason::name).collect(Collectors.toSet()));
    }

    @Test
    void anErrorOfTheServiceKeepsAllItsDetails() throws InterruptedException {
        BadRequest fields = BadRequest.newBuilder()
                .addFieldViolations(
                        BadRequest.FieldViolation.newBuilder().setField("move").setDescription("is required"))
                .build();
        RetryInfo retry = RetryInfo.newBuilder()
                .setRetryDelay(
                        com.google.protobuf.Duration.newBuilder().setSeconds(1).setNanos(500_000_000))
                .build();
        service.thenFail(ScriptedService.error(Status.Code.RESOURCE_EXHAUSTED, "LIMIT", fields, retry));
        SodaFountainException failure = failedMove();
        assertEquals(Reason.LIMIT, failure.reason());
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, failure.code());
        assertEquals("The request was rejected.", failure.getMessage());
        assertEquals(Map.of("version", "3"), failure.metadata());
        assertEquals(List.of(new FieldViolation("move", "is required")), failure.fieldViolations());
        assertEquals(Optional.of(Duration.ofMillis(1500)), failure.retryDelay());
        assertEquals(Optional.of(((ApplyMoveRequest) service.request()).getRequestId()), failure.requestId());
    }

    @ParameterizedTest
    @CsvSource({
        "9223372036854775807, 999999999, PT1000000000S",
        "315576000000, 0, PT1000000000S",
        "1000000000, 1, PT1000000000S",
        "1, 500000000, PT1.5S",
        "0, 0, PT0S"
    })
    void aRetryDelayIsLimitedToTheLongestTimeout(long seconds, int nanos, Duration limited) {
        assertEquals(Optional.of(limited), retryDelay(seconds, nanos));
    }

    @ParameterizedTest
    @CsvSource({"-9223372036854775808, -999999999", "-1, 0", "0, -1"})
    void aNegativeRetryDelayIsIgnored(long seconds, int nanos) {
        assertEquals(Optional.empty(), retryDelay(seconds, nanos));
    }

    private Optional<Duration> retryDelay(long seconds, int nanos) {
        service.thenFail(ScriptedService.error(
                Status.Code.RESOURCE_EXHAUSTED,
                "LIMIT",
                RetryInfo.newBuilder()
                        .setRetryDelay(com.google.protobuf.Duration.newBuilder()
                                .setSeconds(seconds)
                                .setNanos(nanos))
                        .build()));
        return failedMove().retryDelay();
    }

    @Test
    void aReasonOutsideTheContractIsUnknown() {
        service.thenFail(ScriptedService.error(Status.Code.ABORTED, "SOMETHING_NEW"));
        assertEquals(Reason.UNKNOWN, failedMove().reason());
        // The service cannot return a reason of the client.
        service.thenFail(ScriptedService.error(Status.Code.ABORTED, "CLIENT_CLOSED"));
        assertEquals(Reason.UNKNOWN, failedMove().reason());
    }

    @Test
    void anErrorWithoutReadableDetailsHasItsCodeAndMessage() {
        service.thenFail(ScriptedService.errorWithDetails(new byte[] {(byte) 0xff}));
        assertEquals(
                "ApplyMove failed at " + service.target() + " with ABORTED (The request was rejected).",
                failedMove().getMessage());
    }

    @Test
    void aReadableDetailIsUsedBesideAnUnreadableOne() {
        Any unreadable = Any.newBuilder()
                .setTypeUrl("type.googleapis.com/google.rpc.ErrorInfo")
                .setValue(ByteString.copyFrom(new byte[] {(byte) 0xff}))
                .build();
        com.google.rpc.Status readable =
                io.grpc.protobuf.StatusProto.fromThrowable(ScriptedService.error(Status.Code.ABORTED, "CONTENTION"));
        service.thenFail(ScriptedService.errorWithDetails(com.google.rpc.Status.newBuilder()
                .addDetails(unreadable)
                .addAllDetails(readable.getDetailsList())
                .build()
                .toByteArray()));
        assertEquals(Reason.CONTENTION, failedMove().reason());
    }

    @Test
    void secondsAreFormattedWithoutTrailingZeros() {
        assertEquals("5", Errors.seconds(Duration.ofSeconds(5)));
        assertEquals("100", Errors.seconds(Duration.ofSeconds(100)));
        assertEquals("0.25", Errors.seconds(Duration.ofMillis(250)));
    }

    @Test
    void aSerializedExceptionOmitsItsCauseAndItsRequestId() throws Exception {
        BadRequest fields = BadRequest.newBuilder()
                .addFieldViolations(
                        BadRequest.FieldViolation.newBuilder().setField("move").setDescription("is required"))
                .build();
        service.thenFail(ScriptedService.error(Status.Code.INVALID_ARGUMENT, "MALFORMED", fields));
        SodaFountainException failure = failedMove();
        failure.addSuppressed(Status.ABORTED.asRuntimeException(new io.grpc.Metadata()));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new IllegalStateException(failure));
        }
        String requestId = failure.requestId().orElseThrow();
        assertFalse(bytes.toString(StandardCharsets.ISO_8859_1).contains(requestId));
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            Throwable outer = assertInstanceOf(IllegalStateException.class, in.readObject());
            SodaFountainException read = assertInstanceOf(SodaFountainException.class, outer.getCause());
            assertEquals(failure.getMessage(), read.getMessage());
            assertEquals(failure.reason(), read.reason());
            assertEquals(failure.code(), read.code());
            assertEquals(failure.metadata(), read.metadata());
            assertEquals(failure.fieldViolations(), read.fieldViolations());
            assertEquals(failure.getStackTrace().length, read.getStackTrace().length);
            assertEquals(Optional.empty(), read.requestId());
            assertNull(read.getCause());
        }
    }

    @Test
    void noPrintedObjectContainsASecret() {
        Game game = client.newGame(SodaJerkOptions.getDefaultInstance(), 1);
        service.thenFail(ScriptedService.error(Status.Code.ABORTED, "CONTENTION"));
        SodaFountainException failure = failedMove();
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace, true));
        SodaFountain.Builder builder = SodaFountain.builder("localhost:1").apiKey("a-secret-key");
        try (SodaFountain withKey = builder.connect();
                Watch watch = seat.watch()) {
            String printed = String.join(
                    "\n",
                    List.of(trace, builder, withKey, game, game.host(), game.seat(0), seat, watch).stream()
                            .map(Object::toString)
                            .toList());
            List.of(
                            "a-secret-key",
                            ScriptedService.SEAT_TOKEN,
                            ScriptedService.HOST_TOKEN,
                            failure.requestId().get())
                    .forEach(secret -> assertFalse(printed.contains(secret), secret));
        }
        assertEquals("Seat 0 of game " + ScriptedService.GAME, game.seat(0).toString());
        assertEquals("Seat ? of game " + ScriptedService.GAME, seat.toString());
    }
}
