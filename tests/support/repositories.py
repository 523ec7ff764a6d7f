"""Repositories of games on a store, without a service around them."""

import random
import uuid
from typing import Any

from service.games import (
    AppliedMove,
    Deadline,
    GameRepository,
    Kind,
    NewGame,
    Quotas,
    RequestedMove,
    StoredGame,
    Values,
    all_kinds,
)
from service.games.reservations import Reservations
from service.observability.metrics import Metrics
from service.store import Quota, Store
from tests.support.game_clients import SECONDS

DAY_MS = 24 * 3600 * 1000
KINDS = all_kinds()
"""The kinds of all repositories, so that their games can be compared."""


def repository(store: Store, *, cached: int = 100, idle_ms: int = 7 * DAY_MS) -> GameRepository:
    """Return a repository without quotas and encryption."""
    quotas = Quotas(store.quotas, Quota(live=None, created=None, window_ms=DAY_MS))
    return GameRepository(
        store.games,
        Values(KINDS, cipher=None),
        reservations=Reservations(store.reservations, quotas, provisional_ms=31_000),
        quotas=quotas,
        counters=Metrics(),
        cached=cached,
        idle_ms=idle_ms,
        finished_ms=idle_ms,
    )


def deadline() -> Deadline:
    """Return a deadline that a healthy store never reaches."""
    return Deadline(SECONDS)


def create(games: GameRepository, kind: Kind, options: Any, seats: int, seed: int, **fields: Any) -> StoredGame:
    """Create a game. Equal numbers give equal games."""
    known: dict[str, Any] = {
        "sealed": False,
        "private": False,
        "seed": seed.to_bytes(32, "big"),
        "fixed_seed": False,
        "key_id": "a-key-id",
        "owner": "an-app",
        "request_id": str(uuid.uuid4()),
        **fields,
    }
    return games.create(NewGame(kind=kind, options=options, seat_count=seats, **known), deadline())


def apply(
    games: GameRepository, game: StoredGame, seat: int, move: Any, request_id: str = "", etag: str = ""
) -> AppliedMove:
    """Make a move."""
    return games.apply(game.game_id, seat, RequestedMove(game.kind.name, move), etag, request_id, deadline())


def chosen(game: StoredGame, rng: random.Random) -> tuple[int, Any]:
    """Return a random seat and one of its moves."""
    seat = rng.choice(game.awaiting)
    return seat, rng.choice(game.kind.game.legal_moves(game.state, seat))


def play(games: GameRepository, game: StoredGame, rng: random.Random, *, moves: int | None = None) -> StoredGame:
    """Play all seats at random, to the end or for a number of moves; return the game after it."""
    while game.awaiting and moves != 0:
        game = apply(games, game, *chosen(game, rng), request_id=str(uuid.UUID(int=rng.getrandbits(128)))).game
        moves = None if moves is None else moves - 1
    return game
