"""Every operation that calls the service."""

from collections.abc import Callable
from typing import Any

import pytest

from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.clients.blocking_aio import Client
from tests.clients.scripted_service import GAME_ID, flip

# By whom, what it does with a timeout, and the token it should carry.
Operation = Callable[[Client, Any], object]
OPERATIONS: dict[str, tuple[Operation, str | None]] = {
    "new game": (lambda c, t: c.new_game(SodaJerkOptions(), 3, **t), None),
    "game kinds": (lambda c, t: c.game_kinds(**t), None),
    "seat: state": (lambda c, t: c.seat(GAME_ID, "of-seat").state(**t), "of-seat"),
    "seat: legal moves": (lambda c, t: c.seat(GAME_ID, "of-seat").legal_moves(**t), "of-seat"),
    "seat: apply": (lambda c, t: c.seat(GAME_ID, "of-seat").apply(flip(1), **t), "of-seat"),
    "seat: score": (lambda c, t: c.seat(GAME_ID, "of-seat").score(**t), "of-seat"),
    "seat: history": (lambda c, t: c.seat(GAME_ID, "of-seat").history(**t), "of-seat"),
    "spectator: state": (lambda c, t: c.spectator(GAME_ID).state(**t), None),
    "spectator: score": (lambda c, t: c.spectator(GAME_ID).score(**t), None),
    "spectator: history": (lambda c, t: c.spectator(GAME_ID).history(**t), None),
    "host: state": (lambda c, t: c.host(GAME_ID, "of-host").state(**t), "of-host"),
    "host: legal moves": (lambda c, t: c.host(GAME_ID, "of-host").legal_moves(0, **t), "of-host"),
    "host: apply": (lambda c, t: c.host(GAME_ID, "of-host").apply(0, flip(1), **t), "of-host"),
    "host: score": (lambda c, t: c.host(GAME_ID, "of-host").score(**t), "of-host"),
    "host: history": (lambda c, t: c.host(GAME_ID, "of-host").history(**t), "of-host"),
    "host: delete": (lambda c, t: c.host(GAME_ID, "of-host").delete(**t), "of-host"),
}
every_operation = pytest.mark.parametrize(("operation", "token"), OPERATIONS.values(), ids=OPERATIONS)
