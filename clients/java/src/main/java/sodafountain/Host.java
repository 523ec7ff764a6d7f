package sodafountain;

import com.google.protobuf.Message;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.function.Consumer;
import sodafountain.v1.ApplyMoveResponse;
import sodafountain.v1.GameState;
import sodafountain.v1.GetHistoryResponse;
import sodafountain.v1.LegalMovesResponse;

/**
 * The host of a game, who reads and moves for every seat. For backends that authenticate their users themselves. Created
 * by {@link SodaFountain#host(String, String)}, and part of a new {@link Game}.
 *
 * <p>The methods are those of {@link Seat}, with the number of the seat, from 0, as the first parameter. A host remembers
 * the open decision of each seat.
 */
public final class Host extends Viewer {
    Host(GameCalls calls) {
        super(calls);
    }

    /**
     * Returns the state of the game, as a spectator sees it.
     *
     * @return the state
     * @throws SodaFountainException as {@link Seat#state()}
     */
    public GameState state() {
        return calls.state(OptionalInt.empty(), new StateSettings());
    }

    /**
     * Returns the state of the game, as a spectator sees it.
     *
     * @param with changes the settings
     * @return the state
     * @throws SodaFountainException as {@link Seat#state()}
     */
    public GameState state(Consumer<StateSettings> with) {
        return calls.state(OptionalInt.empty(), configured(new StateSettings(), with));
    }

    /**
     * Returns the state of the game, as a seat sees it.
     *
     * @param seat the number of the seat
     * @return the state
     * @throws SodaFountainException as {@link Seat#state()}
     */
    public GameState state(int seat) {
        return calls.state(OptionalInt.of(seat), new StateSettings());
    }

    /**
     * Returns the state of the game, as a seat sees it.
     *
     * @param seat the number of the seat
     * @param with changes the settings
     * @return the state
     * @throws SodaFountainException as {@link Seat#state()}
     */
    public GameState state(int seat, Consumer<StateSettings> with) {
        return calls.state(OptionalInt.of(seat), configured(new StateSettings(), with));
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
     * @param with changes the settings
     * @return the watch, which the caller closes
     */
    public Watch watch(Consumer<WatchSettings> with) {
        return new Watch(calls, OptionalInt.empty(), configured(new WatchSettings(), with));
    }

    /**
     * Watches the game to its end, as a seat sees it.
     *
     * @param seat the number of the seat
     * @return the watch, which the caller closes
     */
    public Watch watch(int seat) {
        return new Watch(calls, OptionalInt.of(seat), new WatchSettings());
    }

    /**
     * Watches the game to its end, as a seat sees it.
     *
     * @param seat the number of the seat
     * @param with changes the settings
     * @return the watch, which the caller closes
     */
    public Watch watch(int seat, Consumer<WatchSettings> with) {
        return new Watch(calls, OptionalInt.of(seat), configured(new WatchSettings(), with));
    }

    /**
     * Returns the legal moves of a seat.
     *
     * @param seat the number of the seat
     * @return the moves
     * @throws SodaFountainException as {@link Seat#legalMoves()}
     */
    public LegalMovesResponse legalMoves(int seat) {
        return calls.legalMoves(OptionalInt.of(seat), null);
    }

    /**
     * Returns the legal moves of a seat.
     *
     * @param seat the number of the seat
     * @param timeout the timeout of the call, retries included
     * @return the moves
     * @throws SodaFountainException as {@link Seat#legalMoves()}
     */
    public LegalMovesResponse legalMoves(int seat, Duration timeout) {
        return calls.legalMoves(OptionalInt.of(seat), Validation.checkedTimeout(timeout, "timeout"));
    }

    /**
     * Applies a move of a seat.
     *
     * @param seat the number of the seat
     * @param move a legal move, a {@code Move}, or a move message of the game's kind
     * @return the result, with the new state and the events
     * @throws SodaFountainException as {@link Seat#apply(Message)}
     * @throws IllegalArgumentException if the message is not a move, or empty
     */
    public ApplyMoveResponse apply(int seat, Message move) {
        return calls.apply(OptionalInt.of(seat), move, new MoveSettings());
    }

    /**
     * Applies a move of a seat.
     *
     * @param seat the number of the seat
     * @param move a legal move, a {@code Move}, or a move message of the game's kind
     * @param with changes the settings
     * @return the result, with the new state and the events
     * @throws SodaFountainException as {@link Seat#apply(Message)}
     * @throws IllegalArgumentException if the message is not a move, or empty
     */
    public ApplyMoveResponse apply(int seat, Message move, Consumer<MoveSettings> with) {
        return calls.apply(OptionalInt.of(seat), move, configured(new MoveSettings(), with));
    }

    /**
     * Returns the history of the game so far, as a seat may know it.
     *
     * @param seat the number of the seat
     * @return the history
     * @throws SodaFountainException as {@link #history()}
     */
    public GetHistoryResponse history(int seat) {
        return calls.history(OptionalInt.of(seat), null);
    }

    /**
     * Returns the history of the game so far, as a seat may know it.
     *
     * @param seat the number of the seat
     * @param timeout the timeout of the call for each page, retries included
     * @return the history
     * @throws SodaFountainException as {@link #history()}
     */
    public GetHistoryResponse history(int seat, Duration timeout) {
        return calls.history(OptionalInt.of(seat), Validation.checkedTimeout(timeout, "timeout"));
    }

    /**
     * Deletes the game permanently. For one day, deleting it again succeeds.
     *
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} if the game does not exist, and others
     */
    public void delete() {
        calls.delete(null);
    }

    /**
     * Deletes the game permanently.
     *
     * @param timeout the timeout of the call, retries included
     * @throws SodaFountainException as {@link #delete()}
     */
    public void delete(Duration timeout) {
        calls.delete(Validation.checkedTimeout(timeout, "timeout"));
    }
}
