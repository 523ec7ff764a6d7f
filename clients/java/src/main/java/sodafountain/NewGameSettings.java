package sodafountain;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.Objects;

/** What may be said about a new game beside its options and seats. Everything may be left out. */
public final class NewGameSettings {
    // Null stands for what was left out.
    ByteString seed;
    boolean sealed;
    String requestId;
    Duration timeout;

    NewGameSettings() {}

    /**
     * Fixes every random draw, for tests; taken only where the operator allows it.
     *
     * @param seed the seed, 32 bytes; drawn by the service if it is not given
     * @return these settings
     */
    public NewGameSettings seed(ByteString seed) {
        this.seed = Objects.requireNonNull(seed, "seed");
        return this;
    }

    /**
     * Has the history keep its secrets after the end too: no seed, no moves, and events as the caller may know them.
     *
     * @return these settings
     */
    public NewGameSettings sealed() {
        this.sealed = true;
        return this;
    }

    /**
     * Asks again for what was asked for before.
     *
     * @param requestId the UUID (version 4) under which it was asked for; a new one is drawn if it is not given
     * @return these settings
     */
    public NewGameSettings requestId(String requestId) {
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
    public NewGameSettings timeout(Duration timeout) {
        this.timeout = Validation.checkedTimeout(timeout, "timeout");
        return this;
    }
}
