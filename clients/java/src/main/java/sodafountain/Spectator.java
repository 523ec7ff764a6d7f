package sodafountain;

import java.util.OptionalInt;
import java.util.function.Consumer;
import sodafountain.v1.GameState;

/** A viewer without a seat, who sees public information. Created by {@link SodaFountain#spectator(String)}. */
public final class Spectator extends Viewer {
    Spectator(GameCalls calls) {
        super(calls);
    }

    /**
     * Returns the state of the game, as a spectator sees it.
     *
     * @return the state
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} and others
     */
    public GameState state() {
        return calls.state(OptionalInt.empty(), new StateSettings());
    }

    /**
     * Returns the state of the game, as a spectator sees it.
     *
     * @param with changes the settings, such as {@code with -> with.timeout(…)}
     * @return the state
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} and others
     */
    public GameState state(Consumer<StateSettings> with) {
        return calls.state(OptionalInt.empty(), configured(new StateSettings(), with));
    }

    /**
     * Watches the game to its end, as a spectator sees it.
     *
     * @return the watch, which the caller closes
     */
    public Watch watch() {
        return new Watch(calls, OptionalInt.empty(), new WatchSettings());
    }

    /**
     * Watches the game to its end, as a spectator sees it.
     *
     * @param with changes the settings, such as {@code with -> with.resumeToken(…)}
     * @return the watch, which the caller closes
     */
    public Watch watch(Consumer<WatchSettings> with) {
        return new Watch(calls, OptionalInt.empty(), configured(new WatchSettings(), with));
    }
}
