package sodafountain

import (
	"fmt"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Game is a game that this client made.
type Game struct {
	// ID is the game's id: public.
	ID string
	// State is the game as a spectator saw it when it was made.
	State *pb.GameState
	// Seats are the seats, by number, each held with its own token.
	Seats []*Seat
	// Host holds the game with the host's token.
	Host *Host
	// SeedCommitment is the SHA-256 of the seed, 32 bytes, to be compared with the seed that the history reveals.
	SeedCommitment []byte
}

func newGame(client *Client, answer *pb.NewGameResponse) *Game {
	game := &Game{
		ID:             answer.GetState().GetGameId(),
		State:          answer.GetState(),
		SeedCommitment: answer.GetSeedCommitment(),
	}
	game.Host = newHost(client, game.ID, newSecret(answer.GetHostToken()))
	for i, token := range answer.GetSeatTokens() {
		number := int32(i)
		held := viewer{client: client, gameID: game.ID, token: newSecret(token), memory: &memory{number: &number}}
		game.Seats = append(game.Seats, &Seat{held})
	}
	return game
}

// HostToken is the host's token, for [Client.Host] elsewhere: acts and looks for every seat. A secret.
func (g *Game) HostToken() string {
	return g.Host.token()
}

// SeatTokens are the tokens of the seats, by number, for [Client.Seat] elsewhere. Secrets, each for its player alone.
func (g *Game) SeatTokens() []string {
	tokens := make([]string, len(g.Seats))
	for i, seat := range g.Seats {
		tokens[i] = seat.token()
	}
	return tokens
}

// String names the game.
func (g *Game) String() string {
	return fmt.Sprintf("game %s", g.ID)
}
