package sodafountain;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import sodafountain.SodaFountainException.Details;

/** How a failed RPC becomes an error: by the reason that the service gave, else by the status code. */
final class Errors {
    private static final String DOMAIN = "sodafountain.v1";
    private static final Metadata.Key<byte[]> STATUS_DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

    /**
     * The call that failed.
     *
     * @param tls whether it was made over TLS
     * @param connected whether any server has ever been reached there
     * @param requestId null where it has none
     */
    record CallInfo(String target, boolean tls, boolean connected, String rpc, Duration timeout, String requestId) {}

    /** What the status code alone says. */
    private record Guess(Reason reason, String message) {}

    private Errors() {}

    /** Finds the error that tells best why a call failed. */
    static SodaFountainException toException(StatusRuntimeException failure, CallInfo call) {
        Status status = statusOf(failure);
        return details(status, ErrorInfo.class)
                .filter(info -> info.getDomain().equals(DOMAIN))
                .findFirst()
                .map(info -> told(failure, call, status, info))
                .orElseGet(() -> guessed(failure, call));
    }

    /** The error of a refusal for which the service gave a reason. */
    private static SodaFountainException told(
            StatusRuntimeException failure, CallInfo call, Status status, ErrorInfo info) {
        String message = Stream.of(status.getMessage(), described(failure))
                .filter(text -> !text.isEmpty())
                .findFirst()
                .orElseGet(() -> call.rpc() + " failed with " + info.getReason() + ".");
        Details facts = new Details(
                Map.copyOf(info.getMetadataMap()),
                fieldViolations(status),
                retryDelay(status).orElse(null));
        return new SodaFountainException(
                message, reasonOf(info), failure.getStatus().getCode(), facts, call.requestId(), failure);
    }

    /** The error of what gRPC itself or something on the way reports. */
    private static SodaFountainException guessed(StatusRuntimeException failure, CallInfo call) {
        io.grpc.Status status = failure.getStatus();
        String at = call.target();
        String over = call.tls() ? " over TLS" : "";
        String cause = " (" + ConnectionErrors.describe(status, !call.tls() && !call.connected()) + ").";
        // A server that speaks something else is as good as none.
        io.grpc.Status.Code code =
                ConnectionErrors.isOtherProtocol(status) ? io.grpc.Status.Code.UNAVAILABLE : status.getCode();
        Guess guess = switch (code) {
            case UNAVAILABLE ->
                new Guess(Reason.UNREACHABLE, "Cannot reach a Soda Fountain service at " + at + over + cause);
            case CANCELLED ->
                new Guess(Reason.UNREACHABLE, "The server at " + at + " went away during " + call.rpc() + cause);
            case DEADLINE_EXCEEDED ->
                new Guess(
                        Reason.DEADLINE_EXCEEDED,
                        at + " did not answer " + call.rpc() + over + " within " + seconds(call.timeout()) + " s.");
            case UNIMPLEMENTED ->
                new Guess(Reason.UNIMPLEMENTED, "The server at " + at + " does not offer " + call.rpc() + cause);
            case RESOURCE_EXHAUSTED -> new Guess(Reason.LIMIT, call.rpc() + " hit a limit at " + at + cause);
            default -> new Guess(Reason.UNKNOWN, call.rpc() + " failed at " + at + " with " + code + cause);
        };
        return new SodaFountainException(
                guess.message(), guess.reason(), status.getCode(), Details.NONE, call.requestId(), failure);
    }

    /** Seconds as people write them, 2.5 for instance. */
    static String seconds(Duration time) {
        return BigDecimal.valueOf(time.toNanos(), 9).stripTrailingZeros().toPlainString();
    }

    private static String described(StatusRuntimeException failure) {
        return Optional.ofNullable(failure.getStatus().getDescription()).orElse("");
    }

    /** The reason by its name; unknown where this release does not know it. */
    private static Reason reasonOf(ErrorInfo info) {
        return Stream.of(Reason.values())
                .filter(reason -> reason.compareTo(Reason.DRAINING) <= 0)
                .filter(reason -> reason.name().equals(info.getReason()))
                .findFirst()
                .orElse(Reason.UNKNOWN);
    }

    /** Reads the google.rpc.Status of a failed RPC; an empty one where there is none that can be read. */
    private static Status statusOf(StatusRuntimeException failure) {
        Iterable<byte[]> encoded =
                failure.getTrailers() == null ? null : failure.getTrailers().getAll(STATUS_DETAILS);
        if (encoded == null) {
            return Status.getDefaultInstance();
        }
        try {
            return Status.parseFrom(encoded.iterator().next());
        } catch (InvalidProtocolBufferException unreadable) {
            return Status.getDefaultInstance();
        }
    }

    private static List<FieldViolation> fieldViolations(Status status) {
        return details(status, BadRequest.class)
                .flatMap(request -> request.getFieldViolationsList().stream())
                .map(violation -> new FieldViolation(violation.getField(), violation.getDescription()))
                .toList();
    }

    private static Optional<Duration> retryDelay(Status status) {
        return details(status, RetryInfo.class)
                .filter(RetryInfo::hasRetryDelay)
                .findFirst()
                .map(RetryInfo::getRetryDelay)
                .flatMap(Errors::waitable);
    }

    /** Whatever a server or a proxy wrote: at most what clocks can count, and none where it is negative. */
    private static Optional<Duration> waitable(com.google.protobuf.Duration delay) {
        long seconds = Math.max(-1, Math.min(delay.getSeconds(), Validation.LONGEST_TIMEOUT.toSeconds()));
        Duration time = Duration.ofSeconds(seconds, delay.getNanos());
        Duration longest = Validation.LONGEST_TIMEOUT;
        return Optional.of(time.compareTo(longest) > 0 ? longest : time).filter(delayed -> !delayed.isNegative());
    }

    /** The details of a kind that can be read. */
    private static <T extends Message> Stream<T> details(Status status, Class<T> kind) {
        return status.getDetailsList().stream()
                .filter(detail -> detail.is(kind))
                .flatMap(detail -> {
                    try {
                        return Stream.of(detail.unpack(kind));
                    } catch (InvalidProtocolBufferException unreadable) {
                        return Stream.empty();
                    }
                });
    }
}
