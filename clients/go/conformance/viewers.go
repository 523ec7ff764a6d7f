package main

import (
	"context"
	"iter"
	"strconv"
	"strings"

	"sodafountain.internal/sodafountain"
	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// caller is a seat, a spectator or a host, with the latest legal moves that it received.
type caller struct {
	seat       *sodafountain.Seat
	spectator  *sodafountain.Spectator
	host       *sodafountain.Host
	legalMoves []*pb.LegalMove
}

// viewer has the common methods of all callers.
type viewer interface {
	State(context.Context, ...sodafountain.StateOption) (*pb.GameState, error)
	Score(context.Context) (*pb.ScoreResponse, error)
	History(context.Context) (*pb.GetHistoryResponse, error)
	Watch(context.Context, ...sodafountain.WatchOption) iter.Seq2[*sodafountain.Update, error]
}

// viewer returns the viewer of a step; for a host, the seat of the step if it has one.
func (c *caller) viewer(step step) viewer {
	switch {
	case c.spectator != nil:
		return c.spectator
	case c.host != nil && step.Seat == nil:
		return c.host
	default:
		return c.player(step)
	}
}

// player returns the seat that moves in a step.
func (c *caller) player(step step) *sodafountain.Seat {
	if c.host != nil {
		return c.host.Seat(*step.Seat)
	}
	return c.seat
}

// caller returns the caller of a step: the same object for equal values of As until the next new_game.
func (r *runner) caller(step step) (*caller, error) {
	if step.Token == nil && step.Game == nil {
		if step.As == "spectator" && r.callers[step.As] == nil {
			r.callers[step.As] = &caller{spectator: r.client.Spectator(r.game.ID)}
		}
		return r.callers[step.As], nil
	}
	var id, token string
	if r.game != nil {
		id = r.game.ID
	}
	if step.Game != nil {
		id = *step.Game
	}
	switch {
	case step.Token != nil:
		token = *step.Token
	case r.game == nil:
		token = noToken
	case step.As == "host":
		token = r.game.HostToken()
	case step.As != "spectator":
		number, err := strconv.Atoi(strings.TrimPrefix(step.As, "seat "))
		if err != nil {
			return nil, err
		}
		token = r.game.SeatTokens()[number]
	}
	switch step.As {
	case "spectator":
		return &caller{spectator: r.client.Spectator(id)}, nil
	case "host":
		host, err := r.client.Host(id, token)
		return &caller{host: host}, err
	default:
		seat, err := r.client.Seat(id, token)
		return &caller{seat: seat}, err
	}
}
