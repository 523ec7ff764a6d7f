package sodafountain_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"os"

	"google.golang.org/protobuf/encoding/protojson"

	"sodafountain.internal/sodafountain"
	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// What README.md shows stands here, word for word, so that it is compiled; the first game, a whole program, is in
// examples/first. documented_test.go compares them.

func ExampleHost_History() {
	var game *sodafountain.Game // of Client.NewGame, played to its end
	if err := keep(context.Background(), game); err != nil {
		log.Fatal(err)
	}
}

func keep(ctx context.Context, game *sodafountain.Game) error {
	history, err := game.Host.History(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile("game.json", []byte(protojson.Format(history)), 0o644)
}

func ExampleSeat_Watch() {
	client, err := sodafountain.Connect("localhost:50051")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	seat, err := client.Seat("the game's id", "the-token-of-the-seat")
	if err != nil {
		log.Fatal(err)
	}
	if err := playSeat(context.Background(), seat); err != nil {
		log.Fatal(err)
	}
}

func playSeat(ctx context.Context, seat *sodafountain.Seat) error {
	moved := int64(0)
	for update, err := range seat.Watch(ctx, sodafountain.WithLegalMoves()) {
		if err != nil {
			return err
		}
		for _, event := range update.Events {
			fmt.Println(event.Text)
		}
		// An update that was on its way when this seat moved still shows the decision that it has made.
		if moves := update.State.LegalMoves; len(moves) > 0 && update.State.Version >= moved {
			answer, err := seat.Apply(ctx, moves[0])
			if err != nil {
				return err
			}
			moved = answer.CommittedVersion
		}
	}
	return nil
}

func ExampleReasonOf() {
	var seat *sodafountain.Seat // of Client.Seat or Client.NewGame
	if err := move(context.Background(), seat, &pb.SodaJerkMove{}); err != nil {
		log.Fatal(err)
	}
}

func move(ctx context.Context, seat *sodafountain.Seat, move *pb.SodaJerkMove) error {
	_, err := seat.Apply(ctx, move)
	switch sodafountain.ReasonOf(err) {
	case sodafountain.ReasonIllegalMove:
		fmt.Println(err) // There is no card 9 at the Kiwi tap; it has 3.
		return nil
	case sodafountain.ReasonStaleEtag:
		_, err = seat.LegalMoves(ctx) // and choose again
		return err
	default:
		return err // nil where the move was made
	}
}

func ExampleError() {
	var seat *sodafountain.Seat // of Client.Seat or Client.NewGame
	_, err := seat.Score(context.Background())
	explain(err)
}

func explain(err error) {
	var failure *sodafountain.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Code, failure.Reason, failure.Metadata, failure.FieldViolations, failure.RetryDelay)
	}
}

func ExampleError_RequestID() {
	var seat *sodafountain.Seat // of Client.Seat or Client.NewGame
	if err := surely(context.Background(), seat, &pb.SodaJerkMove{}); err != nil {
		log.Fatal(err)
	}
}

func surely(ctx context.Context, seat *sodafountain.Seat, move *pb.SodaJerkMove) error {
	_, err := seat.Apply(ctx, move)
	var failure *sodafountain.Error
	if errors.As(err, &failure) {
		switch failure.Reason {
		case sodafountain.ReasonUnconfirmed, sodafountain.ReasonUnreachable, sodafountain.ReasonDeadlineExceeded:
			_, err = seat.Apply(ctx, move, sodafountain.WithRequestID(failure.RequestID()))
		}
	}
	return err
}

func ExampleWithTLS() {
	client, err := connectTLS("authority.pem")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
}

func connectTLS(authorityFile string) (*sodafountain.Client, error) {
	pem, err := os.ReadFile(authorityFile)
	if err != nil {
		return nil, err
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(pem)
	return sodafountain.Connect("games.example:443",
		sodafountain.WithTLS(&tls.Config{RootCAs: authorities}),
		sodafountain.WithAPIKey(os.Getenv("GAMES_API_KEY")))
}
