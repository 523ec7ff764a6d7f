package sodafountain;

import java.time.Duration;

/** Optional settings of a call that returns a state. */
public final class StateSettings {
    boolean legalMoves;
    // Null is the default.
    Duration timeout;

    StateSettings() {}

    /**
     * Includes the seat's legal moves in the state. A spectator has none.
     *
     * @return these settings
     */
    public StateSettings legalMoves() {
        this.legalMoves = true;
        return this;
    }

    /**
     * Sets the timeout of the call, retries included. The default is the client's timeout.
     *
     * @param timeout the timeout
     * @return these settings
     * @throws IllegalArgumentException if the timeout is not positive
     */
    public StateSettings timeout(Duration timeout) {
        this.timeout = Validation.checkedTimeout(timeout, "timeout");
        return this;
    }
}
