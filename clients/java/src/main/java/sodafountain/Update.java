package sodafountain;

import java.util.List;
import sodafountain.v1.Event;
import sodafountain.v1.GameState;

/**
 * What a {@link Watch} tells: every event since the update before, and the newest state.
 *
 * @param state the game now, as the viewer may see it
 * @param events what happened since the update before, in order, as the viewer may know it; several moves' events when
 *     they came fast or the watch was interrupted. Empty where {@code isSnapshot}
 * @param isSnapshot whether this starts afresh: so does the first update of a watch that does not resume. Later on it
 *     means that what was told before is no part of the game any more (the service's store lost it): draw the state anew
 * @param resumeToken begins another watch after this update, see {@link WatchSettings#resumeToken(String)}. Opaque, and
 *     no secret
 */
public record Update(GameState state, List<Event> events, boolean isSnapshot, String resumeToken) {
    /**
     * Makes an update whose events nobody can change.
     *
     * @param state the game now
     * @param events what happened
     * @param isSnapshot whether this starts afresh
     * @param resumeToken begins another watch after this update
     */
    public Update {
        events = List.copyOf(events);
    }

    /** Says which version it is about and how much happened, and not what: a state fills pages. */
    @Override
    public String toString() {
        String what = isSnapshot ? "a snapshot" : events.size() + " events";
        return "Update[version " + state.getVersion() + " of game " + state.getGameId() + ", " + what + "]";
    }
}
