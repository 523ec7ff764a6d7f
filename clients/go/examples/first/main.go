package main

import (
	"context"
	"fmt"
	"log"

	"sodafountain.internal/sodafountain"
	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

func main() {
	if err := playGame(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func playGame(ctx context.Context) error {
	client, err := sodafountain.Connect("localhost:50051")
	if err != nil {
		return err
	}
	defer client.Close()
	game, err := client.NewGame(ctx, &pb.SodaJerkOptions{Advanced: true}, 3)
	if err != nil {
		return err
	}
	for awaiting := game.State.AwaitingSeats; len(awaiting) > 0; {
		seat := game.Seats[awaiting[0]]
		legal, err := seat.LegalMoves(ctx)
		if err != nil {
			return err
		}
		result, err := seat.Apply(ctx, legal.Moves[0])
		if err != nil {
			return err
		}
		awaiting = result.State.AwaitingSeats
	}
	score, err := game.Host.Score(ctx)
	if err != nil {
		return err
	}
	fmt.Println(score.Note)
	return nil
}
