"""Whole games through the service: created, played, fetched, scored, revealed and deleted."""

import random
import re
import uuid
from functools import partial

import pytest
from redis import Redis

from service.store.keys import game_keys
from service.verification import replay_history
from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import ADVANCED, BASIC, SECONDS, expect_error, new_game, play
from tests.support.long_cases import long_case
from tests.support.transports import EVERY_TRANSPORT

SEED = bytes(range(32))
DAY_MS = 24 * 3600 * 1000


@EVERY_TRANSPORT
@pytest.mark.parametrize(
    ("seats", "options"), [(2, BASIC), long_case(3, ADVANCED), long_case(2, ADVANCED), long_case(4, BASIC)]
)
def test_a_game_is_played_to_its_end_and_its_history_verifies(
    stub: GameServiceStub, seats: int, options: game_pb2.Options
) -> None:
    game = new_game(stub, seats, options)

    responses = play(game, random.Random(seats))

    assert [answer.committed_version for answer in responses] == list(range(2, len(responses) + 2))
    final = game.spectator.state()
    assert final.status == game_pb2.GAME_STATUS_FINISHED
    assert final.version == len(responses) + 1
    score = game.spectator.score()
    assert score.finished
    assert list(score.winners) == [score.player for score in score.scores if score.rank == 1]
    kept = game.created.state.seed_commitment
    replayed = replay_history(game.spectator.history(page_size=1000), game_id=game.game_id, commitment=kept)
    assert replayed.moves == len(responses)
    assert [player.total for player in replayed.score.scores] == [player.total for player in score.scores]


def test_every_kind_of_game_is_played_to_its_end_and_verifies(stub: GameServiceStub) -> None:
    for kind in stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=SECONDS).game_kinds:
        for preset, info in zip(kind.presets, kind.preset_infos, strict=True):
            for seats in {info.min_seats, info.max_seats if preset == kind.presets[0] else info.min_seats}:
                game = new_game(stub, seats, preset)
                responses = play(game, random.Random(seats))
                replayed = replay_history(game.spectator.history(page_size=1000))
                assert (replayed.title, replayed.moves) == (kind.title, len(responses))
                assert game.spectator.score().finished


def test_a_new_game_has_version_one_and_awaits_its_first_seat(stub: GameServiceStub) -> None:
    options = game_pb2.Options()
    options.soda_jerk.first_seat = 2

    state = new_game(stub, 4, options).created.state

    assert re.fullmatch("[a-z2-7]{26}", state.game_id)
    assert state.kind == game_pb2.GAME_KIND_SODA_JERK
    assert state.status == game_pb2.GAME_STATUS_ACTIVE
    assert state.version == 1
    assert state.awaiting_seats == [2]
    assert state.seat_count == 4
    assert state.options.soda_jerk.first_seat == 2
    assert not state.HasField("viewer_seat")
    assert state.view.WhichOneof("game") == "soda_jerk"


def test_a_seat_sees_only_its_own_hand(stub: GameServiceStub) -> None:
    game = new_game(stub, 3)

    for number, seat in enumerate((*game.seats, game.spectator)):
        hands = seat.state().view.soda_jerk.hands
        assert [hand.size for hand in hands] == [13, 13, 13]
        assert [len(hand.cards) for hand in hands] == [13 if number == owner else 0 for owner in range(3)]


def test_legal_moves_are_listed_only_for_the_awaited_seat(stub: GameServiceStub) -> None:
    game = new_game(stub, 3)
    awaited = game.created.state.awaiting_seats[0]

    for number, seat in enumerate(game.seats):
        legal = seat.legal()
        assert legal.awaiting_seats == [awaited]
        assert bool(legal.moves) == (number == awaited)
        assert bool(legal.prompt) == (number == awaited)
        assert all(move.label for move in legal.moves)


def test_the_host_acts_for_every_seat(stub: GameServiceStub) -> None:
    game = new_game(stub, 3)

    for _ in range(6):
        seat = game.host.state().awaiting_seats[0]
        legal = game.host.legal(seat=seat)
        assert legal == game.seats[seat].legal()
        assert game.host.state(seat=seat) == game.seats[seat].state()
        answer = game.host.apply(legal.moves[0].move, seat=seat, etag=legal.etag)
        assert answer.state == game.seats[seat].state()
    assert game.host.state() == game.spectator.state()


def test_states_include_legal_moves_on_request(stub: GameServiceStub) -> None:
    game = new_game(stub, 2)
    awaited = game.created.state.awaiting_seats[0]
    seat, other = game.seats[awaited], game.seats[1 - awaited]

    assert seat.state(include_legal_moves=True).legal_moves == seat.legal().moves
    assert not seat.state().legal_moves
    answer = seat.apply(seat.legal().moves[0].move, include_legal_moves=True)
    assert answer.state.legal_moves == seat.legal().moves
    assert not other.at(stub).state(include_legal_moves=True).view.soda_jerk.finished_rounds


def test_events_describe_the_move_to_its_seat(stub: GameServiceStub) -> None:
    game = new_game(stub, 3)
    seat = game.seats[game.created.state.awaiting_seats[0]]
    chosen = seat.legal().moves[0].move

    (event,) = seat.apply(chosen).events

    assert event.version == 2
    assert event.seat == game.seats.index(seat)
    placed = event.detail.soda_jerk.placed
    assert placed.card.card == chosen.soda_jerk.place.card
    assert placed.tap_flavor == chosen.soda_jerk.place.tap_flavor
    assert event.text


@EVERY_TRANSPORT
def test_a_repeated_move_is_committed_once_and_has_the_same_response(stub: GameServiceStub) -> None:
    game = new_game(stub, 3)
    seat = game.seats[game.created.state.awaiting_seats[0]]
    offered, request_id = seat.legal(), str(uuid.uuid4())
    first = seat.apply(offered.moves[0].move, etag=offered.etag, request_id=request_id)
    play(game, random.Random(1), moves=4)

    again = seat.apply(offered.moves[0].move, etag=offered.etag, request_id=request_id.upper())

    assert not first.repeated_request
    assert again.repeated_request
    assert again.committed_version == first.committed_version
    assert again.events == first.events
    assert again.state == seat.state()
    assert game.spectator.state().version == 6


def test_each_seat_has_its_own_request_ids(stub: GameServiceStub) -> None:
    game = new_game(stub, 3)
    request_id = str(uuid.uuid4())

    for version in (2, 3, 4):
        seat = game.seats[game.spectator.state().awaiting_seats[0]]
        answer = seat.apply(seat.legal().moves[0].move, request_id=request_id)
        assert (answer.committed_version, answer.repeated_request) == (version, False)


def test_a_repeated_new_game_returns_the_same_game_and_tokens(stub: GameServiceStub) -> None:
    request_id = str(uuid.uuid4())
    first = new_game(stub, 3, request_id=request_id)
    play(first, random.Random(2), moves=3)

    again = new_game(stub, 3, request_id=request_id)

    assert again.created.seat_tokens == first.created.seat_tokens
    assert again.created.host_token == first.created.host_token
    assert again.created.spectator_token == first.created.spectator_token
    assert again.created.state == first.spectator.state()


def test_games_without_request_ids_are_different_games(stub: GameServiceStub) -> None:
    assert new_game(stub, request_id="").game_id != new_game(stub, request_id="").game_id


def test_a_fixed_seed_deals_the_same_cards(stub: GameServiceStub) -> None:
    games = [new_game(stub, 2, seed=SEED) for _ in range(2)]

    assert games[0].seats[0].state().view == games[1].seats[0].state().view
    assert games[0].game_id != games[1].game_id
    assert games[0].created.state.seed_commitment != games[1].created.state.seed_commitment


def test_every_game_has_a_new_seed(stub: GameServiceStub) -> None:
    games = [new_game(stub, 2) for _ in range(2)]

    assert games[0].seats[0].state().view != games[1].seats[0].state().view


def test_an_etag_is_valid_until_its_decision_is_made(stub: GameServiceStub) -> None:
    game = new_game(stub, 2)
    seat = game.seats[game.created.state.awaiting_seats[0]]
    legal = seat.legal()

    answer = seat.apply(legal.moves[0].move, etag=legal.etag)

    assert legal.etag == game.seats[game.seats.index(seat)].legal().etag or answer.state.etag != legal.etag
    error = expect_error(lambda: seat.apply(legal.moves[1].move, etag=legal.etag))
    assert (error.code.name, error.reason) == ("ABORTED", "STALE_ETAG")
    assert error.metadata == {"version": "2"}


@EVERY_TRANSPORT
def test_a_deleted_game_is_gone(stub: GameServiceStub) -> None:
    request_id = str(uuid.uuid4())
    game = new_game(stub, request_id=request_id)
    seat = game.seats[game.created.state.awaiting_seats[0]]
    move = seat.legal().moves[0].move

    game.host.delete()

    calls = (
        game.spectator.state,
        game.spectator.score,
        seat.legal,
        game.spectator.history,
        lambda: seat.apply(move),
        lambda: new_game(stub, request_id=request_id),
    )
    for call in calls:
        error = expect_error(call)
        assert (error.code.name, error.reason) == ("NOT_FOUND", "GAME_NOT_FOUND")


@EVERY_TRANSPORT
def test_a_deleted_game_can_be_deleted_again(stub: GameServiceStub) -> None:
    """The caller of a deletion whose outcome is unknown repeats it."""
    game = new_game(stub)
    game.host.delete()

    game.host.delete()

    assert expect_error(game.spectator.state).reason == "GAME_NOT_FOUND"
    assert expect_error(game.seats[0].delete).reason == "WRONG_SEAT"


def test_a_game_whose_tombstone_has_expired_is_not_found(stub: GameServiceStub, raw: Redis) -> None:
    game = new_game(stub)
    game.host.delete()
    assert raw.pttl(game_keys(game.game_id).game) > DAY_MS - 60_000

    raw.delete(game_keys(game.game_id).game)

    assert expect_error(game.host.delete).reason == "GAME_NOT_FOUND"


def test_a_game_whose_metadata_is_damaged_can_be_deleted(stub: GameServiceStub, raw: Redis) -> None:
    game = new_game(stub)
    raw.lset(game_keys(game.game_id).game, 1, "")

    game.host.delete()

    assert expect_error(game.spectator.state).reason == "GAME_NOT_FOUND"


def test_the_score_is_the_same_for_every_viewer(stub: GameServiceStub) -> None:
    game = new_game(stub, 3)
    play(game, random.Random(6), moves=40)

    scores = [caller.score() for caller in (game.host, *game.seats, game.spectator)]

    assert all(score == scores[0] for score in scores)
    players = scores[0].scores
    assert [sum(line.points for line in player.lines) for player in players] == [player.total for player in players]


def test_the_kinds_of_games_describe_a_complete_form(stub: GameServiceStub) -> None:
    kinds = stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=SECONDS).game_kinds

    assert (kinds[0].kind, kinds[0].title) == (game_pb2.GAME_KIND_SODA_JERK, "Soda Jerk")
    assert (kinds[0].min_seats, kinds[0].max_seats) == (2, 4)
    assert sorted(kind.kind for kind in kinds) == [number for number in game_pb2.GameKind.values() if number]
    for kind in kinds:
        name = kind.presets[0].WhichOneof("game")
        assert name is not None
        fields = {field.name for field in getattr(kind.presets[0], name).DESCRIPTOR.fields}
        assert {option.field for option in kind.options} == fields
        assert all(option.title and option.description and option.value_type for option in kind.options)
        for preset, info in zip(kind.presets, kind.preset_infos, strict=True):
            assert new_game(stub, info.min_seats, preset).game_id
            for seats in {*range(1, 16)} - {*range(info.min_seats, info.max_seats + 1)}:
                assert expect_error(partial(new_game, stub, seats, preset)).reason == "MALFORMED"


@EVERY_TRANSPORT
def test_pages_of_kinds_contain_each_kind_once(stub: GameServiceStub) -> None:
    whole = stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=SECONDS)

    page = stub.ListGameKinds(pb.ListGameKindsRequest(page_size=1), timeout=SECONDS)
    kinds = list(page.game_kinds)
    while page.next_page_token:
        assert len(page.game_kinds) == 1
        request = pb.ListGameKindsRequest(page_size=1, page_token=page.next_page_token)
        page = stub.ListGameKinds(request, timeout=SECONDS)
        kinds.extend(page.game_kinds)

    assert kinds == list(whole.game_kinds)
    assert not whole.next_page_token
