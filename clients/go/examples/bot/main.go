// Bot plays a game of any kind by chance, for all its seats. It knows no game: the service tells what is legal.
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
	target  = flag.String("target", "localhost:50051", "where the service is")
	kind    = flag.String("kind", "", "which game, soda_jerk for instance (the first that is offered)")
	options = flag.String("options", "{}", `its options as JSON, '{"advanced": true}' for instance`)
	seats   = flag.Int("seats", 0, "how many seats (as few as the game takes)")
	seed    = flag.Uint64("seed", rand.Uint64(), "makes the bot choose alike among the same moves")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	ctx := context.Background()
	client := must(sodafountain.Connect(*target))
	defer client.Close()
	for _, offered := range must(client.GameKinds(ctx)) {
		// A preset sets the one field that chooses its kind, which is also the kind's name.
		preset := offered.Presets[0].ProtoReflect()
		name := string(preset.WhichOneof(preset.Descriptor().Oneofs().ByName("game")).Name())
		if *kind == "" || *kind == name {
			*kind, *seats = name, cmp.Or(*seats, int(offered.MinSeats))
		}
	}
	var whole pb.Options
	if err := protojson.Unmarshal(fmt.Appendf(nil, "{%q: %s}", *kind, *options), &whole); err != nil {
		log.Fatalf("bot: --kind %s, --options %s: %v", *kind, *options, err)
	}
	game := must(client.NewGame(ctx, &whole, int32(*seats)))

	chance := rand.New(rand.NewPCG(*seed, 0))
	for awaited := game.State.AwaitingSeats; len(awaited) > 0; {
		seat := awaited[chance.IntN(len(awaited))]
		moves := must(game.Seats[seat].LegalMoves(ctx)).Moves
		move := moves[chance.IntN(len(moves))]
		awaited = must(game.Seats[seat].Apply(ctx, move)).State.AwaitingSeats
		fmt.Printf("Seat %d: %s\n", seat, move.Label)
	}

	result := must(game.Host.Score(ctx))
	for _, player := range result.Seats {
		fmt.Printf("Seat %d has %d points: place %d\n", player.Seat, player.Total, player.Rank)
	}
	fmt.Println(result.Note)
}

// must ends the program where a call failed: the error says why.
func must[T any](answer T, err error) T {
	if err != nil {
		log.Fatalf("bot: %v", err)
	}
	return answer
}
