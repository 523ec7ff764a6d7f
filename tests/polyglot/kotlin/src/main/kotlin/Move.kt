// Creates a game of Soda Jerk, places the first card that is legal, and prints the game's id, its version and the tap.

import io.grpc.ManagedChannelBuilder
import io.grpc.Metadata
import kotlinx.coroutines.runBlocking
import sodafountain.v1.GameServiceGrpcKt.GameServiceCoroutineStub
import sodafountain.v1.SodaJerkMoveKt.place
import sodafountain.v1.applyMoveRequest
import sodafountain.v1.legalMovesRequest
import sodafountain.v1.move
import sodafountain.v1.newGameRequest
import sodafountain.v1.options
import sodafountain.v1.sodaJerkMove
import sodafountain.v1.sodaJerkOptions

fun main(arguments: Array<String>) {
    val channel = ManagedChannelBuilder.forTarget(arguments[0]).usePlaintext().build()
    val service = GameServiceCoroutineStub(channel)
    runBlocking {
        val created = service.newGame(
            newGameRequest {
                options = options { sodaJerk = sodaJerkOptions {} }
                seatCount = 2
            },
        )
        val id = created.state.gameId
        val headers = Metadata()
        headers.put(
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
            "Bearer ${created.getSeatTokens(created.state.getAwaitingSeats(0))}",
        )

        val legal = service.legalMoves(legalMovesRequest { gameId = id }, headers)
        val choice = legal.getMoves(0).move.sodaJerk.place
        val response = service.applyMove(
            applyMoveRequest {
                gameId = id
                etag = legal.etag
                move = move {
                    sodaJerk = sodaJerkMove {
                        place = place {
                            card = choice.card
                            tapFlavor = choice.tapFlavor
                        }
                    }
                }
            },
            headers,
        )
        println("$id ${response.committedVersion} ${choice.tapFlavor}")
    }
    channel.shutdownNow()
}
