package sodafountain

import (
	"context"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

func TestConnectAcceptsEveryKindOfTarget(t *testing.T) {
	for _, target := range []string{
		"localhost:50051", "127.0.0.1:1", "[::1]:65535", "[fe80::1%25eth0]:443", "games.example:443",
		"dns:games.example:443", "dns:///games.example:443", "dns://resolver.example/games.example:443",
		"unix:/run/games.sock", "unix:/run/games@home.sock", "unix-abstract:games@home", "unix:///run/games.sock", "unix-abstract:games", "passthrough:///games.example:443",
	} {
		client, err := Connect(target, WithInsecureTokens())
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestConnectAcceptsLoopbackTargetsWithoutTLS(t *testing.T) {
	for _, target := range []string{
		"localhost:50051", "LocalHost:50051", "127.0.0.1:50051", "127.255.0.9:50051", "[::1]:50051", "dns:localhost:50051",
		"dns:///127.0.0.1:50051", "dns:///[::1]:50051", "unix:/run/games.sock", "unix-abstract:games",
		"passthrough:///127.0.0.1:50051",
	} {
		client, err := Connect(target)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		_ = client.Close()
	}
}

func TestConnectRejectsOtherHostsWithoutTLSOrPermission(t *testing.T) {
	for _, target := range []string{
		"games.example:50051", "10.0.0.1:50051", "0.0.0.0:50051", "[2001:db8::1]:50051", "127.0.0.1.games.example:50051",
		"localhost.games.example:50051", "dns:games.example:50051", "dns:///games.example:50051",
		"dns://127.0.0.1/games.example:50051", "passthrough:///games.example:50051",
	} {
		_, err := Connect(target, WithAPIKey("key"))
		wantReason(t, err, ReasonArgument, "The target \""+target+"\" is not on this host, and the connection has no TLS: "+
			"everyone on the network could read tokens and API keys. Use WithTLS. If you trust the network, use WithInsecureTokens.")
		for _, option := range []Option{WithTLS(nil), WithInsecureTokens()} {
			client, err := Connect(target, option)
			if err != nil {
				t.Errorf("%s: %v", target, err)
				continue
			}
			_ = client.Close()
		}
	}
}

func TestConnectRejectsInvalidTargets(t *testing.T) {
	for target, problem := range map[string]string{
		"":                      "is empty",
		"localhost":             "is not host:port",
		"localhost:":            "is not host:port",
		":50051":                "is not host:port",
		"::1:50051":             "is not host:port",
		"localhost:0":           "must have a port from 1 to 65535",
		"localhost:65536":       "must have a port from 1 to 65535",
		"localhost:50051\n":     "whitespace or control characters",
		"local host:50051":      "whitespace or control characters",
		"http://localhost:8080": "is a URL",
		"grpc://localhost:8080": "is a URL",
		"dns:///localhost":      "is not host:port",
		"dns:///localhost:0":    "must have a port from 1 to 65535",
		"unix:":                 `has no address after "unix:"`,
		"unix://":               `has no address after "unix:"`,
	} {
		_, err := Connect(target)
		if ReasonOf(err) != ReasonArgument || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v", target, err)
		}
	}
}

func TestUserInformationInATargetIsRejectedAndNotRepeated(t *testing.T) {
	for _, target := range []string{
		"hidden@games:50051", "user:hidden@games:50051", "user:hid@den@games:50051", "user:hid den@games:50051",
		"https://user:hidden@games:50051", "https://user:hid/den@games:50051", "grpc://user:hidden@games:50051",
		"dns:user:hidden@games:50051", "dns:///user:hidden@games:50051", "dns://user:hidden@games/games:50051",
		"passthrough:///user:hidden@games:50051", "unix://user:hidden@games/run/games.sock",
	} {
		client, err := Connect(target)
		if client != nil {
			t.Errorf("%s is accepted", target)
			continue
		}
		message := err.Error()
		if ReasonOf(err) != ReasonArgument || !strings.Contains(message, `credentials before "…@games`) || strings.Contains(message, "hid") {
			t.Errorf("%s: %s %s", target, ReasonOf(err), message)
		}
	}
}

func TestTimeoutsMustBePositive(t *testing.T) {
	for _, given := range []time.Duration{0, -time.Second} {
		_, err := Connect("localhost:50051", WithTimeout(given))
		wantReason(t, err, ReasonArgument, "The timeout must be greater than 0, not "+given.String()+".")
		client := connected(t)
		for update, err := range spectatorOf(t, client, "game").Watch(t.Context(), WithIdleTimeout(given)) {
			wantReason(t, err, ReasonArgument, "The idle timeout must be greater than 0, not "+given.String()+".")
			if update != nil {
				t.Error("an update beside an error")
			}
		}
	}
}

func TestSecretsMustBeVisibleASCII(t *testing.T) {
	client := connected(t)
	for secret, problem := range map[string]string{
		"":                 "is empty.",
		"hidden\n":         "character 7 of 7 is U+000A",
		" hidden":          "character 1 of 7 is U+0020",
		"hid\u00e9den":     "character 4 of 7 is U+00E9",
		"hidden\x7f":       "character 7 of 7 is U+007F",
		"hidden\U0001f964": "character 7 of 7 is U+1F964",
	} {
		_, badKey := Connect("localhost:50051", WithAPIKey(secret))
		_, badSeat := client.Seat("game", secret)
		_, badHost := client.Host("game", secret)
		_, badSpectator := client.Spectator("game", WithSpectatorToken(secret))
		for err, reason := range map[error]Reason{
			badKey: ReasonAPIKeyInvalid, badSeat: ReasonTokenInvalid, badHost: ReasonTokenInvalid,
			badSpectator: ReasonTokenInvalid,
		} {
			if ReasonOf(err) != reason || !strings.Contains(err.Error(), problem) {
				t.Errorf("%q: %s %v", secret, ReasonOf(err), err)
			}
			if strings.Contains(err.Error(), "hid") {
				t.Errorf("the error contains the secret: %v", err)
			}
		}
	}
}

func TestACommitmentMustHave32Bytes(t *testing.T) {
	client := connected(t)
	for length, wrong := range map[string][]byte{"0": nil, "31": make([]byte, 31), "64": make([]byte, 64)} {
		_, badSeat := client.Seat("game", "token", WithCommitment(wrong))
		_, badHost := client.Host("game", "token", WithCommitment(wrong))
		_, badSpectator := client.Spectator("game", WithCommitment(wrong))
		for _, err := range []error{badSeat, badHost, badSpectator} {
			wantReason(t, err, ReasonArgument, "The commitment must have 32 bytes, not "+length+".")
		}
	}
}

func TestTextThatIsNotUTF8IsRejectedBeforeACall(t *testing.T) {
	// The fake service implements no call, so a call that reaches it panics.
	withFake(t, &fake{}, func(t *testing.T, client *Client) {
		const broken = "hid\xffden"
		seat := seatOf(t, client)
		elsewhere, err := client.Seat(broken, "token")
		if err != nil {
			t.Fatal(err)
		}
		host, err := client.Host(broken, "token")
		if err != nil {
			t.Fatal(err)
		}
		watch := func(viewer interface {
			Watch(context.Context, ...WatchOption) iter.Seq2[*Update, error]
		}, options ...WatchOption) error {
			var last error
			for update, err := range viewer.Watch(t.Context(), options...) {
				if update != nil || last != nil {
					t.Error(update, last)
				}
				last = err
			}
			return last
		}
		move := &pb.SodaJerkMove{}
		for name, calls := range map[string][]func() error{
			"game id": {
				func() error { _, err := elsewhere.LegalMoves(t.Context()); return err },
				func() error { _, err := elsewhere.Apply(t.Context(), move); return err },
				func() error { _, err := elsewhere.State(t.Context()); return err },
				func() error { _, err := spectatorOf(t, client, broken).Score(t.Context()); return err },
				func() error { _, err := spectatorOf(t, client, broken).History(t.Context()); return err },
				func() error { return host.Delete(t.Context()) },
				func() error { return watch(elsewhere) },
				func() error { return watch(spectatorOf(t, client, broken)) },
			},
			"etag": {func() error { _, err := seat.Apply(t.Context(), move, WithEtag(broken)); return err }},
			"request id": {
				func() error { _, err := seat.Apply(t.Context(), move, WithRequestID(broken)); return err },
				func() error {
					_, err := client.NewGame(t.Context(), &pb.SodaJerkOptions{}, 2, WithRequestID(broken))
					return err
				},
			},
			"resume token": {func() error { return watch(seat, WithResumeToken(broken)) }},
		} {
			for _, call := range calls {
				wantReason(t, call(), ReasonArgument, "The "+name+" is not valid UTF-8.")
			}
		}
	})
}

func TestMessagesThatAreNotMovesAreRejected(t *testing.T) {
	seat := seatOf(t, connected(t))
	var nothing *pb.SodaJerkMove
	for _, move := range []proto.Message{nil, nothing, (*pb.Move)(nil), (*pb.LegalMove)(nil), &pb.LegalMove{}, &pb.SodaJerkOptions{}} {
		if _, err := seat.Apply(t.Context(), move); ReasonOf(err) != ReasonArgument {
			t.Errorf("%T: %v", move, err)
		}
	}
	_, err := seat.Apply(t.Context(), &pb.JuicesOptions{})
	wantReason(t, err, ReasonArgument,
		"The move must be Move or one of SodaJerkMove, SodaSmugglersMove, JuicesMove, not JuicesOptions.")
}

func TestMessagesThatAreNotOptionsAreRejected(t *testing.T) {
	client := connected(t)
	for _, options := range []proto.Message{nil, (*pb.Options)(nil), (*pb.SodaJerkOptions)(nil), &pb.SodaJerkMove{}} {
		if _, err := client.NewGame(t.Context(), options, 2); ReasonOf(err) != ReasonArgument {
			t.Errorf("%T: %v", options, err)
		}
	}
}

func TestTheMessageOfEveryKindIsWrapped(t *testing.T) {
	for _, wrapper := range []proto.Message{&pb.Options{}, &pb.Move{}} {
		fields := wrapper.ProtoReflect().Descriptor().Oneofs().ByName("game").Fields()
		for i := range fields.Len() {
			outer := wrapper.ProtoReflect().New()
			inner := outer.NewField(fields.Get(i)).Message().Interface()
			if problem := wrap(inner, outer.Interface()); problem != nil {
				t.Error(problem)
			} else if set := outer.WhichOneof(fields.Get(i).ContainingOneof()); set != fields.Get(i) {
				t.Errorf("%s is in %s", fields.Get(i).Message().Name(), set.Name())
			}
		}
	}
}

func TestWrappedMessagesAreSentUnchanged(t *testing.T) {
	move := &pb.Move{Game: &pb.Move_Juices{Juices: &pb.JuicesMove{}}}
	for _, given := range []proto.Message{move, &pb.LegalMove{Move: move}} {
		if found, problem := toMove(given); problem != nil || found != move {
			t.Error(found, problem)
		}
	}
	options := &pb.Options{}
	if found, problem := toOptions(options); problem != nil || found != options {
		t.Error(found, problem)
	}
}

func TestSecondsAreRoundedUp(t *testing.T) {
	for duration, formatted := range map[time.Duration]string{
		5 * time.Second: "5 s", 4992 * time.Millisecond: "5 s", 250 * time.Millisecond: "0.25 s", time.Minute: "60 s",
		time.Millisecond: "0.01 s", 0: "0 s", -time.Second: "0 s", time.Duration(math.MaxInt64): "9.22337203686e+09 s",
	} {
		if found := seconds(duration); found != formatted {
			t.Errorf("%s: %s", duration, found)
		}
	}
}

// connected returns a client without a server.
func connected(t *testing.T) *Client {
	t.Helper()
	client, err := Connect("localhost:1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}
