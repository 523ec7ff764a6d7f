// Bot plays a game of any kind by chance, for all its seats. It knows no game: the service tells what is legal.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

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
	flag.Parse()
	if err := play(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bot:", err)
		os.Exit(1)
	}
}

func play(ctx context.Context) error {
	client, err := sodafountain.Connect(*target)
	if err != nil {
		return err
	}
	defer client.Close()
	kinds, err := client.GameKinds(ctx)
	if err != nil {
		return err
	}
	name, fewest := *kind, int32(*seats)
	for _, offered := range kinds {
		// A preset sets the one field that chooses its kind, which is also the kind's name.
		game := offered.GetPresets()[0].ProtoReflect()
		field := string(game.WhichOneof(game.Descriptor().Oneofs().ByName("game")).Name())
		if name == "" {
			name = field
		}
		if name == field && fewest == 0 {
			fewest = offered.GetMinSeats()
		}
	}
	whole := &pb.Options{}
	if err := protojson.Unmarshal(fmt.Appendf(nil, "{%q: %s}", name, *options), whole); err != nil {
		return err
	}
	game, err := client.NewGame(ctx, whole, fewest)
	if err != nil {
		return err
	}
	chance := rand.New(rand.NewPCG(*seed, 0))
	for awaited := game.State.GetAwaitingSeats(); len(awaited) > 0; {
		seat := game.Seats[awaited[chance.IntN(len(awaited))]]
		legal, err := seat.LegalMoves(ctx)
		if err != nil {
			return err
		}
		move := legal.GetMoves()[chance.IntN(len(legal.GetMoves()))]
		answer, err := seat.Apply(ctx, move)
		if err != nil {
			return err
		}
		awaited = answer.GetState().GetAwaitingSeats()
		number, _ := seat.Number()
		fmt.Printf("Seat %d: %s\n", number, move.GetLabel())
	}
	result, err := game.Host.Score(ctx)
	if err != nil {
		return err
	}
	for _, player := range result.GetSeats() {
		fmt.Printf("Seat %d has %d points: place %d\n", player.GetSeat(), player.GetTotal(), player.GetRank())
	}
	fmt.Println(result.GetNote())
	return nil
}
