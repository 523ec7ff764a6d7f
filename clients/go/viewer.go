package sodafountain

import (
	"context"
	"slices"
	"sync"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// viewer has the common methods of a seat, a spectator and a host.
type viewer struct {
	client *Client
	gameID string
	// Nil for a spectator.
	token secret
	// The seat in requests. Nil for a spectator's view, and for a seat token, which determines the seat.
	seat *int32
	// Nil for a spectator and a host.
	info *seatInfo
}

// seatInfo is the information about a seat in the responses and updates received so far.
type seatInfo struct {
	mu sync.Mutex
	// Nil before the first response.
	number *int32
	latest decision
}

// decision is the decision of a seat at one version of the game.
type decision struct {
	version int64
	// Empty if the seat is not awaited: its next move then answers any decision.
	etag string
}

// newDecision returns the decision of a seat; isOpen is whether the seat is awaited.
func newDecision(version int64, etag string, isOpen bool) decision {
	if !isOpen {
		etag = ""
	}
	return decision{version, etag}
}

// GameID returns the id of the game, which is public.
func (v *viewer) GameID() string {
	return v.gameID
}

// State returns the state of the game, as the seat sees it, or as a spectator sees it for spectators and hosts.
//
// It fails with [ReasonGameNotFound] if the game does not exist, with [ReasonTokenInvalid] if the token is invalid, and
// with [ReasonWrongSeat] if the token is not for this game.
func (v *viewer) State(ctx context.Context, options ...StateOption) (*pb.GameState, error) {
	var settings stateSettings
	for _, option := range options {
		option.state(&settings)
	}
	request := &pb.GetGameRequest{GameId: v.gameID, Seat: v.seat, IncludeLegalMoves: settings.legalMoves}
	response, err := invoke(ctx, v.client, call{rpc: "GetGame", token: v.token}, v.client.service.GetGame, request)
	if err != nil {
		return nil, err
	}
	v.remember(response.GetState(), false)
	return response.GetState(), nil
}

// Score returns the current score from public information; after the end of the game, the final score.
//
// It fails with [ReasonGameNotFound] if the game does not exist.
func (v *viewer) Score(ctx context.Context) (*pb.ScoreResponse, error) {
	request := &pb.ScoreRequest{GameId: v.gameID}
	return invoke(ctx, v.client, call{rpc: "Score", token: v.token}, v.client.service.Score, request)
}

// History returns the history of a finished game: options, seed, all moves and events.
//
// It fetches all pages. If ctx has no deadline, the timeout applies to each page. It fails with [ReasonNotFinished] if the
// game is not over, and with [ReasonGameNotFound] if it does not exist.
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

// remember stores the decision in a state. An update of a watch can arrive late, so it does not replace a newer decision. A
// response or a snapshot always does, because the store of the service may have lost changes.
func (v *viewer) remember(state *pb.GameState, fromUpdate bool) {
	if v.info == nil || state == nil || state.ViewerSeat == nil {
		return
	}
	number := state.GetViewerSeat()
	isOpen := slices.Contains(state.GetAwaitingSeats(), number)
	v.info.remember(&number, newDecision(state.GetVersion(), state.GetEtag(), isOpen), fromUpdate)
}

func (i *seatInfo) remember(number *int32, received decision, fromUpdate bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if number != nil {
		i.number = number
	}
	if fromUpdate && received.version < i.latest.version {
		return
	}
	i.latest = received
}

func (i *seatInfo) etag() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.latest.etag
}
