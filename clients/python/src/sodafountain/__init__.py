"""The Python client of the Soda Fountain game service: create, play, watch and score games.

    import sodafountain
    from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions

    with sodafountain.connect("localhost:50051") as client:
        game = client.new_game(SodaJerkOptions(), seats=3)
        seat = game.seats[game.state.awaiting_seats[0]]
        seat.apply(seat.legal_moves().moves[0])

`sodafountain.aio` has the same client for asyncio. `sodafountain.v1` contains the generated messages of the API.
"""

from sodafountain._errors import (
    ApiKeyInvalid,
    ClientClosed,
    CommitmentChanged,
    Contention,
    DeadlineExceeded,
    Draining,
    FieldViolation,
    GameDeleted,
    GameExpired,
    GameFinished,
    GameNotFound,
    IllegalMove,
    InternalError,
    LimitExceeded,
    MalformedRequest,
    NotYourTurn,
    RequestIdReused,
    SodaFountainError,
    StaleEtag,
    StoreUnavailable,
    TokenInvalid,
    Unconfirmed,
    Unimplemented,
    Unreachable,
    Upgrading,
    WrongSeat,
)
from sodafountain._reasons import Reason
from sodafountain._sync_client import Client, Game, Host, Seat, Spectator, connect
from sodafountain._sync_watch import Watch
from sodafountain._watch_plan import Update

__all__ = [
    "ApiKeyInvalid",
    "Client",
    "ClientClosed",
    "CommitmentChanged",
    "Contention",
    "DeadlineExceeded",
    "Draining",
    "FieldViolation",
    "Game",
    "GameDeleted",
    "GameExpired",
    "GameFinished",
    "GameNotFound",
    "Host",
    "IllegalMove",
    "InternalError",
    "LimitExceeded",
    "MalformedRequest",
    "NotYourTurn",
    "Reason",
    "RequestIdReused",
    "Seat",
    "SodaFountainError",
    "Spectator",
    "StaleEtag",
    "StoreUnavailable",
    "TokenInvalid",
    "Unconfirmed",
    "Unimplemented",
    "Unreachable",
    "Update",
    "Upgrading",
    "Watch",
    "WrongSeat",
    "connect",
]
