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

// What a step shows whose game has yet to be made.
const noToken = "no-token"

// table is where a scenario is played: its client, its last game, and who has sat down there.
type table struct {
	client  *sodafountain.Client
	game    *sodafountain.Game
	callers map[string]*caller
	watches map[string]*watch
	// The seats that the last state awaits.
	awaiting  []int32
	requestID string
}

func newTable(client *sodafountain.Client) *table {
	return &table{client: client, callers: map[string]*caller{}, watches: map[string]*watch{}}
}

// do does a step and returns its outcome.
func (t *table) do(ctx context.Context, step step) (outcome, error) {
	if step.Timeout != nil {
		limited, cancel := context.WithTimeout(ctx, seconds(*step.Timeout))
		defer cancel()
		// A watch outlives its step.
		if step.Do != "watch" {
			ctx = limited
		}
	}
	if step.RequestID != nil && *step.RequestID == "again" {
		step.RequestID = &t.requestID
	}
	switch step.Do {
	case "new_game":
		return t.newGame(ctx, step)
	case "game_kinds":
		return t.gameKinds(ctx)
	case "play":
		return t.play(ctx)
	case "next":
		return t.watches[step.Watch].next(step.Count)
	case "close":
		t.watches[step.Watch].stop()
		return outcome{}, nil
	case "close_client":
		return outcome{}, t.client.Close()
	}
	caller, err := t.caller(step)
	if err != nil {
		return nil, err
	}
	switch step.Do {
	case "state":
		return t.state(ctx, caller, step)
	case "legal_moves":
		return t.legalMoves(ctx, caller, step)
	case "apply":
		return t.apply(ctx, caller, step)
	case "score":
		return score(ctx, caller)
	case "history":
		return history(ctx, caller)
	case "delete":
		return outcome{}, caller.host.Delete(ctx)
	case "watch":
		return outcome{}, t.watch(ctx, caller, step)
	default:
		return nil, fmt.Errorf("%q is nothing that this driver does", step.Do)
	}
}

// leave ends what is still under way.
func (t *table) leave() {
	for _, watch := range t.watches {
		watch.stop()
	}
}

func (t *table) noteFailure(failure *sodafountain.Error) {
	if id := failure.RequestID(); id != "" {
		t.requestID = id
	}
}

func (t *table) newGame(ctx context.Context, step step) (outcome, error) {
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
	if step.RequestID != nil {
		more = append(more, sodafountain.WithRequestID(*step.RequestID))
	}
	game, err := t.client.NewGame(ctx, options, step.Seats, more...)
	if err != nil {
		return nil, err
	}
	t.game, t.awaiting = game, game.State.GetAwaitingSeats()
	t.callers = map[string]*caller{"host": {host: game.Host}}
	for number, seat := range game.Seats {
		t.callers["seat "+strconv.Itoa(number)] = &caller{seat: seat}
	}
	told := shown(game.State)
	told["seats"] = len(game.Seats)
	return told, nil
}

func (t *table) gameKinds(ctx context.Context) (outcome, error) {
	kinds, err := t.client.GameKinds(ctx)
	if err != nil {
		return nil, err
	}
	titles := []string{}
	for _, kind := range kinds {
		titles = append(titles, kind.GetTitle())
	}
	return outcome{"kinds": titles}, nil
}

func (t *table) state(ctx context.Context, caller *caller, step step) (outcome, error) {
	var options []sodafountain.StateOption
	if step.LegalMoves {
		options = append(options, sodafountain.WithLegalMoves())
	}
	state, err := caller.viewer(step).State(ctx, options...)
	if err != nil {
		return nil, err
	}
	caller.listed, t.awaiting = state.GetLegalMoves(), state.GetAwaitingSeats()
	told := shown(state)
	told["viewer"], told["moves"] = state.ViewerSeat, len(state.GetLegalMoves())
	return told, nil
}

func (t *table) legalMoves(ctx context.Context, caller *caller, step step) (outcome, error) {
	legal, err := caller.player(step).LegalMoves(ctx)
	if err != nil {
		return nil, err
	}
	caller.listed = legal.GetMoves()
	told := shown(legal)
	told["moves"], told["prompt"] = len(legal.GetMoves()), legal.GetPrompt()
	return told, nil
}

func (t *table) apply(ctx context.Context, caller *caller, step step) (outcome, error) {
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
	answer, err := caller.player(step).Apply(ctx, move, options...)
	if err != nil {
		return nil, err
	}
	caller.listed, t.awaiting = answer.GetState().GetLegalMoves(), answer.GetState().GetAwaitingSeats()
	told := shown(answer.GetState())
	told["committed"], told["repeated"] = answer.GetCommittedVersion(), answer.GetRepeatedRequest()
	told["events"] = len(answer.GetEvents())
	return told, nil
}

func (t *table) play(ctx context.Context) (outcome, error) {
	moves, version := 0, int64(0)
	for len(t.awaiting) > 0 {
		seat := t.game.Seats[t.awaiting[0]]
		legal, err := seat.LegalMoves(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := seat.Apply(ctx, legal.GetMoves()[0])
		if err != nil {
			return nil, err
		}
		moves, version = moves+1, answer.GetState().GetVersion()
		t.awaiting = answer.GetState().GetAwaitingSeats()
	}
	return outcome{"moves": moves, "version": version}, nil
}

func score(ctx context.Context, caller *caller) (outcome, error) {
	standings, err := caller.viewer(step{}).Score(ctx)
	if err != nil {
		return nil, err
	}
	return outcome{"version": standings.GetVersion(), "final": standings.GetFinal(), "note": standings.GetNote()}, nil
}

func history(ctx context.Context, caller *caller) (outcome, error) {
	history, err := caller.viewer(step{}).History(ctx)
	if err != nil {
		return nil, err
	}
	return outcome{"entries": len(history.GetEntries()), "seats": history.GetSeatCount()}, nil
}

// shown is what every answer about a game tells.
func shown(about interface {
	GetVersion() int64
	GetAwaitingSeats() []int32
}) outcome {
	awaiting := append([]int32{}, about.GetAwaitingSeats()...)
	return outcome{"version": about.GetVersion(), "awaiting": awaiting}
}

// move is the move of a step: one that was listed last, by its index, or one in JSON.
func (c *caller) move(given json.RawMessage) (proto.Message, error) {
	var index int
	if json.Unmarshal(given, &index) == nil {
		if index >= len(c.listed) {
			return nil, fmt.Errorf("%d moves were listed, and not one with the index %d", len(c.listed), index)
		}
		return c.listed[index], nil
	}
	move := &pb.Move{}
	return move, protojson.Unmarshal(given, move)
}
