"""Which decision a move answers: the one that its seat saw open last."""

from collections.abc import Callable

import grpc
import pytest
from google.protobuf.message import Message

import sodafountain
from sodafountain.v1 import game_service_pb2 as pb
from tests.clients import watch_messages
from tests.clients.blocking_aio import Client
from tests.clients.scripted_service import GAME_ID, ScriptedService, flip, legal_flip, refusal, state


def applied_etags(service: ScriptedService) -> list[str]:
    """The etags of the moves that arrived."""
    return [request.etag for request in service.requests() if isinstance(request, pb.ApplyMoveRequest)]


OPEN = pb.GetGameResponse(state=state("open-7", viewer=1, awaiting=(0, 1)))
CLOSED = pb.GetGameResponse(state=state("version-8", viewer=1, awaiting=(0,)))
MOVES = pb.LegalMovesResponse(etag="open-7", moves=[legal_flip(1)], awaiting_seats=[0, 1])
NO_MOVES = pb.LegalMovesResponse(etag="version-8", awaiting_seats=[0])
NEXT = pb.ApplyMoveResponse(state=state("open-9", viewer=1, awaiting=(1,)))
OTHERS = pb.ApplyMoveResponse(state=state("version-9", viewer=1, awaiting=(0,)))

Look = Callable[[Client], object]


@pytest.mark.parametrize(
    ("answer", "look", "etag"),
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
def test_a_move_answers_the_decision_that_its_seat_saw_open_last(
    client: Client, service: ScriptedService, answer: Message, look: Look, etag: str
) -> None:
    seat = client.seat(GAME_ID, "t")
    service.script.append(answer)
    look(seat)
    seat.apply(flip(1))
    assert applied_etags(service)[-1] == etag


def test_a_seat_that_has_seen_nothing_means_the_decision_open_now(client: Client, service: ScriptedService) -> None:
    client.seat(GAME_ID, "t").apply(flip(1))
    assert applied_etags(service) == [""]


@pytest.mark.parametrize("etag", ["", "of-my-own"])
def test_the_caller_may_say_which_decision_it_means(client: Client, service: ScriptedService, etag: str) -> None:
    seat = client.seat(GAME_ID, "t")
    service.script.append(OPEN)
    seat.state()
    seat.apply(flip(1), etag=etag)
    assert applied_etags(service) == [etag]


def test_a_decision_that_closed_is_forgotten(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t")
    service.script.extend([OPEN, CLOSED])
    seat.state()
    seat.state()
    seat.apply(flip(1))
    assert applied_etags(service) == [""]


def test_a_stale_move_stays_stale_until_its_seat_has_looked_again(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t")
    service.script.extend([OPEN, refusal(grpc.StatusCode.ABORTED, "STALE_ETAG"), NEXT])
    seat.state()
    with pytest.raises(sodafountain.StaleEtag):
        seat.apply(flip(1))
    seat.apply(flip(1))
    assert applied_etags(service) == ["open-7", "open-7"]


def test_seats_do_not_mix_up_their_decisions(client: Client, service: ScriptedService) -> None:
    first, second = client.seat(GAME_ID, "t"), client.seat(GAME_ID, "u")
    service.script.append(OPEN)
    first.state()
    second.apply(flip(1))
    assert applied_etags(service) == [""]


def test_a_host_remembers_the_decision_of_each_seat(client: Client, service: ScriptedService) -> None:
    host = client.host(GAME_ID, "t")
    service.script.extend(
        [
            pb.LegalMovesResponse(etag="of-0", moves=[legal_flip(1)]),
            pb.GetGameResponse(state=state("of-1", viewer=1, awaiting=(0, 1))),
            pb.GetGameResponse(state=state("of-nobody", awaiting=(0, 1))),
        ]
    )
    host.legal_moves(0)
    host.state(1)
    host.state()
    host.apply(1, flip(1))
    host.apply(0, flip(1))
    host.apply(2, flip(1))
    assert applied_etags(service) == ["of-1", "of-0", ""]


def test_a_seat_learns_its_number_from_the_first_state(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t")
    service.script.append(OPEN)
    assert seat.number is None
    seat.state()
    assert seat.number == 1


def asked_meanwhile(client: Client, service: ScriptedService, *stream: pb.WatchGameResponse) -> str:
    """The etag of a move of a seat that asked for version 9 before it heard the last message of its watch."""
    service.streams.append(stream)
    seat = client.seat(GAME_ID, "t")
    watch = seat.watch()
    next(watch)
    service.script.append(pb.LegalMovesResponse(version=9, etag="open-9", moves=[legal_flip(1)], awaiting_seats=[0]))
    seat.legal_moves()
    next(watch)
    seat.apply(flip(1))
    watch.close()
    return applied_etags(service)[-1]


def test_news_that_come_late_do_not_make_a_seat_forget_a_newer_decision(
    client: Client, service: ScriptedService
) -> None:
    late = watch_messages.update(4, 4)
    late.update.state.CopyFrom(watch_messages.state(4, viewer=0))

    assert asked_meanwhile(client, service, watch_messages.snapshot(3, viewer=0), late) == "open-9"


def test_a_seat_learns_its_number_from_news_too_that_come_late(client: Client, service: ScriptedService) -> None:
    late = watch_messages.update(4, 4)
    late.update.state.CopyFrom(watch_messages.state(4, viewer=1))
    service.streams.append([late])
    service.script.append(pb.LegalMovesResponse(version=9, etag="open-9", moves=[legal_flip(1)], awaiting_seats=[1]))
    seat = client.seat(GAME_ID, "t")
    seat.legal_moves()
    assert seat.number is None
    watch = seat.watch(resume_token=watch_messages.token(3))
    next(watch)
    watch.close()
    assert seat.number == 1


def test_news_of_a_newer_decision_count(client: Client, service: ScriptedService) -> None:
    new = watch_messages.update(4, 10)
    new.update.state.CopyFrom(watch_messages.state(10, viewer=0))

    assert asked_meanwhile(client, service, watch_messages.snapshot(3, viewer=0), new) == "etag-10"


def test_a_snapshot_counts_also_where_it_is_older_for_the_store_may_have_gone_back(
    client: Client, service: ScriptedService
) -> None:
    back = watch_messages.snapshot(4, viewer=0)

    assert asked_meanwhile(client, service, watch_messages.snapshot(3, viewer=0), back) == "etag-4"
