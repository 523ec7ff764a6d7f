package sodafountain;

import io.grpc.Status;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Thrown when a call fails. The message is a sentence for people. Programs use {@link #reason()}.
 *
 * <p>An invalid argument throws an {@link IllegalArgumentException} or a {@link NullPointerException} instead, before
 * anything is sent.
 *
 * <p>A serialized exception omits its cause, which cannot be serialized, its suppressed exceptions, and the
 * request id, which is a secret.
 */
public final class SodaFountainException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The reason of the failure. */
    private final Reason reason;

    /** The status code. */
    private final Status.Code code;

    /** The details of the reason. */
    private final Details details;

    /** The id of the request, or null if it has none. */
    private final transient String requestId;

    /** The details of an error of the service. The delay is null if the service suggests none. */
    record Details(Map<String, String> metadata, List<FieldViolation> fieldViolations, Duration retryDelay)
            implements Serializable {
        static final Details NONE = new Details(Map.of(), List.of(), null);
    }

    SodaFountainException(String message, Reason reason, Status.Code code) {
        this(message, reason, code, Details.NONE, null, null);
    }

    SodaFountainException(
            String message, Reason reason, Status.Code code, Details details, String requestId, Throwable cause) {
        super(message, cause);
        this.reason = reason;
        this.code = code;
        this.details = details;
        this.requestId = requestId;
    }

    /**
     * Returns the reason of the failure.
     *
     * @return the reason; {@link Reason#UNKNOWN} if it is missing or this release does not have it
     */
    public Reason reason() {
        return reason;
    }

    /**
     * Returns the gRPC status code.
     *
     * @return the code
     */
    public Status.Code code() {
        return code;
    }

    /**
     * Returns the metadata of the reason, such as {@code version} or {@code call_id}.
     *
     * @return the values by name
     */
    public Map<String, String> metadata() {
        return details.metadata();
    }

    /**
     * Returns the invalid fields of the request.
     *
     * @return the fields; empty unless the reason is {@link Reason#MALFORMED}
     */
    public List<FieldViolation> fieldViolations() {
        return details.fieldViolations();
    }

    /**
     * Returns the delay after which the service suggests a retry.
     *
     * @return the delay; empty if the service suggests none
     */
    public Optional<Duration> retryDelay() {
        return Optional.ofNullable(details.retryDelay());
    }

    /**
     * Returns the request id of a new game or a move. If the result is unknown, retry with the same id: nothing happens
     * twice, and the response is that of the first request. The request id of a new game is a secret: do not log it.
     *
     * @return the request id; empty if the call has none
     */
    public Optional<String> requestId() {
        return Optional.ofNullable(requestId);
    }

    /**
     * Returns the exception to serialize: a copy without the cause, which cannot be serialized, and without the request
     * id, which is a secret.
     *
     * @return the copy
     */
    private Object writeReplace() {
        SodaFountainException copy = new SodaFountainException(getMessage(), reason, code, details, null, null);
        copy.setStackTrace(getStackTrace());
        return copy;
    }
}
