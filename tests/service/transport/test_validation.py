"""Request validation: which values are valid, which are not, and how an error names them."""

import uuid
from collections.abc import Iterator
from typing import Any, cast

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from service.transport import validation
from service.transport.validation import MAX_VIOLATIONS, RULES, violations
from sodafountain.v1 import game_pb2, game_service_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.juices_pb2 import FRUIT_KIWI, JuicesCell, JuicesMove, JuicesOptions
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_KIWI, SodaJerkCard, SodaJerkMove, SodaJerkOptions
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersMove, SodaSmugglersOptions

REQUESTS: list[Descriptor] = [
    method.input_type for method in game_service_pb2.DESCRIPTOR.services_by_name["GameService"].methods
]
GAME = "a" * 26
ONE = JuicesCell()
UUID_4 = "6f1c4d0e-27d4-4f2a-9c0b-0d6f5c1b8a11"
LARGEST, SMALLEST = 2**31 - 1, -(2**31)


def new_game(options: Message | None = None, **fields: Any) -> Message:
    name = {SodaJerkOptions: "soda_jerk", SodaSmugglersOptions: "soda_smugglers", JuicesOptions: "juices"}
    kind: Any = {"soda_jerk": SodaJerkOptions()} if options is None else {name[type(options)]: options}
    return pb.NewGameRequest(options=game_pb2.Options(**kind), **fields)


def apply_move(move: Message | None = None, **fields: Any) -> Message:
    name = {SodaJerkMove: "soda_jerk", SodaSmugglersMove: "soda_smugglers", JuicesMove: "juices"}
    move = SodaJerkMove(flip=SodaJerkMove.Flip(tap_flavor=FLAVOR_KIWI, position=1)) if move is None else move
    kind: Any = {name[type(move)]: move}
    return pb.ApplyMoveRequest(**{"game_id": GAME, "move": game_pb2.Move(**kind), **fields})


def jerk(**action: Any) -> Message:
    return apply_move(SodaJerkMove(**action))


def place(card: Message | None = None, tap: int = 1) -> Message:
    return jerk(place=SodaJerkMove.Place(card=cast("Any", card), tap_flavor=cast("Any", tap)))


def smuggle(**action: Any) -> Message:
    return apply_move(SodaSmugglersMove(**action))


def squeeze(**action: Any) -> Message:
    return apply_move(JuicesMove(**action))


def reachable(descriptor: Descriptor) -> Iterator[FieldDescriptor]:
    """Every field of a message and of the messages inside."""
    for field in descriptor.fields:
        yield field
        if field.message_type is not None:
            yield from reachable(field.message_type)


def rule_at(request: Message, path: str) -> tuple[str, str]:
    """The message, and its field or oneof, at a path in a request."""
    *outer, name = path.split("[")[0].split(".")
    for field in outer:
        request = getattr(request, field)
    return request.DESCRIPTOR.full_name, name


Smugglers, Juices = SodaSmugglersMove, JuicesMove

# The path of a field, a request with a value of it, values that are valid, and values that are not.
BOUNDS: list[tuple[str, Any, list[Any], list[Any]]] = [
    (
        "game_id",
        lambda v: pb.GetGameRequest(game_id=v),
        [GAME, "0" * 26],
        ["", "a" * 25, "a" * 27, "A" * 26, GAME + "\n"],
    ),
    ("game_id", lambda v: pb.LegalMovesRequest(game_id=v), [GAME], ["", "é" * 26]),
    ("game_id", lambda v: pb.ScoreRequest(game_id=v), [GAME], ["", "../" * 9]),
    ("game_id", lambda v: pb.WatchGameRequest(game_id=v), [GAME], [""]),
    ("game_id", lambda v: pb.GetHistoryRequest(game_id=v), [GAME], [""]),
    ("game_id", lambda v: pb.DeleteGameRequest(game_id=v), [GAME], [""]),
    ("game_id", lambda v: apply_move(game_id=v), [GAME], [""]),
    ("seat", lambda v: pb.GetGameRequest(game_id=GAME, seat=v), [None, 0, 13], [-1, 14, LARGEST, SMALLEST]),
    ("seat", lambda v: pb.LegalMovesRequest(game_id=GAME, seat=v), [None, 0, 13], [-1, 14]),
    ("seat", lambda v: pb.WatchGameRequest(game_id=GAME, seat=v), [None, 0, 13], [-1, 14]),
    ("seat", lambda v: pb.GetHistoryRequest(game_id=GAME, seat=v), [None, 0, 13], [-1, 14]),
    ("seat", lambda v: apply_move(seat=v), [None, 0, 13], [-1, 14]),
    ("etag", lambda v: apply_move(etag=v), ["", "é" * 64], ["x" * 65]),
    ("resume_token", lambda v: pb.WatchGameRequest(game_id=GAME, resume_token=v), ["", "é" * 64], ["x" * 65]),
    ("page_token", lambda v: pb.GetHistoryRequest(game_id=GAME, page_token=v), ["", "x" * 64], ["x" * 65]),
    ("page_token", lambda v: pb.ListGameKindsRequest(page_token=v), ["", "x" * 64], ["x" * 65]),
    ("page_size", lambda v: pb.GetHistoryRequest(game_id=GAME, page_size=v), [0, LARGEST], [-1, SMALLEST]),
    ("page_size", lambda v: pb.ListGameKindsRequest(page_size=v), [0, LARGEST], [-1]),
    ("request_id", lambda v: new_game(request_id=v), ["", UUID_4, UUID_4.upper()], ["x", UUID_4 + "\n", UUID_4[:-1]]),
    ("request_id", lambda v: apply_move(request_id=v), ["", UUID_4], [str(uuid.uuid1()), str(uuid.UUID(int=0))]),
    ("visibility", lambda v: new_game(visibility=v), [0, 1, 2], [3, -1]),
    ("seed", lambda v: new_game(seed=v), [None, bytes(32)], [b"", bytes(31), bytes(33)]),
    ("options", lambda v: pb.NewGameRequest(options=v), [game_pb2.Options(juices=JuicesOptions())], [None]),
    (
        "options.game",
        lambda v: pb.NewGameRequest(options=v),
        [game_pb2.Options(soda_jerk=SodaJerkOptions())],
        [game_pb2.Options()],
    ),
    ("move", lambda v: pb.ApplyMoveRequest(game_id=GAME, move=v), [], [None]),
    ("move.game", lambda v: pb.ApplyMoveRequest(game_id=GAME, move=v), [], [game_pb2.Move()]),
    # Soda Jerk.
    ("options.soda_jerk.first_seat", lambda v: new_game(SodaJerkOptions(first_seat=v)), [None, 0, 3], [-1, 4]),
    ("options.soda_jerk.removed_flavor", lambda v: new_game(SodaJerkOptions(removed_flavor=v)), [0, 1, 5], [-1, 6]),
    (
        "options.soda_jerk.copies_per_value",
        lambda v: new_game(SodaJerkOptions(copies_per_value=v)),
        [[], [3, 3, 3], [0, 0, 9]],
        [[3], [4, 5], [3, 3, 4], [0, 0, 0], [3, 3, 3, 0]],
    ),
    (
        "options.soda_jerk.copies_per_value[0]",
        lambda v: new_game(SodaJerkOptions(copies_per_value=v)),
        [[0, 0, 9]],
        [[-1, 5, 5], [-9, 9, 9]],
    ),
    ("move.soda_jerk.action", lambda v: apply_move(v), [], [SodaJerkMove()]),
    ("move.soda_jerk.place.card", place, [SodaJerkCard()], [None]),
    ("move.soda_jerk.place.card.flavor", lambda v: place(SodaJerkCard(flavor=v)), [0, 5], [-1, 6]),
    ("move.soda_jerk.place.tap_flavor", lambda v: place(SodaJerkCard(), v), [1, 5], [-1, 0, 6]),
    (
        "move.soda_jerk.flip.tap_flavor",
        lambda v: jerk(flip=SodaJerkMove.Flip(tap_flavor=v, position=1)),
        [1, 5],
        [0, 6],
    ),
    (
        "move.soda_jerk.flip.position",
        lambda v: jerk(flip=SodaJerkMove.Flip(tap_flavor=FLAVOR_KIWI, position=v)),
        [1, 52],
        [0, 53],
    ),
    # Soda Smugglers.
    (
        "options.soda_smugglers.first_guard",
        lambda v: new_game(SodaSmugglersOptions(first_guard=v)),
        [None, 0, 7],
        [-1, 8],
    ),
    ("move.soda_smugglers.action", lambda v: apply_move(v), [], [SodaSmugglersMove()]),
    (
        "move.soda_smugglers.pack.luggage",
        lambda v: smuggle(pack=Smugglers.Pack(luggage=v)),
        [[0, 3], [0, 0, 0]],
        [[], [1], [1] * 4],
    ),
    (
        "move.soda_smugglers.pack.luggage[1]",
        lambda v: smuggle(pack=Smugglers.Pack(luggage=[0, v])),
        [0, 3],
        [-1, 4],
    ),
    (
        "move.soda_smugglers.pack.bribe",
        lambda v: smuggle(pack=Smugglers.Pack(luggage=[0, 0], bribe=v)),
        [None, 0, 3],
        [-1, 4],
    ),
    (
        "move.soda_smugglers.accept_bribe.seat",
        lambda v: smuggle(accept_bribe=Smugglers.AcceptBribe(seat=v)),
        [0, 7],
        [-1, 8],
    ),
    (
        "move.soda_smugglers.inspect_suitcase.seat",
        lambda v: smuggle(inspect_suitcase=Smugglers.InspectSuitcase(seat=v, slot=1)),
        [0, 7],
        [-1, 8],
    ),
    (
        "move.soda_smugglers.inspect_suitcase.slot",
        lambda v: smuggle(inspect_suitcase=Smugglers.InspectSuitcase(slot=v)),
        [1, 3],
        [0, 4],
    ),
    ("move.soda_smugglers.sniff.seat", lambda v: smuggle(sniff=Smugglers.Sniff(seat=v)), [0, 7], [-1, 8]),
    ("move.soda_smugglers.open.slot", lambda v: smuggle(open=Smugglers.Open(slot=v)), [1, 3], [0, 4]),
    ("move.soda_smugglers.arrest.seat", lambda v: smuggle(arrest=Smugglers.Arrest(seat=v)), [0, 7], [-1, 8]),
    # Juices.
    ("options.juices.mode", lambda v: new_game(JuicesOptions(mode=v)), [0, 4], [-1, 5]),
    ("options.juices.copies", lambda v: new_game(JuicesOptions(copies=v)), [None, 1, 2], [0, 3]),
    ("move.juices.action", lambda v: apply_move(v), [], [JuicesMove()]),
    ("move.juices.keep.tile", lambda v: squeeze(keep=Juices.Keep(tile=v)), [0, 137], [-1, 138]),
    ("move.juices.place.tile", lambda v: squeeze(place=Juices.Place(tile=v, cell=ONE)), [0, 137], [-1, 138]),
    ("move.juices.place.cell", lambda v: squeeze(place=Juices.Place(cell=v)), [ONE], [None]),
    (
        "move.juices.make_juice.fruit",
        lambda v: squeeze(make_juice=Juices.MakeJuice(fruit=v, cells=[ONE] * 3)),
        [1, 10],
        [-1, 0, 11],
    ),
    (
        "move.juices.make_juice.cells",
        lambda v: squeeze(make_juice=Juices.MakeJuice(fruit=FRUIT_KIWI, cells=[ONE] * v)),
        [3, 16],
        [0, 2, 17],
    ),
    ("move.juices.shift.part", lambda v: squeeze(shift=Juices.Shift(part=[ONE] * v)), [1, 16], [0, 17]),
    ("move.juices.shift.rows", lambda v: squeeze(shift=Juices.Shift(part=[ONE], rows=v)), [-6, 6], [-7, 7]),
    ("move.juices.shift.columns", lambda v: squeeze(shift=Juices.Shift(part=[ONE], columns=v)), [-6, 6], [-7, 7]),
    (
        "move.juices.discard_automa_tile.tile",
        lambda v: squeeze(discard_automa_tile=Juices.DiscardAutomaTile(tile=v)),
        [0, 137],
        [-1, 138],
    ),
]


@pytest.mark.parametrize(("path", "request_with", "valid", "invalid"), BOUNDS)
class TestBounds:
    def test_a_value_within_the_bounds_is_valid(
        self, path: str, request_with: Any, valid: list[Any], invalid: list[Any]
    ) -> None:
        assert {str(value): violations(request_with(value)) for value in valid if violations(request_with(value))} == {}

    def test_a_value_outside_the_bounds_is_reported_with_its_path(
        self, path: str, request_with: Any, valid: list[Any], invalid: list[Any]
    ) -> None:
        reported = [[field for field, _ in violations(request_with(value))] for value in invalid]

        assert reported == [[path]] * len(invalid)


def test_the_bounds_of_every_rule_are_tested() -> None:
    tested = {rule_at(request_with(invalid[0]), path) for path, request_with, _, invalid in BOUNDS}

    assert tested == {(message.DESCRIPTOR.full_name, name) for message, rules in RULES.items() for name in rules}


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (pb.ListGameKindsRequest(page_size=-1), "must be at least 0, got -1"),
        (pb.ListGameKindsRequest(page_token="x" * 65), "must have at most 64 characters, got 65"),
        (pb.ScoreRequest(game_id="x"), "must be a game id from NewGame: 26 lower-case letters and digits"),
        (new_game(seed=b"x"), "must be 32 bytes, got 1"),
        (new_game(request_id="x"), "must be a random UUID (version 4)"),
        (new_game(JuicesOptions(copies=3)), "must be 1 to 2, got 3"),
        (new_game(JuicesOptions(mode=cast("Any", 5))), "must be a JuicesMode that this release knows, got 5"),
        (new_game(SodaJerkOptions(copies_per_value=[3, 3, 4])), "must be empty or 3 counts that add up to 9, got 10"),
        (new_game(SodaJerkOptions(copies_per_value=[9])), "must be empty or 3 counts that add up to 9, got 1 counts"),
        (smuggle(pack=Smugglers.Pack(luggage=[1])), "must have 2 to 3 items, got 1"),
        (squeeze(place=Juices.Place()), "is required"),
        (place(SodaJerkCard(), tap=0), "is required"),
        (apply_move(SodaJerkMove()), "is required: set one of place, flip"),
    ],
)
def test_a_problem_states_what_is_wrong_and_what_is_right(request_: Message, problem: str) -> None:
    assert [found.problem for found in violations(request_)] == [problem]


def test_every_request_of_the_service_has_rules() -> None:
    assert {descriptor.full_name for descriptor in REQUESTS} <= {message.DESCRIPTOR.full_name for message in RULES}


def test_every_list_in_a_request_has_a_maximum_length() -> None:
    rules = {message.DESCRIPTOR.full_name: rules for message, rules in RULES.items()}
    lists = [field for request in REQUESTS for field in reachable(request) if field.is_repeated]

    assert lists
    for field in lists:
        message = field.containing_type
        assert message is not None
        assert isinstance(rules[message.full_name][field.name], validation.Items | validation.Counts)


@pytest.mark.parametrize(
    "request_",
    [
        new_game(SodaJerkOptions(copies_per_value=[99] * 250_000)),
        smuggle(pack=Smugglers.Pack(luggage=[99] * 250_000)),
    ],
)
def test_a_list_that_is_too_long_is_reported_once_without_its_items(request_: Message) -> None:
    (found,) = violations(request_)

    assert "250000" in found.problem


def test_all_invalid_fields_are_reported_in_the_order_of_the_contract() -> None:
    pack = SodaSmugglersMove.Pack(luggage=[4, -1, 9], bribe=4)
    request = apply_move(SodaSmugglersMove(pack=pack), game_id="x", seat=14, etag="x" * 65, request_id="x")

    assert [field.removeprefix("move.soda_smugglers.pack.") for field, _ in violations(request)] == [
        "game_id",
        "seat",
        *("luggage[0]", "luggage[1]", "luggage[2]", "bribe"),
        "etag",
        "request_id",
    ]


def test_the_number_of_reported_violations_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    request = pb.ApplyMoveRequest(game_id="x", seat=14, etag="x" * 65)

    monkeypatch.setattr(validation, "MAX_VIOLATIONS", 2)

    assert [found.field for found in violations(request)] == ["game_id", "seat"]
    assert MAX_VIOLATIONS == 8


def test_a_message_without_rules_is_valid() -> None:
    assert violations(pb.GetGameResponse()) == []


@pytest.mark.parametrize(
    ("message", "rules", "error"),
    [
        (pb.ScoreRequest, {"game": validation.GameId()}, "ScoreRequest has no field game"),
        (pb.ScoreRequest, {"game_id": validation.Items(0, 3)}, "ScoreRequest.game_id: .* is not a rule for a single"),
        (pb.ScoreRequest, {"game_id": validation.Enum()}, "ScoreRequest.game_id is not an enum"),
        (SodaSmugglersMove.Pack, {"luggage": validation.Integer(0, 3)}, "Pack.luggage: .* is not a rule for a list"),
        (game_pb2.GameKindInfo, {"presets": validation.Items(0, 3)}, "presets: rules for messages in a list are not"),
    ],
)
def test_a_rule_that_does_not_fit_its_field_is_rejected_at_import(
    message: type[Message], rules: dict[str, validation.Rule], error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(validation._RULES_BY_NAME, message.DESCRIPTOR.full_name, rules)

    with pytest.raises(TypeError, match=error):
        validation._compile(cast("Descriptor", message.DESCRIPTOR))
