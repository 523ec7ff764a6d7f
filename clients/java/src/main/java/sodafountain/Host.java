package sodafountain;

import com.google.protobuf.Message;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.function.Consumer;
import sodafountain.v1.ApplyMoveResponse;
import sodafountain.v1.GameState;
import sodafountain.v1.LegalMovesResponse;

/**
 * The host of a game: acts and looks for every seat. For trusted back ends that know their users themselves. Made by
 * {@link SodaFountain#host(String, String)} or found in a {@link Game}.
 *
 * <p>Everything is as for a {@link Seat}, and the seat's number, from 0, comes first. Each seat's open decision is
 * remembered by itself.
 */
public final class Host extends Viewer {
    Host(GameCalls calls) {
        super(calls);
    }

    /**
     * Shows the game as a spectator may see it.
     *
     * @return the game
     * @throws SodaFountainException as {@link Seat#state()}
     */
    public GameState state() {
        return calls.state(OptionalInt.empty(), new StateSettings());
    }

    /**
     * Shows the game as a spectator may see it.
     *
     * @param with fills in the settings
     * @return the game
     * @throws SodaFountainException as {@link Seat#state()}
     */
    public GameState state(Consumer<StateSettings> with) {
        return calls.state(OptionalInt.empty(), configured(new StateSettings(), with));
    }

    /**
     * Shows the game as a seat may see it.
     *
     * @param seat the number of the seat
     * @return the game
     * @throws SodaFountainException as {@link Seat#state()}
     */
    public GameState state(int seat) {
        return calls.state(OptionalInt.of(seat), new StateSettings());
    }

    /**
     * Shows the game as a seat may see it.
     *
     * @param seat the number of the seat
     * @param with fills in the settings
     * @return the game
     * @throws SodaFountainException as {@link Seat#state()}
     */
    public GameState state(int seat, Consumer<StateSettings> with) {
        return calls.state(OptionalInt.of(seat), configured(new StateSettings(), with));
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
     * @param with fills in the settings
     * @return the watch, to be closed
     */
    public Watch watch(Consumer<WatchSettings> with) {
        return new Watch(calls, OptionalInt.empty(), configured(new WatchSettings(), with));
    }

    /**
     * Follows the game to its end as a seat may see it.
     *
     * @param seat the number of the seat
     * @return the watch, to be closed
     */
    public Watch watch(int seat) {
        return new Watch(calls, OptionalInt.of(seat), new WatchSettings());
    }

    /**
     * Follows the game to its end as a seat may see it.
     *
     * @param seat the number of the seat
     * @param with fills in the settings
     * @return the watch, to be closed
     */
    public Watch watch(int seat, Consumer<WatchSettings> with) {
        return new Watch(calls, OptionalInt.of(seat), configured(new WatchSettings(), with));
    }

    /**
     * Lists the legal moves of a seat.
     *
     * @param seat the number of the seat
     * @return the moves
     * @throws SodaFountainException as {@link Seat#legalMoves()}
     */
    public LegalMovesResponse legalMoves(int seat) {
        return calls.legalMoves(OptionalInt.of(seat), null);
    }

    /**
     * Lists the legal moves of a seat.
     *
     * @param seat the number of the seat
     * @param timeout the deadline of the call
     * @return the moves
     * @throws SodaFountainException as {@link Seat#legalMoves()}
     */
    public LegalMovesResponse legalMoves(int seat, Duration timeout) {
        return calls.legalMoves(OptionalInt.of(seat), Validation.checkedTimeout(timeout, "timeout"));
    }

    /**
     * Makes a move for a seat.
     *
     * @param seat the number of the seat
     * @param move one of the legal moves, a {@code Move}, or a kind's own move message
     * @return what came of it, with the new state
     * @throws SodaFountainException as {@link Seat#apply(Message)}
     * @throws IllegalArgumentException if it is no move message, or an empty one
     */
    public ApplyMoveResponse apply(int seat, Message move) {
        return calls.apply(OptionalInt.of(seat), move, new MoveSettings());
    }

    /**
     * Makes a move for a seat.
     *
     * @param seat the number of the seat
     * @param move one of the legal moves, a {@code Move}, or a kind's own move message
     * @param with fills in the settings
     * @return what came of it, with the new state
     * @throws SodaFountainException as {@link Seat#apply(Message)}
     * @throws IllegalArgumentException if it is no move message, or an empty one
     */
    public ApplyMoveResponse apply(int seat, Message move, Consumer<MoveSettings> with) {
        return calls.apply(OptionalInt.of(seat), move, configured(new MoveSettings(), with));
    }

    /**
     * Deletes the game for good.
     *
     * @throws SodaFountainException if the call fails: {@link Reason#GAME_NOT_FOUND} if there is no such game (any
     *     more), so too when the answer to a first try was lost on the way; and others
     */
    public void delete() {
        calls.delete(null);
    }

    /**
     * Deletes the game for good.
     *
     * @param timeout the deadline of the call
     * @throws SodaFountainException as {@link #delete()}
     */
    public void delete(Duration timeout) {
        calls.delete(Validation.checkedTimeout(timeout, "timeout"));
    }
}
