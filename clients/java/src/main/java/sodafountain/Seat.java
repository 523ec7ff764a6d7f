package sodafountain;

import com.google.protobuf.Message;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.function.Consumer;
import sodafountain.v1.ApplyMoveResponse;
import sodafountain.v1.GameState;
import sodafountain.v1.LegalMovesResponse;

/**
 * A seat of a game, held with its token. Made by {@link SodaFountain#seat(String, String)} or found in a {@link Game}.
 *
 * <p>It remembers which decision it saw open last, in any answer to it, and {@code apply} answers that one: a move that
 * was chosen for a decision that is no longer open is refused with {@link Reason#STALE_ETAG}. Threads that play the same
 * seat should name the etag.
 */
public final class Seat extends Viewer {
    Seat(GameCalls calls) {
        super(calls);
    }

    /**
     * Tells the seat's number.
     *
     * @return the number, from 0; empty until an answer of the service has told it ({@code newGame} tells it at once)
     */
    public OptionalInt number() {
        return calls.ownSeat();
    }

    /**
     * Shows the game as the seat may see it.
     *
     * @return the game
     * @throws SodaFountainException if the call fails: {@link Reason#TOKEN_INVALID}, {@link Reason#WRONG_SEAT}, {@link
     *     Reason#GAME_NOT_FOUND} and others
     */
    public GameState state() {
        return calls.state(OptionalInt.empty(), new StateSettings());
    }

    /**
     * Shows the game as the seat may see it.
     *
     * @param with fills in the settings, {@code StateSettings::legalMoves} for instance
     * @return the game
     * @throws SodaFountainException if the call fails: {@link Reason#TOKEN_INVALID}, {@link Reason#WRONG_SEAT}, {@link
     *     Reason#GAME_NOT_FOUND} and others
     */
    public GameState state(Consumer<StateSettings> with) {
        return calls.state(OptionalInt.empty(), configured(new StateSettings(), with));
    }

    /**
     * Follows the game to its end as the seat may see it.
     *
     * @return the watch, to be closed
     */
    public Watch watch() {
        return new Watch(calls, OptionalInt.empty(), new WatchSettings());
    }

    /**
     * Follows the game to its end as the seat may see it.
     *
     * @param with fills in the settings, {@code WatchSettings::legalMoves} for instance
     * @return the watch, to be closed
     */
    public Watch watch(Consumer<WatchSettings> with) {
        return new Watch(calls, OptionalInt.empty(), configured(new WatchSettings(), with));
    }

    /**
     * Lists every move that the rules allow the seat now, each exactly once: none while it is not awaited.
     *
     * @return the moves
     * @throws SodaFountainException if the call fails: {@link Reason#TOKEN_INVALID}, {@link Reason#WRONG_SEAT}, {@link
     *     Reason#GAME_NOT_FOUND} and others
     */
    public LegalMovesResponse legalMoves() {
        return calls.legalMoves(OptionalInt.empty(), null);
    }

    /**
     * Lists every move that the rules allow the seat now, each exactly once: none while it is not awaited.
     *
     * @param timeout the deadline of the call
     * @return the moves
     * @throws SodaFountainException if the call fails: {@link Reason#TOKEN_INVALID}, {@link Reason#WRONG_SEAT}, {@link
     *     Reason#GAME_NOT_FOUND} and others
     */
    public LegalMovesResponse legalMoves(Duration timeout) {
        return calls.legalMoves(OptionalInt.empty(), Validation.checkedTimeout(timeout, "timeout"));
    }

    /**
     * Makes a move, in answer to the decision that the seat saw open last.
     *
     * @param move one of the legal moves, a {@code Move}, or a kind's own move message
     * @return what came of it, with the new state
     * @throws SodaFountainException if the call fails: {@link Reason#ILLEGAL_MOVE}, {@link Reason#NOT_YOUR_TURN}, {@link
     *     Reason#GAME_FINISHED}, {@link Reason#STALE_ETAG}, {@link Reason#CONTENTION}, {@link Reason#UNCONFIRMED} and
     *     others
     * @throws IllegalArgumentException if it is no move message, or an empty one
     */
    public ApplyMoveResponse apply(Message move) {
        return calls.apply(OptionalInt.empty(), move, new MoveSettings());
    }

    /**
     * Makes a move.
     *
     * @param move one of the legal moves, a {@code Move}, or a kind's own move message
     * @param with fills in the settings, {@code with -> with.etag(…)} for instance
     * @return what came of it, with the new state
     * @throws SodaFountainException as {@link #apply(Message)}
     * @throws IllegalArgumentException if it is no move message, or an empty one
     */
    public ApplyMoveResponse apply(Message move, Consumer<MoveSettings> with) {
        return calls.apply(OptionalInt.empty(), move, configured(new MoveSettings(), with));
    }

    @Override
    public String toString() {
        String number = number().isPresent() ? String.valueOf(number().getAsInt()) : "?";
        return "Seat " + number + " of game " + gameId();
    }
}
