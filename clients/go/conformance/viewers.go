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
	Commitment() []byte
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

// caller returns the caller of a step: the same object for equal values of As until the next new_game, or another one
// for this step only.
func (r *runner) caller(step step) (*caller, error) {
	switch {
	case step.Token != nil || step.Game != nil || step.WithoutToken:
		id := step.Game
		if id == nil {
			id = &r.game.ID
		}
		return r.newCaller(step.As, *id, step.Token)
	case step.Restored:
		var options []sodafountain.ViewerOption
		if commitment := r.callers[step.As].viewer(step).Commitment(); commitment != nil {
			options = append(options, sodafountain.WithCommitment(commitment))
		}
		token, err := r.token(step.As)
		if err != nil {
			return nil, err
		}
		return r.newCaller(step.As, r.game.ID, token, options...)
	default:
		return r.callers[step.As], nil
	}
}

// newCaller returns a caller with a token, if it is not nil.
func (r *runner) newCaller(as, id string, token *string, options ...sodafountain.ViewerOption) (*caller, error) {
	if as == "spectator" {
		var all []sodafountain.SpectatorOption
		if token != nil {
			all = append(all, sodafountain.WithSpectatorToken(*token))
		}
		for _, option := range options {
			all = append(all, option)
		}
		spectator, err := r.client.Spectator(id, all...)
		return &caller{spectator: spectator}, err
	}
	if token == nil {
		token = new(noToken)
	}
	if as == "host" {
		host, err := r.client.Host(id, *token, options...)
		return &caller{host: host}, err
	}
	seat, err := r.client.Seat(id, *token, options...)
	return &caller{seat: seat}, err
}

// token returns the token of a caller of the game. A spectator of a public game needs none.
func (r *runner) token(as string) (*string, error) {
	switch as {
	case "spectator":
		if r.game.State.GetVisibility() != pb.Visibility_VISIBILITY_PRIVATE {
			return nil, nil
		}
		return new(r.game.SpectatorToken()), nil
	case "host":
		return new(r.game.HostToken()), nil
	}
	number, err := strconv.Atoi(strings.TrimPrefix(as, "seat "))
	if err != nil {
		return nil, err
	}
	return new(r.game.SeatTokens()[number]), nil
}
