"""Each operation sends the right message, deadline and credentials."""

import uuid

import pytest
from google.protobuf.message import Message

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import VISIBILITY_PRIVATE, GameKindInfo, Move, Options
from sodafountain.v1.soda_jerk_pb2 import SodaJerkMove, SodaJerkOptions
from tests.clients.blocking_aio import Client, Connect
from tests.clients.client_operations import Operation, every_operation
from tests.clients.scripted_service import (
    COMMITMENT,
    GAME_ID,
    HOST_TOKEN,
    SEAT_TOKENS,
    SPECTATOR_TOKEN,
    ScriptedService,
    flip,
    legal_flip,
)


@every_operation
def test_every_call_has_the_timeout_of_the_client_by_default(
    client: Client, service: ScriptedService, operation: Operation, token: str | None
) -> None:
    operation(client, {})
    assert service.received[0].time_left == pytest.approx(5, abs=0.9)


@every_operation
def test_the_timeout_of_a_call_takes_precedence(
    client: Client, service: ScriptedService, operation: Operation, token: str | None
) -> None:
    operation(client, {"timeout": 60})
    assert service.received[0].time_left == pytest.approx(60, abs=0.9)


@every_operation
def test_each_handle_sends_its_own_token_only(
    client: Client, service: ScriptedService, operation: Operation, token: str | None
) -> None:
    operation(client, {})
    assert service.received[0].metadata.get("authorization") == (f"Bearer {token}" if token else None)


@every_operation
def test_calls_about_a_game_send_its_id_for_gateways(
    client: Client, service: ScriptedService, operation: Operation, token: str | None
) -> None:
    operation(client, {})
    received = service.received[0]
    assert received.metadata.get("x-game-id", "") == getattr(received.request, "game_id", "")


@pytest.mark.parametrize("game_id", ["", "a b", "für-uns", "line\nbreak", "x" * 65])
def test_an_id_that_no_game_has_is_sent_in_the_request_only(
    client: Client, service: ScriptedService, game_id: str
) -> None:
    client.spectator(game_id).score()
    assert "x-game-id" not in service.received[0].metadata
    assert service.requests() == [pb.ScoreRequest(game_id=game_id)]


def test_the_timeout_of_the_client_can_be_set(connect: Connect, service: ScriptedService) -> None:
    connect(service.target, timeout=30).game_kinds()
    assert service.received[0].time_left == pytest.approx(30, abs=0.9)


def test_only_new_game_sends_the_api_key(connect: Connect, service: ScriptedService) -> None:
    client = connect(service.target, api_key="secret-key")
    client.new_game(SodaJerkOptions(), 3)
    client.spectator(GAME_ID).state()
    assert [each.metadata.get("x-api-key") for each in service.received] == ["secret-key", None]


def test_the_user_agent_has_the_name_and_version_of_the_client(client: Client, service: ScriptedService) -> None:
    client.game_kinds()
    assert str(service.received[0].metadata["user-agent"]).startswith("sodafountain-python/0.")


def test_new_game_sends_all_arguments_and_a_request_id(client: Client, service: ScriptedService) -> None:
    client.new_game(SodaJerkOptions(advanced=True), 3, seed=bytes(range(32)), sealed=True)
    request = service.received[0].request
    assert isinstance(request, pb.NewGameRequest)
    assert uuid.UUID(request.request_id).version == 4
    assert request == pb.NewGameRequest(
        options=Options(soda_jerk=SodaJerkOptions(advanced=True)),
        seat_count=3,
        seed=bytes(range(32)),
        sealed=True,
        request_id=request.request_id,
    )


def test_new_game_sends_no_seed_by_default(client: Client, service: ScriptedService) -> None:
    client.new_game(SodaJerkOptions(), 3)
    request = service.received[0].request
    assert isinstance(request, pb.NewGameRequest)
    assert not request.HasField("seed")


@pytest.mark.parametrize("options", [SodaJerkOptions(), Options(soda_jerk=SodaJerkOptions())], ids=["kind", "wrapped"])
def test_empty_options_select_the_kind(client: Client, service: ScriptedService, options: Message) -> None:
    client.new_game(options, 3)
    request = service.received[0].request
    assert isinstance(request, pb.NewGameRequest)
    assert request.options.WhichOneof("game") == "soda_jerk"


@pytest.mark.parametrize("move", [flip(2), Move(soda_jerk=flip(2)), legal_flip(2)], ids=["kind", "wrapped", "legal"])
def test_a_move_may_have_every_form(client: Client, service: ScriptedService, move: Message) -> None:
    client.seat(GAME_ID, "t").apply(move)
    request = service.received[0].request
    assert isinstance(request, pb.ApplyMoveRequest)
    assert request.move == Move(soda_jerk=flip(2))


@pytest.mark.parametrize("wrong", [SodaJerkMove(), GameKindInfo(), "soda_jerk", None])
def test_options_of_another_type_raise_before_any_call(client: Client, service: ScriptedService, wrong: object) -> None:
    with pytest.raises(TypeError, match=r"^options must be Options or one of .*\bSodaJerkOptions\b.*, not \w+$"):
        client.new_game(wrong, 3)
    assert service.received == []


def test_a_move_of_another_type_raises_before_any_call(client: Client, service: ScriptedService) -> None:
    with pytest.raises(TypeError, match=r"^move must be Move or one of .*\bSodaJerkMove\b.*, not SodaJerkOptions$"):
        client.seat(GAME_ID, "t").apply(SodaJerkOptions())
    assert service.received == []


def test_a_seat_sends_no_seat_number(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t")
    seat.state(legal_moves=True)
    seat.legal_moves()
    seat.apply(flip(1), etag="", request_id="r", legal_moves=True)
    assert service.requests() == [
        pb.GetGameRequest(game_id=GAME_ID, include_legal_moves=True),
        pb.LegalMovesRequest(game_id=GAME_ID),
        pb.ApplyMoveRequest(game_id=GAME_ID, move=Move(soda_jerk=flip(1)), request_id="r", include_legal_moves=True),
    ]


def test_a_host_sends_the_seat_number_zero_included(client: Client, service: ScriptedService) -> None:
    host = client.host(GAME_ID, "t")
    host.state(0, legal_moves=True)
    host.legal_moves(0)
    host.apply(0, flip(1), etag="", request_id="r", legal_moves=True)
    host.state()
    host.delete()
    assert service.requests() == [
        pb.GetGameRequest(game_id=GAME_ID, seat=0, include_legal_moves=True),
        pb.LegalMovesRequest(game_id=GAME_ID, seat=0),
        pb.ApplyMoveRequest(
            game_id=GAME_ID, seat=0, move=Move(soda_jerk=flip(1)), request_id="r", include_legal_moves=True
        ),
        pb.GetGameRequest(game_id=GAME_ID),
        pb.DeleteGameRequest(game_id=GAME_ID),
    ]


def test_a_host_may_ask_for_the_history_of_a_seat(client: Client, service: ScriptedService) -> None:
    host = client.host(GAME_ID, "t")
    host.history(0)
    host.history(seat=1)
    host.history()
    assert service.requests() == [
        pb.GetHistoryRequest(game_id=GAME_ID, seat=0),
        pb.GetHistoryRequest(game_id=GAME_ID, seat=1),
        pb.GetHistoryRequest(game_id=GAME_ID),
    ]


def test_a_new_game_is_private_and_sealed_only_on_request(client: Client, service: ScriptedService) -> None:
    client.new_game(SodaJerkOptions(), 3, request_id="r")
    client.new_game(SodaJerkOptions(), 3, request_id="r", visibility=VISIBILITY_PRIVATE, sealed=True)
    request = pb.NewGameRequest(options=Options(soda_jerk=SodaJerkOptions()), seat_count=3, request_id="r")
    private = pb.NewGameRequest()
    private.CopyFrom(request)
    private.visibility, private.sealed = VISIBILITY_PRIVATE, True
    assert service.requests() == [request, private]


def test_a_spectator_sends_a_token_if_it_has_one(client: Client, service: ScriptedService) -> None:
    game = client.new_game(SodaJerkOptions(), 3)
    assert game.spectator_token == SPECTATOR_TOKEN
    client.spectator(GAME_ID, game.spectator_token).state()
    client.spectator(GAME_ID).state()
    tokens = [each.metadata.get("authorization") for each in service.received[1:]]
    assert tokens == [f"Bearer {SPECTATOR_TOKEN}", None]


def test_every_move_has_a_new_request_id(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t")
    seat.apply(flip(1))
    seat.apply(flip(1))
    ids = [request.request_id for request in service.requests() if isinstance(request, pb.ApplyMoveRequest)]
    assert len(set(ids)) == 2
    assert {uuid.UUID(each).version for each in ids} == {4}


def test_new_game_returns_handles_of_its_seats_and_its_host(client: Client, service: ScriptedService) -> None:
    game = client.new_game(SodaJerkOptions(), 3)
    assert (game.id, game.host_token, game.seat_tokens) == (GAME_ID, HOST_TOKEN, SEAT_TOKENS)
    assert (game.state.game_id, game.commitment) == (GAME_ID, COMMITMENT)
    assert [seat.number for seat in game.seats] == [0, 1, 2]
    assert {seat.game_id for seat in game.seats} | {game.host.game_id} == {GAME_ID}
    game.seats[2].score()
    game.host.score()
    tokens = [each.metadata["authorization"] for each in service.received[1:]]
    assert tokens == [f"Bearer {SEAT_TOKENS[2]}", f"Bearer {HOST_TOKEN}"]


def test_history_joins_all_pages(client: Client, service: ScriptedService) -> None:
    options = Options(soda_jerk=SodaJerkOptions(copies_per_value=[3, 3, 3]))
    for entries, token in (([1, 2], "two"), ([3], "three"), ([4], "")):
        service.responses.append(
            pb.GetHistoryResponse(
                options=options,
                seed=bytes(32),
                entries=[pb.HistoryEntry(version=version) for version in entries],
                next_page_token=token,
            )
        )
    history = client.spectator(GAME_ID).history()
    assert history == pb.GetHistoryResponse(
        options=options, seed=bytes(32), entries=[pb.HistoryEntry(version=version) for version in (1, 2, 3, 4)]
    )
    assert service.requests() == [pb.GetHistoryRequest(game_id=GAME_ID, page_token=t) for t in ("", "two", "three")]


def test_game_kinds_joins_all_pages(client: Client, service: ScriptedService) -> None:
    service.responses.append(pb.ListGameKindsResponse(game_kinds=[GameKindInfo(title="One")], next_page_token="more"))
    service.responses.append(pb.ListGameKindsResponse(game_kinds=[GameKindInfo(title="Two")]))
    assert [kind.title for kind in client.game_kinds()] == ["One", "Two"]
    assert service.requests() == [pb.ListGameKindsRequest(page_token=token) for token in ("", "more")]
