"""Golden games: what the store holds of games in every format, and the answers to calls about them.

    python -m tests.service.store.golden_games

adds the games of the present format that are missing. It never changes a file.
"""

import gzip
import json
import random
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import grpc
from google.protobuf.json_format import MessageToDict, ParseDict
from redis import Redis

from engine.game import seats_for
from service.games import all_kinds
from service.games.formats import NEWEST
from service.store.keys import FORMAT_KEY
from service.translation import all_translations
from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import stores
from tests.support.game_clients import SECONDS, Game, expect_error, new_game
from tests.support.in_process import in_process_stub

FOLDER: Final = Path(__file__).with_name("golden")
API_KEY: Final = "golden-api-key"
OWNER: Final = "golden"
REQUEST_ID: Final = str(uuid.UUID(int=16, version=4))
LONG_MS: Final = 200 * 365 * 24 * 3600 * 1000
"""The life of the games: longer than they are read."""
TIMES: Final = {"commitTime", "updateTime", "expireTime"}
"""The fields that a repeated recording would change in the answer to a move."""


class Stage(NamedTuple):
    """What happens to a game before it is recorded.

    Attributes:
        share: the share of its moves that is made.
        first_preset: whether it has the first preset, and not the last one that allows its number of seats.
        few_seats: whether it has as few seats as its preset allows, and not three.
        fields: the fields of NewGame.
        deleted: whether it is deleted at last.
    """

    share: float
    first_preset: bool = True
    few_seats: bool = False
    fields: Mapping[str, Any] = MappingProxyType({})
    deleted: bool = False


STAGES: Final = {
    "new": Stage(0),
    "middle": Stage(0.5, first_preset=False),
    "finished": Stage(1, first_preset=False),
    "few-seats": Stage(1, first_preset=False, few_seats=True),
    "sealed": Stage(1, fields={"sealed": True}),
    "private": Stage(0.2, fields={"visibility": game_pb2.VISIBILITY_PRIVATE}),
    "deleted": Stage(0.2, deleted=True),
}


class GoldenGame(NamedTuple):
    """A stored game, and calls about it with their answers.

    Attributes:
        keys: every key of the store that belongs to games: its type and its value, with bytes in hexadecimal digits.
        calls: the calls, in order. Those that change the game come last.
    """

    keys: dict[str, dict[str, Any]]
    calls: list[dict[str, Any]]


# --- Reading ----------------------------------------------------------------------------------------------------------


def load(path: Path) -> GoldenGame:
    """Read a golden game."""
    return GoldenGame(**json.loads(gzip.decompress(path.read_bytes())))


def restore(raw: Any, keys: dict[str, dict[str, Any]]) -> None:
    """Put keys into an empty store."""
    raw.flushall()
    for key, entry in keys.items():
        match entry["type"]:
            case "list":
                raw.rpush(key, *map(bytes.fromhex, entry["value"]))
            case "string":
                raw.set(key, bytes.fromhex(entry["value"]))
            case "zset":
                raw.zadd(key, entry["value"])


@contextmanager
def golden_service(url: str) -> Iterator[GameServiceStub]:
    """Run a service with the settings of the recordings."""
    settings: dict[str, Any] = {"idle_ms": LONG_MS, "finished_ms": LONG_MS, "cached_games": 1, "allow_fixed_seed": True}
    with in_process_stub(url, api_keys={OWNER: API_KEY}, max_live_games=10, max_new_games=10, **settings) as stub:
        yield stub


def answer(stub: GameServiceStub, call: dict[str, Any]) -> dict[str, Any]:
    """Make a call, and return its response or its error."""
    method = call["method"]
    request = ParseDict(call["request"], getattr(pb, f"{method}Request")())
    metadata = [("authorization", f"Bearer {call['token']}")] if call["token"] else [("x-api-key", API_KEY)]
    try:
        response = getattr(stub, method)(request, metadata=metadata, timeout=SECONDS)
    except grpc.RpcError as error:
        found = expect_error(_raising(error))
        return {"error": {"code": found.code.name, "reason": found.reason}}
    return {"response": MessageToDict(response, always_print_fields_with_no_presence=True)}


def _raising(error: grpc.RpcError) -> Callable[[], None]:
    def call() -> None:
        raise error

    return call


def differences(recorded: Any, found: Any, path: str = "") -> Iterator[str]:
    """Yield the paths at which an answer differs from the recorded one. An answer may have more fields."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        for name, value in recorded.items():
            yield from differences(value, found.get(name), f"{path}.{name}")
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        for number, (value, other) in enumerate(zip(recorded, found, strict=True)):
            yield from differences(value, other, f"{path}[{number}]")
    elif recorded != found:
        yield f"{path}: {recorded!r} was recorded, and {found!r} is found"


# --- Recording --------------------------------------------------------------------------------------------------------


def record(url: str, kind: str, stage: str) -> GoldenGame:
    """Play a game in an empty store, and record it with the answers to calls about it."""
    game_of_kind, what = all_kinds()[kind].game, STAGES[stage]
    presets = [preset.options for preset in game_of_kind.presets]
    if not what.few_seats:
        presets = [options for options in presets if 3 in seats_for(game_of_kind, options)]
    chosen = presets[0 if what.first_preset else -1]
    seats = seats_for(game_of_kind, chosen)[0] if what.few_seats else 3
    options = all_translations(all_kinds())[kind].options_message(chosen)
    fields: dict[str, Any] = {"seed": bytes(range(32)), "request_id": REQUEST_ID, **what.fields}
    with Redis.from_url(url) as raw, golden_service(url) as stub:

        def create() -> Game:
            raw.flushall()
            return new_game(stub, seats, options, metadata=(("x-api-key", API_KEY),), **fields)

        moves = int(what.share * len(_play(create(), None)))
        game = create()
        made = _play(game, moves)
        further = None if what.share == 1 else _next_move(game)
        if what.deleted:
            game.host.delete()
        keys = dump(raw)
        repeated = pb.NewGameRequest(options=options, seat_count=seats, **fields)
        calls = list(_calls(game, repeated, [made[0], made[-1]] if made else []))
        if further is not None:
            calls.append(_call(*further, changes=not what.deleted))
        deletions = (pb.DeleteGameRequest, pb.DeleteGameRequest, pb.GetGameRequest)
        calls += [_call(game.host.token, request(game_id=game.game_id)) for request in deletions]
        for call in calls:
            call |= answer(stub, call)
            if call["changes"]:
                call["response"] = without_times(call["response"])
    return GoldenGame(keys, calls)


def _play(game: Game, moves: int | None) -> list[tuple[str, pb.ApplyMoveRequest]]:
    """Play at random; return the requests with their tokens."""
    rng = random.Random(2)
    made: list[tuple[str, pb.ApplyMoveRequest]] = []
    while game.host.state().awaiting_seats and len(made) != moves:
        token, request = _next_move(game, rng)
        game.host.stub.ApplyMove(request, metadata=(("authorization", f"Bearer {token}"),), timeout=SECONDS)
        made.append((token, request))
    return made


def _next_move(game: Game, rng: random.Random | None = None) -> tuple[str, pb.ApplyMoveRequest]:
    rng = rng or random.Random(3)
    seat = game.seats[rng.choice(game.host.state().awaiting_seats)]
    legal = seat.legal()
    request_id = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    move = rng.choice(legal.moves).move
    return str(seat.token), pb.ApplyMoveRequest(game_id=game.game_id, move=move, request_id=request_id)


def _calls(
    game: Game, created: pb.NewGameRequest, repeats: list[tuple[str, pb.ApplyMoveRequest]]
) -> Iterator[dict[str, Any]]:
    """Yield calls about a game that change nothing, without their answers."""
    viewers = [None, game.invited.token, *(seat.token for seat in game.seats)]
    for token in viewers:
        yield _call(token, pb.GetGameRequest(game_id=game.game_id))
    for token in viewers[1:3]:
        yield _call(token, pb.GetHistoryRequest(game_id=game.game_id, page_size=1000))
    for token in viewers[2:]:
        yield _call(token, pb.LegalMovesRequest(game_id=game.game_id))
    yield _call(game.host.token, pb.ScoreRequest(game_id=game.game_id))
    yield _call(None, created)
    other = created.seat_count + 1
    yield _call(None, pb.NewGameRequest(options=created.options, seat_count=other, request_id=REQUEST_ID))
    for token, request in repeats:
        yield _call(token, request)


def _call(token: str | None, request: Any, *, changes: bool = False) -> dict[str, Any]:
    method = type(request).__name__.removesuffix("Request")
    return {"method": method, "token": token, "request": MessageToDict(request), "changes": changes}


def dump(raw: Any) -> dict[str, dict[str, Any]]:
    """Return every key of a store that belongs to games."""
    keys: dict[str, dict[str, Any]] = {}
    for name in sorted(set(raw.keys()) - {FORMAT_KEY.encode()}):
        match kind := raw.type(name).decode():
            case "list":
                value: Any = [element.hex() for element in raw.lrange(name, 0, -1)]
            case "string":
                value = raw.get(name).hex()
            case "zset":
                value = {member.decode(): score for member, score in raw.zrange(name, 0, -1, withscores=True)}
        keys[name.decode()] = {"type": kind, "value": value}
    return keys


def without_times(response: Any) -> Any:
    """Return a response without the times of the move that it answers."""
    if isinstance(response, dict):
        return {name: without_times(value) for name, value in response.items() if name not in TIMES}
    return [without_times(value) for value in response] if isinstance(response, list) else response


def main() -> None:
    """Add the missing games of the present format."""
    folder = FOLDER / f"format-{NEWEST}"
    folder.mkdir(exist_ok=True)
    with stores.server("valkey") as url:
        for kind in all_kinds():
            for stage in STAGES:
                path = folder / f"{kind}-{stage}.json.gz"
                if not path.exists():
                    path.write_bytes(gzip.compress(json.dumps(record(url, kind, stage)._asdict()).encode(), mtime=0))


if __name__ == "__main__":
    main()
