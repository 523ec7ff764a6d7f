package sodafountain;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
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
     * Returns the commitment to the seed of the game, which is public.
     *
     * <p>It is that of the first state, or the one that the viewer was created with. If a later state or history has
     * another one, the call or watch throws {@link Reason#COMMITMENT_CHANGED}. Save it with the token, and continue with it
     * when the program restarts: {@link ViewerSettings#commitment}.
     *
     * @return the commitment, 32 bytes; empty before the first state
     */
    public Optional<ByteString> commitment() {
        return calls.commitment().get();
    }

    /**
     * Returns the current standings from public information; after the end, the result.
     *
     * @return the score
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} and others
     */
    public ScoreResponse score() {
        return calls.score(null);
    }

    /**
     * Returns the current standings from public information; after the end, the result.
     *
     * @param timeout the timeout of the call, retries included
     * @return the score
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} and others
     */
    public ScoreResponse score(Duration timeout) {
        return calls.score(Validation.checkedTimeout(timeout, "timeout"));
    }

    /**
     * Returns the history of the game so far, as the seat may know it, or as a spectator may know it for spectators and
     * hosts. It fetches all pages.
     *
     * <p>The history of an active game, and of a sealed one for ever, has the moves of the seat, and the events as the
     * viewer may know them. The history of a finished game that is not sealed has the seed and every move and event. The
     * client then checks that the seed is the one that was committed to, and belongs to this game.
     *
     * @return the history
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND}, {@link Reason#COMMITMENT_CHANGED}
     *     and others
     */
    public GetHistoryResponse history() {
        return calls.history(OptionalInt.empty(), null);
    }

    /**
     * Returns the history of the game so far; see {@link #history()}.
     *
     * @param timeout the timeout of the call for each page, retries included
     * @return the history
     * @throws SodaFountainException as {@link #history()}
     */
    public GetHistoryResponse history(Duration timeout) {
        return calls.history(OptionalInt.empty(), Validation.checkedTimeout(timeout, "timeout"));
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
