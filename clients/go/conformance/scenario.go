package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"sodafountain.internal/sodafountain"
	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// The token of a seat or host of another game.
const noToken = "no-token"

// runner runs one scenario: it has the client, the last game and the callers.
type runner struct {
	client  *sodafountain.Client
	game    *sodafountain.Game
	callers map[string]*caller
	watches map[string]*watch
	// The seats that the last state awaits.
	awaiting  []int32
	requestID string
}

func newRunner(client *sodafountain.Client) *runner {
	return &runner{client: client, callers: map[string]*caller{}, watches: map[string]*watch{}}
}

// run runs a step and returns its outcome.
func (r *runner) run(ctx context.Context, step step) (outcome, error) {
	if step.Timeout != nil {
		limited, cancel := context.WithTimeout(ctx, seconds(*step.Timeout))
		defer cancel()
		// A watch outlives its step.
		if step.Do != "watch" {
			ctx = limited
		}
	}
	if step.RequestID != nil && *step.RequestID == "again" {
		step.RequestID = &r.requestID
	}
	switch step.Do {
	case "new_game":
		return r.newGame(ctx, step)
	case "game_kinds":
		return r.gameKinds(ctx)
	case "play":
		return r.play(ctx)
	case "next":
		return r.watches[step.Watch].next(step.Count)
	case "close":
		r.watches[step.Watch].stop()
		return outcome{}, nil
	case "close_client":
		return outcome{}, r.client.Close()
	}
	caller, err := r.caller(step)
	if err != nil {
		return nil, err
	}
	switch step.Do {
	case "state":
		return r.state(ctx, caller, step)
	case "legal_moves":
		return r.legalMoves(ctx, caller, step)
	case "apply":
		return r.apply(ctx, caller, step)
	case "score":
		return score(ctx, caller)
	case "history":
		return history(ctx, caller, step)
	case "delete":
		return outcome{}, caller.host.Delete(ctx)
	case "watch":
		return outcome{}, r.watch(ctx, caller, step)
	default:
		return nil, fmt.Errorf("unknown step %q", step.Do)
	}
}

// stopWatches ends all watches.
func (r *runner) stopWatches() {
	for _, watch := range r.watches {
		watch.stop()
	}
}

func (r *runner) rememberRequestID(failure *sodafountain.Error) {
	if id := failure.RequestID(); id != "" {
		r.requestID = id
	}
}

func (r *runner) newGame(ctx context.Context, step step) (outcome, error) {
	options := &pb.Options{}
	if err := protojson.Unmarshal(step.Options, options); err != nil {
		return nil, err
	}
	var more []sodafountain.NewGameOption
	if step.Seed != nil {
		more = append(more, sodafountain.WithSeed(step.Seed))
	}
	if step.Sealed {
		more = append(more, sodafountain.Sealed())
	}
	if step.Visibility != "" {
		visibility, known := pb.Visibility_value[step.Visibility]
		if !known {
			return nil, fmt.Errorf("unknown visibility %q", step.Visibility)
		}
		more = append(more, sodafountain.WithVisibility(pb.Visibility(visibility)))
	}
	if step.RequestID != nil {
		more = append(more, sodafountain.WithRequestID(*step.RequestID))
	}
	game, err := r.client.NewGame(ctx, options, step.Seats, more...)
	if err != nil {
		return nil, err
	}
	r.game, r.awaiting = game, game.State.GetAwaitingSeats()
	token, err := r.token("spectator")
	if err != nil {
		return nil, err
	}
	spectator, err := r.newCaller("spectator", game.ID, token)
	if err != nil {
		return nil, err
	}
	r.callers = map[string]*caller{"host": {host: game.Host}, "spectator": spectator}
	for number, seat := range game.Seats {
		r.callers["seat "+strconv.Itoa(number)] = &caller{seat: seat}
	}
	result := summary(game.State)
	result["seats"] = len(game.Seats)
	return result, nil
}

func (r *runner) gameKinds(ctx context.Context) (outcome, error) {
	kinds, err := r.client.GameKinds(ctx)
	if err != nil {
		return nil, err
	}
	titles := []string{}
	for _, kind := range kinds {
		titles = append(titles, kind.GetTitle())
	}
	return outcome{"kinds": titles}, nil
}

func (r *runner) state(ctx context.Context, caller *caller, step step) (outcome, error) {
	var options []sodafountain.StateOption
	if step.LegalMoves {
		options = append(options, sodafountain.WithLegalMoves())
	}
	state, err := caller.viewer(step).State(ctx, options...)
	if err != nil {
		return nil, err
	}
	caller.legalMoves, r.awaiting = state.GetLegalMoves(), state.GetAwaitingSeats()
	result := summary(state)
	result["viewer"], result["moves"] = state.ViewerSeat, len(state.GetLegalMoves())
	return result, nil
}

func (r *runner) legalMoves(ctx context.Context, caller *caller, step step) (outcome, error) {
	legal, err := caller.player(step).LegalMoves(ctx)
	if err != nil {
		return nil, err
	}
	caller.legalMoves = legal.GetMoves()
	result := summary(legal)
	result["moves"], result["prompt"] = len(legal.GetMoves()), legal.GetPrompt()
	return result, nil
}

func (r *runner) apply(ctx context.Context, caller *caller, step step) (outcome, error) {
	move, err := caller.move(step.Move)
	if err != nil {
		return nil, err
	}
	var options []sodafountain.ApplyOption
	if step.Etag != nil {
		options = append(options, sodafountain.WithEtag(*step.Etag))
	}
	if step.LegalMoves {
		options = append(options, sodafountain.WithLegalMoves())
	}
	if step.RequestID != nil {
		options = append(options, sodafountain.WithRequestID(*step.RequestID))
	}
	response, err := caller.player(step).Apply(ctx, move, options...)
	if err != nil {
		return nil, err
	}
	caller.legalMoves, r.awaiting = response.GetState().GetLegalMoves(), response.GetState().GetAwaitingSeats()
	result := summary(response.GetState())
	result["committed"], result["repeated"] = response.GetCommittedVersion(), response.GetRepeatedRequest()
	result["events"] = len(response.GetEvents())
	return result, nil
}

func (r *runner) play(ctx context.Context) (outcome, error) {
	moves, version := 0, int64(0)
	for len(r.awaiting) > 0 {
		seat := r.game.Seats[r.awaiting[0]]
		legal, err := seat.LegalMoves(ctx)
		if err != nil {
			return nil, err
		}
		response, err := seat.Apply(ctx, legal.GetMoves()[0])
		if err != nil {
			return nil, err
		}
		moves, version = moves+1, response.GetState().GetVersion()
		r.awaiting = response.GetState().GetAwaitingSeats()
	}
	return outcome{"moves": moves, "version": version}, nil
}

func score(ctx context.Context, caller *caller) (outcome, error) {
	standings, err := caller.viewer(step{}).Score(ctx)
	if err != nil {
		return nil, err
	}
	return outcome{
		"version":  standings.GetVersion(),
		"finished": standings.GetFinished(),
		"note":     standings.GetNote(),
	}, nil
}

func history(ctx context.Context, caller *caller, step step) (outcome, error) {
	history, err := caller.viewer(step).History(ctx)
	if err != nil {
		return nil, err
	}
	moves := 0
	for _, entry := range history.GetEntries() {
		if entry.GetMove() != nil {
			moves++
		}
	}
	return outcome{
		"entries": len(history.GetEntries()),
		"moves":   moves,
		"seats":   history.GetSeatCount(),
		"status":  history.GetStatus().String(),
	}, nil
}

// summary returns the common part of all outcomes about a game.
func summary(response interface {
	GetVersion() int64
	GetAwaitingSeats() []int32
}) outcome {
	awaiting := append([]int32{}, response.GetAwaitingSeats()...)
	return outcome{"version": response.GetVersion(), "awaiting": awaiting}
}

// move returns the move of a step: JSON, or the index of a move in the latest legal moves.
func (c *caller) move(choice json.RawMessage) (proto.Message, error) {
	var index int
	if json.Unmarshal(choice, &index) == nil {
		if index >= len(c.legalMoves) {
			return nil, fmt.Errorf("move must be below %d, the number of legal moves, not %d", len(c.legalMoves), index)
		}
		return c.legalMoves[index], nil
	}
	move := &pb.Move{}
	return move, protojson.Unmarshal(choice, move)
}
