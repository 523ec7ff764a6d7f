package sodafountain;

import java.time.Duration;

/** What may be said when a state is asked for. Everything may be left out. */
public final class StateSettings {
    boolean legalMoves;
    // Null stands for what was left out.
    Duration timeout;

    StateSettings() {}

    /**
     * Has the state list the seat's legal moves; a spectator has none.
     *
     * @return these settings
     */
    public StateSettings legalMoves() {
        this.legalMoves = true;
        return this;
    }

    /**
     * Sets the deadline of the call, over all its tries.
     *
     * @param timeout how long to wait for an answer; the client's timeout if it is not given
     * @return these settings
     * @throws IllegalArgumentException if it is not more than nothing
     */
    public StateSettings timeout(Duration timeout) {
        this.timeout = Validation.checkedTimeout(timeout, "timeout");
        return this;
    }
}
