package sodafountain;

import io.grpc.Status;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A call failed. The message is one sentence for people; the rest is for programs, first of all {@link #reason()}.
 *
 * <p>What is wrong in the calling program is no such error but an {@link IllegalArgumentException} or a {@link
 * NullPointerException}, and nothing is sent.
 *
 * <p>Serialized, it keeps all but its cause, which gRPC does not let be written, what was suppressed, and the request id,
 * which is a secret.
 */
public final class SodaFountainException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Why it failed. */
    private final Reason reason;

    /** The status code. */
    private final Status.Code code;

    /** What came with the reason. */
    private final Details facts;

    /** The id of the request; null where it has none. */
    private final transient String requestId;

    /** What the service said beside the sentence; the delay is null where it said none. */
    record Details(Map<String, String> metadata, List<FieldViolation> fieldViolations, Duration retryDelay)
            implements Serializable {
        static final Details NONE = new Details(Map.of(), List.of(), null);
    }

    SodaFountainException(String message, Reason reason, Status.Code code) {
        this(message, reason, code, Details.NONE, null, null);
    }

    SodaFountainException(
            String message, Reason reason, Status.Code code, Details facts, String requestId, Throwable cause) {
        super(message, cause);
        this.reason = reason;
        this.code = code;
        this.facts = facts;
        this.requestId = requestId;
    }

    /**
     * Tells why the call failed.
     *
     * @return the reason; {@link Reason#UNKNOWN} where the service gave none that this release knows
     */
    public Reason reason() {
        return reason;
    }

    /**
     * Tells the gRPC status code.
     *
     * @return the code
     */
    public Status.Code code() {
        return code;
    }

    /**
     * Tells the facts that come with the reason, {@code version} or {@code call_id} for instance.
     *
     * @return the facts by name
     */
    public Map<String, String> metadata() {
        return facts.metadata();
    }

    /**
     * Lists the fields of the request that are wrong.
     *
     * @return the fields; none unless the reason is {@link Reason#MALFORMED}
     */
    public List<FieldViolation> fieldViolations() {
        return facts.fieldViolations();
    }

    /**
     * Tells after how long the service suggests to try again.
     *
     * @return the delay; empty where it suggests nothing
     */
    public Optional<Duration> retryDelay() {
        return Optional.ofNullable(facts.retryDelay());
    }

    /**
     * Tells the id under which a new game or a move was asked for. Sending the same again under the same id shows what
     * became of it where that is not known. A secret where it made a game: keep it out of logs.
     *
     * @return the request id; empty where the call has none
     */
    public Optional<String> requestId() {
        return Optional.ofNullable(requestId);
    }

    /**
     * Tells what is written in its place: the same without its cause, which cannot be written, and without the request
     * id, which is a secret.
     *
     * @return what is written
     */
    private Object writeReplace() {
        SodaFountainException written = new SodaFountainException(getMessage(), reason, code, facts, null, null);
        written.setStackTrace(getStackTrace());
        return written;
    }
}
