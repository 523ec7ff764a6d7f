package sodafountain

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Seat is a seat of a game, held with its own token or its host's.
//
// It remembers which decision it saw open last, in any answer to it and in the updates of its watches (but for those that
// come later than a newer answer), and [Seat.Apply] answers that one: a move that was chosen for a decision that is no longer
// open is refused for [ReasonStaleEtag]. Goroutines that play the same seat should name the etag.
type Seat struct {
	viewer
}

// Number is the number of the seat, from 0. It is known of the seats of a new game and of a [Host], and otherwise after
// the first state that was told.
func (s *Seat) Number() (number int32, known bool) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if s.memory.number == nil {
		return 0, false
	}
	return *s.memory.number, true
}

// LegalMoves lists every move that the rules allow the seat now, each exactly once: none while it is not awaited.
//
// It fails for [ReasonGameNotFound] where there is no such game (any more), for [ReasonTokenInvalid] where the token is not
// good, and for [ReasonWrongSeat] where it is not for this game.
func (s *Seat) LegalMoves(ctx context.Context) (*pb.LegalMovesResponse, error) {
	request := &pb.LegalMovesRequest{GameId: s.gameID, Seat: s.seat}
	legal, err := invoke(ctx, s.client, call{rpc: "LegalMoves", token: s.token}, s.client.service.LegalMoves, request)
	if err != nil {
		return nil, err
	}
	s.memory.note(nil, sight{legal.GetVersion(), legal.GetEtag(), len(legal.GetMoves()) > 0}, false)
	return legal, nil
}

// Apply makes a move: one of the legal ones, a Move, or a kind's own message such as SodaJerkMove.
//
// It fails for [ReasonIllegalMove] where the rules forbid it now, for [ReasonNotYourTurn] where nothing is awaited from the
// seat, for [ReasonGameFinished], for [ReasonStaleEtag] where another decision is open by now, for [ReasonContention] where
// moves of others won every race, for [ReasonUnconfirmed] where it is not known whether the move was made (ask again with
// the error's RequestID), and for [ReasonArgument] where it is no move message.
func (s *Seat) Apply(ctx context.Context, move proto.Message, options ...ApplyOption) (*pb.ApplyMoveResponse, error) {
	var settings applySettings
	for _, option := range options {
		option.apply(&settings)
	}
	whole, problem := asMove(move)
	if problem != nil {
		return nil, problem
	}
	id := requestIDOr(settings.requestID)
	request := &pb.ApplyMoveRequest{
		GameId:            s.gameID,
		Seat:              s.seat,
		Move:              whole,
		RequestId:         id(),
		IncludeLegalMoves: settings.legalMoves,
	}
	if settings.etag != nil {
		request.Etag = *settings.etag
	} else {
		request.Etag = s.memory.etag()
	}
	about := call{rpc: "ApplyMove", token: s.token, requestID: id}
	answer, err := invoke(ctx, s.client, about, s.client.service.ApplyMove, request)
	if err != nil {
		return nil, err
	}
	s.note(answer.GetState(), false)
	return answer, nil
}

// String names the seat and its game, without its token.
func (s *Seat) String() string {
	if number, known := s.Number(); known {
		return fmt.Sprintf("seat %d of game %s", number, s.gameID)
	}
	return fmt.Sprintf("seat ? of game %s", s.gameID)
}
