<?php
// Creates a game of Soda Jerk, places the first card that is legal, and prints the game's id, its version and the tap.
// The extension grpc replaces `call` where it is installed.

use SodaFountain\V1\ApplyMoveRequest;
use SodaFountain\V1\ApplyMoveResponse;
use SodaFountain\V1\Flavor;
use SodaFountain\V1\LegalMovesRequest;
use SodaFountain\V1\LegalMovesResponse;
use SodaFountain\V1\Move;
use SodaFountain\V1\NewGameRequest;
use SodaFountain\V1\NewGameResponse;
use SodaFountain\V1\Options;
use SodaFountain\V1\SodaJerkMove;
use SodaFountain\V1\SodaJerkOptions;

require __DIR__ . '/autoload.php';

// A unary call of gRPC: a POST over HTTP/2 whose body is five bytes of length and a message.
function call(string $method, $request, $response, ?string $token = null)
{
    $body = $request->serializeToString();
    $headers = ['content-type: application/grpc', 'te: trailers'];
    if ($token !== null) {
        $headers[] = "authorization: Bearer $token";
    }
    $status = [];
    $curl = curl_init("http://{$GLOBALS['argv'][1]}/sodafountain.v1.GameService/$method");
    curl_setopt_array($curl, [
        CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
        CURLOPT_HTTPHEADER => $headers,
        CURLOPT_POSTFIELDS => pack('CN', 0, strlen($body)) . $body,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 10,
        CURLOPT_HEADERFUNCTION => function ($curl, $line) use (&$status) {
            if (preg_match('/^(grpc-\w+): (.*)\r\n/', $line, $found)) {
                $status[$found[1]] = $found[2];
            }
            return strlen($line);
        },
    ]);
    $answer = curl_exec($curl);
    if ($answer === false || ($status['grpc-status'] ?? '') !== '0') {
        throw new RuntimeException("$method failed: " . curl_error($curl) . json_encode($status));
    }
    $response->mergeFromString(substr($answer, 5));
    return $response;
}

$options = new Options(['soda_jerk' => new SodaJerkOptions()]);
$created = call('NewGame', new NewGameRequest(['options' => $options, 'seat_count' => 2]), new NewGameResponse());
$gameId = $created->getState()->getGameId();
$token = $created->getSeatTokens()[$created->getState()->getAwaitingSeats()[0]];

$legal = call('LegalMoves', new LegalMovesRequest(['game_id' => $gameId]), new LegalMovesResponse(), $token);
$choice = $legal->getMoves()[0]->getMove()->getSodaJerk()->getPlace();
$move = new Move(['soda_jerk' => new SodaJerkMove(['place' => $choice])]);
$request = new ApplyMoveRequest(['game_id' => $gameId, 'etag' => $legal->getEtag(), 'move' => $move]);
$response = call('ApplyMove', $request, new ApplyMoveResponse(), $token);
echo "$gameId {$response->getCommittedVersion()} ", Flavor::name($choice->getTapFlavor()), "\n";
