package sodafountain;

import java.time.Duration;
import java.util.Objects;

/** What may be said about a watch. Everything may be left out. */
public final class WatchSettings {
    private static final Duration DEFAULT_IDLE_TIMEOUT = Duration.ofSeconds(60);

    boolean legalMoves;
    String resumeToken = "";
    // Null stands for a idleTimeout without end.
    Duration idleTimeout = DEFAULT_IDLE_TIMEOUT;

    WatchSettings() {}

    /**
     * Has the states list the seat's legal moves; a spectator has none.
     *
     * @return these settings
     */
    public WatchSettings legalMoves() {
        this.legalMoves = true;
        return this;
    }

    /**
     * Goes on after an update, of an earlier watch or in another process; if it is not given, a snapshot comes first.
     *
     * @param resumeToken the {@link Update#resumeToken()} of that update
     * @return these settings
     */
    public WatchSettings resumeToken(String resumeToken) {
        this.resumeToken = Objects.requireNonNull(resumeToken, "resumeToken");
        return this;
    }

    /**
     * Says for how long to wait without a sign of life from the service, and to try again, before the last failure is
     * thrown.
     *
     * @param idleTimeout that long, and longer than the service is silent where nobody moves (15 seconds unless its operator
     *     chose otherwise); 60 seconds if it is not given
     * @return these settings
     * @throws IllegalArgumentException if it is not more than nothing
     */
    public WatchSettings idleTimeout(Duration idleTimeout) {
        this.idleTimeout = Validation.checkedTimeout(idleTimeout, "idleTimeout");
        return this;
    }

    /**
     * Waits and tries again for ever.
     *
     * @return these settings
     */
    public WatchSettings noIdleTimeout() {
        this.idleTimeout = null;
        return this;
    }
}
