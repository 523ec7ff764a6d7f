// Creates a game of Soda Jerk, places the first card that is legal, and prints the game's id, its version and the tap.
#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "sodafountain/v1/game_service.grpc.pb.h"

using namespace sodafountain::v1;

static void check(const grpc::Status &status) {
  if (!status.ok()) {
    std::cerr << status.error_code() << ": " << status.error_message() << "\n";
    std::exit(1);
  }
}

static void authorize(grpc::ClientContext *context, const std::string &token) {
  context->AddMetadata("authorization", "Bearer " + token);
}

int main(int, char **argv) {
  auto service = GameService::NewStub(grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials()));

  NewGameRequest creation;
  creation.mutable_options()->mutable_soda_jerk();
  creation.set_seat_count(2);
  NewGameResponse created;
  grpc::ClientContext creating;
  check(service->NewGame(&creating, creation, &created));
  const std::string token = created.seat_tokens(created.state().awaiting_seats(0));

  LegalMovesRequest question;
  question.set_game_id(created.state().game_id());
  LegalMovesResponse legal;
  grpc::ClientContext asking;
  authorize(&asking, token);
  check(service->LegalMoves(&asking, question, &legal));
  const SodaJerkMove::Place &choice = legal.moves(0).move().soda_jerk().place();

  ApplyMoveRequest request;
  request.set_game_id(created.state().game_id());
  request.set_etag(legal.etag());
  *request.mutable_move()->mutable_soda_jerk()->mutable_place() = choice;
  ApplyMoveResponse response;
  grpc::ClientContext moving;
  authorize(&moving, token);
  check(service->ApplyMove(&moving, request, &response));
  std::cout << created.state().game_id() << " " << response.committed_version() << " "
            << Flavor_Name(choice.tap_flavor()) << "\n";
}
