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
	// Host is the host of the game. It shares the commitment to the seed with the seats.
	Host *Host

	spectatorToken secret
}

func newGame(client *Client, response *pb.NewGameResponse) *Game {
	state := response.GetState()
	game := &Game{ID: state.GetGameId(), State: state, spectatorToken: newSecret(response.GetSpectatorToken())}
	shared := &commitment{gameID: game.ID}
	_ = shared.checkState(state) // the first state never fails
	holder := viewer{client: client, gameID: game.ID, token: newSecret(response.GetHostToken()), commitment: shared}
	game.Host = newHost(holder)
	for i, token := range response.GetSeatTokens() {
		number := int32(i)
		holder.token, holder.info = newSecret(token), &seatInfo{number: &number}
		game.Seats = append(game.Seats, &Seat{holder})
	}
	return game
}

// Commitment returns the commitment to the seed, 32 bytes, which is public. See [Seat.Commitment].
func (g *Game) Commitment() []byte {
	return g.Host.Commitment()
}

// SpectatorToken returns the token of spectators, for [WithSpectatorToken]. A secret of a private game; a public game
// needs no token.
func (g *Game) SpectatorToken() string {
	return g.spectatorToken()
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
