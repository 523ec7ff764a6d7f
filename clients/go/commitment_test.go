package sodafountain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

const (
	changed = "The seed commitment of game game has changed."
	noMatch = "The history of game game does not match its seed commitment."
)

var (
	committed = bytes.Repeat([]byte{7}, 32)
	another   = make([]byte, 32)
	seed      = bytes.Repeat([]byte{0xab}, 32)
	text      = "sodafountain.v1\ngame game\nseats 3\n" +
		"options {\"sodaJerk\":{\"advanced\":true,\"copiesPerValue\":[3,3,3]}}\n" +
		"seed " + hex.EncodeToString(seed) + "\n"
)

// committedTo returns a state in which seat 0 is awaited, with a commitment.
func committedTo(commitment []byte) *pb.GameState {
	state := awaiting(1, "e")
	state.SeedCommitment = commitment
	return state
}

// states returns a service whose calls return the states in turn.
func states(each ...*pb.GameState) *fake {
	var mu sync.Mutex
	next := func() *pb.GameState {
		mu.Lock()
		defer mu.Unlock()
		state := each[0]
		each = each[1:]
		return state
	}
	return &fake{
		newGame: func(context.Context, *pb.NewGameRequest) (*pb.NewGameResponse, error) {
			return &pb.NewGameResponse{State: next(), SeatTokens: []string{"a", "b"}}, nil
		},
		getGame: func(context.Context, *pb.GetGameRequest) (*pb.GetGameResponse, error) {
			return &pb.GetGameResponse{State: next()}, nil
		},
		apply: func(_ context.Context, request *pb.ApplyMoveRequest) (*pb.ApplyMoveResponse, error) {
			state := next()
			state.Prompt = request.GetEtag()
			return &pb.ApplyMoveResponse{State: state}, nil
		},
	}
}

// histories returns a service that returns a history.
func histories(history *pb.GetHistoryResponse) *fake {
	return &fake{history: func(context.Context, *pb.GetHistoryRequest) (*pb.GetHistoryResponse, error) {
		return history, nil
	}}
}

// revealed returns the history of a finished game with a commitment text, and with the commitment to it.
func revealed(text string) *pb.GetHistoryResponse {
	hash := sha256.Sum256([]byte(text))
	kind := &pb.SodaJerkOptions{Advanced: true, CopiesPerValue: []int32{3, 3, 3}}
	return &pb.GetHistoryResponse{
		GameId:         "game",
		Options:        &pb.Options{Game: &pb.Options_SodaJerk{SodaJerk: kind}},
		SeatCount:      3,
		Status:         finished,
		SeedCommitment: hash[:],
		Seed:           seed,
		CommitmentText: text,
	}
}

// stateOf returns the state and its error, without the state.
func stateOf(t *testing.T, viewer interface {
	State(context.Context, ...StateOption) (*pb.GameState, error)
}) error {
	t.Helper()
	state, err := viewer.State(t.Context())
	if (state == nil) == (err == nil) {
		t.Errorf("a state beside an error, or neither: %v, %v", state, err)
	}
	return err
}

func wantCommitment(t *testing.T, want []byte, all ...interface{ Commitment() []byte }) {
	t.Helper()
	for _, one := range all {
		if found := one.Commitment(); !bytes.Equal(found, want) || (found == nil) != (want == nil) {
			t.Errorf("the commitment of %v is %x, not %x", one, found, want)
		}
	}
}

func TestAViewerKeepsTheCommitmentOfItsFirstState(t *testing.T) {
	withFake(t, states(committedTo([]byte{}), committedTo(committed)), func(t *testing.T, client *Client) {
		seat := seatOf(t, client)
		for range 2 {
			wantCommitment(t, nil, seat)
			if err := stateOf(t, seat); err != nil {
				t.Error(err)
			}
		}
		wantCommitment(t, committed, seat)
	})
}

func TestAnEmptyCommitmentIsNotKept(t *testing.T) {
	game := newGame(connected(t), &pb.NewGameResponse{State: committedTo([]byte{})})
	wantCommitment(t, nil, game, game.Host)
}

func TestALaterStateWithAnotherCommitmentIsAnError(t *testing.T) {
	for name, other := range map[string]*pb.GameState{
		"another": committedTo(another), "an empty one": committedTo(nil), "no state": nil,
	} {
		t.Run(name, func(t *testing.T) {
			service := states(committedTo(committed), other, committedTo(committed))
			withFake(t, service, func(t *testing.T, client *Client) {
				spectator := spectatorOf(t, client, "game")
				if err := stateOf(t, spectator); err != nil {
					t.Error(err)
				}
				failure := wantReason(t, stateOf(t, spectator), ReasonCommitmentChanged, changed)
				if failure.Code != codes.DataLoss || failure.RequestID() != "" {
					t.Errorf("%#v", failure)
				}
				wantCommitment(t, committed, spectator)
				if err := stateOf(t, spectator); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestTheAnswerToAMoveIsComparedAndItsErrorHasTheRequestID(t *testing.T) {
	withFake(t, states(committedTo(another)), func(t *testing.T, client *Client) {
		seat, err := client.Seat("game", "token", WithCommitment(committed))
		if err != nil {
			t.Fatal(err)
		}
		response, err := seat.Apply(t.Context(), &pb.SodaJerkMove{}, WithRequestID("r"))
		failure := wantReason(t, err, ReasonCommitmentChanged, changed)
		if failure.RequestID() != "r" || response != nil {
			t.Errorf("%q %v", failure.RequestID(), response)
		}
	})
}

func TestARejectedStateOpensNoDecision(t *testing.T) {
	service := states(committedTo(another), committedTo(committed))
	withFake(t, service, func(t *testing.T, client *Client) {
		seat, err := client.Seat("game", "token", WithCommitment(committed))
		if err != nil {
			t.Fatal(err)
		}
		wantReason(t, stateOf(t, seat), ReasonCommitmentChanged, changed)
		response, err := seat.Apply(t.Context(), &pb.SodaJerkMove{})
		if etag := response.GetState().GetPrompt(); err != nil || etag != "" {
			t.Errorf("the move answers %q: %v", etag, err)
		}
	})
}

func TestASavedCommitmentIsComparedWithTheFirstState(t *testing.T) {
	service := states(slices.Repeat([]*pb.GameState{committedTo(committed)}, 8)...)
	withFake(t, service, func(t *testing.T, client *Client) {
		for name, saved := range map[string][]byte{"": committed, changed: another} {
			given := bytes.Clone(saved)
			option := WithCommitment(given)
			given[0]++ // the option has a copy
			seat, err := client.Seat("game", "token", option)
			if err != nil {
				t.Fatal(err)
			}
			host, err := client.Host("game", "token", option)
			if err != nil {
				t.Fatal(err)
			}
			spectator, err := client.Spectator("game", option)
			if err != nil {
				t.Fatal(err)
			}
			wantCommitment(t, saved, seat, host, host.Seat(1), spectator)
			for _, err := range []error{
				stateOf(t, seat), stateOf(t, host), stateOf(t, host.Seat(1)), stateOf(t, spectator),
			} {
				if name == "" && err != nil {
					t.Error(err)
				} else if name != "" {
					wantReason(t, err, ReasonCommitmentChanged, name)
				}
			}
		}
	})
}

func TestTheHostAndTheSeatsOfANewGameShareItsCommitment(t *testing.T) {
	created := committedTo(committed)
	created.GameId = "game"
	service := states(created, committedTo(another), committedTo(another), committedTo(another))
	withFake(t, service, func(t *testing.T, client *Client) {
		game, err := client.NewGame(t.Context(), &pb.SodaJerkOptions{}, 2)
		if err != nil {
			t.Fatal(err)
		}
		wantCommitment(t, committed, game, game.Host, game.Seats[0], game.Seats[1], game.Host.Seat(1))
		for _, err := range []error{stateOf(t, game.Host), stateOf(t, game.Seats[1]), stateOf(t, game.Host.Seat(1))} {
			wantReason(t, err, ReasonCommitmentChanged, changed)
		}
	})
}

func TestAHostAndItsSeatsShareTheCommitmentOfTheFirstState(t *testing.T) {
	withFake(t, states(committedTo(committed), committedTo(another)), func(t *testing.T, client *Client) {
		host, err := client.Host("game", "token")
		if err != nil {
			t.Fatal(err)
		}
		seat := host.Seat(1)
		if err := stateOf(t, seat); err != nil {
			t.Error(err)
		}
		wantCommitment(t, committed, host, seat, host.Seat(0))
		wantReason(t, stateOf(t, host), ReasonCommitmentChanged, changed)
	})
}

func TestACallerCannotChangeTheCommitmentThatIsKept(t *testing.T) {
	withFake(t, states(committedTo(bytes.Clone(committed))), func(t *testing.T, client *Client) {
		seat := seatOf(t, client)
		state, err := seat.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		state.SeedCommitment[0]++
		seat.Commitment()[0]++
		wantCommitment(t, committed, seat)
	})
}

func TestAWatchKeepsTheCommitmentOfItsSnapshot(t *testing.T) {
	ended, replaced := committedTo(committed), committedTo(another)
	ended.Status, replaced.Status = finished, finished
	for name, messages := range map[string][]*pb.WatchGameResponse{
		"an update":                       {snapshotOf(committedTo(committed)), updateOf(committedTo(another)), over},
		"a later snapshot":                {snapshotOf(committedTo(committed)), snapshotOf(committedTo(another)), over},
		"an update after the last change": {snapshotOf(ended), updateOf(replaced), over},
	} {
		t.Run(name, func(t *testing.T) {
			var log streamLog
			withFake(t, streams(&log, sends(messages...)), func(t *testing.T, client *Client) {
				spectator, updates, last := spectatorOf(t, client, "game"), 0, error(nil)
				for update, err := range spectator.Watch(t.Context()) {
					if last = err; update != nil {
						updates++
						wantCommitment(t, committed, spectator)
					}
				}
				wantReason(t, last, ReasonCommitmentChanged, changed)
				if updates != 1 {
					t.Errorf("%d updates", updates)
				}
				// The watch does not retry.
				log.want(t, "")
			})
		})
	}
}

func TestAWatchComparesItsFirstStateWithTheCommitment(t *testing.T) {
	var log streamLog
	withFake(t, streams(&log, sends(snapshotOf(committedTo(another)), over)), func(t *testing.T, client *Client) {
		seat, err := client.Seat("game", "token", WithCommitment(committed))
		if err != nil {
			t.Fatal(err)
		}
		for update, err := range seat.Watch(t.Context()) {
			wantReason(t, err, ReasonCommitmentChanged, changed)
			if update != nil {
				t.Error("an update beside an error")
			}
		}
		if _, known := seat.Number(); known {
			t.Error("the rejected state is remembered")
		}
	})
}

func TestAHistoryThatRevealsNothingNeedsOnlyTheCommitment(t *testing.T) {
	for name, history := range map[string]*pb.GetHistoryResponse{
		"active": {Status: pb.GameStatus_GAME_STATUS_ACTIVE, SeedCommitment: committed},
		"sealed": {Status: finished, Sealed: true, SeedCommitment: committed},
	} {
		t.Run(name, func(t *testing.T) {
			withFake(t, histories(history), func(t *testing.T, client *Client) {
				for _, saved := range [][]byte{committed, another} {
					seat, err := client.Seat("game", "token", WithCommitment(saved))
					if err != nil {
						t.Fatal(err)
					}
					found, err := seat.History(t.Context())
					if bytes.Equal(saved, committed) {
						if err != nil || !proto.Equal(found, history) {
							t.Error(found, err)
						}
						continue
					}
					wantReason(t, err, ReasonCommitmentChanged, changed)
					if found != nil {
						t.Error("a history beside an error")
					}
				}
			})
		})
	}
}

func TestAHistoryIsComparedWithTheCommitmentOfTheFirstState(t *testing.T) {
	service := states(committedTo(committed))
	service.history = histories(revealed(text)).history
	withFake(t, service, func(t *testing.T, client *Client) {
		spectator := spectatorOf(t, client, "game")
		if err := stateOf(t, spectator); err != nil {
			t.Error(err)
		}
		_, err := spectator.History(t.Context())
		wantReason(t, err, ReasonCommitmentChanged, changed)
	})
}

func TestAHistoryAtTheFirstLookIsNotKept(t *testing.T) {
	withFake(t, histories(revealed(text)), func(t *testing.T, client *Client) {
		spectator := spectatorOf(t, client, "game")
		history, err := spectator.History(t.Context())
		if err != nil || history.GetCommitmentText() != text {
			t.Error(history, err)
		}
		wantCommitment(t, nil, spectator)
	})
}

func TestARevealedSeedMustBeThatOfTheCommitmentAndTheGame(t *testing.T) {
	// edited returns a history with another field.
	edited := func(edit func(*pb.GetHistoryResponse)) *pb.GetHistoryResponse {
		history := revealed(text)
		edit(history)
		return history
	}
	// replaced returns a history with another text, and with the commitment to it.
	replaced := func(old, other string) *pb.GetHistoryResponse {
		if strings.Count(text, old) != 1 {
			t.Fatalf("%q is not once in the text", old)
		}
		return revealed(strings.Replace(text, old, other, 1))
	}
	const options = `{"sodaJerk":{"advanced":true,"copiesPerValue":[3,3,3]}}`
	withoutSeed := revealed(strings.Replace(text, hex.EncodeToString(seed), "", 1))
	withoutSeed.Seed = nil
	upperCase := revealed(strings.Replace(text, hex.EncodeToString(seed), strings.ToUpper(hex.EncodeToString(seed)), 1))
	otherGame := replaced("game game", "game other")
	otherGame.GameId = "other"
	withoutOptions := replaced("options "+options+"\n", "")
	withoutOptions.Options = nil
	for name, history := range map[string]*pb.GetHistoryResponse{
		"another text":                   edited(func(h *pb.GetHistoryResponse) { h.CommitmentText += "more x\n" }),
		"no text":                        edited(func(h *pb.GetHistoryResponse) { h.CommitmentText = "" }),
		"an empty text":                  revealed(""),
		"a commitment to another text":   edited(func(h *pb.GetHistoryResponse) { h.SeedCommitment = another }),
		"another id in the history":      edited(func(h *pb.GetHistoryResponse) { h.GameId = "other" }),
		"another number of seats":        edited(func(h *pb.GetHistoryResponse) { h.SeatCount = 2 }),
		"another seed":                   edited(func(h *pb.GetHistoryResponse) { h.Seed = another }),
		"no seed":                        withoutSeed,
		"a seed in upper case":           upperCase,
		"other options":                  edited(func(h *pb.GetHistoryResponse) { h.Options.GetSodaJerk().Advanced = false }),
		"no options in the history":      edited(func(h *pb.GetHistoryResponse) { h.Options = nil }),
		"no options at all":              withoutOptions,
		"another heading":                replaced("sodafountain.v1", "sodafountain.v2"),
		"another id in the text":         replaced("game game", "game other"),
		"a history of another game":      otherGame,
		"options that are not JSON":      replaced("options {", "options {{"),
		"options after others":           replaced(options, `["sodaJerk"], `+options),
		"options of another type":        replaced(options, `{"sodaJerk":1}`),
		"options with a value of a type": replaced(options, `{"sodaJerk":{"advanced":"yes"}}`),
		"options that are null":          replaced(options, "null"),
		"options that are a list":        replaced(options, "[]"),
		"a missing line":                 replaced("seats 3\n", ""),
		"a repeated line":                replaced("seats 3\n", "seats 2\nseats 3\n"),
		"seats with a leading zero":      replaced("seats 3\n", "seats 03\n"),
		"no line feed at the end":        revealed(strings.TrimSuffix(text, "\n")),
		"other line ends":                revealed(strings.ReplaceAll(text, "\n", "\r\n")),
	} {
		t.Run(name, func(t *testing.T) {
			withFake(t, histories(history), func(t *testing.T, client *Client) {
				_, err := spectatorOf(t, client, "game").History(t.Context())
				wantReason(t, err, ReasonCommitmentChanged, noMatch)
			})
		})
	}
}

func TestOptionsOfALaterReleaseAreAccepted(t *testing.T) {
	// later returns options with a number in a field.
	later := func(options *pb.Options, field protowire.Number, value uint64) *pb.Options {
		inner := protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), value)
		soda := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
		if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(soda, options); err != nil {
			t.Fatal(err)
		}
		return options
	}
	lemonade := &pb.Options{}
	lemonade.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 15, protowire.BytesType), nil))
	for line, options := range map[string]*pb.Options{
		`{"sodaJerk":{"ice":true}}`:                    later(&pb.Options{}, 15, 1),
		`{"sodaJerk":{"removedFlavor":"FLAVOR_MINT"}}`: later(&pb.Options{}, 3, 99),
		`{"sodaJerk":{"removedFlavor":99}}`:            later(&pb.Options{}, 3, 99),
		`{"lemonade":{}}`:                              lemonade,
	} {
		t.Run(line, func(t *testing.T) {
			history := revealed("sodafountain.v1\ngame game\nseats 3\noptions " + line +
				"\nseed " + hex.EncodeToString(seed) + "\nentropy 00\n")
			history.Options = options
			withFake(t, histories(history), func(t *testing.T, client *Client) {
				found, err := spectatorOf(t, client, "game").History(t.Context())
				if err != nil || !proto.Equal(found.GetOptions(), options) {
					t.Error(found, err)
				}
			})
		})
	}
}

// The comparison of options of a later release depends on it.
func TestNoOptionsHaveAMapOrAListOfMessagesOrEnumValues(t *testing.T) {
	checked := 0
	var check func(protoreflect.MessageDescriptor)
	check = func(message protoreflect.MessageDescriptor) {
		for i := range message.Fields().Len() {
			field := message.Fields().Get(i)
			checked++
			if field.Cardinality() == protoreflect.Repeated && (field.Message() != nil || field.Enum() != nil) {
				t.Errorf("%s is a list or a map", field.FullName())
			} else if field.Message() != nil {
				check(field.Message())
			}
		}
	}
	check((&pb.Options{}).ProtoReflect().Descriptor())
	if checked < 8 {
		t.Errorf("only %d fields were checked", checked)
	}
}
