"""Games at several stages, and the check of an error."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc

from sodafountain.v1 import game_pb2
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_STRAWBERRY, SodaJerkCard
from tests.support.game_clients import CallError, Game, GameClient
from tests.support.moves import flip

SEED: Final = bytes(range(32))
API_KEY: Final = "the-app-teams-own-key"
OTHER_API_KEY: Final = "another-key-of-enough-length"
FIRST_REQUEST: Final = "00000000-0000-4000-8000-000000000001"
UNKNOWN_FLAVOR: Final[Any] = 9  # protobuf's enums are open


def codes_of_contract() -> dict[str, str]:
    """Read the status of each reason from the contract."""
    text = (Path(__file__).parents[4] / "protos/sodafountain/v1/errors.proto").read_text()
    return {name: code for code, name in re.findall(r"// ([A-Z_]+)\. .*\n(?:  // .*\n)*  ERROR_REASON_(\w+) =", text)}


CODES_OF_CONTRACT = codes_of_contract()


class Games(NamedTuple):
    """A service with games at several stages. No rejected call may change them.

    In all of them two seats play without kiwi, and seat 0 starts.

    Attributes:
        stub: the service.
        channel: the connection to it.
        opened: seat 0 has placed a card at strawberry with `FIRST_REQUEST`, and seat 1 takes its first turn.
        active: seat 1 has placed a card at blueberry too, seat 0 has flipped it, and seat 1 acts next.
        finished: a finished game.
        private: a private game at its start.
        etags: the etags of these games.
    """

    stub: GameServiceStub
    channel: grpc.Channel
    opened: Game
    active: Game
    finished: Game
    private: Game
    etags: tuple[str, ...]

    def over_stub(self, stub: GameServiceStub) -> "Games":
        """Return the same games over another stub."""
        return self._replace(
            stub=stub,
            opened=self.opened.at(stub),
            active=self.active.at(stub),
            finished=self.finished.at(stub),
            private=self.private.at(stub),
        )

    @property
    def first(self) -> GameClient:
        """Seat 0 of `opened`, which has acted."""
        return self.opened.seats[0]

    @property
    def second(self) -> GameClient:
        """Seat 1 of `opened`, which acts next."""
        return self.opened.seats[1]

    @property
    def held(self) -> SodaJerkCard:
        """A card in the hand of `second` that is not a Switcheroo."""
        return self.second.state().view.soda_jerk.hands[1].cards[0]

    @property
    def legal(self) -> game_pb2.Move:
        """A legal move of `second`."""
        return self.second.legal().moves[0].move

    def with_token(self, token: str) -> GameClient:
        """Return a client of `opened` with this token."""
        return GameClient(self.stub, self.opened.game_id, token)


Attempt = Callable[[Games], Any]


def views(games: Games) -> list[game_pb2.GameState]:
    """Return every seat's view of every game."""
    all_games = (games.opened, games.active, games.finished, games.private)
    return [seat.state(include_legal_moves=True) for game in all_games for seat in game.seats]


def etags(games: Games) -> tuple[str, ...]:
    """Return the current etags of the games."""
    all_games = (games.opened, games.active, games.finished, games.private)
    return tuple(game.host.state().etag for game in all_games)


def check(error: CallError, reason: str, phrase: str, *fields: str) -> None:
    """Compare an error with the expected values, and its status with the contract."""
    assert error.reason == reason
    assert error.code.name == CODES_OF_CONTRACT[reason]
    assert phrase in error.message
    assert tuple(error.fields) == fields
    for field, problem in error.fields.items():
        assert field in error.message
        assert problem in error.message
    assert error.retry is None


EVERY_CALL_WITH_A_TOKEN: dict[str, Callable[[GameClient], Any]] = {
    "LegalMoves": GameClient.legal,
    "ApplyMove": lambda caller: caller.apply(flip(FLAVOR_STRAWBERRY, 1)),
    "Score": GameClient.score,
    "GetGame": GameClient.state,
    "GetHistory": GameClient.history,
    "WatchGame": lambda caller: list(caller.watch()),
    "DeleteGame": GameClient.delete,
}
"""Every call that accepts a token. Some of them also answer without one."""
