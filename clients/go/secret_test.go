package sodafountain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

func TestNoPrintedValueContainsASecret(t *testing.T) {
	const hidden = "hidden-from-all"
	client, err := Connect("localhost:1", WithAPIKey(hidden))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	game := newGame(client, &pb.NewGameResponse{
		State: &pb.GameState{GameId: "game"}, HostToken: hidden, SeatTokens: []string{hidden, hidden}, SpectatorToken: hidden,
	})
	if game.HostToken() != hidden || game.SeatTokens()[1] != hidden || game.SpectatorToken() != hidden {
		t.Error("the tokens are missing")
	}
	seat, _ := client.Seat("game", hidden)
	host, _ := client.Host("game", hidden)
	spectator, _ := client.Spectator("game", WithSpectatorToken(hidden))
	failure := &Error{Reason: ReasonUnconfirmed, Message: "The result is unknown.", requestID: newSecret(hidden)}
	if failure.RequestID() != hidden {
		t.Error("the request id is missing")
	}
	for _, value := range []any{
		client, *client, game, *game, game.Seats, seat, host, host.Seat(1), spectator, *spectator,
		failure, *failure, WithAPIKey(hidden), WithRequestID(hidden), WithSpectatorToken(hidden), []any{seat, host, failure},
	} {
		var logged bytes.Buffer
		slog.New(slog.NewTextHandler(&logged, nil)).Info("test", "value", value)
		slog.New(slog.NewJSONHandler(&logged, nil)).Info("test", "value", value)
		encoded, _ := json.Marshal(value)
		formatted := fmt.Sprintf("%v %+v %#v %s %q %d %x", value, value, value, value, value, value, value)
		for _, text := range []string{formatted, logged.String(), string(encoded)} {
			if strings.Contains(text, hidden) || strings.Contains(text, fmt.Sprintf("%x", hidden)) {
				t.Errorf("%T is printed as %s", value, text)
			}
		}
	}
}

func TestStringsNameTheGame(t *testing.T) {
	client := connected(t)
	game := newGame(client, &pb.NewGameResponse{State: &pb.GameState{GameId: "abc"}, HostToken: "t", SeatTokens: []string{"t"}})
	for value, name := range map[fmt.Stringer]string{
		client: "client of localhost:1", game: "game abc", game.Host: "host of game abc", game.Seats[0]: "seat 0 of game abc",
		game.Host.Seat(3): "seat 3 of game abc", spectatorOf(t, client, "abc"): "spectator of game abc",
		seatOf(t, client): "seat ? of game game",
	} {
		if value.String() != name {
			t.Error(value)
		}
	}
}

func TestRequestIDsAreRandomUUIDs(t *testing.T) {
	pattern := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	ids := map[string]bool{}
	for range 100 {
		id := newRequestID()
		if !pattern.MatchString(id) {
			t.Error(id)
		}
		ids[id] = true
	}
	if len(ids) != 100 {
		t.Error("some ids are equal")
	}
}
