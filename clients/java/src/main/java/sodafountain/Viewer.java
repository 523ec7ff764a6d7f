package sodafountain;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import sodafountain.v1.GetHistoryResponse;
import sodafountain.v1.ScoreResponse;

/** The common methods of a seat, a spectator and a host. */
public abstract sealed class Viewer permits Seat, Spectator, Host {
    /** The calls about the game. */
    final GameCalls calls;

    Viewer(GameCalls calls) {
        this.calls = calls;
    }

    /**
     * Returns the id of the game.
     *
     * @return the id
     */
    public String gameId() {
        return calls.gameId();
    }

    /**
     * Returns the current score from public information; after the end, the final score.
     *
     * @return the score
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} and others
     */
    public ScoreResponse score() {
        return calls.score(null);
    }

    /**
     * Returns the current score from public information; after the end, the final score.
     *
     * @param timeout the timeout of the call, retries included
     * @return the score
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} and others
     */
    public ScoreResponse score(Duration timeout) {
        return calls.score(Validation.checkedTimeout(timeout, "timeout"));
    }

    /**
     * Returns the history of a finished game: options, seed, all moves and events. It fetches all pages.
     *
     * @return the history
     * @throws SodaFountainException if the call fails: {@link Reason#NOT_FINISHED}, {@link Reason#GAME_NOT_FOUND} and
     *     others
     */
    public GetHistoryResponse history() {
        return calls.history(null);
    }

    /**
     * Returns the history of a finished game: options, seed, all moves and events. It fetches all pages.
     *
     * @param timeout the timeout of the call for each page, retries included
     * @return the history
     * @throws SodaFountainException if the call fails: {@link Reason#NOT_FINISHED}, {@link Reason#GAME_NOT_FOUND} and
     *     others
     */
    public GetHistoryResponse history(Duration timeout) {
        return calls.history(Validation.checkedTimeout(timeout, "timeout"));
    }

    /** Returns the role and the game, without the token. */
    @Override
    public String toString() {
        return getClass().getSimpleName() + " of game " + gameId();
    }

    /** Returns the settings, changed by the caller. */
    static <T> T configured(T settings, Consumer<T> with) {
        Objects.requireNonNull(with, "with").accept(settings);
        return settings;
    }
}
