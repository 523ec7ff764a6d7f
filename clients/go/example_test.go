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

// The code of README.md, which is compiled here. The first game, a complete program, is in examples/first. docs_test.go
// compares them.

func ExampleHost_History() {
	var game *sodafountain.Game // a finished game of Client.NewGame
	if err := saveHistory(context.Background(), game); err != nil {
		log.Fatal(err)
	}
}

func saveHistory(ctx context.Context, game *sodafountain.Game) error {
	history, err := game.Host.History(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%x\n", game.Commitment())
	return os.WriteFile("game.json", []byte(protojson.Format(history)), 0o644)
}

func ExampleWithVisibility() {
	client, err := sodafountain.Connect("localhost:50051")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if _, err := newPrivateGame(context.Background(), client); err != nil {
		log.Fatal(err)
	}
}

func newPrivateGame(ctx context.Context, client *sodafountain.Client) (*sodafountain.Spectator, error) {
	private := sodafountain.WithVisibility(pb.Visibility_VISIBILITY_PRIVATE)
	game, err := client.NewGame(ctx, &pb.SodaJerkOptions{}, 3, private)
	if err != nil {
		return nil, err
	}
	return client.Spectator(game.ID, sodafountain.WithSpectatorToken(game.SpectatorToken()))
}

func ExampleWithCommitment() {
	client, err := sodafountain.Connect("localhost:50051")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if _, err := restoreSeat(client, savedSeat{}); err != nil {
		log.Fatal(err)
	}
}

type savedSeat struct {
	GameID, Token string
	Commitment    []byte // seat.Commitment()
}

func restoreSeat(client *sodafountain.Client, saved savedSeat) (*sodafountain.Seat, error) {
	return client.Seat(saved.GameID, saved.Token, sodafountain.WithCommitment(saved.Commitment))
}

func ExampleSeat_Watch() {
	client, err := sodafountain.Connect("localhost:50051")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	seat, err := client.Seat("game-id", "seat-token")
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
		// An update from before this seat's last move can arrive after it. Its decision is already answered.
		if moves := update.State.LegalMoves; len(moves) > 0 && update.State.Version >= moved {
			result, err := seat.Apply(ctx, moves[0])
			if err != nil {
				return err
			}
			moved = result.CommittedVersion
		}
	}
	return nil
}

func ExampleReasonOf() {
	var seat *sodafountain.Seat // from Client.Seat or Client.NewGame
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
		return err // nil if the move was applied
	}
}

func ExampleError() {
	var seat *sodafountain.Seat // from Client.Seat or Client.NewGame
	_, err := seat.Score(context.Background())
	printDetails(err)
}

func printDetails(err error) {
	var failure *sodafountain.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Code, failure.Reason, failure.Metadata, failure.FieldViolations, failure.RetryDelay)
	}
}

func ExampleError_RequestID() {
	var seat *sodafountain.Seat // from Client.Seat or Client.NewGame
	if err := applyOnce(context.Background(), seat, &pb.SodaJerkMove{}); err != nil {
		log.Fatal(err)
	}
}

func applyOnce(ctx context.Context, seat *sodafountain.Seat, move *pb.SodaJerkMove) error {
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
