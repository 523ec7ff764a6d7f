package sodafountain

import (
	"context"
	"testing"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// decision is a state in which seat 0 is awaited; its etag is the word.
func decision(version int64, etag string) *pb.GameState {
	number := int32(0)
	return &pb.GameState{ViewerSeat: &number, AwaitingSeats: []int32{0}, Version: version, Etag: etag}
}

func snapshotOf(state *pb.GameState) *pb.WatchGameResponse {
	return &pb.WatchGameResponse{Item: &pb.WatchGameResponse_Snapshot{Snapshot: state}}
}

func updateOf(state *pb.GameState) *pb.WatchGameResponse {
	return &pb.WatchGameResponse{Item: &pb.WatchGameResponse_Update{Update: &pb.WatchUpdate{State: state}}}
}

func TestALateUpdateDoesNotHideANewerDecision(t *testing.T) {
	for name, one := range map[string]struct {
		// What a call answers before each message of the watch, and after the last; nil where none is made.
		before, after *pb.GameState
		message       *pb.WatchGameResponse
		want          string
	}{
		"an update that was on its way is not taken": {before: decision(7, "7"), message: updateOf(decision(3, "3")), want: "7"},
		"nor one in which nothing is awaited":        {before: decision(7, "7"), message: updateOf(&pb.GameState{Version: 3, ViewerSeat: new(int32)}), want: "7"},
		"an update of the same version is taken":     {before: decision(7, "7"), message: updateOf(decision(7, "8")), want: "8"},
		"a newer update is taken":                    {before: decision(7, "7"), message: updateOf(decision(8, "8")), want: "8"},
		"the first update is taken":                  {message: updateOf(decision(3, "3")), want: "3"},
		"a snapshot is always taken":                 {before: decision(7, "7"), message: snapshotOf(decision(3, "3")), want: "3"},
		"an answer is always taken": {
			before: decision(7, "7"), message: updateOf(decision(8, "8")), after: decision(3, "3"), want: "3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var answer *pb.GameState
			var applied string
			service := streams(&record{}, sends(one.message, over))
			service.getGame = func(context.Context, *pb.GetGameRequest) (*pb.GetGameResponse, error) {
				return &pb.GetGameResponse{State: answer}, nil
			}
			service.apply = func(_ context.Context, request *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error) {
				applied = request.GetEtag()
				return &pb.ApplyMoveResponse{}, nil
			}
			withFake(t, service, func(t *testing.T, client *Client) {
				seat := seatOf(t, client)
				ask := func(told *pb.GameState) {
					if told == nil {
						return
					}
					answer = told
					if _, err := seat.State(t.Context()); err != nil {
						t.Error(err)
					}
				}
				ask(one.before)
				for _, err := range seat.Watch(t.Context()) {
					if err != nil {
						t.Error(err)
					}
				}
				ask(one.after)
				if _, err := seat.Apply(t.Context(), &pb.SodaJerkMove{}); err != nil || applied != one.want {
					t.Errorf("the move answers %q, not %q: %v", applied, one.want, err)
				}
			})
		})
	}
}

func TestLegalMovesAreNewerThanALateUpdate(t *testing.T) {
	var applied string
	service := streams(&record{}, sends(updateOf(decision(3, "3")), over))
	service.legalMoves = func(context.Context, *pb.LegalMovesRequest) (*pb.LegalMovesResponse, error) {
		return &pb.LegalMovesResponse{Version: 7, Etag: "7", Moves: []*pb.LegalMove{{}}}, nil
	}
	service.apply = func(_ context.Context, request *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error) {
		applied = request.GetEtag()
		return &pb.ApplyMoveResponse{State: decision(8, "8")}, nil
	}
	withFake(t, service, func(t *testing.T, client *Client) {
		host, err := client.Host("game", "token")
		if err != nil {
			t.Fatal(err)
		}
		// Another seat's answers are none of this one's.
		if _, err := host.Seat(1).LegalMoves(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"3", "7", "8"} {
			for _, err := range host.Seat(0).Watch(t.Context()) {
				if err != nil {
					t.Error(err)
				}
			}
			if _, err := host.Seat(0).Apply(t.Context(), &pb.SodaJerkMove{}); err != nil || applied != want {
				t.Errorf("the move answers %q, not %q: %v", applied, want, err)
			}
			if want == "3" {
				if _, err := host.Seat(0).LegalMoves(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
