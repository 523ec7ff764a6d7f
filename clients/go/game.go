package sodafountain

import (
	"fmt"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Game is a game that this client created.
type Game struct {
	// ID is the id of the game, which is public.
	ID string
	// State is the state after the creation of the game, as a spectator sees it.
	State *pb.GameState
	// Seats are the seats by number, each with its own token.
	Seats []*Seat
	// Host is the host of the game.
	Host *Host
	// SeedCommitment is the SHA-256 of the seed, 32 bytes. The seed in the history must match it.
	SeedCommitment []byte
}

func newGame(client *Client, response *pb.NewGameResponse) *Game {
	game := &Game{
		ID:             response.GetState().GetGameId(),
		State:          response.GetState(),
		SeedCommitment: response.GetSeedCommitment(),
	}
	game.Host = newHost(client, game.ID, newSecret(response.GetHostToken()))
	for i, token := range response.GetSeatTokens() {
		number := int32(i)
		seat := viewer{client: client, gameID: game.ID, token: newSecret(token), info: &seatInfo{number: &number}}
		game.Seats = append(game.Seats, &Seat{seat})
	}
	return game
}

// HostToken returns the token of the host, for [Client.Host] in another process. A secret: it gives access to every seat.
func (g *Game) HostToken() string {
	return g.Host.token()
}

// SeatTokens returns the tokens of the seats by number, for [Client.Seat] in another process. Secrets: send each player
// only the token of its seat.
func (g *Game) SeatTokens() []string {
	tokens := make([]string, len(g.Seats))
	for i, seat := range g.Seats {
		tokens[i] = seat.token()
	}
	return tokens
}

// String returns the game id, without the tokens.
func (g *Game) String() string {
	return fmt.Sprintf("game %s", g.ID)
}
