"""Every operation of the client that calls the service."""

from collections.abc import Callable
from typing import Any

import pytest

from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.clients.blocking_aio import Client
from tests.clients.scripted_service import GAME_ID, flip

# Each operation takes a client and keyword arguments such as `timeout`. The second item is the token that it must send.
Operation = Callable[[Client, Any], object]
OPERATIONS: dict[str, tuple[Operation, str | None]] = {
    "new game": (lambda c, kw: c.new_game(SodaJerkOptions(), 3, **kw), None),
    "game kinds": (lambda c, kw: c.game_kinds(**kw), None),
    "seat: state": (lambda c, kw: c.seat(GAME_ID, "of-seat").state(**kw), "of-seat"),
    "seat: legal moves": (lambda c, kw: c.seat(GAME_ID, "of-seat").legal_moves(**kw), "of-seat"),
    "seat: apply": (lambda c, kw: c.seat(GAME_ID, "of-seat").apply(flip(1), **kw), "of-seat"),
    "seat: score": (lambda c, kw: c.seat(GAME_ID, "of-seat").score(**kw), "of-seat"),
    "seat: history": (lambda c, kw: c.seat(GAME_ID, "of-seat").history(**kw), "of-seat"),
    "spectator: state": (lambda c, kw: c.spectator(GAME_ID).state(**kw), None),
    "spectator: score": (lambda c, kw: c.spectator(GAME_ID).score(**kw), None),
    "spectator: history": (lambda c, kw: c.spectator(GAME_ID).history(**kw), None),
    "host: state": (lambda c, kw: c.host(GAME_ID, "of-host").state(**kw), "of-host"),
    "host: legal moves": (lambda c, kw: c.host(GAME_ID, "of-host").legal_moves(0, **kw), "of-host"),
    "host: apply": (lambda c, kw: c.host(GAME_ID, "of-host").apply(0, flip(1), **kw), "of-host"),
    "host: score": (lambda c, kw: c.host(GAME_ID, "of-host").score(**kw), "of-host"),
    "host: history": (lambda c, kw: c.host(GAME_ID, "of-host").history(**kw), "of-host"),
    "host: delete": (lambda c, kw: c.host(GAME_ID, "of-host").delete(**kw), "of-host"),
}
every_operation = pytest.mark.parametrize(("operation", "token"), OPERATIONS.values(), ids=OPERATIONS)
