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

/** Converts a failed RPC to an exception: by the reason in its details, otherwise by its status code. */
final class Errors {
    private static final String DOMAIN = "sodafountain";
    private static final Metadata.Key<byte[]> STATUS_DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

    /**
     * The call that failed.
     *
     * @param tls whether the call used TLS
     * @param connected whether the client ever reached a server
     * @param requestId the id of the request, or null if it has none
     */
    record CallInfo(String target, boolean tls, boolean connected, String rpc, Duration timeout, String requestId) {}

    /** The reason and the message that follow from a status code. */
    private record Fallback(Reason reason, String message) {}

    private Errors() {}

    /** Converts a failed call to an exception. */
    static SodaFountainException toException(StatusRuntimeException failure, CallInfo call) {
        Status status = statusOf(failure);
        return details(status, ErrorInfo.class)
                .filter(info -> info.getDomain().equals(DOMAIN))
                .findFirst()
                .map(info -> fromReason(failure, call, status, info))
                .orElseGet(() -> fromCode(failure, call));
    }

    /** Converts an error with a reason of the service. */
    private static SodaFountainException fromReason(
            StatusRuntimeException failure, CallInfo call, Status status, ErrorInfo info) {
        String message = Stream.of(status.getMessage(), description(failure))
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

    /** Converts an error of gRPC or of a proxy, which has no reason. */
    private static SodaFountainException fromCode(StatusRuntimeException failure, CallInfo call) {
        io.grpc.Status status = failure.getStatus();
        String at = call.target();
        String over = call.tls() ? " over TLS" : "";
        String cause = " (" + ConnectionErrors.describe(status, !call.tls() && !call.connected()) + ").";
        // A server with another protocol is not a Soda Fountain service.
        io.grpc.Status.Code code =
                ConnectionErrors.isOtherProtocol(status) ? io.grpc.Status.Code.UNAVAILABLE : status.getCode();
        Fallback fallback = switch (code) {
            case UNAVAILABLE ->
                new Fallback(Reason.UNREACHABLE, "Cannot reach a Soda Fountain service at " + at + over + cause);
            case CANCELLED ->
                new Fallback(Reason.UNREACHABLE, "The server at " + at + " cancelled " + call.rpc() + cause);
            case DEADLINE_EXCEEDED ->
                new Fallback(
                        Reason.DEADLINE_EXCEEDED,
                        at + " did not answer " + call.rpc() + over + " within " + seconds(call.timeout()) + " s.");
            case UNIMPLEMENTED ->
                new Fallback(Reason.UNIMPLEMENTED, "The server at " + at + " does not offer " + call.rpc() + cause);
            case RESOURCE_EXHAUSTED -> new Fallback(Reason.LIMIT, call.rpc() + " hit a limit at " + at + cause);
            default -> new Fallback(Reason.UNKNOWN, call.rpc() + " failed at " + at + " with " + code + cause);
        };
        return new SodaFountainException(
                fallback.message(), fallback.reason(), status.getCode(), Details.NONE, call.requestId(), failure);
    }

    /** Formats a time in seconds, such as 2.5. */
    static String seconds(Duration time) {
        return BigDecimal.valueOf(time.toNanos(), 9).stripTrailingZeros().toPlainString();
    }

    private static String description(StatusRuntimeException failure) {
        return Optional.ofNullable(failure.getStatus().getDescription()).orElse("");
    }

    /** Returns the reason with the name in the error info, or unknown if this release does not have it. */
    private static Reason reasonOf(ErrorInfo info) {
        return Stream.of(Reason.values())
                .filter(reason -> reason.compareTo(Reason.DRAINING) <= 0)
                .filter(reason -> reason.name().equals(info.getReason()))
                .findFirst()
                .orElse(Reason.UNKNOWN);
    }

    /** Returns the google.rpc.Status of a failed RPC, or an empty one if it is missing or cannot be parsed. */
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
                .flatMap(Errors::validDelay);
    }

    /** Limits a delay to {@link Validation#LONGEST_TIMEOUT}; ignores a negative one. */
    private static Optional<Duration> validDelay(com.google.protobuf.Duration delay) {
        long seconds = Math.max(-1, Math.min(delay.getSeconds(), Validation.LONGEST_TIMEOUT.toSeconds()));
        Duration time = Duration.ofSeconds(seconds, delay.getNanos());
        Duration longest = Validation.LONGEST_TIMEOUT;
        return Optional.of(time.compareTo(longest) > 0 ? longest : time).filter(delayed -> !delayed.isNegative());
    }

    /** Returns the details of a type, without those that cannot be parsed. */
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
