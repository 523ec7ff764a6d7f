package sodafountain;

import com.google.protobuf.Message;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.function.Consumer;
import sodafountain.v1.ApplyMoveResponse;
import sodafountain.v1.GameState;
import sodafountain.v1.LegalMovesResponse;

/**
 * A seat of a game, with its token. Created by {@link SodaFountain#seat(String, String)}, and part of a new {@link Game}.
 *
 * <p>A seat remembers the open decision in the latest response or update that it received. {@code apply} answers that
 * decision; the service rejects a move for a decision that is no longer open with {@link Reason#STALE_ETAG}. Threads that
 * share a seat should pass the etag.
 */
public final class Seat extends Viewer {
    Seat(GameCalls calls) {
        super(calls);
    }

    /**
     * Returns the number of the seat.
     *
     * @return the number, from 0; empty before the first response, unless {@code newGame} created the seat
     */
    public OptionalInt number() {
        return calls.ownSeat();
    }

    /**
     * Returns the state of the game, as the seat sees it.
     *
     * @return the state
     * @throws SodaFountainException if the call fails: {@link Reason#TOKEN_INVALID}, {@link Reason#WRONG_SEAT}, {@link
     *     Reason#GAME_NOT_FOUND} and others
     */
    public GameState state() {
        return calls.state(OptionalInt.empty(), new StateSettings());
    }

    /**
     * Returns the state of the game, as the seat sees it.
     *
     * @param with changes the settings, such as {@code StateSettings::legalMoves}
     * @return the state
     * @throws SodaFountainException if the call fails: {@link Reason#TOKEN_INVALID}, {@link Reason#WRONG_SEAT}, {@link
     *     Reason#GAME_NOT_FOUND} and others
     */
    public GameState state(Consumer<StateSettings> with) {
        return calls.state(OptionalInt.empty(), configured(new StateSettings(), with));
    }

    /**
     * Watches the game to its end, as the seat sees it.
     *
     * @return the watch, which the caller closes
     */
    public Watch watch() {
        return new Watch(calls, OptionalInt.empty(), new WatchSettings());
    }

    /**
     * Watches the game to its end, as the seat sees it.
     *
     * @param with changes the settings, such as {@code WatchSettings::legalMoves}
     * @return the watch, which the caller closes
     */
    public Watch watch(Consumer<WatchSettings> with) {
        return new Watch(calls, OptionalInt.empty(), configured(new WatchSettings(), with));
    }

    /**
     * Returns every move that the rules allow the seat now, each once. The list is empty if the seat is not awaited.
     *
     * @return the moves
     * @throws SodaFountainException if the call fails: {@link Reason#TOKEN_INVALID}, {@link Reason#WRONG_SEAT}, {@link
     *     Reason#GAME_NOT_FOUND} and others
     */
    public LegalMovesResponse legalMoves() {
        return calls.legalMoves(OptionalInt.empty(), null);
    }

    /**
     * Returns every move that the rules allow the seat now, each once. The list is empty if the seat is not awaited.
     *
     * @param timeout the timeout of the call, retries included
     * @return the moves
     * @throws SodaFountainException if the call fails: {@link Reason#TOKEN_INVALID}, {@link Reason#WRONG_SEAT}, {@link
     *     Reason#GAME_NOT_FOUND} and others
     */
    public LegalMovesResponse legalMoves(Duration timeout) {
        return calls.legalMoves(OptionalInt.empty(), Validation.checkedTimeout(timeout, "timeout"));
    }

    /**
     * Applies a move, as the answer to the latest open decision that the seat received.
     *
     * @param move a legal move, a {@code Move}, or a move message of the game's kind
     * @return the result, with the new state and the events
     * @throws SodaFountainException if the call fails: {@link Reason#ILLEGAL_MOVE}, {@link Reason#NOT_YOUR_TURN}, {@link
     *     Reason#GAME_FINISHED}, {@link Reason#STALE_ETAG}, {@link Reason#CONTENTION}, {@link Reason#UNCONFIRMED} and
     *     others
     * @throws IllegalArgumentException if the message is not a move, or empty
     */
    public ApplyMoveResponse apply(Message move) {
        return calls.apply(OptionalInt.empty(), move, new MoveSettings());
    }

    /**
     * Applies a move.
     *
     * @param move a legal move, a {@code Move}, or a move message of the game's kind
     * @param with changes the settings, such as {@code with -> with.etag(…)}
     * @return the result, with the new state and the events
     * @throws SodaFountainException as {@link #apply(Message)}
     * @throws IllegalArgumentException if the message is not a move, or empty
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
