// Package sodafountain is the client of the Soda Fountain game service: create games, play, watch and score them. The
// service knows the rules and returns the legal moves; you send one of them back.
//
//	client, err := sodafountain.Connect("localhost:50051")
//	…
//	defer client.Close()
//	game, err := client.NewGame(ctx, &sodafountainv1.SodaJerkOptions{Advanced: true}, 3)
//	…
//	seat := game.Seats[game.State.AwaitingSeats[0]]
//	legal, err := seat.LegalMoves(ctx)
//	…
//	result, err := seat.Apply(ctx, legal.Moves[0])
//
// The messages of the contract are in the package sodafountainv1, which documents every field.
//
// Every call takes a context. If the context has no deadline, the call has a timeout of 5 seconds, or that of
// [WithTimeout]. Until the deadline, the client retries a call if the service is unavailable. A new game and a move have a
// random request id, which stays the same on every retry, so nothing happens twice.
//
// A [Seat], [Spectator] or [Host] keeps the commitment to the seed of the first state that it receives, and compares
// every later state and history with it; see [WithCommitment].
//
// Every error is an [*Error] with a [Reason] to switch on.
//
// Goroutines may share a [Client] and every [Seat], [Spectator] and [Host] of it. Tokens, API keys and request ids are
// secrets: nothing that this package prints contains one.
package sodafountain
