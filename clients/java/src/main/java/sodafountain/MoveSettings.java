package sodafountain;

import java.time.Duration;
import java.util.Objects;

/** What may be said about a move beside the move itself. Everything may be left out. */
public final class MoveSettings {
    // Null stands for what was left out.
    String etag;
    boolean legalMoves;
    String requestId;
    Duration timeout;

    MoveSettings() {}

    /**
     * Says which decision the move answers.
     *
     * @param etag the tag of the decision, from a state or the legal moves; when empty, whichever is open when the move
     *     arrives. If it is not given, the decision that was seen open last
     * @return these settings
     */
    public MoveSettings etag(String etag) {
        this.etag = Objects.requireNonNull(etag, "etag");
        return this;
    }

    /**
     * Has the answer's state list the seat's next legal moves.
     *
     * @return these settings
     */
    public MoveSettings legalMoves() {
        this.legalMoves = true;
        return this;
    }

    /**
     * Asks again for what was asked for before.
     *
     * @param requestId the UUID (version 4) under which it was asked for; a new one is drawn if it is not given
     * @return these settings
     */
    public MoveSettings requestId(String requestId) {
        this.requestId = Objects.requireNonNull(requestId, "requestId");
        return this;
    }

    /**
     * Sets the deadline of the call, over all its tries.
     *
     * @param timeout how long to wait for an answer; the client's timeout if it is not given
     * @return these settings
     * @throws IllegalArgumentException if it is not more than nothing
     */
    public MoveSettings timeout(Duration timeout) {
        this.timeout = Validation.checkedTimeout(timeout, "timeout");
        return this;
    }
}
