package sodafountain

import (
	"context"
	"fmt"
	"sync"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Spectator looks at a game from outside and sees what is public.
type Spectator struct {
	viewer
}

// String names the game.
func (s *Spectator) String() string {
	return fmt.Sprintf("spectator of game %s", s.gameID)
}

// Host holds a game as a whole: [Host.Seat] acts and looks for any seat. For trusted back ends that know their users
// themselves.
type Host struct {
	viewer
	mu    sync.Mutex
	seats map[int32]*Seat
}

func newHost(client *Client, gameID string, token secret) *Host {
	return &Host{viewer: viewer{client: client, gameID: gameID, token: token}, seats: map[int32]*Seat{}}
}

// Seat acts and looks for a seat, by its number from 0, in the host's name. It is the same Seat each time, so that each
// seat's open decision is remembered. Nothing is asked of the service yet, which refuses for [ReasonMalformed] what is no
// seat of the game.
func (h *Host) Seat(number int32) *Seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	seat, known := h.seats[number]
	if !known {
		seat = &Seat{h.viewer}
		seat.seat = &number
		seat.memory = &memory{number: &number}
		h.seats[number] = seat
	}
	return seat
}

// Delete deletes the game for good.
//
// It fails for [ReasonGameNotFound] where there is no such game (any more): so too when the answer to a first try was lost
// on the way.
func (h *Host) Delete(ctx context.Context) error {
	request := &pb.DeleteGameRequest{GameId: h.gameID}
	_, err := invoke(ctx, h.client, call{rpc: "DeleteGame", token: h.token}, h.client.service.DeleteGame, request)
	return err
}

// String names the game, without the host's token.
func (h *Host) String() string {
	return fmt.Sprintf("host of game %s", h.gameID)
}
