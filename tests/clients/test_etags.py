"""`apply` sends the etag of the last open decision that the seat has seen."""

from collections.abc import Callable

import grpc
import pytest
from google.protobuf.message import Message

import sodafountain
from sodafountain.v1 import game_service_pb2 as pb
from tests.clients.blocking_aio import Client
from tests.clients.scripted_service import GAME_ID, ScriptedService, error_reply, flip, legal_flip, state
from tests.clients.watch_messages import resume_token, snapshot, update


def applied_etags(service: ScriptedService) -> list[str]:
    """Return the etags of the moves that the service received."""
    return [request.etag for request in service.requests() if isinstance(request, pb.ApplyMoveRequest)]


OPEN = pb.GetGameResponse(state=state("open-7", viewer=1, awaiting=(0, 1)))
CLOSED = pb.GetGameResponse(state=state("version-8", viewer=1, awaiting=(0,)))
MOVES = pb.LegalMovesResponse(etag="open-7", moves=[legal_flip(1)], awaiting_seats=[0, 1])
NO_MOVES = pb.LegalMovesResponse(etag="version-8", awaiting_seats=[0])
NEXT = pb.ApplyMoveResponse(state=state("open-9", viewer=1, awaiting=(1,)))
OTHERS = pb.ApplyMoveResponse(state=state("version-9", viewer=1, awaiting=(0,)))

GetResponse = Callable[[Client], object]


@pytest.mark.parametrize(
    ("response", "get_response", "etag"),
    [
        (OPEN, lambda seat: seat.state(), "open-7"),
        (MOVES, lambda seat: seat.legal_moves(), "open-7"),
        (NEXT, lambda seat: seat.apply(flip(1), etag=""), "open-9"),
        (CLOSED, lambda seat: seat.state(), ""),
        (NO_MOVES, lambda seat: seat.legal_moves(), ""),
        (OTHERS, lambda seat: seat.apply(flip(1), etag=""), ""),
    ],
    ids=["state", "legal moves", "apply", "state, not awaited", "legal moves, not awaited", "apply, not awaited"],
)
def test_a_move_answers_the_last_open_decision_that_its_seat_has_seen(
    client: Client, service: ScriptedService, response: Message, get_response: GetResponse, etag: str
) -> None:
    seat = client.seat(GAME_ID, "t")
    service.responses.append(response)
    get_response(seat)
    seat.apply(flip(1))
    assert applied_etags(service)[-1] == etag


def test_a_seat_without_a_response_sends_no_etag(client: Client, service: ScriptedService) -> None:
    client.seat(GAME_ID, "t").apply(flip(1))
    assert applied_etags(service) == [""]


@pytest.mark.parametrize("etag", ["", "explicit"])
def test_an_explicit_etag_takes_precedence(client: Client, service: ScriptedService, etag: str) -> None:
    seat = client.seat(GAME_ID, "t")
    service.responses.append(OPEN)
    seat.state()
    seat.apply(flip(1), etag=etag)
    assert applied_etags(service) == [etag]


def test_a_closed_decision_is_forgotten(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t")
    service.responses.extend([OPEN, CLOSED])
    seat.state()
    seat.state()
    seat.apply(flip(1))
    assert applied_etags(service) == [""]


def test_a_stale_etag_stays_until_the_seat_gets_a_new_state(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t")
    service.responses.extend([OPEN, error_reply(grpc.StatusCode.ABORTED, "STALE_ETAG"), NEXT])
    seat.state()
    with pytest.raises(sodafountain.StaleEtag):
        seat.apply(flip(1))
    seat.apply(flip(1))
    assert applied_etags(service) == ["open-7", "open-7"]


def test_each_seat_remembers_its_own_decision(client: Client, service: ScriptedService) -> None:
    first, second = client.seat(GAME_ID, "t"), client.seat(GAME_ID, "u")
    service.responses.append(OPEN)
    first.state()
    second.apply(flip(1))
    assert applied_etags(service) == [""]


def test_a_host_remembers_the_decision_of_each_seat(client: Client, service: ScriptedService) -> None:
    host = client.host(GAME_ID, "t")
    service.responses.extend(
        [
            pb.LegalMovesResponse(etag="of-0", moves=[legal_flip(1)]),
            pb.GetGameResponse(state=state("of-1", viewer=1, awaiting=(0, 1))),
            pb.GetGameResponse(state=state("of-spectator", awaiting=(0, 1))),
        ]
    )
    host.legal_moves(0)
    host.state(1)
    host.state()
    host.apply(1, flip(1))
    host.apply(0, flip(1))
    host.apply(2, flip(1))
    assert applied_etags(service) == ["of-1", "of-0", ""]


def test_the_first_state_sets_the_number_of_the_seat(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t")
    service.responses.append(OPEN)
    assert seat.number is None
    seat.state()
    assert seat.number == 1


def etag_after_late_message(client: Client, service: ScriptedService, *stream: pb.WatchGameResponse) -> str:
    """Return the etag of a move of a seat that got version 9 from a call before the last message of its watch."""
    service.streams.append(stream)
    seat = client.seat(GAME_ID, "t")
    watch = seat.watch()
    next(watch)
    service.responses.append(pb.LegalMovesResponse(version=9, etag="open-9", moves=[legal_flip(1)], awaiting_seats=[0]))
    seat.legal_moves()
    next(watch)
    seat.apply(flip(1))
    watch.close()
    return applied_etags(service)[-1]


def test_a_late_update_does_not_replace_a_newer_decision(client: Client, service: ScriptedService) -> None:
    late = update(4, 4, viewer=0)
    assert etag_after_late_message(client, service, snapshot(3, viewer=0), late) == "open-9"


def test_a_late_update_sets_the_number_of_the_seat(client: Client, service: ScriptedService) -> None:
    service.streams.append([update(4, 4, viewer=1)])
    service.responses.append(pb.LegalMovesResponse(version=9, etag="open-9", moves=[legal_flip(1)], awaiting_seats=[1]))
    seat = client.seat(GAME_ID, "t")
    seat.legal_moves()
    assert seat.number is None
    watch = seat.watch(resume_token=resume_token(3))
    next(watch)
    watch.close()
    assert seat.number == 1


def test_an_update_with_a_newer_decision_replaces_it(client: Client, service: ScriptedService) -> None:
    newer = update(4, 10, viewer=0)
    assert etag_after_late_message(client, service, snapshot(3, viewer=0), newer) == "etag-10"


def test_an_older_snapshot_replaces_a_newer_decision(client: Client, service: ScriptedService) -> None:
    """The store may have lost changes, so a snapshot is valid even if its version is lower."""
    older = snapshot(4, viewer=0)
    assert etag_after_late_message(client, service, snapshot(3, viewer=0), older) == "etag-4"
