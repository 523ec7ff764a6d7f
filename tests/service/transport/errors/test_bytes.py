"""Requests that are not valid protobuf, or too large, or for an unknown method."""

from typing import Any

import grpc
import pytest

from service.access import new_api_key, parse_api_keys
from service.transport.errors import CODES
from sodafountain.v1 import errors_pb2
from sodafountain.v1 import game_service_pb2 as pb
from tests.service.transport.errors.fixtures import CODES_OF_CONTRACT, Games, check
from tests.support.game_clients import SECONDS, expect_error
from tests.support.in_process import in_process_service
from tests.support.raw_calls import METHODS, SERVICE, call_with_bytes, unfinished
from tests.support.service import channel_to


@pytest.mark.parametrize("method", METHODS)
class TestEveryMethod:
    """Every method answers malformed bytes with a reason."""

    @pytest.mark.parametrize(
        "data", [b"\xff", b"\xff" * 1000, b"\x0a\x7f", b"\x0b" * 500], ids=["one byte", "many", "cut short", "nested"]
    )
    def test_rejects_garbage(self, games: Games, method: str, data: bytes) -> None:
        error = expect_error(lambda: call_with_bytes(games.channel, method, data, metadata=games.opened.host.metadata))

        check(error, "MALFORMED", f"is not a valid {SERVICE.methods_by_name[method].input_type.full_name}")

    def test_rejects_more_than_64_kib(self, games: Games, method: str) -> None:
        error = expect_error(lambda: call_with_bytes(games.channel, method, bytes(64 * 1024 + 1)))

        check(error, "LIMIT", "65537 bytes; the maximum is 65536")

    def test_rejects_much_more(self, games: Games, method: str) -> None:
        check(expect_error(lambda: call_with_bytes(games.channel, method, bytes(500_000))), "LIMIT", "500000 bytes")


@pytest.mark.parametrize("method", [method for method in METHODS if method != "ListGameKinds"])
def test_an_empty_request_misses_its_required_fields(games: Games, method: str) -> None:
    error = expect_error(lambda: call_with_bytes(games.channel, method, b"", metadata=games.opened.host.metadata))

    assert error.reason == "MALFORMED"
    assert set(error.fields) & {"options", "game_id"}


@pytest.mark.parametrize("method", ["LegalMoves", "ApplyMove", "DeleteGame"])
def test_a_request_without_the_token_that_it_needs_is_not_parsed(games: Games, method: str) -> None:
    check(expect_error(lambda: call_with_bytes(games.channel, method, b"\xff")), "TOKEN_INVALID", "is required")


@pytest.mark.parametrize("method", [method for method in METHODS if method not in {"NewGame", "ListGameKinds"}])
def test_a_request_with_an_invalid_token_is_not_parsed(games: Games, method: str) -> None:
    metadata = (("authorization", "Bearer x"),)

    error = expect_error(lambda: call_with_bytes(games.channel, method, b"\xff", metadata=metadata))

    check(error, "TOKEN_INVALID", "not valid for this service")


def test_a_request_without_the_api_key_that_it_needs_is_not_parsed(store_url: str) -> None:
    with (
        in_process_service(store_url, api_keys=parse_api_keys(new_api_key("shop"))) as target,
        channel_to(target) as channel,
    ):
        check(expect_error(lambda: call_with_bytes(channel, "NewGame", b"\xff")), "API_KEY_INVALID", "API key")


def test_text_that_is_not_utf_8_is_rejected(games: Games) -> None:
    error = expect_error(lambda: call_with_bytes(games.channel, "GetGame", b"\x0a\x02\xff\xfe"))

    check(error, "MALFORMED", "The request is not a valid sodafountain.v1.GetGameRequest")


def test_fields_of_a_later_release_are_ignored(games: Games) -> None:
    request = pb.GetGameRequest(game_id=games.opened.game_id).SerializeToString() + b"\xfa\x3f\x01x"

    assert pb.GetGameResponse.FromString(call_with_bytes(games.channel, "GetGame", request)).state.version == 2


@pytest.mark.parametrize(
    "compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip], ids=["plain", "packed"]
)
def test_the_transport_rejects_more_than_512_kib(games: Games, compression: grpc.Compression) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        call_with_bytes(games.channel, "GetGame", bytes(600_000), compression=compression)

    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("path", ["/sodafountain.v1.GameService/Cheat", "/sodafountain.v2.GameService/GetGame", "/x"])
def test_an_unknown_method_is_unimplemented(games: Games, path: str) -> None:
    unary: Any = games.channel.unary_unary(path)

    with pytest.raises(grpc.RpcError) as caught:
        unary(b"", timeout=SECONDS)

    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_a_call_without_a_request_is_rejected(games: Games) -> None:
    get_game: Any = games.channel.stream_unary("/sodafountain.v1.GameService/GetGame")

    error = expect_error(lambda: get_game(iter(()), timeout=SECONDS))

    assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED")
    assert "no request message" in error.message


def test_cancelled_calls_free_their_threads(games: Games) -> None:
    get_game: Any = games.channel.stream_unary("/sodafountain.v1.GameService/GetGame")
    with unfinished() as requests:
        for call in [get_game.future(requests()) for _ in range(50)]:
            call.cancel()

        assert games.second.state().version == 2


def test_every_reason_has_the_status_of_the_contract() -> None:
    names = {reason: errors_pb2.ErrorReason.Name(reason).removeprefix("ERROR_REASON_") for reason in CODES}

    assert {names[reason]: code.name for reason, code in CODES.items()} == CODES_OF_CONTRACT
