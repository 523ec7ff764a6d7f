"""Errors for missing games and invalid pages."""

from collections.abc import Callable
from typing import Any

import pytest

from sodafountain.v1 import game_service_pb2 as pb
from tests.service.transport.errors.fixtures import EVERY_CALL_WITH_A_TOKEN, Games, check
from tests.support import forging
from tests.support.game_clients import SECONDS, GameClient, expect_error


@pytest.mark.parametrize(
    "call",
    [GameClient.state, GameClient.score, GameClient.history, lambda caller: list(caller.watch())],
    ids=["GetGame", "Score", "GetHistory", "WatchGame"],
)
class TestWithoutAGame:
    """A spectator may call for any existing game; other game ids are errors."""

    def test_a_game_that_never_existed_is_not_found(self, games: Games, call: Callable[[GameClient], Any]) -> None:
        check(
            expect_error(lambda: call(GameClient(games.stub, "a" * 26))),
            "GAME_NOT_FOUND",
            "was never created",
        )

    def test_an_empty_game_id_is_malformed(self, games: Games, call: Callable[[GameClient], Any]) -> None:
        check(expect_error(lambda: call(GameClient(games.stub, ""))), "MALFORMED", "26 lower-case letters", "game_id")

    @pytest.mark.parametrize(
        "game_id", ["a" * 25, "a" * 27, "A" * 26, "a" * 25 + "\n", "é" * 26, "{}" * 13, "a" * 3000]
    )
    def test_an_invalid_game_id_is_malformed(
        self, games: Games, call: Callable[[GameClient], Any], game_id: str
    ) -> None:
        error = expect_error(lambda: call(GameClient(games.stub, game_id)))

        check(error, "MALFORMED", "26 lower-case letters and digits", "game_id")


@pytest.mark.parametrize("method", ["LegalMoves", "ApplyMove", "DeleteGame"])
def test_a_valid_token_of_a_missing_game_is_not_found(games: Games, method: str) -> None:
    role: dict[str, Any] = {"role": "host"} if method == "DeleteGame" else {"seat": 0}
    holder = GameClient(games.stub, "a" * 26, forging.token({"game": "a" * 26, **role}))

    check(expect_error(lambda: EVERY_CALL_WITH_A_TOKEN[method](holder)), "GAME_NOT_FOUND", "The game does not exist")


def list_kinds(games: Games, **fields: Any) -> Any:
    """List the kinds of games."""
    return games.stub.ListGameKinds(pb.ListGameKindsRequest(**fields), timeout=SECONDS)


@pytest.mark.parametrize(
    "call",
    [lambda games, **fields: games.finished.spectator.history(**fields), list_kinds],
    ids=["GetHistory", "ListGameKinds"],
)
class TestPages:
    """A page is requested with the token of the previous page."""

    @pytest.mark.parametrize("token", ["x", "v", "v0", "v-1", "v1.5", "v1 ", "V1", "7", "v٣", "v9999999999", "v1\n"])
    def test_an_invalid_token_is_malformed(self, games: Games, call: Callable[..., Any], token: str) -> None:
        error = expect_error(lambda: call(games, page_token=token))

        check(error, "MALFORMED", "next_page_token of the previous page", "page_token")

    def test_a_token_that_is_too_long_is_malformed(self, games: Games, call: Callable[..., Any]) -> None:
        check(expect_error(lambda: call(games, page_token="v" * 65)), "MALFORMED", "at most 64", "page_token")

    def test_a_negative_size_is_malformed(self, games: Games, call: Callable[..., Any]) -> None:
        check(expect_error(lambda: call(games, page_size=-1)), "MALFORMED", "must be at least 0", "page_size")

    def test_a_page_after_the_last_is_empty(self, games: Games, call: Callable[..., Any]) -> None:
        page = call(games, page_token="v999999999")

        assert not page.next_page_token

    def test_the_largest_size_is_valid(self, games: Games, call: Callable[..., Any]) -> None:
        assert call(games, page_size=2**31 - 1)
