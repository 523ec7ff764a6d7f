package sodafountain;

import java.time.Duration;
import java.util.Objects;

/** Optional settings of a watch. */
public final class WatchSettings {
    private static final Duration DEFAULT_IDLE_TIMEOUT = Duration.ofSeconds(60);

    boolean legalMoves;
    String resumeToken = "";
    // Null is no idle timeout.
    Duration idleTimeout = DEFAULT_IDLE_TIMEOUT;

    WatchSettings() {}

    /**
     * Includes the seat's legal moves in the states. A spectator has none.
     *
     * @return these settings
     */
    public WatchSettings legalMoves() {
        this.legalMoves = true;
        return this;
    }

    /**
     * Resumes after an update of an earlier watch, which may be from another process. By default a watch starts with a
     * snapshot.
     *
     * @param resumeToken the {@link Update#resumeToken()} of that update
     * @return these settings
     */
    public WatchSettings resumeToken(String resumeToken) {
        this.resumeToken = Objects.requireNonNull(resumeToken, "resumeToken");
        return this;
    }

    /**
     * Sets the idle timeout: how long the watch retries without a message from the service before it throws the latest
     * failure. The default is 60 seconds.
     *
     * @param idleTimeout the time, longer than the heartbeat interval of the service (15 seconds by default)
     * @return these settings
     * @throws IllegalArgumentException if the time is not positive
     */
    public WatchSettings idleTimeout(Duration idleTimeout) {
        this.idleTimeout = Validation.checkedTimeout(idleTimeout, "idleTimeout");
        return this;
    }

    /**
     * Retries without a limit.
     *
     * @return these settings
     */
    public WatchSettings noIdleTimeout() {
        this.idleTimeout = null;
        return this;
    }
}
