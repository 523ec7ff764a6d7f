/**
 * The client of the Soda Fountain game service: create games, play, watch and score them.
 *
 * <pre>{@code
 * try (SodaFountain client = SodaFountain.connect("localhost:50051")) {
 *     Game game = client.newGame(SodaJerkOptions.getDefaultInstance(), 3);
 *     Seat seat = game.seat(game.state().getAwaitingSeats(0));
 *     seat.apply(seat.legalMoves().getMoves(0));
 * }
 * }</pre>
 *
 * <p>Start with {@link sodafountain.SodaFountain}. Every failed call throws a {@link sodafountain.SodaFountainException}.
 * Calls block until their response. All objects are thread-safe, except that only one thread may iterate over a {@link
 * sodafountain.Watch}; any thread may close it. The messages of the contract are in {@code sodafountain.v1}.
 *
 * <p>A null argument throws a {@link java.lang.NullPointerException}.
 */
package sodafountain;
