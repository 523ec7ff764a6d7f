package sodafountain;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.Objects;
import sodafountain.v1.Visibility;

/** Optional settings of a new game. */
public final class NewGameSettings {
    // Null is the default.
    ByteString seed;
    boolean sealed;
    Visibility visibility = Visibility.VISIBILITY_UNSPECIFIED;
    String requestId;
    Duration timeout;

    NewGameSettings() {}

    /**
     * Sets the seed of every random draw, for tests. Only services that allow it accept a seed.
     *
     * @param seed the seed, 32 bytes
     * @return these settings
     */
    public NewGameSettings seed(ByteString seed) {
        this.seed = Objects.requireNonNull(seed, "seed");
        return this;
    }

    /**
     * Sets who may look at the game without a token. The default is everyone.
     *
     * @param visibility the visibility
     * @return these settings
     */
    public NewGameSettings visibility(Visibility visibility) {
        this.visibility = Objects.requireNonNull(visibility, "visibility");
        return this;
    }

    /**
     * Seals the game: also after its end, the history has no seed, and only the moves and events that the viewer may know.
     *
     * @return these settings
     */
    public NewGameSettings sealed() {
        this.sealed = true;
        return this;
    }

    /**
     * Sets the request id, to retry an earlier request. The default is a new random id.
     *
     * @param requestId the UUID (version 4) of the earlier request
     * @return these settings
     */
    public NewGameSettings requestId(String requestId) {
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
    public NewGameSettings timeout(Duration timeout) {
        this.timeout = Validation.checkedTimeout(timeout, "timeout");
        return this;
    }
}
