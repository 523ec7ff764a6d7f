package sodafountain;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import sodafountain.v1.GameState;
import sodafountain.v1.NewGameResponse;

/** A game that this client made. Its tokens are secrets, each for its player. */
public final class Game {
    private final NewGameResponse answer;
    private final Host host;
    private final List<Seat> seats;

    Game(Connection connection, NewGameResponse answer) {
        this.answer = answer;
        this.host = new Host(GameCalls.withToken(connection, id(), hostToken(), OptionalInt.empty()));
        this.seats = IntStream.range(0, answer.getSeatTokensCount())
                .mapToObj(number -> new Seat(
                        GameCalls.withToken(connection, id(), answer.getSeatTokens(number), OptionalInt.of(number))))
                .toList();
    }

    /**
     * Tells the game's id, which is public.
     *
     * @return the id
     */
    public String id() {
        return answer.getState().getGameId();
    }

    /**
     * Shows the game as a spectator saw it when it was made.
     *
     * @return the game
     */
    public GameState state() {
        return answer.getState();
    }

    /**
     * Gives the seats.
     *
     * @return the seats, by number
     */
    public List<Seat> seats() {
        return seats;
    }

    /**
     * Gives a seat.
     *
     * @param number the seat's number, from 0
     * @return the seat
     * @throws IndexOutOfBoundsException if there is no such seat
     */
    public Seat seat(int number) {
        if (number < 0 || number >= seats.size()) {
            throw new IndexOutOfBoundsException(
                    this + " has no seat " + number + ": its seats are numbered from 0 to " + (seats.size() - 1) + ".");
        }
        return seats.get(number);
    }

    /**
     * Gives the host's hold on the game.
     *
     * @return the host
     */
    public Host host() {
        return host;
    }

    /**
     * Tells the host's token: acts and looks for every seat. A secret.
     *
     * @return the token
     */
    public String hostToken() {
        return answer.getHostToken();
    }

    /**
     * Tells one token per seat. Secrets.
     *
     * @return the tokens, by seat
     */
    public List<String> seatTokens() {
        return answer.getSeatTokensList();
    }

    /**
     * Tells the SHA-256 of the seed, to be compared with the seed that the history reveals.
     *
     * @return 32 bytes
     */
    public ByteString seedCommitment() {
        return answer.getSeedCommitment();
    }

    /** Says which game it is, and shows no token. */
    @Override
    public String toString() {
        return "Game " + id();
    }
}
