// Bot plays a game of any kind for all its seats, with random legal moves. The service knows the rules.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/protojson"

	"sodafountain.internal/sodafountain"
	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

var (
	target  = flag.String("target", "localhost:50051", "address of the service")
	kind    = flag.String("kind", "", "kind of game, such as soda_jerk (default: the first that the service offers)")
	options = flag.String("options", "{}", `options of the game as JSON, such as '{"advanced": true}'`)
	seats   = flag.Int("seats", 0, "number of seats (default: the minimum of the game)")
	useTLS  = flag.Bool("tls", false, "use TLS, which a service on another host needs")
	allow   = flag.Bool("allow-insecure", false, "allow a service on another host without TLS")
	seed    = flag.Uint64("seed", rand.Uint64(), "seed of the bot's random choices (default: random)")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	ctx := context.Background()
	var connection []sodafountain.Option
	if *useTLS {
		connection = append(connection, sodafountain.WithTLS(nil))
	}
	if *allow {
		connection = append(connection, sodafountain.WithInsecureTokens())
	}
	client := must(sodafountain.Connect(*target, connection...))
	defer client.Close()
	for _, offered := range must(client.GameKinds(ctx)) {
		// A preset sets one field, whose name is the kind.
		preset := offered.Presets[0].ProtoReflect()
		name := string(preset.WhichOneof(preset.Descriptor().Oneofs().ByName("game")).Name())
		if *kind == "" || *kind == name {
			*kind, *seats = name, cmp.Or(*seats, int(offered.MinSeats))
		}
	}
	var gameOptions pb.Options
	if err := protojson.Unmarshal(fmt.Appendf(nil, "{%q: %s}", *kind, *options), &gameOptions); err != nil {
		log.Fatalf("bot: --kind %s, --options %s: %v", *kind, *options, err)
	}
	game := must(client.NewGame(ctx, &gameOptions, int32(*seats)))

	random := rand.New(rand.NewPCG(*seed, 0))
	for awaiting := game.State.AwaitingSeats; len(awaiting) > 0; {
		seat := awaiting[random.IntN(len(awaiting))]
		moves := must(game.Seats[seat].LegalMoves(ctx)).Moves
		move := moves[random.IntN(len(moves))]
		awaiting = must(game.Seats[seat].Apply(ctx, move)).State.AwaitingSeats
		fmt.Printf("Seat %d: %s\n", seat, move.Label)
	}

	result := must(game.Host.Score(ctx))
	for _, score := range result.Scores {
		name := "The automaton"
		if seat, ok := score.Player.Identity.(*pb.Player_Seat); ok {
			name = fmt.Sprintf("Seat %d", seat.Seat)
		}
		fmt.Printf("%s has %d points: place %d\n", name, score.Total, score.Rank)
	}
	fmt.Println(result.Note)
}

// must returns the result of a call, or ends the program with its error.
func must[T any](result T, err error) T {
	if err != nil {
		log.Fatalf("bot: %v", err)
	}
	return result
}
