// Package sodafountain is the client of the Soda Fountain game service: make games, play them, look at them and score
// them. The service knows the rules and tells which moves are legal; you send one of them back.
//
//	client, err := sodafountain.Connect("localhost:50051")
//	…
//	defer client.Close()
//	game, err := client.NewGame(ctx, &sodafountainv1.SodaJerkOptions{Advanced: true}, 3)
//	…
//	seat := game.Seats[game.State.AwaitingSeats[0]]
//	legal, err := seat.LegalMoves(ctx)
//	…
//	answer, err := seat.Apply(ctx, legal.Moves[0])
//
// The messages are those of the contract, in the package sodafountainv1; every field is documented there.
//
// Every call takes a context. Where that has no deadline, the call has one of 5 seconds, or of what [WithTimeout] says,
// and while it lasts, a call that the service could not take is sent again. A new game and a move are sent with a random
// request id, the same on every try, so that nothing happens twice.
//
// Every failure is an [*Error], whose [Reason] is there to switch on.
//
// A [Client], and every [Seat], [Spectator] and [Host] of it, may be used by several goroutines at once. Tokens, API keys
// and request ids are secrets: nothing that this package prints shows one.
package sodafountain
