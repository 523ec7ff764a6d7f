# Creates a game of Soda Jerk, places the first card that is legal, and prints the game's id, its version and the tap.
require "sodafountain/v1/game_service_services_pb"

include SodaFountain

service = V1::GameService::Stub.new(ARGV[0], :this_channel_is_insecure)
created = service.new_game(
  V1::NewGameRequest.new(options: V1::Options.new(soda_jerk: V1::SodaJerkOptions.new), seat_count: 2)
)
game_id = created.state.game_id
metadata = { "authorization" => "Bearer #{created.seat_tokens[created.state.awaiting_seats.first]}" }

legal = service.legal_moves(V1::LegalMovesRequest.new(game_id: game_id), metadata: metadata)
choice = legal.moves.first.move.soda_jerk.place
move = V1::Move.new(soda_jerk: V1::SodaJerkMove.new(place: choice))
response = service.apply_move(
  V1::ApplyMoveRequest.new(game_id: game_id, etag: legal.etag, move: move), metadata: metadata
)
puts "#{game_id} #{response.committed_version} #{choice.tap_flavor}"
