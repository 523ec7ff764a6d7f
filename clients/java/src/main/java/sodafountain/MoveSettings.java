package sodafountain;

import java.time.Duration;
import java.util.Objects;

/** Optional settings of a move. */
public final class MoveSettings {
    // Null is the default.
    String etag;
    boolean legalMoves;
    String requestId;
    Duration timeout;

    MoveSettings() {}

    /**
     * Sets the decision that the move answers. The default is the latest open decision that the seat received.
     *
     * @param etag the etag of a state or of legal moves; empty for the decision that is open when the move arrives
     * @return these settings
     */
    public MoveSettings etag(String etag) {
        this.etag = Objects.requireNonNull(etag, "etag");
        return this;
    }

    /**
     * Includes the seat's next legal moves in the state of the result.
     *
     * @return these settings
     */
    public MoveSettings legalMoves() {
        this.legalMoves = true;
        return this;
    }

    /**
     * Sets the request id, to retry an earlier request. The default is a new random id.
     *
     * @param requestId the UUID (version 4) of the earlier request
     * @return these settings
     */
    public MoveSettings requestId(String requestId) {
        this.requestId = Objects.requireNonNull(requestId, "requestId");
        return this;
    }

    /**
     * Sets the timeout of the call, retries included. The default is the client's timeout.
     *
     * @param timeout the timeout
     * @return these settings
     * @throws IllegalArgumentException if the timeout is not positive
     */
    public MoveSettings timeout(Duration timeout) {
        this.timeout = Validation.checkedTimeout(timeout, "timeout");
        return this;
    }
}
