package main

import (
	"context"
	"iter"
	"strconv"
	"strings"

	"sodafountain.internal/sodafountain"
	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// caller is who calls: a seat, a spectator or a host, and the legal moves that it was told last.
type caller struct {
	seat      *sodafountain.Seat
	spectator *sodafountain.Spectator
	host      *sodafountain.Host
	listed    []*pb.LegalMove
}

// viewer is what all of them can do.
type viewer interface {
	State(context.Context, ...sodafountain.StateOption) (*pb.GameState, error)
	Score(context.Context) (*pb.ScoreResponse, error)
	History(context.Context) (*pb.GetHistoryResponse, error)
	Watch(context.Context, ...sodafountain.WatchOption) iter.Seq2[*sodafountain.Update, error]
}

// viewer is who looks in a step: a host looks for the seat that the step names.
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

// player is the seat that acts in a step.
func (c *caller) player(step step) *sodafountain.Seat {
	if c.host != nil {
		return c.host.Seat(*step.Seat)
	}
	return c.seat
}

// caller finds who calls in a step: the same for the same words, as long as the game is the last.
func (t *table) caller(step step) (*caller, error) {
	if step.Token == nil && step.Game == nil {
		if step.As == "spectator" && t.callers[step.As] == nil {
			t.callers[step.As] = &caller{spectator: t.client.Spectator(t.game.ID)}
		}
		return t.callers[step.As], nil
	}
	var id, token string
	if t.game != nil {
		id = t.game.ID
	}
	if step.Game != nil {
		id = *step.Game
	}
	switch {
	case step.Token != nil:
		token = *step.Token
	case t.game == nil:
		token = noToken
	case step.As == "host":
		token = t.game.HostToken()
	case step.As != "spectator":
		number, err := strconv.Atoi(strings.TrimPrefix(step.As, "seat "))
		if err != nil {
			return nil, err
		}
		token = t.game.SeatTokens()[number]
	}
	switch step.As {
	case "spectator":
		return &caller{spectator: t.client.Spectator(id)}, nil
	case "host":
		host, err := t.client.Host(id, token)
		return &caller{host: host}, err
	default:
		seat, err := t.client.Seat(id, token)
		return &caller{seat: seat}, err
	}
}
