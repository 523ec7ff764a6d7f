"""WatchGame as lines of JSON and as Server-Sent Events, and CORS."""

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.gateway.conftest import Request, check
from tests.support.game_clients import expect_error, new_game, play
from tests.support.gateways import gateway_to, http_request
from tests.support.ports import free_port
from tests.support.service import Service, channel_to, running
from tests.support.store_servers import eventually
from tests.support.transports import EVERY_STREAM
from tests.support.watching import Watch, check_complete, ends_of, events_of

pytestmark = pytest.mark.one_store

PAGE = "https://app.example"


@EVERY_STREAM
class TestEveryStream:
    """WatchGame sends the same messages over every transport."""

    def test_every_version_is_received_in_order_and_then_the_end(self, stub: GameServiceStub) -> None:
        game = new_game(stub, 2)
        watch = Watch(game.seats[0], timeout=60)
        assert watch.next().snapshot.version == 1

        play(game, random.Random(1), moves=1)
        assert watch.until_version(2).update.first_version == 2
        play(game, random.Random(2))
        watch.rest()

        assert check_complete(watch.messages) == game.spectator.state().version
        assert ends_of(watch.messages) == ["FINISHED"]
        assert watch.code().name == "OK"

    def test_a_stream_continues_after_its_resume_token(self, stub: GameServiceStub) -> None:
        game = new_game(stub, 2)
        before = Watch(game.spectator)
        before.next()
        before.cancel()
        play(game, random.Random(3), moves=4)

        first = Watch(game.spectator, resume_token=before.resume_token).next()

        assert (first.update.first_version, first.update.state.version) == (2, 5)
        assert len({event.version for event in events_of([first])}) == 4

    def test_a_stream_ends_when_the_game_is_deleted(self, stub: GameServiceStub) -> None:
        game = new_game(stub)
        watch = Watch(game.spectator)
        watch.next()

        game.host.delete()

        assert ends_of(watch.rest()) == ["DELETED"]

    def test_an_invalid_watch_is_rejected_before_it_starts(self, stub: GameServiceStub) -> None:
        game = new_game(stub)

        error = expect_error(Watch(game.spectator, resume_token="x").next)

        assert (error.reason, list(error.fields)) == ("MALFORMED", ["resume_token"])
        assert expect_error(Watch(game.spectator, seat=0).next).reason == "TOKEN_INVALID"


def test_last_event_id_is_not_a_resume_token(send: Request, stub: GameServiceStub) -> None:
    """Events have no ids, so browsers send no Last-Event-ID. The resume token belongs in the query."""
    game = new_game(stub, 2)
    play(game, random.Random(4))
    headers = {"accept": "text/event-stream", "last-event-id": "x"}

    answer = send("GET", f"/v1/games/{game.game_id}:watch", headers=headers)

    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.body.startswith(b'data: {"resumeToken":"w')
    assert answer.body.endswith(b"\n\n")


@pytest.mark.parametrize("name", ["token", "access_token", "authorization", "accessToken"])
def test_a_token_in_the_query_is_rejected(send: Request, stub: GameServiceStub, name: str) -> None:
    game = new_game(stub)

    answer = send("GET", f"/v1/games/{game.game_id}:watch?{name}={game.created.seat_tokens[0]}")

    message = check(answer, 400, "INVALID_ARGUMENT", "MALFORMED")
    assert game.created.seat_tokens[0] not in message


# --- CORS -------------------------------------------------------------------------------------------------------------


def preflight(target: str, origin: str) -> dict[str, str]:
    """Return the headers of the answer to a preflight request from this origin."""
    headers = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,x-grpc-web",
    }
    return http_request(target, "OPTIONS", "/v1/games", headers=headers).headers


@pytest.fixture(scope="module")
def restricted(service: Service) -> Iterator[str]:
    """A gateway with one allowed origin."""
    with gateway_to(service.target, origins=(PAGE,)) as target:
        yield target


def test_pages_of_an_allowed_origin_may_call_with_a_token(restricted: str, service: Service) -> None:
    with gateway_to(service.target, origins=("*",)) as anywhere:
        answers = [preflight(target, PAGE) for target in (restricted, anywhere)]
    for response_headers in answers:
        assert response_headers["access-control-allow-origin"] == PAGE
        assert {"authorization", "content-type", "x-api-key", "x-grpc-web", "grpc-timeout"} <= set(
            response_headers["access-control-allow-headers"].split(", ")
        )
        assert {"GET", "POST", "DELETE"} <= set(response_headers["access-control-allow-methods"].split(", "))


def test_pages_of_another_origin_may_not_call(restricted: str) -> None:
    assert "access-control-allow-origin" not in preflight(restricted, "https://elsewhere.example")
    assert "access-control-allow-origin" not in preflight(restricted, f"{PAGE}.elsewhere.example")


def test_no_page_may_call_unless_it_is_asked_for(rest: str) -> None:
    assert "access-control-allow-origin" not in preflight(rest, PAGE)


def test_pages_of_every_subdomain_may_call(service: Service) -> None:
    with gateway_to(service.target, origins=("https://*.app.example",)) as target:
        for allowed in ("https://a.app.example", "https://a-1.b.app.example"):
            assert preflight(target, allowed)["access-control-allow-origin"] == allowed
        for refused in (
            "https://app.example",
            "https://.app.example",
            "https://xapp.example",
            "https://a.app.example.org",
            "https://a.app.example:8443",
            "http://a.app.example",
            "https://a.appxexample",
        ):
            assert "access-control-allow-origin" not in preflight(target, refused), refused


@pytest.mark.parametrize(("keys", "allowed"), [("", True), ("friends:" + "k" * 32, False)])
def test_a_service_with_api_keys_admits_no_page_unless_it_is_asked_for(
    tmp_path: Path, keys: str, allowed: bool
) -> None:
    port = free_port()
    flags = (f"--rest-port={port}", f"--data-dir={tmp_path / 'data'}")
    with running(tmp_path, *flags, env={"SODAFOUNTAIN_API_KEYS": keys} if keys else {}):
        eventually(lambda: answers(f"127.0.0.1:{port}"))
        assert ("access-control-allow-origin" in preflight(f"127.0.0.1:{port}", PAGE)) == allowed


def answers(target: str) -> bool:
    with suppress(OSError):
        return http_request(target, "GET", "/v1/gameKinds").status == 200
    return False


def test_pages_can_read_responses_errors_and_their_grpc_status(restricted: str) -> None:
    for path in ("/v1/gameKinds", "/v1/games/x", "/v1/nothing", "/v1/gameKinds?x=1"):
        response_headers = http_request(restricted, "GET", path, headers={"origin": PAGE}).headers

        assert response_headers["access-control-allow-origin"] == PAGE, path
        assert response_headers["vary"] == "Origin"
        assert "grpc-status-details-bin" in response_headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in response_headers


def test_the_gateway_also_serves_grpc(rest: str) -> None:
    with channel_to(rest) as channel:
        game = new_game(GameServiceStub(channel), 2)
        watch = Watch(game.spectator)

        assert watch.next().snapshot.version == 1
        assert expect_error(lambda: game.seats[0].state(seat=1)).reason == "WRONG_SEAT"
        watch.cancel()
