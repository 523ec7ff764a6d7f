"""The comparison of the conformance suite detects every difference."""

from typing import Any

import pytest

from clients.conformance.calls import CallDescription, RecordedCall
from clients.conformance.comparison import call_problems, matches, outcome_problems
from clients.conformance.scenarios import Json, Scenario, Step
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GameState, LegalMove

ONE, TWO = "6f1c4d0e-27d4-4f2a-9c0b-0d6f5c1b8a11", "0d8f9d0c-6b0b-4f1e-8d4c-3a1f0c9d7e55"
GAME = "a" * 26
NONCE = "0123456789abcdef"


def recorded(rpc: str, request: Any, *, by: str = "", deadline: float | None = 4.9, **more: Any) -> RecordedCall:
    """Create a recorded call."""
    return RecordedCall(
        rpc=rpc,
        request=request,
        metadata={"authorization": f"Bearer {by}"} if by else {},
        deadline=deadline,
        **more,
    )


def new_game() -> RecordedCall:
    """Create the call that created the game."""
    reply = pb.NewGameResponse(state=GameState(game_id=GAME), host_token="h", seat_tokens=["s0", "s1"])
    return recorded("NewGame", pb.NewGameRequest(request_id=ONE), reply=reply)


def move(**fields: Any) -> RecordedCall:
    """Create the expected move of seat 0 with changed fields."""
    request = {"game_id": GAME, "etag": f"3-{NONCE}", "request_id": TWO} | fields
    return recorded("ApplyMove", pb.ApplyMoveRequest(**request), by="s0")


NEW_GAME: CallDescription = {"rpc": "NewGame", "deadline": 5.0, "request": {"requestId": "id 1"}}
MOVE: CallDescription = {
    "rpc": "ApplyMove",
    "as": "seat 0",
    "deadline": 5.0,
    "request": {"gameId": "game", "etag": "of 3", "requestId": "id 2"},
}


def problems(calls: list[RecordedCall], *expected: CallDescription, with_deadlines: bool = True) -> list[str]:
    """Return the differences between recorded and expected calls."""
    return list(call_problems(Scenario(name="", steps=[], calls=expected), calls, with_deadlines=with_deadlines))


def test_expected_calls_are_no_problem() -> None:
    assert problems([new_game(), move()], NEW_GAME, MOVE) == []
    assert problems([], *()) == []


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        pytest.param([new_game(), move(), move()], [NEW_GAME, MOVE], id="one call too many"),
        pytest.param([new_game()], [NEW_GAME, MOVE], id="one call too few"),
        pytest.param([move(), new_game()], [MOVE, NEW_GAME], id="wrong order, so the placeholders are unknown"),
        pytest.param([new_game(), move(etag="")], [NEW_GAME, MOVE], id="without its etag"),
        pytest.param([new_game(), move(etag=f"4-{NONCE}")], [NEW_GAME, MOVE], id="the etag of another version"),
        pytest.param([new_game(), move(request_id=ONE)], [NEW_GAME, MOVE], id="the request id of another call"),
        pytest.param([new_game(), move(request_id="")], [NEW_GAME, MOVE], id="without a request id"),
        pytest.param(
            [new_game(), move(request_id=TWO.replace("-4", "-1"))], [NEW_GAME, MOVE], id="a UUID of another version"
        ),
        pytest.param([new_game(), move(include_legal_moves=True)], [NEW_GAME, MOVE], id="an additional field"),
        pytest.param([new_game(), move(game_id="b" * 26)], [NEW_GAME, MOVE], id="another game"),
        pytest.param(
            [new_game(), recorded("ApplyMove", move().request, by="s1")],
            [NEW_GAME, MOVE],
            id="the token of another seat",
        ),
        pytest.param(
            [new_game(), recorded("ApplyMove", move().request, by="x")], [NEW_GAME, MOVE], id="an unknown token"
        ),
        pytest.param([new_game(), recorded("ApplyMove", move().request)], [NEW_GAME, MOVE], id="no token"),
        pytest.param(
            [new_game(), recorded("ApplyMove", move().request, by="s0", answer="STALE_ETAG")],
            [NEW_GAME, MOVE],
            id="an error",
        ),
        pytest.param([new_game(), recorded("GetGame", move().request, by="s0")], [NEW_GAME, MOVE], id="another call"),
        pytest.param(
            [new_game(), recorded("ApplyMove", move().request, by="s0", deadline=None)],
            [NEW_GAME, MOVE],
            id="no deadline",
        ),
        pytest.param(
            [new_game(), recorded("ApplyMove", move().request, by="s0", deadline=2.0)], [NEW_GAME, MOVE], id="too short"
        ),
        pytest.param(
            [new_game(), recorded("ApplyMove", move().request, by="s0", deadline=9.0)], [NEW_GAME, MOVE], id="too long"
        ),
    ],
)
def test_every_difference_of_calls_is_a_problem(calls: list[RecordedCall], expected: list[CallDescription]) -> None:
    assert problems(calls, *expected)


def test_an_unexpected_api_key_is_a_problem() -> None:
    call = new_game()
    call.metadata = {"x-api-key": "key"}

    assert problems([call], NEW_GAME)
    assert problems([call], NEW_GAME | {"api_key": "key"}) == []


def test_only_a_retry_may_have_little_time_left() -> None:
    late = recorded("ApplyMove", move().request, by="s0", deadline=0.3)

    assert problems([new_game(), move(), late], NEW_GAME, MOVE, MOVE) == []
    assert problems([new_game(), late], NEW_GAME, MOVE)


def test_the_first_call_may_have_little_time_left() -> None:
    first = new_game()
    first.deadline = 0.3

    assert problems([first], NEW_GAME) == []
    first.deadline = 0.0
    assert problems([first], NEW_GAME)


def test_a_transport_without_deadlines_must_not_send_one() -> None:
    without = {key: value for key, value in NEW_GAME.items() if key != "deadline"}
    call = new_game()
    assert problems([call], without, with_deadlines=False)

    call.deadline = None
    assert problems([call], NEW_GAME, with_deadlines=False) == []


def turn(*, by: str = "s0", etag: str = f"3-{NONCE}", first: int = 1, chosen: int = 1, request_id: str = TWO) -> Any:
    """Create a turn: the legal moves of a seat, and the first of these moves."""
    legal = pb.LegalMovesResponse(etag=f"3-{NONCE}", moves=[LegalMove(), LegalMove()])
    legal.moves[0].move.soda_jerk.flip.position = first
    request = pb.ApplyMoveRequest(game_id=GAME, etag=etag, request_id=request_id)
    request.move.soda_jerk.flip.position = chosen
    listing = recorded("LegalMoves", pb.LegalMovesRequest(game_id=GAME), by="s0", reply=legal)
    return [listing, recorded("ApplyMove", request, by=by)]


def test_turns_make_the_first_legal_move_under_new_request_ids() -> None:
    assert problems([new_game(), *turn()], NEW_GAME, {"turns": 1}) == []
    assert problems([new_game(), *turn(), *turn(request_id=ONE.replace("6", "7"))], NEW_GAME, {"turns": 2}) == []


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(turn(by="s1"), id="another seat moves"),
        pytest.param(turn(etag=""), id="without the etag"),
        pytest.param(turn(etag=f"2-{NONCE}"), id="with an older etag"),
        pytest.param(turn(chosen=2), id="another move"),
        pytest.param(turn(request_id=""), id="without a request id"),
        pytest.param([*turn(), *turn()], id="two moves under one id"),
        pytest.param(turn()[::-1], id="wrong order"),
        pytest.param(turn()[:1], id="half a turn"),
    ],
)
def test_all_other_turns_are_a_problem(calls: list[RecordedCall]) -> None:
    assert problems([new_game(), *calls], NEW_GAME, {"turns": max(1, len(calls) // 2)})


@pytest.mark.parametrize(
    ("found", "expected", "match"),
    [
        ("The game is over.", "The game is over.", True),
        ("The game is over!", "The game is over.", False),
        ("Cannot reach host:1 (refused).", "Cannot reach TARGET (*).", True),
        ("Cannot reach host:2 (refused).", "Cannot reach TARGET (*).", False),
        ("Cannot reach host:1 ().", "Cannot reach TARGET (*).", False),
        (["anything"], "*", True),
        (1, 1, True),
        (True, 1, False),
        (None, "*", True),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1, "b": 2}, {"a": 1}, False),
    ],
)
def test_a_value_matches_if_it_is_equal_except_for_wildcards(found: object, expected: object, match: bool) -> None:
    assert matches(found, expected, "host:1") is match


def test_every_step_must_have_the_expected_outcome() -> None:
    scenario = Scenario(
        name="", steps=[Step({"do": "score"}, {"finished": False}), Step({"do": "delete"}, {})], calls=[]
    )

    def found(*outcomes: Json) -> list[str]:
        return list(outcome_problems(scenario, outcomes, "host:1"))

    assert found({"finished": False}, {}) == []
    assert found({"finished": True}, {})
    assert found({"finished": False})
    assert found({"finished": False}, {"error": {"reason": "UNREACHABLE"}})
    assert found({"finished": False}, {}, {})
