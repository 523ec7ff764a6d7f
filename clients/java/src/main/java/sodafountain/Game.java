package sodafountain;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import sodafountain.v1.GameState;
import sodafountain.v1.NewGameResponse;

/**
 * A game that this client created. Its tokens are secrets. Send each player only the token of its seat.
 *
 * <p>A player must never create the game: the creator has all tokens, and so sees every hand.
 */
public final class Game {
    private final NewGameResponse response;
    private final Commitment commitment;
    private final Host host;
    private final List<Seat> seats;

    Game(Connection connection, NewGameResponse response) {
        this.response = response;
        this.commitment = new Commitment(id(), null);
        commitment.checkState(response.getState(), null);
        this.host = new Host(GameCalls.withToken(connection, commitment, hostToken(), OptionalInt.empty()));
        this.seats = IntStream.range(0, response.getSeatTokensCount())
                .mapToObj(number -> new Seat(GameCalls.withToken(
                        connection, commitment, response.getSeatTokens(number), OptionalInt.of(number))))
                .toList();
    }

    /**
     * Returns the id of the game, which is public.
     *
     * @return the id
     */
    public String id() {
        return response.getState().getGameId();
    }

    /**
     * Returns the state after the creation of the game, as a spectator sees it.
     *
     * @return the state
     */
    public GameState state() {
        return response.getState();
    }

    /**
     * Returns the seats, each with its own token.
     *
     * @return the seats, by number
     */
    public List<Seat> seats() {
        return seats;
    }

    /**
     * Returns a seat.
     *
     * @param number the seat's number, from 0
     * @return the seat
     * @throws IndexOutOfBoundsException if the game has no such seat
     */
    public Seat seat(int number) {
        if (number < 0 || number >= seats.size()) {
            throw new IndexOutOfBoundsException(
                    "seat must be from 0 to " + (seats.size() - 1) + " in game " + id() + ", not " + number);
        }
        return seats.get(number);
    }

    /**
     * Returns the host of the game.
     *
     * @return the host
     */
    public Host host() {
        return host;
    }

    /**
     * Returns the host's token, which allows its holder to read and move for every seat. A secret.
     *
     * @return the token
     */
    public String hostToken() {
        return response.getHostToken();
    }

    /**
     * Returns the tokens of the seats. Secrets.
     *
     * @return the tokens, by seat
     */
    public List<String> seatTokens() {
        return response.getSeatTokensList();
    }

    /**
     * Returns the spectator token, whose holder sees public information, also of a private game. A secret if the game is
     * private.
     *
     * @return the token
     */
    public String spectatorToken() {
        return response.getSpectatorToken();
    }

    /**
     * Returns the commitment to the seed, which is public; see {@link Viewer#commitment()}.
     *
     * @return 32 bytes
     */
    public ByteString commitment() {
        return response.getState().getSeedCommitment();
    }

    /** Returns the id of the game, without its tokens. */
    @Override
    public String toString() {
        return "Game " + id();
    }
}
