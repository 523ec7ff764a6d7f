package sodafountain;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import sodafountain.v1.GetHistoryResponse;
import sodafountain.v1.ScoreResponse;

/** Somebody's hold on a game: what a seat, a spectator and a host have in common. */
public abstract sealed class Viewer permits Seat, Spectator, Host {
    /** The calls about the game. */
    final GameCalls calls;

    Viewer(GameCalls calls) {
        this.calls = calls;
    }

    /**
     * Tells which game it is.
     *
     * @return the game's id
     */
    public String gameId() {
        return calls.gameId();
    }

    /**
     * Tells the standings by public facts; at the end the result.
     *
     * @return the standings
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} and others
     */
    public ScoreResponse score() {
        return calls.score(null);
    }

    /**
     * Tells the standings by public facts; at the end the result.
     *
     * @param timeout the deadline of the call
     * @return the standings
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} and others
     */
    public ScoreResponse score(Duration timeout) {
        return calls.score(Validation.checkedTimeout(timeout, "timeout"));
    }

    /**
     * Reveals a finished game: options, seed, every move and event. All pages are fetched and put together.
     *
     * @return the history
     * @throws SodaFountainException if the call fails: {@link Reason#NOT_FINISHED}, {@link Reason#GAME_NOT_FOUND} and
     *     others
     */
    public GetHistoryResponse history() {
        return calls.history(null);
    }

    /**
     * Reveals a finished game: options, seed, every move and event. All pages are fetched and put together.
     *
     * @param timeout the deadline of each page
     * @return the history
     * @throws SodaFountainException if the call fails: {@link Reason#NOT_FINISHED}, {@link Reason#GAME_NOT_FOUND} and
     *     others
     */
    public GetHistoryResponse history(Duration timeout) {
        return calls.history(Validation.checkedTimeout(timeout, "timeout"));
    }

    /** Says who it is and of which game, and shows no token. */
    @Override
    public String toString() {
        return getClass().getSimpleName() + " of game " + gameId();
    }

    /** Has the caller fill in settings. */
    static <T> T configured(T settings, Consumer<T> with) {
        Objects.requireNonNull(with, "with").accept(settings);
        return settings;
    }
}
