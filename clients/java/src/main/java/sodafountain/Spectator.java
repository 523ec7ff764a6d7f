package sodafountain;

import java.util.OptionalInt;
import java.util.function.Consumer;
import sodafountain.v1.GameState;

/** Somebody who looks at a game and sees what is public. Made by {@link SodaFountain#spectator(String)}. */
public final class Spectator extends Viewer {
    Spectator(GameCalls calls) {
        super(calls);
    }

    /**
     * Shows the game as a spectator may see it.
     *
     * @return the game
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} and others
     */
    public GameState state() {
        return calls.state(OptionalInt.empty(), new StateSettings());
    }

    /**
     * Shows the game as a spectator may see it.
     *
     * @param with fills in the settings, {@code with -> with.timeout(…)} for instance
     * @return the game
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} and others
     */
    public GameState state(Consumer<StateSettings> with) {
        return calls.state(OptionalInt.empty(), configured(new StateSettings(), with));
    }

    /**
     * Follows the game to its end as a spectator may see it.
     *
     * @return the watch, to be closed
     */
    public Watch watch() {
        return new Watch(calls, OptionalInt.empty(), new WatchSettings());
    }

    /**
     * Follows the game to its end as a spectator may see it.
     *
     * @param with fills in the settings, {@code with -> with.resumeToken(…)} for instance
     * @return the watch, to be closed
     */
    public Watch watch(Consumer<WatchSettings> with) {
        return new Watch(calls, OptionalInt.empty(), configured(new WatchSettings(), with));
    }
}
