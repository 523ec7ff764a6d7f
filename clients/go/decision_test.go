package sodafountain

import (
	"context"
	"testing"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// awaiting returns a state in which seat 0 is awaited.
func awaiting(version int64, etag string) *pb.GameState {
	number := int32(0)
	return &pb.GameState{ViewerSeat: &number, AwaitingSeats: []int32{0}, Version: version, Etag: etag}
}

func snapshotOf(state *pb.GameState) *pb.WatchGameResponse {
	return &pb.WatchGameResponse{Item: &pb.WatchGameResponse_Snapshot{Snapshot: state}}
}

func updateOf(state *pb.GameState) *pb.WatchGameResponse {
	return &pb.WatchGameResponse{Item: &pb.WatchGameResponse_Update{Update: &pb.WatchUpdate{State: state}}}
}

func TestALateUpdateDoesNotReplaceANewerDecision(t *testing.T) {
	for name, one := range map[string]struct {
		// The states of calls before and after the watch; nil for no call.
		before, after *pb.GameState
		message       *pb.WatchGameResponse
		want          string
	}{
		"a late update is ignored":                         {before: awaiting(7, "7"), message: updateOf(awaiting(3, "3")), want: "7"},
		"a late update without an awaited seat is ignored": {before: awaiting(7, "7"), message: updateOf(&pb.GameState{Version: 3, ViewerSeat: new(int32)}), want: "7"},
		"an update of the same version is remembered":      {before: awaiting(7, "7"), message: updateOf(awaiting(7, "8")), want: "8"},
		"a newer update is remembered":                     {before: awaiting(7, "7"), message: updateOf(awaiting(8, "8")), want: "8"},
		"the first update is remembered":                   {message: updateOf(awaiting(3, "3")), want: "3"},
		"a snapshot is always remembered":                  {before: awaiting(7, "7"), message: snapshotOf(awaiting(3, "3")), want: "3"},
		"a response is always remembered": {
			before: awaiting(7, "7"), message: updateOf(awaiting(8, "8")), after: awaiting(3, "3"), want: "3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var current *pb.GameState
			var applied string
			service := streams(&streamLog{}, sends(one.message, over))
			service.getGame = func(context.Context, *pb.GetGameRequest) (*pb.GetGameResponse, error) {
				return &pb.GetGameResponse{State: current}, nil
			}
			service.apply = func(_ context.Context, request *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error) {
				applied = request.GetEtag()
				return &pb.ApplyMoveResponse{}, nil
			}
			withFake(t, service, func(t *testing.T, client *Client) {
				seat := seatOf(t, client)
				getState := func(state *pb.GameState) {
					if state == nil {
						return
					}
					current = state
					if _, err := seat.State(t.Context()); err != nil {
						t.Error(err)
					}
				}
				getState(one.before)
				for _, err := range seat.Watch(t.Context()) {
					if err != nil {
						t.Error(err)
					}
				}
				getState(one.after)
				if _, err := seat.Apply(t.Context(), &pb.SodaJerkMove{}); err != nil || applied != one.want {
					t.Errorf("the move answers %q, want %q: %v", applied, one.want, err)
				}
			})
		})
	}
}

func TestALateUpdateDoesNotReplaceTheEtagOfLegalMoves(t *testing.T) {
	var applied string
	service := streams(&streamLog{}, sends(updateOf(awaiting(3, "3")), over))
	service.legalMoves = func(context.Context, *pb.LegalMovesRequest) (*pb.LegalMovesResponse, error) {
		return &pb.LegalMovesResponse{Version: 7, Etag: "7", Moves: []*pb.LegalMove{{}}}, nil
	}
	service.apply = func(_ context.Context, request *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error) {
		applied = request.GetEtag()
		return &pb.ApplyMoveResponse{State: awaiting(8, "8")}, nil
	}
	withFake(t, service, func(t *testing.T, client *Client) {
		host, err := client.Host("game", "token")
		if err != nil {
			t.Fatal(err)
		}
		// A response for another seat changes nothing for this one.
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
				t.Errorf("the move answers %q, want %q: %v", applied, want, err)
			}
			if want == "3" {
				if _, err := host.Seat(0).LegalMoves(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
