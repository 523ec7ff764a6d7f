package sodafountain

import (
	"context"
	"slices"
	"sync"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// viewer is somebody's hold on a game: what a seat, a spectator and a host have in common.
type viewer struct {
	client *Client
	gameID string
	// Nil for a spectator.
	token secret
	// What requests say of the seat: nil where the token says it, or where a spectator's view is asked for.
	seat *int32
	// Nil where no seat looks.
	memory *memory
}

// memory is what a seat has learned of itself from answers.
type memory struct {
	mu sync.Mutex
	// Nil while it is not known.
	number *int32
	// The etag of the decision that was open when the seat was last looked at; empty if none was. While nothing is
	// awaited from a seat its etag tags no decision: its next move means the one open by then.
	decision string
	// The version of the game in which that was so.
	version int64
}

// sight is what a seat was shown of its decision.
type sight struct {
	version int64
	etag    string
	// Whether the seat is awaited.
	open bool
}

// GameID returns the id of the game: public.
func (v *viewer) GameID() string {
	return v.gameID
}

// State shows the game: as a seat may see it, or as a spectator may, for spectators and hosts.
//
// It fails for [ReasonGameNotFound] where there is no such game (any more), for [ReasonTokenInvalid] where the token is not
// good, and for [ReasonWrongSeat] where it is not for this game.
func (v *viewer) State(ctx context.Context, options ...StateOption) (*pb.GameState, error) {
	var settings stateSettings
	for _, option := range options {
		option.state(&settings)
	}
	request := &pb.GetGameRequest{GameId: v.gameID, Seat: v.seat, IncludeLegalMoves: settings.legalMoves}
	answer, err := invoke(ctx, v.client, call{rpc: "GetGame", token: v.token}, v.client.service.GetGame, request)
	if err != nil {
		return nil, err
	}
	v.note(answer.GetState(), false)
	return answer.GetState(), nil
}

// Score tells the standings by public facts; at the end the result.
//
// It fails for [ReasonGameNotFound] where there is no such game (any more).
func (v *viewer) Score(ctx context.Context) (*pb.ScoreResponse, error) {
	request := &pb.ScoreRequest{GameId: v.gameID}
	return invoke(ctx, v.client, call{rpc: "Score", token: v.token}, v.client.service.Score, request)
}

// History reveals a finished game: options, seed, every move and event.
//
// All pages are fetched and put together; where ctx has no deadline, each has one of its own. It fails for
// [ReasonNotFinished] where the game goes on, and for [ReasonGameNotFound] where there is no such game (any more).
func (v *viewer) History(ctx context.Context) (*pb.GetHistoryResponse, error) {
	history := &pb.GetHistoryResponse{}
	for {
		request := &pb.GetHistoryRequest{GameId: v.gameID, PageToken: history.GetNextPageToken()}
		page, err := invoke(ctx, v.client, call{rpc: "GetHistory", token: v.token}, v.client.service.GetHistory, request)
		if err != nil {
			return nil, err
		}
		page.Entries = append(history.GetEntries(), page.GetEntries()...)
		history = page
		if history.GetNextPageToken() == "" {
			return history, nil
		}
	}
}

// note remembers which decision is open in a state. One that may be late, as an update of a watch may, is not taken where a
// newer one is known; the answer to a call and a snapshot are, also where the service's store lost what was newer.
func (v *viewer) note(state *pb.GameState, mayBeLate bool) {
	if v.memory == nil || state == nil || state.ViewerSeat == nil {
		return
	}
	number := state.GetViewerSeat()
	open := slices.Contains(state.GetAwaitingSeats(), number)
	v.memory.note(&number, sight{state.GetVersion(), state.GetEtag(), open}, mayBeLate)
}

func (m *memory) note(number *int32, seen sight, mayBeLate bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if number != nil {
		m.number = number
	}
	if mayBeLate && seen.version < m.version {
		return
	}
	m.version, m.decision = seen.version, ""
	if seen.open {
		m.decision = seen.etag
	}
}

func (m *memory) etag() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.decision
}
