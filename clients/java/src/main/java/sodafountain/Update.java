package sodafountain;

import java.util.List;
import sodafountain.v1.Event;
import sodafountain.v1.GameState;

/**
 * An update of a {@link Watch}: all events since the previous update, and the newest state.
 *
 * @param state the newest state, as the viewer sees it
 * @param events the events since the previous update, in order, as the viewer sees them. They cover several moves if
 *     these came fast or the watch was interrupted. Empty if {@code isSnapshot}
 * @param isSnapshot whether this update replaces all earlier ones. The first update of a watch without a resume token is
 *     a snapshot. A later snapshot means that the store of the service lost changes: redraw the game from the state
 * @param resumeToken resumes another watch after this update; see {@link WatchSettings#resumeToken(String)}. Opaque, and
 *     not a secret
 */
public record Update(GameState state, List<Event> events, boolean isSnapshot, String resumeToken) {
    /**
     * Creates an update with an immutable list of events.
     *
     * @param state the newest state
     * @param events the events since the previous update
     * @param isSnapshot whether this update replaces all earlier ones
     * @param resumeToken resumes another watch after this update
     */
    public Update {
        events = List.copyOf(events);
    }

    /** Returns the version and the number of events. The state and the events would be too long. */
    @Override
    public String toString() {
        String what = isSnapshot ? "a snapshot" : events.size() + " events";
        return "Update[version " + state.getVersion() + " of game " + state.getGameId() + ", " + what + "]";
    }
}
