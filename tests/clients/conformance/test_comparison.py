"""The judge of the conformance suite sees every difference: it is only worth as much as what it refuses."""

from typing import Any

import pytest

from clients.conformance.comparison import call_problems, fits, outcome_problems
from clients.conformance.calls import Note, Told
from clients.conformance.scenarios import Json, Scenario, Step
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GameState, LegalMove

ONE, TWO = "6f1c4d0e-27d4-4f2a-9c0b-0d6f5c1b8a11", "0d8f9d0c-6b0b-4f1e-8d4c-3a1f0c9d7e55"
GAME = "a" * 26
NONCE = "0123456789abcdef"


def noted(rpc: str, request: Any, *, by: str = "", deadline: float | None = 4.9, **more: Any) -> Note:
    """A call that arrived."""
    return Note(
        rpc=rpc,
        request=request,
        metadata={"authorization": f"Bearer {by}"} if by else {},
        deadline=deadline,
        **more,
    )


def made() -> Note:
    """The call that made the game."""
    reply = pb.NewGameResponse(state=GameState(game_id=GAME), host_token="h", seat_tokens=["s0", "s1"])
    return noted("NewGame", pb.NewGameRequest(request_id=ONE), reply=reply)


def move(**fields: Any) -> Note:
    """A move of seat 0, as it should be, but for the fields that are given."""
    request = {"game_id": GAME, "etag": f"3-{NONCE}", "request_id": TWO} | fields
    return noted("ApplyMove", pb.ApplyMoveRequest(**request), by="s0")


MADE: Told = {"rpc": "NewGame", "deadline": 5.0, "request": {"requestId": "id 1"}}
MOVE: Told = {
    "rpc": "ApplyMove",
    "as": "seat 0",
    "deadline": 5.0,
    "request": {"gameId": "game", "etag": "of 3", "requestId": "id 2"},
}


def problems(notes: list[Note], *calls: Told, with_deadlines: bool = True) -> list[str]:
    """What the judge says of calls."""
    return list(call_problems(Scenario(name="", steps=[], calls=calls), notes, with_deadlines=with_deadlines))


def test_calls_that_are_as_they_should_be_are_no_problem() -> None:
    assert problems([made(), move()], MADE, MOVE) == []
    assert problems([], *()) == []


@pytest.mark.parametrize(
    ("notes", "calls"),
    [
        pytest.param([made(), move(), move()], [MADE, MOVE], id="one call too many"),
        pytest.param([made()], [MADE, MOVE], id="one call too few"),
        pytest.param([move(), made()], [MOVE, MADE], id="the wrong order, in which no name is known"),
        pytest.param([made(), move(etag="")], [MADE, MOVE], id="without its etag"),
        pytest.param([made(), move(etag=f"4-{NONCE}")], [MADE, MOVE], id="the etag of another version"),
        pytest.param([made(), move(request_id=ONE)], [MADE, MOVE], id="the request id of another call"),
        pytest.param([made(), move(request_id="")], [MADE, MOVE], id="without a request id"),
        pytest.param([made(), move(request_id=TWO.replace("-4", "-1"))], [MADE, MOVE], id="a UUID of another version"),
        pytest.param([made(), move(include_legal_moves=True)], [MADE, MOVE], id="a field more"),
        pytest.param([made(), move(game_id="b" * 26)], [MADE, MOVE], id="another game"),
        pytest.param(
            [made(), noted("ApplyMove", move().request, by="s1")], [MADE, MOVE], id="the token of another seat"
        ),
        pytest.param([made(), noted("ApplyMove", move().request, by="x")], [MADE, MOVE], id="a token of nobody"),
        pytest.param([made(), noted("ApplyMove", move().request)], [MADE, MOVE], id="no token"),
        pytest.param(
            [made(), noted("ApplyMove", move().request, by="s0", answer="STALE_ETAG")], [MADE, MOVE], id="refused"
        ),
        pytest.param([made(), noted("GetGame", move().request, by="s0")], [MADE, MOVE], id="another call"),
        pytest.param(
            [made(), noted("ApplyMove", move().request, by="s0", deadline=None)], [MADE, MOVE], id="no deadline"
        ),
        pytest.param([made(), noted("ApplyMove", move().request, by="s0", deadline=2.0)], [MADE, MOVE], id="too short"),
        pytest.param([made(), noted("ApplyMove", move().request, by="s0", deadline=9.0)], [MADE, MOVE], id="too long"),
    ],
)
def test_every_difference_of_calls_is_a_problem(notes: list[Note], calls: list[Told]) -> None:
    assert problems(notes, *calls)


def test_a_key_that_was_not_asked_for_is_a_problem() -> None:
    note = made()
    note.metadata = {"x-api-key": "key"}

    assert problems([note], MADE)
    assert problems([note], MADE | {"api_key": "key"}) == []


def test_a_retry_may_come_late_but_another_call_may_not() -> None:
    late = noted("ApplyMove", move().request, by="s0", deadline=0.3)

    assert problems([made(), move(), late], MADE, MOVE, MOVE) == []
    assert problems([made(), late], MADE, MOVE)


def test_the_first_call_may_come_late_for_its_driver_connects_meanwhile() -> None:
    first = made()
    first.deadline = 0.3

    assert problems([first], MADE) == []
    first.deadline = 0.0
    assert problems([first], MADE)


def test_where_no_deadline_travels_none_may_arrive() -> None:
    without = {key: value for key, value in MADE.items() if key != "deadline"}
    note = made()
    assert problems([note], without, with_deadlines=False)

    note.deadline = None
    assert problems([note], MADE, with_deadlines=False) == []


def turn(
    *, by: str = "s0", etag: str = f"3-{NONCE}", first: int = 1, made_first: int = 1, request_id: str = TWO
) -> Any:
    """A turn: a seat's legal moves, and the first of them made."""
    legal = pb.LegalMovesResponse(etag=f"3-{NONCE}", moves=[LegalMove(), LegalMove()])
    legal.moves[0].move.soda_jerk.flip.position = first
    request = pb.ApplyMoveRequest(game_id=GAME, etag=etag, request_id=request_id)
    request.move.soda_jerk.flip.position = made_first
    asked = noted("LegalMoves", pb.LegalMovesRequest(game_id=GAME), by="s0", reply=legal)
    return [asked, noted("ApplyMove", request, by=by)]


def test_turns_make_the_first_move_that_was_listed_each_under_an_id_of_its_own() -> None:
    assert problems([made(), *turn()], MADE, {"turns": 1}) == []
    assert problems([made(), *turn(), *turn(request_id=ONE.replace("6", "7"))], MADE, {"turns": 2}) == []


@pytest.mark.parametrize(
    "notes",
    [
        pytest.param(turn(by="s1"), id="another seat moves"),
        pytest.param(turn(etag=""), id="without the etag"),
        pytest.param(turn(etag=f"2-{NONCE}"), id="with an older etag"),
        pytest.param(turn(made_first=2), id="another move"),
        pytest.param(turn(request_id=""), id="without a request id"),
        pytest.param([*turn(), *turn()], id="two moves under one id"),
        pytest.param(turn()[::-1], id="the other way round"),
        pytest.param(turn()[:1], id="half a turn"),
    ],
)
def test_turns_of_any_other_kind_are_a_problem(notes: list[Note]) -> None:
    assert problems([made(), *notes], MADE, {"turns": max(1, len(notes) // 2)})


@pytest.mark.parametrize(
    ("found", "wanted", "fit"),
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
def test_a_value_fits_when_it_is_the_one(found: object, wanted: object, fit: bool) -> None:
    assert fits(found, wanted, "host:1") is fit


def test_every_step_must_give_what_it_should() -> None:
    scenario = Scenario(name="", steps=[Step({"do": "score"}, {"final": False}), Step({"do": "delete"}, {})], calls=[])

    def said(*outcomes: Json) -> list[str]:
        return list(outcome_problems(scenario, outcomes, "host:1"))

    assert said({"final": False}, {}) == []
    assert said({"final": True}, {})
    assert said({"final": False})
    assert said({"final": False}, {"error": {"reason": "UNREACHABLE"}})
    assert said({"final": False}, {}, {})
