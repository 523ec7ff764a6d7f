package sodafountain

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Seat is a seat of a game, with its own token or that of its host.
//
// A seat remembers the open decision in the latest response or update that it received, and [Seat.Apply] answers that
// decision. The service rejects a move for a decision that is no longer open with [ReasonStaleEtag]. Goroutines that share
// a seat should pass the etag.
type Seat struct {
	viewer
}

// Number returns the number of the seat, from 0. It is known for the seats of a new game and of a [Host]; for other seats
// after the first response with a state.
func (s *Seat) Number() (number int32, known bool) {
	s.info.mu.Lock()
	defer s.info.mu.Unlock()
	if s.info.number == nil {
		return 0, false
	}
	return *s.info.number, true
}

// LegalMoves returns every move that the rules allow the seat now, each once. The list is empty if the seat is not awaited.
//
// It fails with [ReasonGameNotFound] if the game does not exist, with [ReasonTokenInvalid] if the token is invalid, and
// with [ReasonWrongSeat] if the token is not for this game.
func (s *Seat) LegalMoves(ctx context.Context) (*pb.LegalMovesResponse, error) {
	request := &pb.LegalMovesRequest{GameId: s.gameID, Seat: s.seat}
	legal, err := invoke(ctx, s.client, call{rpc: "LegalMoves", gameID: s.gameID, token: s.token}, s.client.service.LegalMoves, request)
	if err != nil {
		return nil, err
	}
	s.info.remember(nil, newDecision(legal.GetVersion(), legal.GetEtag(), len(legal.GetMoves()) > 0), false)
	return legal, nil
}

// Apply applies a move: a LegalMove, a Move, or the move message of a kind, such as SodaJerkMove.
//
// It fails with [ReasonIllegalMove] if the rules do not allow the move now, with [ReasonNotYourTurn] if the seat is not
// awaited, with [ReasonGameFinished], with [ReasonStaleEtag] if another decision is open, with [ReasonContention] if
// moves of other seats won every race, with [ReasonUnconfirmed] if it is unknown whether the move was stored (retry
// with the RequestID of the error), with [ReasonCommitmentChanged] if the response has another commitment to the seed
// (the move may have been stored), and with [ReasonArgument] if the message is not a move.
func (s *Seat) Apply(ctx context.Context, move proto.Message, options ...ApplyOption) (*pb.ApplyMoveResponse, error) {
	var settings applySettings
	for _, option := range options {
		option.apply(&settings)
	}
	wrapped, problem := toMove(move)
	if problem != nil {
		return nil, problem
	}
	id := requestIDOrNew(settings.requestID)
	request := &pb.ApplyMoveRequest{
		GameId:            s.gameID,
		Seat:              s.seat,
		Move:              wrapped,
		RequestId:         id(),
		IncludeLegalMoves: settings.legalMoves,
	}
	if settings.etag != nil {
		request.Etag = *settings.etag
	} else {
		request.Etag = s.info.etag()
	}
	applyMove := call{rpc: "ApplyMove", gameID: s.gameID, token: s.token, requestID: id}
	response, err := invoke(ctx, s.client, applyMove, s.client.service.ApplyMove, request)
	if err != nil {
		return nil, err
	}
	if problem := s.remember(response.GetState(), false); problem != nil {
		problem.requestID = id
		return nil, problem
	}
	return response, nil
}

// String returns the number of the seat and the game id, without the token.
func (s *Seat) String() string {
	if number, known := s.Number(); known {
		return fmt.Sprintf("seat %d of game %s", number, s.gameID)
	}
	return fmt.Sprintf("seat ? of game %s", s.gameID)
}
