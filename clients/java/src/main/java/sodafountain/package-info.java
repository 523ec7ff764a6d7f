/**
 * Client of the Soda Fountain game service: make games, play them, look at them and score them.
 *
 * <pre>{@code
 * try (SodaFountain client = SodaFountain.connect("localhost:50051")) {
 *     Game game = client.newGame(SodaJerkOptions.getDefaultInstance(), 3);
 *     Seat seat = game.seat(game.state().getAwaitingSeats(0));
 *     seat.apply(seat.legalMoves().getMoves(0));
 * }
 * }</pre>
 *
 * <p>{@link sodafountain.SodaFountain} is where everything begins, and {@link sodafountain.SodaFountainException} is
 * how every failed call ends. Calls wait for their answer; threads may share all objects, but for a {@link
 * sodafountain.Watch}, which one thread iterates over and any may close. The messages of the contract are in {@code
 * sodafountain.v1}.
 *
 * <p>No argument may be null, and a null is a {@link java.lang.NullPointerException}.
 */
package sodafountain;
