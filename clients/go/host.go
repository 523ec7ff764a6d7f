package sodafountain

import (
	"context"
	"fmt"
	"sync"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Spectator is a viewer without a seat, who sees public information.
type Spectator struct {
	viewer
}

// String returns the game id.
func (s *Spectator) String() string {
	return fmt.Sprintf("spectator of game %s", s.gameID)
}

// Host is the host of a game, who reads and moves for every seat with [Host.Seat]. For backends that authenticate their
// users themselves.
type Host struct {
	viewer
	mu    sync.Mutex
	seats map[int32]*Seat
}

func newHost(viewer viewer) *Host {
	return &Host{viewer: viewer, seats: map[int32]*Seat{}}
}

// Seat returns a seat by its number, from 0, with the token of the host. It returns the same Seat each time, which
// remembers its open decision. It makes no call; calls for a seat that does not exist fail with [ReasonMalformed].
func (h *Host) Seat(number int32) *Seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	seat, known := h.seats[number]
	if !known {
		seat = &Seat{h.viewer}
		seat.seat = &number
		seat.info = &seatInfo{number: &number}
		h.seats[number] = seat
	}
	return seat
}

// Delete deletes the game permanently. For one day, deleting it again succeeds.
//
// It fails with [ReasonGameNotFound] if the game does not exist.
func (h *Host) Delete(ctx context.Context) error {
	request := &pb.DeleteGameRequest{GameId: h.gameID}
	_, err := invoke(ctx, h.client, call{rpc: "DeleteGame", gameID: h.gameID, token: h.token}, h.client.service.DeleteGame, request)
	return err
}

// String returns the game id, without the token.
func (h *Host) String() string {
	return fmt.Sprintf("host of game %s", h.gameID)
}
