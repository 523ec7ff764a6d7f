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
	// Nil for a spectator without a token.
	token secret
	// The seat in requests. Nil for a spectator's view, and for a seat token, which determines the seat.
	seat *int32
	// Nil for a spectator and a host.
	info *seatInfo
	// Shared by a host and the seats of its game.
	commitment *commitment
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

// Commitment returns the commitment to the seed, 32 bytes, which is public; nil before the first state.
//
// It is that of the first state, or that of [WithCommitment]. If a later state or history has another one, the call or
// watch fails with [ReasonCommitmentChanged]. Save it with the token, and pass it to [WithCommitment] when the program
// restarts.
func (v *viewer) Commitment() []byte {
	return v.commitment.get()
}

// State returns the state of the game, as the seat sees it, or as a spectator sees it for spectators and hosts.
//
// It fails with [ReasonGameNotFound] if the game does not exist, with [ReasonTokenInvalid] if the token is invalid,
// with [ReasonWrongSeat] if the token is not for this game, and with [ReasonCommitmentChanged] if the state has another
// commitment to the seed than the first one.
func (v *viewer) State(ctx context.Context, options ...StateOption) (*pb.GameState, error) {
	var settings stateSettings
	for _, option := range options {
		option.state(&settings)
	}
	request := &pb.GetGameRequest{GameId: v.gameID, Seat: v.seat, IncludeLegalMoves: settings.legalMoves}
	response, err := invoke(ctx, v.client, call{rpc: "GetGame", gameID: v.gameID, token: v.token}, v.client.service.GetGame, request)
	if err != nil {
		return nil, err
	}
	if problem := v.remember(response.GetState(), false); problem != nil {
		return nil, problem
	}
	return response.GetState(), nil
}

// Score returns the current standings from public information; after the end of the game, the result.
//
// It fails with [ReasonGameNotFound] if the game does not exist.
func (v *viewer) Score(ctx context.Context) (*pb.ScoreResponse, error) {
	request := &pb.ScoreRequest{GameId: v.gameID}
	return invoke(ctx, v.client, call{rpc: "Score", gameID: v.gameID, token: v.token}, v.client.service.Score, request)
}

// History returns the history of the game so far, as the seat may know it, or as a spectator may know it for spectators
// and hosts.
//
// The history of an active game, and of a sealed one for ever, has the moves of the seat, and the events as the viewer
// may know them. The history of a finished game that is not sealed has the seed and every move and event. The client
// then checks that the seed is the one that was committed to, and belongs to this game.
//
// It fetches all pages. If ctx has no deadline, the timeout applies to each page. It fails with [ReasonGameNotFound] if
// the game does not exist, and with [ReasonCommitmentChanged] if the history does not match the commitment to the seed.
func (v *viewer) History(ctx context.Context) (*pb.GetHistoryResponse, error) {
	var history *pb.GetHistoryResponse
	for {
		request := &pb.GetHistoryRequest{GameId: v.gameID, Seat: v.seat, PageToken: history.GetNextPageToken()}
		page, err := invoke(ctx, v.client, call{rpc: "GetHistory", gameID: v.gameID, token: v.token}, v.client.service.GetHistory, request)
		if err != nil {
			return nil, err
		}
		if history == nil {
			history = page
		} else {
			history.Entries = append(history.Entries, page.GetEntries()...)
			history.NextPageToken = page.GetNextPageToken()
		}
		if history.GetNextPageToken() == "" {
			break
		}
	}
	if problem := v.commitment.checkHistory(history); problem != nil {
		return nil, problem
	}
	return history, nil
}

// remember checks the commitment of a state, and stores the decision in the state. An update of a watch can arrive
// late, so it does not replace a newer decision. A response or a snapshot always does, because the store of the service
// may have lost changes.
func (v *viewer) remember(state *pb.GameState, fromUpdate bool) *Error {
	if problem := v.commitment.checkState(state); problem != nil {
		return problem
	}
	if v.info == nil || state == nil || state.ViewerSeat == nil {
		return nil
	}
	number := state.GetViewerSeat()
	isOpen := slices.Contains(state.GetAwaitingSeats(), number)
	v.info.remember(&number, newDecision(state.GetVersion(), state.GetEtag(), isOpen), fromUpdate)
	return nil
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
